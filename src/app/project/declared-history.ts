import { dirname, resolve } from "node:path";
import { loadMerchants } from "../../kernel/read/load-merchants.ts";
import { judgeDeclared } from "../../kernel/rules/judge-rules.ts";
import { mapConcurrent } from "../../lib/map-concurrent.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import {
  type Blobs,
  commitReader,
  existingFolder,
  type Git,
  openBlobs,
  openRepository,
  repositoryPaths,
} from "./git-objects.ts";

/** Declarations of a merchant's file at a time. */
export interface PastDeclaration {
  /** `null` if there was no file of the merchant. */
  readonly state: DesiredState | null;
  /** Time of the last commit by then, in ms since the epoch; `null` if there was none. */
  readonly committed: number | null;
}

/** Declarations of a merchant's file and its includes in the first-parent history of the current branch. */
export interface DeclaredHistory {
  /** True if older commits are missing, as in a shallow clone. */
  readonly isShallow: boolean;
  /** Returns what was declared at a moment, in ms since the epoch; `undefined` if unknown. */
  at(moment: number): Promise<PastDeclaration | undefined>;
  /** Yields what each commit to one of some files declared, the newest first. */
  commitsTo(files: readonly string[]): AsyncIterable<DeclaredAtCommit>;
  /**
   * Returns when the merchant's files last began or ceased to mention each of some names, in ms since the epoch; names that
   * they never did are missing.
   */
  lastMentions(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  close(): void;
}

/** A merchant's state at a commit, and the commit's time in ms since the epoch. */
export interface DeclaredAtCommit {
  /** `null` if there was no file of the merchant, `undefined` if unknown. */
  readonly state: DesiredState | null | undefined;
  readonly time: number;
}

/**
 * Bounds on what is read for one merchant: the number of its commits, and of the roles and members in them. Only a long
 * history without anything that is live exceeds them.
 */
const MAX_READ = { commits: 50, entries: 50_000 };

/**
 * Opens the history of a merchant's file, which may have been renamed. It is unknown without git, before the commits of
 * a shallow clone, and for commits in which the file had errors.
 */
export async function openDeclaredHistory(
  { merchant, origin, included = [] }: Pick<DesiredState, "merchant" | "origin" | "included">,
  cwd: string,
): Promise<DeclaredHistory> {
  const file = resolve(cwd, origin.file);
  const history = await firstParents(dirname(file)).catch((error: unknown) => {
    if (error instanceof RolecallError) return null;
    throw error;
  });
  if (history === null) return UNKNOWN_HISTORY;
  const { commits, shallow, root, git } = history;
  const blobs = openBlobs(root);
  const pathIn = repositoryPaths(root);
  const ownCommits = await commitsOf(pathIn(file), git);
  const states = new Map<string, DesiredState | null | undefined>();
  let entries = 0;
  const read = async (commit: Commit): Promise<DesiredState | null | undefined> => {
    const { id, time } = commit;
    if (!states.has(id) && states.size < MAX_READ.commits && entries < MAX_READ.entries) {
      const path = ownCommits.find((commit) => commit.time <= time)?.path;
      const state = path === undefined ? null : await stateAt(commit, { path, merchant }, blobs);
      entries += (state?.members?.length ?? 0) + (state?.roles?.length ?? 0);
      states.set(id, state);
    }
    return states.get(id);
  };
  return {
    isShallow: shallow,
    async at(moment) {
      const commit = commits.find(({ time }) => time <= moment);
      if (commit === undefined) return shallow ? undefined : { state: null, committed: null };
      const state = await read(commit);
      return state === undefined ? undefined : { state, committed: commit.time };
    },
    async *commitsTo(files) {
      const otherFiles = files.map((path) => resolve(cwd, path)).filter((other) => other !== file);
      const lists = [
        ownCommits,
        ...(await Promise.all(otherFiles.map((other) => commitsOf(pathIn(other), git)))),
      ];
      const commits = new Map(lists.flat().map((commit) => [commit.id, commit]));
      for (const commit of [...commits.values()].toSorted((a, b) => b.time - a.time)) {
        yield { state: await read(commit), time: commit.time };
      }
      if (shallow) yield { state: undefined, time: 0 };
    },
    lastMentions: (names) => {
      const shared = included.map((path) => pathIn(resolve(cwd, path)));
      return findMentions(
        names,
        [...new Set([pathIn(file), ...ownCommits.map(({ path }) => path), ...shared])],
        git,
      );
    },
    close: () => blobs.close(),
  };
}

const UNKNOWN_HISTORY: DeclaredHistory = {
  isShallow: false,
  at: async () => undefined,
  async *commitsTo() {
    yield { state: undefined, time: 0 };
  },
  lastMentions: async () => new Map(),
  close: () => undefined,
};

interface Commit {
  readonly id: string;
  /** In ms since the epoch. */
  readonly time: number;
}

/** Lists the commits to a file, the newest first, with its path at each of them; renames are followed. */
async function commitsOf(path: string, git: Git): Promise<readonly (Commit & { readonly path: string })[]> {
  const listed = await git(
    "-c",
    "core.quotePath=false",
    "log",
    "--follow",
    "-m",
    "--first-parent",
    "--name-only",
    "--format=%x00%H %ct",
    "--",
    path,
  );
  return [...listed.matchAll(/\0(\w+) (\d+)\n\n(.*)/g)].map(([, id = "", seconds, name = ""]) => ({
    id,
    time: Number(seconds) * 1000,
    path: name,
  }));
}

/** Returns a merchant's state at a commit: `null` without its file, `undefined` if that had errors. */
async function stateAt(
  { id, time }: Commit,
  { path, merchant }: { readonly path: string; readonly merchant: string },
  blobs: Blobs,
): Promise<DesiredState | null | undefined> {
  if ((await blobs.read(`${id}:${path}`)) === null) return null;
  const loaded = await loadMerchants([path], commitReader(blobs, id), { now: time, judge: judgeDeclared });
  return loaded.merchants.find(({ state }) => state?.merchant === merchant)?.state ?? undefined;
}

/** Number of names that are looked up in the history at once, and of those that are looked up at all. */
const LOOKUPS = { concurrent: 8, all: 200 };

async function findMentions(
  names: readonly string[],
  paths: readonly string[],
  git: Git,
): Promise<ReadonlyMap<string, number>> {
  const mentions = new Map<string, number>();
  await mapConcurrent(names.slice(0, LOOKUPS.all), LOOKUPS.concurrent, async (name) => {
    const pattern = name.replaceAll(/[^\p{L}\p{N}@_-]/gu, (character) =>
      character === "^" ? "\\^" : `[${character}]`,
    );
    const commits = await git(
      "log",
      "-1",
      "--first-parent",
      "-M",
      "-i",
      `-G${pattern}`,
      "--format=%ct",
      "--",
      ...paths,
    );
    if (commits.trim() !== "") mentions.set(name, Number(commits) * 1000);
  });
  return mentions;
}

interface Commits {
  readonly root: string;
  readonly shallow: boolean;
  /** The newest first. */
  readonly commits: readonly Commit[];
  readonly git: Git;
}

async function firstParents(folder: string): Promise<Commits> {
  const { root, shallow, git } = await openRepository(existingFolder(folder), "drift");
  const listed = await git("rev-list", "--first-parent", "--timestamp", "HEAD", "--");
  const commits = [...listed.matchAll(/^(\d+) (\w+)$/gm)].map(([, seconds, id = ""]) => ({
    id,
    time: Number(seconds) * 1000,
  }));
  // The boundary commit of a shallow clone seems to have created every file.
  return { root, shallow, git, commits: shallow ? commits.slice(0, -1) : commits };
}
