import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ExitCode, type Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import type { OutputOptions } from "../../app/project/command-options.ts";
import { defaultPath } from "../../app/project/find-files.ts";
import { jobMatrix } from "../../app/project/job-matrix.ts";
import { isFileError, type Loaded, loadStates, noneChanged } from "../../app/project/load-states.ts";
import { emptyShard, isInShard, type Shard } from "../../app/project/shard.ts";
import { parseYaml } from "../../kernel/read/load-sources.ts";
import { oneLine } from "../../lib/escape.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { UnmanagedMerchant } from "../../show/markdown/review-sections.ts";
import { renderDiagnostics } from "../../show/text/diagnostics-text.ts";

/** The options of `list`. */
export type ListCommandOptions = OutputOptions & {
  readonly merchant: readonly string[];
  readonly shard?: Shard;
  readonly changedSince?: string;
  readonly using?: string;
  readonly jobs: number;
};

/** Prints the merchants of the files, or as JSON a workflow matrix of them. */
export async function listMerchants(
  paths: readonly string[],
  options: ListCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const { shard, merchant: merchants, changedSince, using, jobs, format, color } = options;
  const isWhole = merchants.length === 0 && using === undefined;
  const removed = isWhole ? findRemoved(paths, options, io) : NONE;
  const loaded = await loadStates(paths, {
    merchants,
    cwd: io.cwd,
    now: io.now(),
    withoutEntries: true,
    ...(changedSince !== undefined && { changedSince }),
    ...(using !== undefined && { using }),
  });
  const errors = loaded.diagnostics.filter(isFileError);
  if (errors.length > 0) {
    io.stderr.write(`${renderDiagnostics(errors, styleFor(io.stderr, io, color))}\n`);
  }
  const states = shard ? loaded.states.filter((state) => isInShard(state.merchant, shard)) : loaded.states;
  if (shard && states.length === 0 && loaded.states.length > 0) io.stderr.write(emptyShard(shard));
  else io.stderr.write(noneChanged(options, loaded));
  if (isWhole) warnUnmanaged(await removed, loaded, options, io);
  io.stdout.write(format === "json" ? `${JSON.stringify(jobMatrix(states, jobs))}\n` : table(states));
  return errors.length > 0 ? ExitCode.failed : ExitCode.ok;
}

function table(states: readonly DesiredState[]): string {
  const rows = states.map(({ merchant, environment, origin }) => [
    merchant,
    environment ?? "-",
    oneLine(origin.file),
  ]);
  const widthOf = (column: number): number => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0));
  const widths = [widthOf(0), widthOf(1)];
  return rows
    .map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}\n`)
    .join("");
}

const run = promisify(execFile);

/** A merchant whose file was removed, or names another merchant. */
interface RemovedMerchant {
  readonly merchant: string;
  /** Relative to the root of the repository. */
  readonly file: string;
  /** True if the file still exists and names another merchant. */
  readonly exists: boolean;
}

/** Limits how many former versions of files are read. */
const MAX_FILES = 100;

const NONE: Promise<readonly RemovedMerchant[]> = Promise.resolve([]);

/**
 * Finds merchants whose files were removed, or name another merchant, since the branch left the default one, else by
 * the last commit, or in the working tree. Without git there are none, and none are sought if the files are compared
 * with a commit. Never rejects, so that git can run beside the reading of files and live states.
 */
export async function findRemoved(
  paths: readonly string[],
  { changedSince }: { readonly changedSince?: string },
  { cwd }: Pick<Io, "cwd">,
): Promise<readonly RemovedMerchant[]> {
  if (changedSince !== undefined) return [];
  const git = async (...args: readonly string[]): Promise<string> =>
    (await run("git", args, { cwd, maxBuffer: 64 * 1024 * 1024 })).stdout;
  try {
    const base = await baseCommit(git);
    const wanted = paths.length > 0 ? paths : [defaultPath(cwd)];
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
      ...[base, "--", ...wanted],
    );
    const files = [...diff.matchAll(/([DM])\0([^\0]*\.ya?ml)\0/gi)];
    if (files.length === 0) return [];
    const removed = await Promise.all(
      files.slice(0, MAX_FILES).map(async ([, status, file]) => {
        const { value } = await parseYaml(await git("show", `${base}:${file}`));
        return { file, merchant: Object(value)["merchant"], exists: status === "M" };
      }),
    );
    return removed.filter((one): one is RemovedMerchant => typeof one.merchant === "string");
  } catch {
    return [];
  }
}

/** Returns the commit where the branch left the default branch; on the default branch, the previous commit. */
async function baseCommit(git: (...args: readonly string[]) => Promise<string>): Promise<string> {
  const resolved = async (...args: readonly string[]): Promise<string | null> =>
    git(...args).then(
      (text) => text.trim() || null,
      () => null,
    );
  const head = await git("rev-parse", "HEAD");
  for (const branch of ["origin/HEAD", "origin/main", "origin/master", "main", "master"]) {
    const fork = await resolved("merge-base", "HEAD", branch);
    if (fork !== null && fork !== head.trim()) return fork;
  }
  return (await resolved("rev-parse", "--verify", "--quiet", "HEAD^")) ?? head.trim();
}

/**
 * Warns of merchants that are no longer managed, a line each: those of the commit that the files were compared with, else
 * those whose files were removed lately and that no other file names now. Returns them.
 */
export function warnUnmanaged(
  removed: readonly RemovedMerchant[],
  { states, unmanaged }: Pick<Loaded, "states" | "unmanaged">,
  {
    shard,
    quiet,
    changedSince = "",
  }: { readonly shard?: Shard; readonly quiet?: boolean; readonly changedSince?: string },
  io: Pick<Io, "stderr">,
): readonly UnmanagedMerchant[] {
  const present = new Set(states.map(({ merchant }) => merchant));
  const former =
    unmanaged?.map(({ merchant, origin }) => ({
      merchant,
      reason: `${origin.file} declared it at ${changedSince}`,
    })) ?? removed.filter(({ merchant }) => !present.has(merchant)).map(unmanagedOf);
  const told = former.filter(({ merchant }) => shard === undefined || isInShard(merchant, shard));
  for (const { merchant, reason } of quiet ? [] : told) {
    io.stderr.write(
      `warning: ${oneLine(merchant)} is no longer managed: ${oneLine(reason)}. Its live state stays as it is.\n`,
    );
  }
  return told;
}

function unmanagedOf({ merchant, file, exists }: RemovedMerchant): UnmanagedMerchant {
  return { merchant, reason: `${file} ${exists ? "now names another merchant" : "was removed"}` };
}
