import { constants } from "node:fs";
import { open, readFile } from "node:fs/promises";

/** Reads a file that may not be there yet; null where it is not. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Adds a text behind a file that is there; once this resolves, a crash cannot take it away. */
export async function appendDurably(path: string, text: string): Promise<void> {
  // Never made anew: a text behind nothing would look like a whole file. Opened each time: the file may be another one.
  const file = await open(path, constants.O_WRONLY | constants.O_APPEND);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
}
