import { constants } from "node:fs";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "./sync-folder.ts";

/** Reads a file that may not be there yet; null where it is not. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Writes a file so that whoever reads it, also after a crash at any moment, finds the old text or the new one, whole. */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  // In the same folder, because only within one file system a rename is atomic.
  const draft = join(folder, `.${basename(path)}.draft`);
  const file = await open(draft, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(folder);
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
