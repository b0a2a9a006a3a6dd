import { dirname, resolve } from "node:path";
import { loadMerchants } from "../../kernel/read/load-merchants.ts";
import { mapConcurrent } from "../../lib/map-concurrent.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import { judgeDeclared } from "../../rules/judge-rules.ts";
import {
  type Blobs,
  commitReader,
  existingFolder,
  openBlobs,
  openRepository,
  repositoryPaths,
} from "./git-objects.ts";

/** Declarations of a merchant's file at a moment. */
export interface PastDeclaration {
  /** `null` if there was no file of the merchant. */
  readonly state: DesiredState | null;
  /** Time of the last commit by then, in ms since the epoch; `null` if there was none. */
  readonly committed: number | null;
}

/** Number of commits whose files are read for one merchant; they are more only after a long time without any apply. */
const MAX_COMMITS = 50;

/**
 * Returns what a merchant's file declared, with its includes, at moments in ms since the epoch, by the first-parent history
 * of the current branch. Moments of which nothing is known are missing: without git, beyond a shallow clone, and where the
 * file had errors.
 */
export async function declaredAt(
  { merchant, origin }: Pick<DesiredState, "merchant" | "origin">,
  moments: Iterable<number>,
  cwd: string,
): Promise<ReadonlyMap<number, PastDeclaration>> {
  const declarations = new Map<number, PastDeclaration>();
  const file = resolve(cwd, origin.file);
  const history = await firstParents(dirname(file)).catch((error: unknown) => {
    if (error instanceof RolecallError) return null;
    throw error;
  });
  if (history === null) return declarations;
  const blobs = openBlobs(history.root);
  const path = repositoryPaths(history.root)(file);
  const states = new Map<string, DesiredState | null | undefined>();
  try {
    for (const moment of new Set(moments)) {
      const commit = history.commits.find(({ time }) => time <= moment);
      if (commit === undefined) {
        if (!history.shallow) declarations.set(moment, { state: null, committed: null });
        continue;
      }
      const { id, time } = commit;
      if (!states.has(id) && states.size < MAX_COMMITS) {
        states.set(id, await stateAt(commit, { path, merchant }, blobs));
      }
      const state = states.get(id);
      if (state !== undefined) declarations.set(moment, { state, committed: time });
    }
    return declarations;
  } finally {
    blobs.close();
  }
}

/** Returns a merchant's state at a commit: `null` without its file, `undefined` if that had errors. */
async function stateAt(
  { id, time }: Commits["commits"][number],
  { path, merchant }: { readonly path: string; readonly merchant: string },
  blobs: Blobs,
): Promise<DesiredState | null | undefined> {
  if ((await blobs.read(`${id}:${path}`)) === null) return null;
  const loaded = await loadMerchants([path], commitReader(blobs, id), { now: time, judge: judgeDeclared });
  return loaded.merchants.find(({ state }) => state?.merchant === merchant)?.state ?? undefined;
}

/** Number of names that are looked up in the history at once, and of those that are looked up at all. */
const LOOKUPS = { concurrent: 8, all: 200 };

/**
 * Returns when a merchant's files last began or ceased to mention each of some names, in ms since the epoch; names that
 * they never did are missing.
 */
export async function lastMentions(
  { origin, included = [] }: Pick<DesiredState, "origin" | "included">,
  names: readonly string[],
  cwd: string,
): Promise<ReadonlyMap<string, number>> {
  const mentions = new Map<string, number>();
  const files = [origin.file, ...included].map((file) => resolve(cwd, file));
  const { git } = await openRepository(existingFolder(dirname(resolve(cwd, origin.file))), "drift");
  await mapConcurrent(names.slice(0, LOOKUPS.all), LOOKUPS.concurrent, async (name) => {
    const pattern = name.replaceAll(/[^\p{L}\p{N}@_-]/gu, (character) =>
      character === "^" ? "\\^" : `[${character}]`,
    );
    const commits = await git(
      "log",
      "-1",
      "--first-parent",
      "-i",
      `-G${pattern}`,
      "--format=%ct",
      "--",
      ...files,
    );
    if (commits.trim() !== "") mentions.set(name, Number(commits) * 1000);
  });
  return mentions;
}

interface Commits {
  readonly root: string;
  readonly shallow: boolean;
  /** The newest first. */
  readonly commits: readonly { readonly id: string; readonly time: number }[];
}

async function firstParents(folder: string): Promise<Commits> {
  const { root, shallow, git } = await openRepository(existingFolder(folder), "drift");
  const listed = await git("rev-list", "--first-parent", "--timestamp", "HEAD", "--");
  const commits = [...listed.matchAll(/^(\d+) (\w+)$/gm)].map(([, seconds, id = ""]) => ({
    id,
    time: Number(seconds) * 1000,
  }));
  // The boundary of a shallow clone seems to have made every file.
  return { root, shallow, commits: shallow ? commits.slice(0, -1) : commits };
}
