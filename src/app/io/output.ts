import { type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { RolecallError } from "../../model/errors.ts";
import { writeAtomically } from "./atomic-write.ts";
import type { Io, TextWriter } from "./io.ts";

/** The destination of a result: a standard stream, or a file that `end` writes. */
export interface Output {
  readonly sink: TextWriter;
  end(): Promise<void>;
}

/** Returns the destination of a command's result: stdout, or with `--output` another stream or a file. */
export function outputTo(file: string | undefined, io: Io): Output {
  const stream = file === undefined ? "stdout" : standardStream(file);
  if (file === undefined || stream !== null)
    return { sink: io[stream ?? "stdout"], end: async () => undefined };
  let text = "";
  return {
    sink: {
      write: (more) => {
        text += more;
      },
      isTTY: false,
      columns: undefined,
    },
    end: async () => {
      await writeAtomically(resolve(io.cwd, file), text, { shown: file });
      io.stderr.write(`Written to ${file}.\n`);
    },
  };
}

/** Returns the standard stream that a path names, such as `-` or `/dev/stdout`; `null` for any other path. */
export function standardStream(path: string): "stdout" | "stderr" | null {
  if (path === "-") return "stdout";
  const [, name, fd] = /^\/dev\/(stdout|stderr)$|^\/(?:dev|proc\/self)\/fd\/([12])$/.exec(path) ?? [];
  if (name === undefined && fd === undefined) return null;
  return name === "stderr" || fd === "2" ? "stderr" : "stdout";
}

/**
 * Checks output paths before the work starts. Throws RolecallError for one that is an input (also by another name), is
 * named twice, or cannot be a file.
 */
export function checkOutputs(
  outputs: readonly (string | undefined)[],
  inputs: readonly (string | undefined)[],
  cwd: string,
): void {
  const outputPaths = outputs.filter((path) => path !== undefined);
  if (outputPaths.length === 0) return;
  const inputFiles = new Set(
    inputs.flatMap((path) => (path === undefined ? [] : (identityOf(path, cwd) ?? []))),
  );
  const taken = new Set<string>();
  for (const path of outputPaths) {
    if (path === "")
      throw new RolecallError("usage", "The name of the output file is empty.", {
        hint: "Specify a file name.",
      });
    const identity = standardStream(path) ?? identityOf(path, cwd) ?? placeFor(path, cwd);
    if (identity === null) continue;
    if (inputFiles.has(identity)) {
      throw new RolecallError("usage", `${path} is read by this command, and would be overwritten.`, {
        hint: "Specify another file.",
      });
    }
    if (taken.has(identity)) {
      throw new RolecallError("usage", `Two results would be written to ${path}.`, {
        hint: "Specify a separate file for each.",
      });
    }
    taken.add(identity);
  }
}

/** Returns the identity of a regular file, whatever its name; null if there is none. */
function identityOf(path: string, cwd: string): string | null {
  const info = statIfThere(resolve(cwd, path));
  return info?.isFile() ? `${info.dev}:${info.ino}` : null;
}

/** Returns the absolute path of a future file, `null` for a device or FIFO; throws if there can be no file. */
function placeFor(path: string, cwd: string): string | null {
  const absolute = resolve(cwd, path);
  const failed = (reason: string, hint: string): RolecallError =>
    new RolecallError("file-unwritable", `${path} cannot be written: ${reason}.`, { hint });
  const existing = statIfThere(absolute);
  if (existing?.isDirectory()) throw failed("it is a folder", "Specify a file in that folder.");
  if (existing !== null) return null;
  const folder = statIfThere(dirname(absolute));
  if (folder === null) throw failed("its folder does not exist", "Create the folder, or check the path.");
  if (!folder.isDirectory()) throw failed("a part of its path is not a folder", "Check the path.");
  return absolute;
}

/** Also returns `null` without permission: the write then fails with its own reason. */
function statIfThere(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
