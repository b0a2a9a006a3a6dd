import { realpath, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

/**
 * The folder that a file's includes must not leave, free of links: the repository that holds the file; without one the
 * working directory, where the file lies below it, else the file's own folder.
 */
export async function projectRoot(folder: string, cwd: string): Promise<string> {
  const [start, working] = await Promise.all([realpath(folder), realpath(cwd)]);
  for (let at = start; ; at = dirname(at)) {
    if (await exists(join(at, ".git"))) return at;
    if (dirname(at) === at) break;
  }
  return relative(working, start).startsWith("..") ? start : working;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
