import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** Lets Node.js 22 and later keep the compiled program in the user's cache folder; no failure is reported. */
export function enableCompileCache(): void {
  const { enableCompileCache: enable } = module as { enableCompileCache?: (folder: string) => unknown };
  if (enable === undefined) return;
  try {
    const folder = cacheFolder(process.env, process.platform);
    // One by one: where the user has no folder at all, none is made.
    for (const each of [dirname(dirname(folder)), dirname(folder), folder]) {
      if (!existsSync(each)) mkdirSync(each, { mode: 0o700 });
    }
    // Judged and used as what it is now, should a link lead there.
    const real = realpathSync(folder);
    if (isPrivate(real)) enable(real);
  } catch {
    // The program only starts more slowly without it.
  }
}

/** The folder below the user's cache folder, as the platform has it. */
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

/** Whether nobody but the user and root can write to a folder or to any folder above it; the path has no links. */
export function isPrivate(folder: string): boolean {
  // Windows: the user's folders are the user's by their access lists.
  const user = process.getuid?.();
  if (user === undefined) return true;
  for (let at = folder; ; at = dirname(at)) {
    const { uid, mode } = statSync(at);
    const isOwn = uid === user || uid === 0;
    if (!isOwn || (mode & (GROUP_WRITES | OTHERS_WRITE)) !== 0) return false;
    if (dirname(at) === at) return true;
  }
}
