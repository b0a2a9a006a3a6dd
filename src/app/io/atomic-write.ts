import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { RolecallError } from "../../model/errors.ts";

/**
 * Writes a file completely or not at all, even in a crash; throws RolecallError. Links are followed, an existing file
 * keeps its permissions, owner and hard links, and a device or FIFO is written to. `shown` names the file in errors.
 */
export async function writeAtomically(
  path: string,
  text: string,
  { shown = path, mode = PRIVATE, temporaryName = randomName }: WriteOptions = {},
): Promise<void> {
  try {
    const existing = await statIfThere(path);
    if (existing !== null && !existing.isFile()) return await writeInto(path, text);
    const target = existing === null ? await linkTarget(path) : await realpath(path);
    // Renaming a new file over it would leave its other hard links with the old text.
    if (existing !== null && existing.nlink > 1) return await overwrite(target, text);
    await replace(target, text, existing, {
      name: temporaryName(),
      mode: existing === null ? mode : PRIVATE,
    });
  } catch (error) {
    throw new RolecallError("file-unwritable", `${shown} cannot be written: ${reason(error)}.`, {
      hint:
        HINTS[(error as NodeJS.ErrnoException).code ?? ""] ??
        "Check that the file and its folder are writable.",
      cause: error,
    });
  }
}

interface WriteOptions {
  readonly shown?: string;
  /** The permissions of a new file, less those of the process's mask; default: those of a private file. */
  readonly mode?: number;
  /** An unpredictable file name. */
  readonly temporaryName?: () => string;
}

function randomName(): string {
  return `.rolecall-${randomBytes(8).toString("hex")}.tmp`;
}

const PRIVATE = 0o600;

/** Renames a temporary file of the same folder over the target: within one file system that is atomic. */
async function replace(
  target: string,
  text: string,
  existing: Stats | null,
  { name, mode }: { readonly name: string; readonly mode: number },
): Promise<void> {
  const folder = dirname(target);
  const temporary = join(folder, name);
  // Opened exclusively: an existing file of this name, such as a planted link, is not ours.
  const file = await open(temporary, "wx", mode);
  try {
    try {
      if (existing !== null) await keepAttributes(file, existing);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

async function keepAttributes(file: FileHandle, { mode, uid, gid }: Stats): Promise<void> {
  const ours = await file.stat();
  // Only root may change a file's owner; otherwise the current user owns the new file, as after any editor.
  if (ours.uid !== uid || ours.gid !== gid) await file.chown(uid, gid).catch(() => undefined);
  await file.chmod(mode & 0o777);
}

/** Overwrites a file in place, and restores the old text if that fails part-way. */
async function overwrite(target: string, text: string): Promise<void> {
  const file = await open(target, "r+");
  try {
    const before = await file.readFile();
    try {
      await writeWhole(file, Buffer.from(text));
    } catch (error) {
      await writeWhole(file, before);
      throw error;
    }
  } finally {
    await file.close();
  }
}

async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, offset, bytes.length - offset, offset);
    offset += bytesWritten;
  }
  await file.truncate(bytes.length);
  await file.sync();
}

/** Writes to a special file, such as a FIFO; a folder is an error. */
async function writeInto(path: string, text: string): Promise<void> {
  const file = await open(path, constants.O_WRONLY);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

async function statIfThere(path: string): Promise<Stats | null> {
  return stat(path).catch(nullIfMissing);
}

/** Resolves a path whose file does not exist yet, through links. */
async function linkTarget(path: string): Promise<string> {
  const info = await lstat(path).catch(nullIfMissing);
  return info?.isSymbolicLink() ? linkTarget(resolve(dirname(path), await readlink(path))) : path;
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is exceeded",
  ENOENT: "its folder does not exist",
  ENOTDIR: "a part of its path is not a folder",
  EISDIR: "it is a folder",
  EPIPE: "its reader has closed it",
};

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "Free some space, or specify another file.",
  EDQUOT: "Free some space, or specify another file.",
  ENOENT: "Create the folder, or check the path.",
  ENOTDIR: "Check the path.",
  EISDIR: "Specify a file in that folder.",
};

function reason(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ""] ?? (error instanceof Error ? error.message : String(error));
}

/** Syncs a folder, so that a power failure does not lose its new or renamed files. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders, and does not need this.
  const handle = await open(folder, "r").catch(() => null);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}
