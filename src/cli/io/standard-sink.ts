import type { Sink } from "./io.ts";

/** Hears, once, that a stream takes nothing more: the code of the error, such as `EPIPE` or `ENOSPC`. */
export type OnLost = (code: string) => void;

/** Standard output or error. Once a write has failed, nothing more is written. */
export function standardSink(stream: NodeJS.WriteStream, onLost: OnLost): Sink {
  let open = true;
  // Such as EPIPE where nobody reads any more, as in "rolecall validate | head".
  stream.on("error", ({ code = "EIO" }: NodeJS.ErrnoException) => {
    if (open) onLost(code);
    open = false;
  });
  return {
    write: (text) => {
      if (open) stream.write(text);
    },
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
  };
}
