import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { promisify } from "node:util";
import { COMMIT_PRECISION, type DriftTimes } from "../../ask/report/detect-drift.ts";
import type { DesiredState, Origin } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type { Change, Plan } from "../../model/plan.ts";
import type { Io } from "../io/io.ts";
import { declaredAt, lastMentions } from "./declared-history.ts";

const run = promisify(execFile);
const MAX_OUTPUT = 256 * 1024 * 1024;

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
  const git = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await run("git", args, { cwd: dirname(path), maxBuffer: MAX_OUTPUT });
    return stdout;
  };
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
    const { stdout } = await run("git", ["rev-parse", "--is-shallow-repository"], { cwd });
    return stdout.trim() === "true";
  } catch {
    return false;
  }
}

/** Says what a shallow clone means for drift. */
export const SHALLOW_WARNING =
  "The clone is shallow, so it is unknown which side changed older entries last. Fetch the whole history: git fetch --unshallow.";

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
    await run("git", ["fetch", "--quiet", "--unshallow"], {
      cwd,
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

/** When a file and its entries were last committed; in ms since the epoch, `null` if unknown. */
interface History {
  readonly file: number | null;
  entry(origin: Pick<Origin, "path">): number | null;
}

/** Reads a file with its commit times. */
async function readHistory(file: string, { cwd, now }: Pick<Io, "cwd" | "now">): Promise<History> {
  const [text, times, { locate }] = await Promise.all([
    readFile(resolve(cwd, file), "utf8"),
    gitTimes(file, cwd, now()),
    // Loaded only here: most plans need no history.
    import("../../kernel/yaml/locate.ts"),
  ]);
  return {
    file: times.file,
    entry({ path }) {
      const span = locate(text, path);
      return span ? times.lines(span.line, span.endLine) : null;
    },
  };
}

/** Returns a function that reads an entry's commit time; git runs once for each file. */
export function entryTimes(io: Pick<Io, "cwd" | "now">): (origin: Origin) => Promise<number | null> {
  const histories = new Map<string, Promise<History>>();
  return async (origin) => {
    const { file } = origin;
    const history = histories.get(file) ?? readHistory(file, io);
    histories.set(file, history);
    return (await history).entry(origin);
  };
}

/**
 * Reads when each side of a merchant's changes last changed: what the file declares of a role or member from git, and the
 * live one from the service. `changes` are those of the plan.
 */
export async function driftTimes(
  state: DesiredState,
  live: LiveState,
  { changes, refusals }: Pick<Plan, "changes" | "refusals">,
  io: Pick<Io, "cwd" | "now">,
): Promise<DriftTimes> {
  const updated = new Map(
    [...live.roles, ...live.members].map(({ id, updatedAt }) => [id, Date.parse(updatedAt)]),
  );
  const liveTime = ({ id }: Pick<Change, "id">): number | null =>
    knownTime(id === null ? undefined : updated.get(id));
  const refused = new Set(refusals.flatMap(({ name }) => name ?? []));
  const ids = [...changes, ...live.roles.filter(({ name }) => refused.has(name))].flatMap(
    ({ id }) => id ?? [],
  );
  const moments = ids.flatMap((id) => momentBefore(liveTime({ id })) ?? []);
  const [files, past] = await Promise.all([readHistories(state, io), declaredAt(state, moments, io.cwd)]);
  const origins = originsOf(state);
  const newest = Math.max(...[...files.values()].map((history) => history.file ?? Number.NaN));
  const unlisted = changes.filter((change) => past.size > 0 && !origins.has(keyOf(change)));
  const mentions = await (unlisted.length === 0
    ? new Map<string, number>()
    : lastMentions(
        state,
        unlisted.map(({ name }) => name),
        io.cwd,
      ));
  return {
    live: liveTime,
    file: (change) => {
      const moment = momentBefore(liveTime(change));
      const before = past.get(moment ?? Number.NaN);
      // Later commits declare the same for this role or member.
      if (before && sameDeclared(change, before.state, state)) {
        const mentioned = mentions.get(change.name);
        // It was declared since, and is not any more.
        if (mentioned !== undefined && moment !== null && mentioned > moment) return mentioned;
        return before.committed ?? NEVER;
      }
      const origin = origins.get(keyOf(change));
      // A removed entry has no lines, so the time of the merchant's files is used.
      if (origin === undefined) return knownTime(newest);
      const history = files.get(origin.file);
      return history?.entry(origin) ?? null;
    },
  };
}

/** The time of what was never committed. */
const NEVER = Number.NEGATIVE_INFINITY;

/** Returns the last moment before a change that a commit can be told from it. */
function momentBefore(time: number | null): number | null {
  return time === null ? null : time - COMMIT_PRECISION;
}

/** Returns whether two states declare the same of a role or member; `null` declares nothing. */
function sameDeclared(change: Change, past: DesiredState | null, now: DesiredState): boolean {
  const [earlier, other] = [past && declaredOf(change, past), declaredOf(change, now)];
  const nothing = JSON.stringify({ entry: null });
  if (earlier === null) return other.startsWith(nothing.slice(0, -1));
  return earlier === other;
}

/** Returns what a state declares of a role or member, as text; without an entry, what becomes of it. */
function declaredOf({ resource, name, id }: Change, state: DesiredState): string {
  const isRole = resource === "role";
  const entry = isRole
    ? state.roles?.find((role) => role.name === name || (id !== null && role.id === id))
    : state.members?.find(
        (member) => member.email.toLowerCase() === name.toLowerCase() || (id !== null && member.id === id),
      );
  if (entry !== undefined) {
    return JSON.stringify({ entry }, (key, value: unknown) => (key === "origin" ? undefined : value));
  }
  const section = isRole ? "roles" : "members";
  return JSON.stringify({
    entry: null,
    managed: state[section] !== undefined,
    sync: state.sync[section],
    ignore: state.ignore[section],
  });
}

async function readHistories(
  state: DesiredState,
  io: Pick<Io, "cwd" | "now">,
): Promise<ReadonlyMap<string, History>> {
  const entries = [...(state.roles ?? []), ...(state.members ?? [])];
  const files = [...new Set([state.origin.file, ...entries.map(({ origin }) => origin.file)])];
  const histories = await Promise.all(
    files.map(async (file): Promise<[string, History]> => {
      return [file, await readHistory(file, io)];
    }),
  );
  return new Map(histories);
}

function originsOf({ roles = [], members = [] }: DesiredState): ReadonlyMap<string, Origin> {
  return new Map([
    ...roles.map(({ name, origin }) => [`role ${name}`, origin] as const),
    ...members.map(({ email, origin }) => [`member ${email.toLowerCase()}`, origin] as const),
  ]);
}

function keyOf({ resource, name }: Change): string {
  return `${resource} ${resource === "member" ? name.toLowerCase() : name}`;
}

function knownTime(time: number | undefined): number | null {
  return time === undefined || !Number.isFinite(time) ? null : time;
}
