import { type FileHandle, lstat, mkdir, open, readdir, rm, writeFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { visibleJson } from "../../lib/json-text.ts";
import type { Journal, JournalEntry, RunStarted } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import { syncFolder } from "../io/atomic-write.ts";
import { type Io, VERSION } from "../io/io.ts";
import { gitCommit } from "../project/git-commit.ts";
import { EXTENSION, nameOf, runIdAt, timeOfRun } from "./read-journals.ts";
import { alreadyRunning, runningApply } from "./running-applies.ts";
import { runsFolder } from "./runs-folder.ts";

/** Options for opening journals. */
export interface JournalOptions {
  /** The run that is reverted; `null` for an ordinary apply. */
  readonly undoes: string | null;
  /** Absent: this process. */
  readonly origin?: RunOrigin;
  /** Creates a file exclusively; absent: on the disk. */
  readonly create?: (path: string) => Promise<Appendable>;
}

/**
 * Returns a function that opens the journals of one run, a file in the project's folder of runs for each plan. An open
 * journal is the lock of its merchant: it throws RolecallError if another process has one.
 */
export function fileJournals(
  io: Pick<Io, "cwd" | "env" | "now" | "pid" | "sleep">,
  options: JournalOptions = { undoes: null },
): (plan: Plan) => Promise<OpenJournal> {
  let origin: Promise<RunOrigin> | undefined;
  let id: Promise<string> | undefined;
  return async (plan) => {
    // Looked up once for all merchants of an apply: git takes its time.
    origin ??= options.origin ? Promise.resolve(options.origin) : runOrigin(io);
    const who = await origin;
    const folder = runsFolder(io.cwd);
    const shown = (path: string): string => relative(io.cwd, path) || path;
    try {
      await makeFolder(folder);
      id ??= freeId(folder, io.now());
      const run = await id;
      const name = `${run}-${nameOf(plan.merchant)}`;
      const { path, file } = await createFile(folder, name, options.create ?? createOnDisk);
      const journal = { ...appendTo(file, shown(path), io.now), run };
      try {
        await syncFolder(folder);
        await journal.write(runStarted({ run, plan, who, undoes: options.undoes }));
        // Only now that others can see it: of two that begin together, at most one finds no other.
        await requireAlone(plan, basename(path, EXTENSION), io);
      } catch (error) {
        await discard(journal, path);
        throw error;
      }
      return journal;
    } catch (error) {
      throw unwritable(shown(folder), error, "Nothing is applied without a journal.");
    }
  };
}

/** The time for which the first of two that begin together waits for the other one to give up, in ms. */
const YIELD_MS = 1_000;
const LOOK_MS = 100;

/** Throws RolecallError if another process is applying to the merchant. Of two that begin together, the first goes on. */
async function requireAlone(
  plan: Plan,
  ownName: string,
  io: Pick<Io, "cwd" | "now" | "sleep">,
): Promise<void> {
  for (let waited = 0; ; waited += LOOK_MS) {
    const other = await runningApply(plan, io, ownName);
    if (other === null) return;
    if (other.run < ownName || waited >= YIELD_MS) throw alreadyRunning(plan.merchant, other, io.now(), true);
    await io.sleep(LOOK_MS);
  }
}

/** Copies the fields one by one, so that nothing unexpected of a plan or an environment is written. */
function runStarted({
  run,
  plan: { merchant, environment, service, fingerprint, changes, refusals },
  who: { user, host, pid, commit, job },
  undoes,
}: {
  readonly run: string;
  readonly plan: Plan;
  readonly who: RunOrigin;
  readonly undoes: string | null;
}): RunStarted {
  return {
    type: "run",
    format: 1,
    run,
    merchant,
    environment,
    service,
    fingerprint,
    changes: changes.length,
    version: VERSION,
    user,
    host,
    pid,
    commit,
    job,
    undoes,
    // A plan with refusals is only applied if the user has overridden them.
    ...(refusals.length > 0 && { overridden: refusals.map(({ code, message }) => `${code}: ${message}`) }),
  };
}

/** Returns an unused run id: the current time, but after those of all earlier runs, whose clock may have been ahead. */
async function freeId(folder: string, now: number): Promise<string> {
  const times = (await readdir(folder)).flatMap((name) => timeOfRun(name) ?? []);
  const latest = times.reduce((a, b) => Math.max(a, b), 0);
  return runIdAt(latest < LAST_TIME ? Math.max(now, latest + 1) : now);
}

/** The last time that an id can have: a later year has more than four digits. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Creates the folder for the user alone, and keeps it out of git: a journal shows who may do what. */
async function makeFolder(folder: string): Promise<void> {
  for (const each of [dirname(folder), folder]) {
    await mkdir(each, { mode: 0o700 }).catch((error: unknown) => {
      if (!isExisting(error)) throw error;
    });
    // A link may come with a checkout, and nothing must be written outside the project.
    if (!(await lstat(each)).isDirectory()) {
      throw Object.assign(new Error(`${basename(each)} is a link, or not a folder`), { code: "ENOTDIR" });
    }
  }
  const ignore = join(dirname(folder), ".gitignore");
  await writeFile(ignore, "*\n", { flag: "wx", mode: 0o600 }).catch(async (error: unknown) => {
    if (isExisting(error)) return;
    // An empty file would ignore nothing, and stay.
    await rm(ignore, { force: true }).catch(() => undefined);
    throw error;
  });
}

const MAX_SAME_NAME = 1000;

async function createFile(
  folder: string,
  name: string,
  create: NonNullable<JournalOptions["create"]>,
): Promise<{ readonly path: string; readonly file: Appendable }> {
  for (let count = 1; ; count += 1) {
    const path = join(folder, `${count === 1 ? name : `${name}-${count}`}.jsonl`);
    try {
      return { path, file: await create(path) };
    } catch (error) {
      if (!isExisting(error) || count === MAX_SAME_NAME) throw error;
    }
  }
}

function createOnDisk(path: string): Promise<FileHandle> {
  return open(path, "ax", 0o600);
}

/** Removes a journal without its first line; a failure to do so is ignored. */
async function discard(journal: Pick<OpenJournal, "close">, path: string): Promise<void> {
  await journal.close();
  await rm(path, { force: true }).catch(() => undefined);
}

interface Waiting {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: RolecallError) => void;
}

