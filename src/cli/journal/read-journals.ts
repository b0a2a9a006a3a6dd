import { open, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseJournal } from "../../config/saved/journal-file.ts";
import { normalizeServiceUrl } from "../../lib/text.ts";
import type { PastRun, PastWrite, ReadJournal, RunStatus } from "../../model/apply.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import {
  stillEmpty,
  type UnrestoredMember,
  unrestoredMembers,
  withoutSettled,
} from "../../plan/undo/lost-state.ts";
import type { Io } from "../io/io.ts";
import { isAlive } from "../io/node-io.ts";
import { runsFolder } from "./write-journal.ts";

/** A journal file. */
export interface StoredRun {
  /** The file's name without its extension. */
  readonly name: string;
  /** Displayed path. */
  readonly file: string;
}

/** A journal file with its parsed content. */
export type FoundRun = StoredRun &
  (
    | {
        readonly past: PastRun;
        readonly status: RunStatus;
        /** Members whose fields the run may have left empty. */
        readonly unrestored: readonly UnrestoredMember[];
      }
    | {
        readonly unreadable: string;
        /** Set if it ends before its first line does, so that the run has sent nothing. */
        readonly unstarted?: true;
      }
  );

/** The suffix of a journal's file name. */
export const EXTENSION = ".jsonl";
const MAX_BYTES = 256 * 1024 * 1024;

/** Matches the time at the start of a journal's name, which the journals of one run share. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z/;

/** Returns the prefix that a run's journals share. */
export function beginningOf(name: string): string {
  return TIME.exec(name)?.[0] ?? name;
}

/** Lists the journals, the newest first; empty without a folder. */
export async function listRuns(cwd: string): Promise<readonly StoredRun[]> {
  const folder = await runsFolder(cwd);
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new RolecallError("file-unreadable", `${relative(cwd, folder)} cannot be read.`, {
      hint: "It holds the journals of past runs.",
      cause: error,
    });
  });
  return (
    entries
      // Reading a FIFO or a device might never end.
      .filter((entry) => entry.isFile() && entry.name.endsWith(EXTENSION))
      .map(({ name: file }) => ({
        name: file.slice(0, -EXTENSION.length),
        file: relative(cwd, join(folder, file)),
      }))
      .sort((a, b) => (isLater(a.name, b.name) ? -1 : 1))
  );
}

/** Returns the journals of a merchant by their names, the newest first. */
export type RunsOf = (merchant: string) => Promise<readonly StoredRun[]>;

/** Returns a lookup of merchants' journals that lists them once; there are none if they cannot be listed. */
export function runsListedOnce(cwd: string): RunsOf {
  let known: Promise<ReadonlyMap<string, readonly StoredRun[]>> | undefined;
  return async (merchant) => {
    known ??= listRuns(cwd).then(byMerchant, () => new Map());
    return (await known).get(merchant) ?? [];
  };
}

function byMerchant(stored: readonly StoredRun[]): ReadonlyMap<string, readonly StoredRun[]> {
  const runs = new Map<string, StoredRun[]>();
  for (const one of stored) {
    for (const merchant of merchantsIn(one)) {
      const own = runs.get(merchant) ?? [];
      own.push(one);
      runs.set(merchant, own);
    }
  }
  return runs;
}

/** Returns the paths of all journals; empty if they cannot be listed. */
export async function journalFiles(cwd: string): Promise<readonly string[]> {
  const stored = await listRuns(cwd).catch(() => []);
  return stored.map(({ file }) => file);
}

const collator = new Intl.Collator("en", { numeric: true });

/** Compares by number: of two journals of one millisecond, "-10" is later than "-9". */
function isLater(one: string, other: string): boolean {
  return collator.compare(one, other) > 0;
}

/** Reads and parses a journal. */
export async function readRun(stored: StoredRun, io: Pick<Io, "cwd" | "now">): Promise<FoundRun> {
  const read = await readText(join(io.cwd, stored.file));
  const journal: ReadJournal = "text" in read ? parseJournal(read.text) : { ok: false, line: null, ...read };
  if (journal.ok) {
    const status = runStatus(journal.run, isAlive(journal.run, io.now()));
    const unrestored = status === "running" ? [] : unrestoredMembers(journal.run);
    return { ...stored, past: journal.run, status, unrestored };
  }
  const place = journal.line === null ? stored.file : `${stored.file}:${journal.line}`;
  const unstarted = "text" in read && journal.line === null;
  return { ...stored, unreadable: `${place}: ${journal.reason}`, ...(unstarted && { unstarted }) };
}

