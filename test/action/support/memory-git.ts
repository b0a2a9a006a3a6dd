import { createHash } from "node:crypto";
import type { FileEdits, GitRefs, openRefs } from "../../../src/store/git-refs.ts";
import { GitError } from "../../../src/store/run-git.ts";
import type { GitStore } from "./github-git.ts";

/** Refs with records beside the commits of a repository, without git. */
export interface MemoryGit {
  /** Names below the prefix, and their commits. */
  readonly refs: Map<string, string>;
  /** Happens once, before refs of reviews or states are moved the next time. */
  interrupt: (() => Promise<void>) | null;
  /** Throws what a lost connection does. */
  loseConnection(): Promise<void>;
  /** Opens the refs; commits and files are those of a store. */
  over(git: GitStore): typeof openRefs;
}

interface RecordCommit {
  readonly files: ReadonlyMap<string, string>;
  readonly parents: readonly string[];
  readonly tree?: string;
  readonly message?: string;
}

/** Creates a repository without records, with the errors that the action knows. */
export function memoryGit(Failure: typeof GitError = GitError): MemoryGit {
  const refs = new Map<string, string>();
  /** The commits of records, with paths and names of texts. */
  const records = new Map<string, RecordCommit>();
  const texts = new Map<string, string>();
  const trees = new Map<string, ReadonlyMap<string, string>>();
  const memory: MemoryGit = {
    refs,
    interrupt: null,
    loseConnection: async () => {
      throw new Failure("network", "git: the connection was lost.");
    },
    over: (git) => (): GitRefs => ({
      fetch: async (names = ["*"]) => {
        const isNamed = (ref: string): boolean =>
          names.some((name) => (name.endsWith("*") ? ref.startsWith(name.slice(0, -1)) : ref === name));
        return new Map([...refs].filter(([ref]) => isNamed(ref)));
      },
      entries: async (commit) => {
        const own = records.get(commit)?.files ?? (git.commits.has(commit) ? git.files(commit) : null);
        if (own === null) throw new Failure("network", `git: no ${commit}.`);
        return [...own].map(([path, id]) => {
          return { path, id, type: git.modeOf(id) === "120000" ? "link" : "file" };
        });
      },
      contents: async (ids) =>
        ids.map((id) => {
          const text = texts.get(id);
          return text === undefined ? (git.blobs.get(id) ?? Buffer.alloc(0)) : Buffer.from(text);
        }),
      parents: async (commit) => (records.get(commit) ?? git.commits.get(commit))?.parents ?? [],
      describe: async (commits) =>
        commits.map((commit) => {
          const { parents = [] } = records.get(commit) ?? git.commits.get(commit) ?? {};
          const { tree = "", message = "" } = records.get(commit) ?? {};
          return { tree, parents, time: 0, message };
        }),
      lastCommitOf: async (path, commit) => {
        for (let one = git.commits.get(commit); one !== undefined; ) {
          const before = git.commits.get(one.parents[0] ?? "");
          const was = before && git.files(before.sha).get(path);
          if (git.files(one.sha).get(path) !== was) return one.sha;
          one = before;
        }
        return null;
      },
      history: async () => [],
      writer: "memory",
      commit: async (parent, edits, message) => {
        const name = createHash("sha1").update(`${records.size}`).digest("hex");
        const files = edited(records.get(parent ?? "")?.files ?? new Map(), edits);
        records.set(name, { files, parents: parent === null ? [] : [parent], message });
        return name;
      },
      writeTree: async (files) => {
        const name = createHash("sha1")
          .update(JSON.stringify([...files]))
          .digest("hex");
        trees.set(name, edited(new Map(), files));
        return name;
      },
      commitTree: async (tree, parent, message) => {
        const name = createHash("sha1").update(`${records.size}`).digest("hex");
        const parents = parent !== null && git.commits.has(parent) ? [parent] : [];
        records.set(name, { files: trees.get(tree) ?? new Map(), parents, tree, message });
        return name;
      },
      push: async (moves) => {
        if (!moves.every(isOfRun)) {
          const { interrupt } = memory;
          memory.interrupt = null;
          await interrupt?.();
        }
        if (moves.some(({ ref, from }) => (refs.get(ref) ?? null) !== from)) return false;
        for (const { ref, to } of moves) {
          if (to === null) refs.delete(ref);
          else refs.set(ref, to);
        }
        return true;
      },
    }),
  };
  const isOfRun = ({ ref, to }: { readonly ref: string; readonly to: string | null }): boolean =>
    ref.startsWith("runs/") || records.get(to ?? "")?.message?.startsWith("Runs\n") === true;
  const edited = (files: ReadonlyMap<string, string>, edits: FileEdits): ReadonlyMap<string, string> => {
    const next = new Map(files);
    for (const [path, text] of edits) {
      if (text === null) {
        next.delete(path);
        continue;
      }
      const id = `text-${texts.size}`;
      texts.set(id, text);
      next.set(path, id);
    }
    return next;
  };
  return memory;
}
