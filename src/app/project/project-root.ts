import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * Returns the folder that a file's includes must not leave, without links: the repository of the file; without one the
 * working directory if the file is below it, else the file's own folder.
 */
export function projectRoot(folder: string, cwd: string): string {
  const [start, working] = [realpathSync.native(folder), realpathSync.native(cwd)];
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) break;
  }
  return relative(working, start).startsWith("..") ? start : working;
}
