import { readdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { oneLine } from "../../lib/escape.ts";
import type { PastRun } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import type { NewRunRecord, RunRecords, WrittenRecord } from "../../store/run-records.ts";
import { writeAtomically } from "../io/atomic-write.ts";
import type { Io } from "../io/io.ts";
import { EXTENSION, jointStatus, listRuns, readRun } from "../journal/read-journals.ts";
import { runsFolder } from "../journal/runs-folder.ts";

/** Records the runs of this machine in a repository. Its methods never throw: a failure is a warning. */
export interface RunRecorder {
  /** Records that a run has begun, before its first write; takes the displayed paths of its journals. */
  began(run: string, journals: readonly string[]): Promise<void>;
  /** Records how it ended, and earlier runs that could not be recorded. */
  ended(): Promise<void>;
}

/** The repository and the job of a recorder. */
export interface RecorderOptions {
  /** Opens the records for one use. */
  readonly open: <T>(use: (records: RunRecords) => Promise<T>) => Promise<T>;
  /** The name of their repository in messages, such as `origin`. */
  readonly place: string;
  /** Prefix of the refs with records. */
  readonly refs: string;
  readonly pulls: readonly number[];
  /** Who started the job; `null` outside CI. */
  readonly actor: string | null;
  /** The commit that is applied; absent: that of the working tree. */
  readonly applied?: string;
  /** Prints a sentence. */
  readonly say: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** A run that is not completely recorded; stored beside its journals until it is. */
interface PendingRecord {
  readonly run: string;
  /** The names of the journals' files. */
  readonly journals: readonly string[];
  readonly pulls: readonly number[];
  readonly actor: string | null;
  readonly applied: string | null;
  /** The record of its beginning; `null` if that may not have been pushed. */
  readonly written: WrittenRecord | null;
}

const PENDING = ".pending.json";

/** Creates the recorder of one run. */
export function runRecorder(
  { open, place, refs, pulls, actor, applied, say, warn }: RecorderOptions,
  io: Pick<Io, "cwd" | "now">,
): RunRecorder {
  const folder = runsFolder(io.cwd);
  let own: PendingRecord | null = null as PendingRecord | null;
  const keep = (pending: PendingRecord): Promise<void> =>
    writeAtomically(join(folder, `${pending.run}${PENDING}`), `${JSON.stringify(pending)}\n`);
  const failed = (what: string, error: unknown): void => {
    const why = error instanceof Error ? error.message : String(error);
    warn(`${what} in ${oneLine(place)}: ${oneLine(why)} ${NEXT}`);
  };
  return {
    began: async (run, journals) => {
      try {
        own = {
          run,
          journals: journals.map((path) => basename(path)),
          pulls,
          actor,
          applied: applied ?? null,
          written: null,
        };
        await keep(own);
        const record = await recordOf(own, io, "began");
        const written = await open((records) => records.write(record, null));
        own = { ...own, written };
        await keep(own);
      } catch (error) {
        failed("The beginning of this run could not be recorded", error);
      }
    },
    ended: async () => {
      try {
        const pending = await pendingRecords(folder, own, io);
        const names = await open((records) => recordEnds(pending, records, io));
        for (const { run } of pending) await rm(join(folder, `${run}${PENDING}`), { force: true });
        say(`Recorded in ${oneLine(place)}: ${names.map((name) => `${refs}/runs/${name}`).join(", ")}.`);
      } catch (error) {
        failed("This run could not be recorded", error);
      }
    },
  };
}

const NEXT =
  "The run itself is not affected, and its journals are in .rolecall/runs. The next run that is recorded from this folder adds what is missing.";

async function recordEnds(
  pending: readonly PendingRecord[],
  records: RunRecords,
  io: Pick<Io, "cwd" | "now">,
): Promise<readonly string[]> {
  const all: WrittenRecord[] = [];
  for (const one of pending) all.push(await records.write(await recordOf(one, io), one.written));
  await records.list(all);
  return all.map(({ name }) => name);
}

/** Returns the runs to record: this one, and earlier ones that have ended or whose process has. */
async function pendingRecords(
  folder: string,
  own: PendingRecord | null,
  io: Pick<Io, "cwd" | "now">,
): Promise<readonly PendingRecord[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(PENDING)).sort();
  const earlier: PendingRecord[] = [];
  for (const name of names) {
    const pending = parsePending(await readFile(join(folder, name), "utf8").catch(() => ""));
    if (pending === null || `${pending.run}${PENDING}` !== name || pending.run === own?.run) continue;
    const journals = await trustedJournals(pending, io).catch(() => []);
    if (journals.length > 0 && journals.every(({ status }) => status !== "running")) earlier.push(pending);
  }
  return [...earlier, ...(own ? [own] : [])];
}

function parsePending(text: string): PendingRecord | null {
  try {
    const { run, journals, pulls, actor, applied, written } = JSON.parse(text);
    const isNamed = typeof run === "string" && Array.isArray(journals) && Array.isArray(pulls);
    return isNamed ? { run, journals, pulls, actor, applied, written } : null;
  } catch {
    return null;
  }
}

/** Reads the journals of a run; throws RolecallError for one that cannot be read, or may come from somebody else. */
async function trustedJournals({ journals }: PendingRecord, io: Pick<Io, "cwd" | "now">) {
  const stored = (await listRuns(io.cwd)).filter(({ name }) => journals.includes(`${name}${EXTENSION}`));
  return Promise.all(
    stored.map(async (journal) => {
      const read = await readRun(journal, io);
      if ("past" in read) return read;
      throw new RolecallError("file-invalid", `The journal cannot be recorded: ${read.unreadable}.`);
    }),
  );
}

async function recordOf(
  pending: PendingRecord,
  io: Pick<Io, "cwd" | "now">,
  outcome?: string,
): Promise<NewRunRecord> {
  const journals = await trustedJournals(pending, io);
  const [first] = journals;
  if (first === undefined) {
    throw new RolecallError("file-unreadable", `The journals of ${pending.run} are missing.`);
  }
  const folder = runsFolder(io.cwd);
  const texts = journals.map(async ({ name }): Promise<[string, string]> => {
    const file = `${name}${EXTENSION}`;
    return [file, await readFile(join(folder, file), "utf8")];
  });
  // This process is no longer working on it, whatever the status says.
  const statuses = journals.map(({ status }) => (status === "running" ? "interrupted" : status));
  return {
    ...summaryOf(first.past, pending),
    merchants: journals.map(({ past }) => past.run.merchant).sort(),
    outcome: outcome ?? jointStatus(statuses) ?? "interrupted",
    files: new Map(await Promise.all(texts)),
  };
}

function summaryOf(
  { run: { run, user, host, job, commit } }: PastRun,
  { pulls, actor, applied }: PendingRecord,
): Omit<NewRunRecord, "merchants" | "outcome" | "files"> {
  return {
    run,
    by: runBy({ user, host }),
    actor,
    job,
    applied: applied ?? commit?.id ?? null,
    ...(commit?.clean === false && { uncommitted: true as const }),
    pulls,
  };
}

/** Returns user and host of a run, as records name them. */
export function runBy({ user, host }: Pick<PastRun["run"], "user" | "host">): string {
  return oneLine(`${user ?? "somebody"}@${host}`);
}

/** Returns who started the CI job; `null` outside CI. */
export function jobActor(env: Io["env"]): string | null {
  return (
    env["GITHUB_TRIGGERING_ACTOR"] ??
    env["GITHUB_ACTOR"] ??
    env["GITLAB_USER_LOGIN"] ??
    env["BUILD_REQUESTEDFOREMAIL"] ??
    null
  );
}
