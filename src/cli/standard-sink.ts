import { fstatSync, writeSync } from "node:fs";
import type { Sink } from "./io.ts";

/** As much as any pipe takes before somebody reads, in bytes. */
const LITTLE = 4096;

/**
 * Standard output or error. To open its stream takes a tenth of a short run's time, so the first few bytes for a file,
 * a pipe or a socket are written without it.
 */
export function standardSink(fd: number, open: () => NodeJS.WriteStream): Sink {
  if (!isPlain(fd)) return streamSink(open());
  let stream: ByteSink | undefined;
  let left = LITTLE;
  return {
    write: (text) => {
      const bytes = Buffer.from(text);
      if (stream === undefined && bytes.length <= left) {
        left -= bytes.length;
        const rest = writtenUntil(fd, bytes);
        if (rest === null) return;
        // Such as a pipe that is full, or that nobody reads any more: streams know how to go on.
        stream = streamSink(open());
        stream.write(rest);
      } else {
        stream ??= streamSink(open());
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
export function streamSink(stream: NodeJS.WriteStream): ByteSink {
  let open = true;
  // Nobody reads any more, as in "rolecall validate | head". What is under way, such as an apply, still ends as it should.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
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

/** Writes at once what it can, and gives back the rest; null where there is none. */
function writtenUntil(fd: number, bytes: Uint8Array): Uint8Array | null {
  try {
    const written = writeSync(fd, bytes);
    return written === bytes.length ? null : bytes.subarray(written);
  } catch {
    return bytes;
  }
}

/** Whether it is certainly no terminal, and is written to in the same way as a file. */
function isPlain(fd: number): boolean {
  if (process.platform === "win32") return false;
  const kind = fstatSync(fd);
  return kind.isFile() || kind.isFIFO() || kind.isSocket();
}