/** Returns whether a journal contains a text, without parsing it. */
export async function mentions(stored: StoredRun, text: string, io: Pick<Io, "cwd">): Promise<boolean> {
  const read = await readText(join(io.cwd, stored.file));
  return "text" in read && read.text.includes(text);
}

const TAIL_BYTES = 16 * 1024;

/** Returns whether the run of a journal has ended with everything done; only the end of the file is read. */
async function isDone(stored: StoredRun, io: Pick<Io, "cwd">): Promise<boolean> {
  try {
    const file = await open(join(io.cwd, stored.file), "r");
    try {
      const { size } = await file.stat();
      const length = Math.min(size, TAIL_BYTES);
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.toString("utf8").includes('"type":"end","status":"done"');
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}

async function readText(path: string): Promise<{ readonly text: string } | { readonly reason: string }> {
  try {
    const file = await open(path, "r");
    try {
      const info = await file.stat();
      if (!info.isFile()) return { reason: "it is not a regular file" };
      if (info.size > MAX_BYTES) return { reason: `it has more than ${MAX_BYTES / 1024 / 1024} MiB` };
      return { text: await file.readFile("utf8") };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { reason: `it cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}

/** Returns whether a journal belongs to one of these merchants; for an unreadable journal, by its name. */
export function isOf(found: FoundRun, merchants: readonly string[]): boolean {
  if ("past" in found) return merchants.includes(found.past.run.merchant);
  return merchantsIn(found).some((one) => merchants.includes(one));
}

/** Returns the merchants that a journal may be of, by its name; a later run of one millisecond has a number after that. */
function merchantsIn({ name }: StoredRun): readonly string[] {
  const [, named] = /Z-(.+)$/.exec(name) ?? [];
  const [, merchant] = /^(.+)-\d+$/.exec(named ?? "") ?? [];
  return [named, merchant].flatMap((one) => one ?? []);
}

/** Returns a run's status; `alive` is true if the process that wrote the journal still runs. */
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

type World = Pick<Io, "cwd" | "now">;

/**
 * Finds members with unmanaged fields that past runs may have left empty and that are empty. Without readable journals
 * there are none.
 */
export async function findUnrestored(
  state: DesiredState,
  live: Pick<LiveState, "members">,
  service: string,
  runsOf: RunsOf,
  io: World,
): Promise<readonly UnrestoredMember[]> {
  const own = await runsOf(state.merchant);
  const found = new Map<string, UnrestoredMember>();
  for (const [index, one] of own.entries()) {
    // A run that is done has restored everything.
    if (await isDone(one, io)) continue;
    const candidates = stillEmpty(await unrestoredBy(one, state.merchant, service, io), live, state);
    const left = await unsettled(candidates, own.slice(0, index), io);
    for (const member of left) if (!found.has(member.id)) found.set(member.id, member);
  }
  return [...found.values()];
}

async function unsettled(
  candidates: readonly UnrestoredMember[],
  later: readonly StoredRun[],
  io: World,
): Promise<readonly UnrestoredMember[]> {
  let left = candidates;
  for (const one of later) {
    if (left.length === 0) break;
    const named = await Promise.all(left.map(({ id }) => mentions(one, JSON.stringify(id), io)));
    const read = named.includes(true) ? await readRun(one, io) : null;
    if (read !== null && "past" in read) left = withoutSettled(left, read.past);
  }
  return left;
}

/** Returns what the run of a journal may have left empty; nothing if it is of another merchant or service. */
async function unrestoredBy(
  stored: StoredRun,
  merchant: string,
  service: string,
  io: World,
): Promise<readonly UnrestoredMember[]> {
  const read = await readRun(stored, io);
  if (!("past" in read)) return [];
  const { run } = read.past;
  const isSame = normalizeServiceUrl(run.service) === normalizeServiceUrl(service);
  return run.merchant === merchant && isSame ? read.unrestored : [];
}