/** The file methods that a journal needs. */
export type Appendable = Pick<FileHandle, "writeFile" | "sync" | "close">;

/**
 * Appends entries in order. Entries that arrive during a write are written together, with one sync. After a failure,
 * nothing more is written, since a line after an incomplete one could not be read.
 */
export function appendTo(file: Appendable, shown: string, now: () => number): Omit<OpenJournal, "run"> {
  let waiting: Waiting[] = [];
  let isFlushing = false;
  let flushed: Promise<void> = Promise.resolve();
  let failed: RolecallError | null = null;

  const flush = async (): Promise<void> => {
    isFlushing = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        if (failed !== null) throw failed;
        await file.writeFile(batch.map(({ text }) => text).join(""));
        await file.sync();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        failed ??= unwritable(shown, error, "Then plan again to see what remains.");
        for (const { reject } of batch) reject(failed);
      }
    }
    isFlushing = false;
  };

  return {
    file: shown,
    write: (entry: JournalEntry) =>
      new Promise<void>((resolve, reject) => {
        const text = `${visibleJson({ at: new Date(now()).toISOString(), ...entry })}\n`;
        waiting.push({ text, resolve, reject });
        if (!isFlushing) flushed = flush();
      }),
    close: async () => {
      await flushed;
      // Every entry is synced or reported as missing, so a failure to close changes nothing.
      await file.close().catch(() => undefined);
    },
  };
}

const HINTS: Readonly<Record<string, string>> = {
  EACCES: "Give yourself write permission there",
  EPERM: "Give yourself write permission there",
  EROFS: "The file system is read-only: run rolecall in a writable folder",
  ENOSPC: "The disk is full: free some space",
  EDQUOT: "The disk quota is exceeded: free some space",
  EFBIG: "The file has reached the size limit: raise it (ulimit -f)",
  EIO: "The disk or the network drive has failed: check the system log",
  EMFILE: "Too many files are open: apply fewer merchants at once",
  ENOTDIR: "A file exists where a folder is needed: move it",
  EEXIST: "A file exists where a folder is needed: move it",
};

function unwritable(path: string, error: unknown, state: string): RolecallError {
  if (error instanceof RolecallError) return error;
  const { code } = error as NodeJS.ErrnoException;
  const reason = error instanceof Error ? error.message.replace(/, \w+ '.*$/, "") : String(error);
  const hint = HINTS[code ?? ""] ?? "Check that the folder is writable";
  return new RolecallError(
    "journal-unwritable",
    `The journal of this run cannot be written to ${path}: ${reason}.`,
    {
      hint: `${hint}. ${state}`,
      cause: error,
    },
  );
}

function isExisting(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EEXIST";
}

/** The journal of one run at one merchant, open for writing. */
export interface OpenJournal extends Journal {
  /** The run's id, which the journals of all its merchants share. */
  readonly run: string;
  /** The displayed path, relative to the working directory. */
  readonly file: string;
  close(): Promise<void>;
}

/** The origin of a run, as far as known. */
export type RunOrigin = Pick<RunStarted, "user" | "host" | "pid" | "commit" | "job">;

/** Looks up who runs this process, where, and at which commit. */
export async function runOrigin(io: Pick<Io, "env" | "cwd" | "pid">): Promise<RunOrigin> {
  return {
    user: userName(),
    host: hostname(),
    pid: io.pid,
    commit: await gitCommit(io.cwd),
    job: jobAddress(io.env),
  };
}

function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    // In some containers the user id has no name.
    return null;
  }
}

/** Returns the URL of the CI run from the environment; `null` if there is no plain one. */
export function jobAddress(env: Io["env"]): string | null {
  const [server, repository, run] = [
    env["GITHUB_SERVER_URL"],
    env["GITHUB_REPOSITORY"],
    env["GITHUB_RUN_ID"],
  ];
  const github = server && repository && run ? `${server}/${repository}/actions/runs/${run}` : undefined;
  const address = [github, env["CI_JOB_URL"], env["BUILD_URL"]].find(
    (url) => url !== undefined && isPlain(url),
  );
  return address ?? null;
}

const LONGEST_ADDRESS = 500;

/** Returns whether a URL has no credentials, and no query that may hold a token. */
function isPlain(address: string): boolean {
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(address) || address.length > LONGEST_ADDRESS) return false;
  if (!URL.canParse(address)) return false;
  const { username, password, search, hash } = new URL(address);
  return [username, password, search, hash].every((part) => part === "");
}
