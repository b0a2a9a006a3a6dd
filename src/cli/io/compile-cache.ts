import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/** Enables the compile cache of Node.js 22 and later in the user's cache folder; failures are ignored. */
export function enableCompileCache(): void {
  const { enableCompileCache: enable } = module as { enableCompileCache?: (folder: string) => unknown };
  if (enable === undefined) return;
  try {
    const folder = cacheFolder(process.env, process.platform);
    // Without a home it would be below the working directory.
    if (!isAbsolute(folder)) return;
    // Created one by one, so that nothing is created if the user has no folder at all.
    for (const each of [dirname(dirname(folder)), dirname(folder), folder]) {
      if (!existsSync(each)) mkdirSync(each, { mode: 0o700 });
    }
    // Checked and used without links.
    const real = realpathSync(folder);
    if (isPrivate(real)) enable(real);
  } catch {
    // Without the cache the program only starts more slowly.
  }
}

/** Returns the program's folder in the platform's cache folder of the user. */
export function cacheFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  return join(userCacheFolder(env, platform), "rolecall", "compiled");
}

function userCacheFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  switch (platform) {
    case "win32":
      return env["LOCALAPPDATA"] || join(homedir(), "AppData", "Local");
    case "darwin":
      return join(homedir(), "Library", "Caches");
    default:
      return env["XDG_CACHE_HOME"]?.startsWith("/") ? env["XDG_CACHE_HOME"] : join(homedir(), ".cache");
  }
}

const [GROUP_WRITES, OTHERS_WRITE] = [0o020, 0o002];

/** Returns whether only the user and root can write to a folder and to all folders above it; the path has no links. */
export function isPrivate(folder: string): boolean {
  // On Windows, access lists protect the user's folders.
  const user = process.getuid?.();
  if (user === undefined) return true;
  for (let ancestor = folder; ; ancestor = dirname(ancestor)) {
    const { uid, mode } = statSync(ancestor);
    const isOwn = uid === user || uid === 0;
    if (!isOwn || (mode & (GROUP_WRITES | OTHERS_WRITE)) !== 0) return false;
    if (dirname(ancestor) === ancestor) return true;
  }
}
