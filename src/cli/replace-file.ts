import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { RolecallError } from "../model/errors.ts";

/** Gives a file of the user's another text, whole or not at all; its permissions stay, and a link stays a link. */
export async function replaceFile(path: string, text: string): Promise<void> {
  try {
    const target = await realpath(path);
    const { mode } = await stat(target);
    // In the same folder, because only within one file system a rename is atomic.
    const draft = join(dirname(target), `.${basename(target)}.draft`);
    try {
      await write(draft, text, mode & 0o777);
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  } catch (error) {
    throw new RolecallError("file-unwritable", `${path} cannot be written: ${reason(error)}.`, {
      hint: "Check that the file and its folder may be written to.",
      cause: error,
    });
  }
}

async function write(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, "w", mode);
  try {
    await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function reason(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "EROFS") return "the file system is read-only";
  return error instanceof Error ? error.message : String(error);
}
