import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GitRefs, openRefs } from "../../../src/store/git-refs.ts";
import { openRecords, type RecordStore } from "../../../src/store/open-records.ts";

const KEY = "0123456789abcdef0123456789abcdef";

export interface Role {
  readonly grants: readonly string[];
}

export interface Applied {
  readonly count: number;
}

export interface StoreOptions {
  readonly family?: string;
  readonly key?: string;
  /** Variables for git. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A bare repository on this machine, and stores that reach it as jobs on other machines would. */
export interface BareRepository {
  readonly url: string;
  git(...args: readonly string[]): string;
  /** Opens the refs from a folder of their own, beside a clone. */
  refs(clone?: string): GitRefs;
  store(options?: StoreOptions): RecordStore<Role, Applied>;
  remove(): void;
}

export function bareRepository(): BareRepository {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-store-"));
  const url = join(folder, "remote.git");
  execFileSync("git", ["init", "--quiet", "--bare", url]);
  let stores = 0;
  const refs = (clone: string | null = null, env: StoreOptions["env"] = {}): GitRefs => {
    stores += 1;
    return openRefs(
      { url, prefix: "refs/rolecall", authorization: null },
      {
        folder: join(folder, `store-${stores}.git`),
        clone,
        env: { ...process.env, ...env },
        now: () => 1_800_000_000_000,
      },
    );
  };
  return {
    url,
    git: (...args) => execFileSync("git", ["--git-dir", url, ...args], { encoding: "utf8" }).trim(),
    refs: (clone) => refs(clone),
    store: ({ family = "f00", key = KEY, env } = {}) =>
      openRecords<Role, Applied>(refs(null, env), { family, key }, async () => undefined),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
