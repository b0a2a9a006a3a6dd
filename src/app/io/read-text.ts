import { createReadStream, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";

const MAX_BYTES = 256 * 1024 * 1024;

/** Reads a file or a pipe as text; rejects for a folder, a device, and what has no end. */
export async function readTextFile(path: string): Promise<string> {
  const info = await stat(path);
  if (info.isDirectory()) throw new Error("it is a folder, not a file");
  if (info.isCharacterDevice()) throw new Error("it is a device, not a file");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of createReadStream(path)) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Returns the text of a file; `null` if it cannot be read. */
export function textOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
