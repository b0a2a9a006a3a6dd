import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Io } from "../../app/io/io.ts";
import type { RemovedMerchant } from "../../app/project/changed-since.ts";
import { defaultPath } from "../../app/project/find-files.ts";
import type { Git } from "../../app/project/git-objects.ts";
import { gitOutput } from "../../app/project/git-output.ts";
import { inShard, type Shard } from "../../app/project/shard.ts";
import { parseYaml } from "../../kernel/yaml/parse-yaml.ts";
import { oneLine } from "../../lib/escape.ts";
import type { UnmanagedMerchant } from "../../show/markdown/review-sections.ts";

const run = promisify(execFile);

/** A merchant whose file was removed, or names another merchant. */
interface LateMerchant extends RemovedMerchant {
  /** True if the file still exists and names another merchant. */
  readonly exists: boolean;
}

/** Limits how many former versions of files are read. */
const MAX_FILES = 100;

/**
 * Finds merchants whose files were removed, or now name another merchant: since the branch was created from the default
 * branch, else in the last commit, or in the working tree. Without git there are none, and none are looked for if the
 * files are compared with a commit. Never rejects, so that git can run beside the reading of files and live states.
 */
export async function findRemoved(
  paths: readonly string[],
  { changedSince }: { readonly changedSince?: string },
  { cwd }: Pick<Io, "cwd">,
): Promise<readonly LateMerchant[]> {
  if (changedSince !== undefined) return [];
  const git: Git = (...args) => gitOutput(cwd, args);
  try {
    const base = await baseCommit(git, cwd);
    const selectedPaths = paths.length > 0 ? paths : [defaultPath(cwd)];
    const diff = await git(
      ...[
        "diff",
        "--name-status",
        "--diff-filter=DM",
        "-G^[\"']?merchant",
        "--no-renames",
        "--no-ext-diff",
        "-z",
      ],
      ...[base, "--", ...selectedPaths],
    );
    const files = [...diff.matchAll(/([DM])\0([^\0]*\.ya?ml)\0/gi)];
    if (files.length === 0) return [];
    const removed = await Promise.all(
      files.slice(0, MAX_FILES).map(async ([, status, file]) => {
        const { value } = await parseYaml(await git("show", `${base}:${file}`));
        return { file, merchant: Object(value)["merchant"], exists: status === "M" };
      }),
    );
    return removed.filter((each): each is LateMerchant => typeof each.merchant === "string");
  } catch {
    return [];
  }
}

/** The names that the default branch may have. */
const DEFAULT_BRANCHES = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/** Returns the merge base with the default branch; on the default branch, the previous commit. */
async function baseCommit(git: Git, cwd: string): Promise<string> {
  const [head, previous, ...branches] = await commitIds(["HEAD", "HEAD^", ...DEFAULT_BRANCHES], cwd);
  if (!head) throw new TypeError("The repository has no commit");
  for (const branch of new Set(branches)) {
    if (branch === null || branch === head) continue;
    const fork: string = await git("merge-base", head, branch).then(
      (text) => text.trim(),
      () => head,
    );
    if (fork !== head) return fork;
  }
  return previous ?? head;
}

/** Returns the ids of commits by their names, `null` for one that does not exist; git starts once. */
async function commitIds(names: readonly string[], cwd: string): Promise<readonly (string | null)[]> {
  const answers = run("git", ["cat-file", "--batch-check"], { cwd });
  // Without git, the rejection says so.
  answers.child.stdin?.on("error", () => undefined);
  answers.child.stdin?.end(`${names.join("\n")}\n`);
  const { stdout } = await answers;
  const lines = stdout.split("\n");
  return names.map((_, index) => /^(\w+) commit /.exec(lines[index] ?? "")?.[1] ?? null);
}

/**
 * Warns of merchants that are no longer managed, a line each: those of the commit that the files were compared with,
 * else those whose files were removed recently and that no other file names. Returns them.
 */
export function warnUnmanaged(
  removed: readonly LateMerchant[],
  {
    states,
    unmanaged,
  }: {
    readonly states: readonly { readonly merchant: string }[];
    readonly unmanaged?: readonly RemovedMerchant[];
  },
  {
    shard,
    quiet,
    changedSince = "",
  }: { readonly shard?: Shard; readonly quiet?: boolean; readonly changedSince?: string },
  io: Pick<Io, "stderr">,
): readonly UnmanagedMerchant[] {
  const present = new Set(states.map(({ merchant }) => merchant));
  const former =
    unmanaged?.map(({ merchant, file }) => ({
      merchant,
      reason: `${file} declared it at ${changedSince}`,
    })) ?? removed.filter(({ merchant }) => !present.has(merchant)).map(unmanagedOf);
  const told = inShard(former, shard);
  for (const { merchant, reason } of quiet ? [] : told) {
    io.stderr.write(
      `warning: ${oneLine(merchant)} is no longer managed: ${oneLine(reason)}. Its live state stays as it is.\n`,
    );
  }
  return told;
}

function unmanagedOf({ merchant, file, exists }: LateMerchant): UnmanagedMerchant {
  return { merchant, reason: `${file} ${exists ? "now names another merchant" : "was removed"}` };
}
