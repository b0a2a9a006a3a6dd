import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { memoized } from "../../lib/memoized.ts";
import type { DesiredState, Origin } from "../../model/desired.ts";
import type { Io } from "../io/io.ts";
import { gitOutput } from "./git-output.ts";

/** The commit times of one file's lines. */
export interface FileTimes {
  /**
   * Returns the time of the latest commit that touched these lines, counted from 1; in ms since the epoch, `null` if
   * unknown.
   */
  lines(from: number, to: number): number | null;
  /** Time of the latest commit that touched the file; in ms since the epoch, `null` if unknown. */
  readonly file: number | null;
}

const UNKNOWN: FileTimes = { lines: () => null, file: null };

/**
 * Reads from git when each line of a file was last committed; what a merge brought in has the time of the merge.
 * Uncommitted lines have the time `now`. Without git, outside a repository, for an untracked file, and for lines older
 * than a shallow clone, the time is unknown.
 */
export async function gitTimes(file: string, cwd: string, now: number): Promise<FileTimes> {
  const path = resolve(cwd, file);
  const git = (...args: readonly string[]): Promise<string> => gitOutput(dirname(path), args);
  try {
    const [log, blame, shallow] = await Promise.all([
      git("log", "-1", "--first-parent", "--format=%ct %P", "--", basename(path)),
      git("blame", "--first-parent", "--line-porcelain", "--", basename(path)),
      isShallow(dirname(path)),
    ]);
    const times = parseBlame(blame, now, shallow);
    const [committed = "", parent = ""] = log.trim().split(" ");
    // The boundary of a shallow clone has no parents, and seems to have changed every file.
    const isKnown = committed !== "" && !(shallow && parent === "");
    const newest = (some: readonly number[]): number | null =>
      knownTime(Math.max(...some.filter((time) => !Number.isNaN(time))));
    return {
      file: isKnown ? newest([Number(committed) * 1000, ...times.filter((time) => time === now)]) : null,
      lines: (from, to) => newest(times.slice(from - 1, to)),
    };
  } catch {
    return UNKNOWN;
  }
}

/** Returns whether a folder belongs to a clone without its older commits. */
export async function isShallow(cwd: string): Promise<boolean> {
  try {
    return (await gitOutput(cwd, ["rev-parse", "--is-shallow-repository"])).trim() === "true";
  } catch {
    return false;
  }
}

/** Says what a shallow clone means for drift. */
export const SHALLOW_WARNING =
  "The clone is shallow, so it is unknown which side of older entries changed last. Fetch the full history: git fetch --unshallow.";

const FETCH_TIMEOUT_MS = 120_000;

/**
 * Fetches the older commits of a shallow clone: with the clone's own credentials, else with a token for a server.
 * Returns whether the clone is complete.
 */
export async function deepen(
  { cwd, env }: Pick<Io, "cwd" | "env">,
  { serverUrl, token }: { readonly serverUrl: string; readonly token: string },
): Promise<boolean> {
  const basic = Buffer.from(`x-access-token:${token}`).toString("base64");
  // Not as an argument, which other processes could read.
  const header = {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${serverUrl}/.extraheader`,
    GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${basic}`,
  };
  for (const credentials of token === "" ? [{}] : [{}, header]) {
    if (!(await isShallow(cwd))) break;
    await gitOutput(cwd, ["fetch", "--quiet", "--unshallow"], {
      env: { ...env, GIT_TERMINAL_PROMPT: "0", ...credentials },
      timeout: FETCH_TIMEOUT_MS,
    }).catch(() => undefined);
  }
  return !(await isShallow(cwd));
}

/** Parses the time of each line from `git blame --line-porcelain`; `NaN` at the boundary of a shallow clone. */
function parseBlame(output: string, now: number, shallow: boolean): readonly number[] {
  const times: number[] = [];
  let committed = true;
  let time = now;
  for (const line of output.split("\n")) {
    if (/^[0-9a-f]{40,64} \d+ \d+/.test(line)) committed = !/^0+ /.test(line);
    else if (line.startsWith("committer-time "))
      time = committed ? Number(line.slice("committer-time ".length)) * 1000 : now;
    else if (shallow && line === "boundary") time = Number.NaN;
    else if (line.startsWith("\t")) times.push(time);
  }
  return times;
}

/** Times of the last commits of a file and its entries; in ms since the epoch, `null` if unknown. */
export interface History {
  readonly file: number | null;
  entry(origin: Pick<Origin, "path">): number | null;
}

/** Reads a file with its commit times. */
async function readHistory(file: string, { cwd, now }: Pick<Io, "cwd" | "now">): Promise<History> {
  const [text, times, { spanFinder }] = await Promise.all([
    readFile(resolve(cwd, file), "utf8"),
    gitTimes(file, cwd, now()),
    // Loaded only here: most plans need no history.
    import("../../kernel/yaml/locate.ts"),
  ]);
  const spanOf = spanFinder(text);
  return {
    file: times.file,
    entry({ path }) {
      const span = spanOf(path);
      return span ? times.lines(span.line, span.endLine) : null;
    },
  };
}

/** Returns a function that reads an entry's commit time; git runs once for each file. */
export function entryTimes(io: Pick<Io, "cwd" | "now">): (origin: Origin) => Promise<number | null> {
  const historyOf = memoized((file: string) => readHistory(file, io));
  return async (origin) => (await historyOf(origin.file)).entry(origin);
}

/** Reads the histories of the files of a merchant's entries, by file. */
export async function readHistories(
  state: DesiredState,
  io: Pick<Io, "cwd" | "now">,
): Promise<ReadonlyMap<string, History>> {
  const entries = [...(state.roles ?? []), ...(state.members ?? [])];
  const files = [...new Set([state.origin.file, ...entries.map(({ origin }) => origin.file)])];
  return new Map(await Promise.all(files.map(async (file) => [file, await readHistory(file, io)] as const)));
}

/** Returns a time in ms since the epoch; `null` for one that is unknown. */
export function knownTime(time: number | undefined): number | null {
  return time === undefined || !Number.isFinite(time) ? null : time;
}
