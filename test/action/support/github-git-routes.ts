import type { FakeGithub } from "./fake-github.ts";
import { Answer, commitJson, found, invalid, need, type Route } from "./github-answers.ts";
import type { BlobsByPath, GitCommit } from "./github-git.ts";

/** GitHub compares up to this many files. */
const MOST_COMPARED = 300;

/** The routes of branches, commits, trees, blobs and files. */
export function gitRoutes(fake: FakeGithub): readonly Route[] {
  const { git, branches } = fake;
  const shaOf = (ref: string): string => branches.get(ref.replace(/^refs\/heads\//, "")) ?? ref;
  const commitOf = (ref: string | undefined): GitCommit => found(git.commits.get(shaOf(ref ?? "")));
  const move = (branch: string, sha: string): object => {
    branches.set(branch, commitOf(sha).sha);
    for (const pull of fake.pulls) {
      if (pull.branch === branch && pull.merged === null) pull.head = sha;
    }
    return { ref: `refs/heads/${branch}`, object: { type: "commit", sha } };
  };
  const refs: readonly Route[] = [
    [
      "GET",
      /^\/git\/ref\/heads\/(.+)$/,
      ([, branch = ""]) => ({ object: { type: "commit", sha: found(branches.get(branch)) } }),
    ],
    [
      "GET",
      /^\/git\/matching-refs\/heads\/(.*)$/,
      ([, prefix = ""]) =>
        [...branches]
          .filter(([name]) => name.startsWith(prefix))
          .map(([name, sha]) => ({ ref: `refs/heads/${name}`, object: { type: "commit", sha } })),
    ],
    [
      "GET",
      /^\/branches\/(.+)$/,
      ([, name = ""]) => ({ name, commit: { sha: found(branches.get(name)) }, protected: name === "main" }),
    ],
    [
      "POST",
      /^\/git\/refs$/,
      (_, __, { ref, sha }) => {
        need(fake, "push");
        const branch = String(ref).replace(/^refs\/heads\//, "");
        if (branches.has(branch)) throw invalid("Reference already exists", "ref");
        return move(branch, String(sha));
      },
    ],
    [
      "PATCH",
      /^\/git\/refs\/heads\/(.+)$/,
      ([, branch = ""], _, { sha, force }) => {
        need(fake, "push");
        const is = found(branches.get(branch));
        const forward = git.history(String(sha)).includes(is);
        if (!forward && force !== true) throw invalid("Update is not a fast forward", "sha");
        return move(branch, String(sha));
      },
    ],
    [
      "DELETE",
      /^\/git\/refs\/heads\/(.+)$/,
      ([, branch = ""]) => {
        need(fake, "push");
        found(branches.get(branch));
        branches.delete(branch);
        return {};
      },
    ],
  ];
  const objects: readonly Route[] = [
    ["GET", /^\/git\/commits\/(\w+)$/, ([, sha]) => commitJson(commitOf(sha))],
    [
      "POST",
      /^\/git\/commits$/,
      (_, __, { message, tree, parents }) => {
        need(fake, "push");
        const at = fake.now();
        const given = {
          tree: String(tree),
          parents: parents as readonly string[],
          message: String(message),
          at,
        };
        return commitJson(found(git.commits.get(git.addCommit(given))));
      },
    ],
    [
      "GET",
      /^\/commits\/([\w./-]+)$/,
      ([, ref]) => {
        const commit = commitOf(ref);
        return { ...commitJson(commit), commit: commitJson(commit) };
      },
    ],
    [
      "POST",
      /^\/git\/trees$/,
      (_, __, { base_tree, tree }) => {
        need(fake, "push");
        const files = new Map(typeof base_tree === "string" ? git.files(base_tree) : []);
        for (const { path, sha, content } of tree as readonly NewEntry[]) {
          if (sha === null) files.delete(path);
          else files.set(path, sha ?? git.addBlob(content ?? ""));
        }
        return { sha: git.addTree(files) };
      },
    ],
    [
      "POST",
      /^\/git\/blobs$/,
      (_, __, { content, encoding }) => {
        need(fake, "push");
        const bytes = Buffer.from(String(content), encoding === "base64" ? "base64" : "utf8");
        return { sha: git.addBlob(bytes) };
      },
    ],
  ];
  const files: readonly Route[] = [
    [
      "GET",
      /^\/contents\/(.+)$/,
      ([, path = ""], query) => {
        need(fake, "contents");
        const sha = found(git.files(shaOf(query.get("ref") ?? "main")).get(path));
        const content = found(git.blobs.get(sha)).toString("base64");
        return { type: "file", path, sha, encoding: "base64", content };
      },
    ],
    [
      "PUT",
      /^\/contents\/(.+)$/,
      ([, path = ""], _, { message, content, sha, branch }) => {
        need(fake, "push");
        const name = String(branch ?? "main");
        const tip = commitOf(name);
        const all = new Map(git.files(tip.sha));
        if (all.get(path) !== (sha ?? undefined)) {
          throw new Answer(409, { message: `${path} does not match ${String(sha)}` });
        }
        const blob = git.addBlob(Buffer.from(String(content), "base64"));
        const tree = git.addTree(all.set(path, blob));
        const at = fake.now();
        const made = git.addCommit({ tree, parents: [tip.sha], message: String(message), at });
        move(name, made);
        return { content: { path, sha: blob }, commit: { sha: made } };
      },
    ],
    [
      "GET",
      /^\/compare\/(.+)\.\.\.(.+)$/,
      ([, base = "", head = ""]) => comparison(commitOf(base).sha, commitOf(head).sha, fake),
    ],
  ];
  return [...refs, ...objects, ...files];
}

interface NewEntry {
  readonly path: string;
  /** Null deletes it. */
  readonly sha?: string | null;
  readonly content?: string;
}

/** What a commit has that another one has not, as from their merge base. */
function comparison(base: string, head: string, { git }: FakeGithub): object {
  const [before, after] = [new Set(git.history(base)), new Set(git.history(head))];
  const ahead = [...after].filter((sha) => !before.has(sha));
  const behind = [...before].filter((sha) => !after.has(sha));
  const common = git.mergeBase(base, head) ?? "";
  const status =
    ahead.length === 0
      ? behind.length === 0
        ? "identical"
        : "behind"
      : behind.length === 0
        ? "ahead"
        : "diverged";
  return {
    status,
    ahead_by: ahead.length,
    behind_by: behind.length,
    merge_base_commit: { sha: common },
    commits: ahead.reverse().flatMap((sha) => {
      const commit = git.commits.get(sha);
      return commit === undefined ? [] : [commitJson(commit)];
    }),
    files: changed(git.files(common), git.files(head)).slice(0, MOST_COMPARED),
  };
}

function changed(before: BlobsByPath, after: BlobsByPath): readonly object[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((filename) => {
    const [was, is] = [before.get(filename), after.get(filename)];
    if (was === is) return [];
    const status = was === undefined ? "added" : is === undefined ? "removed" : "modified";
    return [{ filename, status, sha: is ?? was }];
  });
}
