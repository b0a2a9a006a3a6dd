import { fstatSync, writeSync } from "node:fs";
import type { Sink } from "./io.ts";

/** As much as any pipe takes before somebody reads, in bytes. */
const LITTLE = 4096;

/** Hears, once, that a stream takes nothing more: the code of the error, such as `EPIPE` or `ENOSPC`. */
export type OnLost = (code: string) => void;

/**
 * Standard output or error. To open its stream takes a tenth of a short run's time, so the first few bytes for a file,
 * a pipe or a socket are written without it. Once a write has failed, nothing more is written.
 */
export function standardSink(fd: number, open: () => NodeJS.WriteStream, onLost: OnLost): Sink {
  if (!isPlain(fd)) return streamSink(open(), onLost);
  let stream: ByteSink | undefined;
  let left = LITTLE;
  let lost = false;
  return {
    write: (text) => {
      if (lost) return;
      const bytes = Buffer.from(text);
      if (stream === undefined && bytes.length <= left) {
        left -= bytes.length;
        const rest = writtenUntil(fd, bytes);
        if (rest === null) return;
        if (!("code" in rest)) {
          // Such as a pipe that is full: streams know how to go on.
          stream = streamSink(open(), onLost);
          stream.write(rest);
        } else {
          lost = true;
          onLost(rest.code);
        }
      } else {
        stream ??= streamSink(open(), onLost);
        stream.write(text);
      }
    },
    isTTY: false,
    columns: undefined,
  };
}

/** Takes bytes, too: what is left of a text may begin within a character. */
interface ByteSink extends Sink {
  write(text: string | Uint8Array): void;
}

/** A standard stream that is open. */
export function streamSink(stream: NodeJS.WriteStream, onLost: OnLost): ByteSink {
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

/** Writes at once what it can: null where that is all, else the rest, or the error that nothing can be done about. */
function writtenUntil(fd: number, bytes: Uint8Array): Uint8Array | { readonly code: string } | null {
  let written = 0;
  try {
    // A full disk takes a part, and tells of its error with the next write only.
    while (written < bytes.length) written += writeSync(fd, bytes, written);
    return null;
  } catch (error) {
    const { code = "EIO" } = error as NodeJS.ErrnoException;
    return code === "EAGAIN" ? bytes.subarray(written) : { code };
  }
}

/** Whether it is certainly no terminal, and is written to in the same way as a file. */
function isPlain(fd: number): boolean {
  if (process.platform === "win32") return false;
  const kind = fstatSync(fd);
  return kind.isFile() || kind.isFIFO() || kind.isSocket();
}
