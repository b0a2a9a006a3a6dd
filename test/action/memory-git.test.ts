import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GitError, type GitRefs, openRefs, textsOf } from "../../src/store/git-refs.ts";
import { runs } from "../support/property-runs.ts";
import { type GitStore, gitStore, LINK } from "./support/github-git.ts";
import { memoryGit } from "./support/memory-git.ts";
import { looseObjects } from "./support/repository.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rolecall-memory-git-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A repository that git and memory reach alike, each from two stores with records of their own. */
interface Twins {
  readonly commits: GitStore;
  readonly git: readonly GitRefs[];
  readonly memory: readonly GitRefs[];
}

let repositories = 0;

function twins(): Twins {
  repositories += 1;
  const own = join(folder, String(repositories));
  const url = join(own, "remote.git");
  execFileSync("git", ["init", "--quiet", "--bare", url]);
  execFileSync("git", ["--git-dir", url, "config", "uploadpack.allowAnySHA1InWant", "true"]);
  const clone = join(own, "clone");
  mkdirSync(join(clone, "objects/info"), { recursive: true });
  mkdirSync(join(clone, "refs"));
  writeFileSync(join(clone, "HEAD"), "ref: refs/heads/none\n");
  writeFileSync(join(clone, "objects/info/alternates"), `${join(url, "objects")}\n`);
  const commits = gitStore(looseObjects(url));
  const remote = { url, prefix: "refs/rolecall", authorization: null };
  const effects = { clone, env: process.env, now: () => 1_800_000_000_000 };
  const openMemory = memoryGit().over(commits);
  const stores = ["one", "two"].map((name) => ({ ...effects, folder: join(own, name) }));
  return {
    commits,
    git: stores.map((store) => openRefs(remote, store)),
    memory: stores.map((store) => openMemory(remote, store)),
  };
}

const NO_COMMIT = "0123456789012345678901234567890123456789";
const PATHS = ["a.json", "f/b.json", "f/g/c.json"] as const;
const REFS = ["state", "reviews/7", "reviews/8"] as const;

const path = fc.constantFrom(...PATHS);
const ref = fc.constantFrom(...REFS);
const store = fc.nat(1);
const edits = fc.array(fc.tuple(path, fc.option(fc.constantFrom("", "one", "two\n", `${LINK}a.json`))), {
  minLength: 1,
  maxLength: 3,
});

const step = fc.oneof(
  fc.record({ does: fc.constant("commit" as const), edits }),
  fc.record({ does: fc.constant("fetch" as const), store }),
  fc.record({ does: fc.constant("record" as const), store, ref, edits, isLate: fc.boolean() }),
  fc.record({ does: fc.constant("remove" as const), store, refs: fc.uniqueArray(ref, { minLength: 1 }) }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The texts of refs, and how many parents each has. */
const recorded = (refs: GitRefs, commits: ReadonlyMap<string, string>): Promise<readonly unknown[]> =>
  Promise.all(
    [...commits].sort().map(async ([name, commit]) => {
      return [name, [...(await textsOf(commit, refs))].sort(), (await refs.parents(commit)).length];
    }),
  );

/** Plays steps on the refs of two stores, and returns what these have said. */
async function played(steps: readonly Step[], commits: readonly string[], stores: readonly GitRefs[]) {
  const said: unknown[] = [];
  /** What each store has fetched last. */
  const fetched = await Promise.all(stores.map((one) => one.fetch()));
  for (const step of steps) {
    if (step.does === "commit") continue;
    const refs = stores[step.store] as GitRefs;
    if (step.does === "fetch") {
      fetched[step.store] = await refs.fetch();
      said.push(...(await recorded(refs, fetched[step.store] ?? new Map())));
    } else if (step.does === "record") {
      if (!step.isLate) fetched[step.store] = await refs.fetch();
      const from = fetched[step.store]?.get(step.ref) ?? null;
      const to = await refs.commit(from, new Map(step.edits), "Record");
      said.push(await refs.push([{ ref: step.ref, from, to }]));
    } else {
      const moves = step.refs.flatMap((name) => {
        const from = fetched[step.store]?.get(name);
        return from === undefined ? [] : [{ ref: name, from, to: null }];
      });
      said.push(await refs.push(moves));
    }
  }
  const [refs] = stores as [GitRefs];
  for (const commit of commits) {
    const entries = await refs.entries(commit);
    said.push(entries, (await refs.contents(entries.map(({ id }) => id))).map(String));
    said.push(await refs.parents(commit));
  }
  for (const one of PATHS) said.push(await refs.lastCommitOf(one, commits.at(-1) ?? NO_COMMIT));
  return said;
}

test("the memory that takes the place of git answers as git does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      const { commits, git, memory } = twins();
      const made: string[] = [];
      for (const one of steps) {
        if (one.does !== "commit") continue;
        const files = new Map(commits.files(made.at(-1) ?? ""));
        for (const [path, text] of one.edits) {
          if (text === null) files.delete(path);
          else files.set(path, commits.addBlob(text));
        }
        const tree = commits.addTree(files);
        made.push(commits.addCommit({ tree, parents: made.slice(-1), message: "Commit", at: 0 }));
      }
      expect(await played(steps, made, memory)).toEqual(await played(steps, made, git));
    }),
    { numRuns: runs(12) },
  );
});

test("neither of them has a commit that was never made", async () => {
  const { git, memory } = twins();
  for (const refs of [...git, ...memory]) {
    await expect(refs.entries(NO_COMMIT)).rejects.toThrow(GitError);
  }
});
