import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openShop, type Shop } from "./shop.ts";

/** A shop whose folder is a clone, with one commit of its files that has been pushed. */
export interface ShopRepository extends Shop {
  /** The bare repository that the clone pushes to. */
  readonly remote: string;
}

/** Starts a shop in a clone; `files` have paths relative to its folder. */
export async function openShopRepository(
  seed: string,
  files: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv = {},
  options: Parameters<typeof openShop>[1] = {},
): Promise<ShopRepository> {
  const shop = await openShop(seed, options);
  const remote = await mkdtemp(join(tmpdir(), "rolecall-remote-"));
  const git = (...args: readonly string[]): string => gitIn(shop.folder, args, env);
  gitIn(remote, ["init", "--quiet", "--bare", "--initial-branch=main"]);
  git("init", "--quiet", "--initial-branch=main");
  git("remote", "add", "origin", remote);
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(shop.folder, file)), { recursive: true });
    await shop.write(file, text);
  }
  git("add", ...Object.keys(files));
  git("commit", "--quiet", "--message=first");
  git("push", "--quiet", "origin", "main");
  const stop = async (): Promise<void> => {
    await shop.stop();
    await rm(remote, { recursive: true });
  };
  return { ...shop, remote, stop };
}

/** Runs git in a folder and returns its output, without blanks around it; throws if it fails. */
export function gitIn(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const author = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
  const options = { encoding: "utf8", env: { ...process.env, ...env } } as const;
  return execFileSync("git", ["-C", folder, ...author, ...args], options).trim();
}
