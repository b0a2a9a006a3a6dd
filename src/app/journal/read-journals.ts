import { existsSync } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type UnrestoredMember, unrestoredMembers } from "../../kernel/diff/lost-state.ts";
import type { PastRun, PastWrite, ReadJournal, RunStatus } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import { parseJournal } from "../../runs/journal-file.ts";
import { netEffects } from "../../runs/net-effects.ts";
import type { LostInvitation } from "../../show/view/run-view.ts";
import type { Io } from "../io/io.ts";
import { isAlive, OWN_UID, withoutRepository } from "../io/processes.ts";
import { gitOutput } from "../project/git-output.ts";
import { runsFolder } from "./runs-folder.ts";

/** A journal file. */
export interface StoredRun {
  /** The file's name without its extension. */
  readonly name: string;
  /** Displayed path. */
  readonly file: string;
  /**
   * Set if git tracks it, or git is in use and cannot tell: anybody who can change the repository may have written it,
   * so it is not read.
   */
  readonly tracked?: "yes" | "unknown";
}

/** A journal file with its parsed content. */
export type FoundRun = StoredRun &
  (
    | {
        readonly past: PastRun;
        readonly status: RunStatus;
        /** Members whose fields the run may have left empty. */
        readonly unrestored: readonly UnrestoredMember[];
        readonly lost: readonly LostInvitation[];
      }
    | {
        readonly unreadable: string;
        /** Set if even its first line is incomplete, which means that the run has sent nothing. */
        readonly unstarted?: true;
        /** Set if it is not read because of where it comes from. */
        readonly distrusted?: true;
      }
  );

/** The suffix of a journal's file name. */
export const EXTENSION = ".jsonl";
const MAX_BYTES = 256 * 1024 * 1024;

/** Matches the time at the start of a journal's name, which the journals of one run share. */
const TIME = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3}Z)/;

/** Formats a time as a run's id, sortable and a file name on every platform: `2026-11-21T13-05-00-123Z`. */
export function runIdAt(time: number): string {
  return new Date(time).toISOString().replaceAll(/[:.]/g, "-");
}

/** Returns the time in the name of a journal, in ms since the epoch; `null` for other names. */
export function timeOfRun(name: string): number | null {
  const [, hour, minute, second, rest] = TIME.exec(name) ?? [];
  const time = Date.parse(`${hour}:${minute}:${second}.${rest}`);
  return Number.isNaN(time) ? null : time;
}

/** Returns the prefix that a run's journals share. */
export function beginningOf(name: string): string {
  return TIME.exec(name)?.[0] ?? name;
}

/** Lists the journals, the newest first; empty without a folder. */
export async function listRuns(cwd: string): Promise<readonly StoredRun[]> {
  const { folder, names } = await journalNames(cwd);
  const tracked = names.length === 0 ? NONE : await trackedIn(folder);
  return names
    .map((file): StoredRun => {
      const stored = { name: file.slice(0, -EXTENSION.length), file: relative(cwd, join(folder, file)) };
      if (tracked === "unknown") return { ...stored, tracked };
      return tracked.has(file) ? { ...stored, tracked: "yes" } : stored;
    })
    .sort((a, b) => (isLater(a.name, b.name) ? -1 : 1));
}

/** Returns the part of a journal's name that stands for a merchant. */
export function nameOf(merchant: string): string {
  return merchant.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}

/** Returns the folder of the journals, and the names of their files. */
export async function journalNames(
  cwd: string,
): Promise<{ readonly folder: string; readonly names: readonly string[] }> {
  const folder = runsFolder(cwd);
  try {
    // A link may come with a checkout, and lead to files that somebody else wrote.
    for (const path of [dirname(folder), folder]) {
      if (!(await lstat(path)).isDirectory())
        throw Object.assign(new Error(`${path} is not a folder`), { code: "ENOTDIR" });
    }
    const entries = await readdir(folder, { withFileTypes: true });
    // Reading a FIFO or a device might never end.
    const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(EXTENSION));
    return { folder, names: files.map(({ name }) => name) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { folder, names: [] };
    throw new RolecallError("file-unreadable", `${relative(cwd, folder)} cannot be read.`, {
      hint: "It contains the journals of past runs. It and .rolecall must not be links.",
      cause: error,
    });
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Returns the names of the files in a folder that git tracks; empty outside a repository. */
async function trackedIn(folder: string): Promise<ReadonlySet<string> | "unknown"> {
  if (!isInRepository(folder)) return NONE;
  try {
    const listed = await gitOutput(folder, ["ls-files", "-z", "--", "."], { env: withoutRepository() });
    return new Set(listed.split("\0"));
  } catch {
    return "unknown";
  }
}

function isInRepository(folder: string): boolean {
  for (let directory = folder; ; directory = dirname(directory)) {
    if (existsSync(join(directory, ".git"))) return true;
    if (dirname(directory) === directory) return false;
  }
}

/** Returns the paths of all journals; empty if they cannot be listed. */
export async function journalFiles(cwd: string): Promise<readonly string[]> {
  const { folder, names } = await journalNames(cwd).catch(() => ({ folder: cwd, names: [] }));
  return names.map((name) => relative(cwd, join(folder, name)));
}

const collator = new Intl.Collator("en", { numeric: true });

/** Compares by number: of two journals of one millisecond, "-10" is later than "-9". */
export function isLater(name: string, other: string): boolean {
  return collator.compare(name, other) > 0;
}

/** Reads and parses a journal; one that git tracks or that belongs to another user is not read. */
export async function readRun(
  stored: StoredRun,
  io: Pick<Io, "cwd" | "now">,
  uid = OWN_UID,
): Promise<FoundRun> {
  const distrusted = (why: string): FoundRun => ({
    ...stored,
    unreadable: `${stored.file}: ${why}`,
    distrusted: true,
  });
  if (stored.tracked === "yes") {
    return distrusted("git tracks it, so it may come from another machine");
  }
  if (stored.tracked === "unknown") {
    return distrusted('git cannot tell whether it tracks the file: "git status" must work here');
  }
  const read = await readText(join(io.cwd, stored.file));
  if ("text" in read && uid !== null && read.uid !== uid) return distrusted("it belongs to another user");
  const journal: ReadJournal = "text" in read ? parseJournal(read.text) : { ok: false, line: null, ...read };
  const unstarted = "text" in read && !journal.ok && journal.line === null;
  const found = foundRun(stored, journal, (past) => isAlive(past, io.now()));
  return { ...found, ...(unstarted && { unstarted }) };
}

/** Returns a journal with its status. */
export function foundRun(
  stored: StoredRun,
  journal: ReadJournal,
  isRunningNow: (past: PastRun) => boolean,
): FoundRun {
  if (!journal.ok) {
    const place = journal.line === null ? stored.file : `${stored.file}:${journal.line}`;
    return { ...stored, unreadable: `${place}: ${journal.reason}` };
  }
  const status = runStatus(journal.run, isRunningNow(journal.run));
  const isRunning = status === "running";
  const unrestored = isRunning ? [] : unrestoredMembers(journal.run);
  const lost = isRunning ? [] : lostInvitations(journal.run);
  return { ...stored, past: journal.run, status, unrestored, lost };
}

function lostInvitations(past: PastRun): readonly LostInvitation[] {
  return netEffects(past).members.flatMap(({ name, before, lost }) =>
    lost && before ? [{ name, before }] : [],
  );
}

async function readText(
  path: string,
): Promise<{ readonly text: string; readonly uid: number } | { readonly reason: string }> {
  try {
    const file = await open(path, "r");
    try {
      const info = await file.stat();
      if (!info.isFile()) return { reason: "it is not a regular file" };
      if (info.size > MAX_BYTES) return { reason: `it has more than ${MAX_BYTES / 1024 / 1024} MiB` };
      return { text: await file.readFile("utf8"), uid: info.uid };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { reason: `it cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}

/** Returns whether a journal belongs to one of these merchants; for an unreadable journal, by its name. */
export function isOf(run: FoundRun, merchants: readonly string[]): boolean {
  if ("past" in run) return merchants.includes(run.past.run.merchant);
  return merchantsIn(run).some((merchant) => merchants.includes(merchant));
}

/** Returns the merchants that a journal may be of, by its name; a later run of one millisecond has a number after that. */
function merchantsIn({ name }: StoredRun): readonly string[] {
  const [, suffix] = /Z-(.+)$/.exec(name) ?? [];
  const [, merchant] = /^(.+)-\d+$/.exec(suffix ?? "") ?? [];
  return [suffix, merchant].flatMap((code) => code ?? []);
}

/** Returns a run's status; `alive` is true if the process that wrote the journal is still running. */
export function runStatus(run: PastRun, alive: boolean): RunStatus {
  const { end, verified } = run;
  if (end === null) return alive ? "running" : "interrupted";
  if (unknownWrites(run).length > 0) return "unknown-outcome";
  if (end.status === "stopped") return "stopped";
  if (end.status === "incomplete") return "incomplete";
  return verified !== null && verified.left.length > 0 ? "incomplete" : "done";
}

/** Statuses, the most important first. */
const BY_IMPORTANCE: readonly RunStatus[] = [
  "running",
  "began",
  "interrupted",
  "unknown-outcome",
  "stopped",
  "incomplete",
  "done",
];

/** Returns the most important of the merchants' statuses; `null` if there is none. */
export function jointStatus(statuses: readonly RunStatus[]): RunStatus | null {
  return BY_IMPORTANCE.find((status) => statuses.includes(status)) ?? null;
}

/** Returns the writes with an unknown outcome. */
function unknownWrites({ writes }: Pick<PastRun, "writes">): readonly PastWrite[] {
  return writes.filter(({ outcome }) => outcome === null || outcome.status === "unknown");
}
