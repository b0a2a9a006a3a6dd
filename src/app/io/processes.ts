import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { PastRun } from "../../model/apply.ts";

/** The id of the user of this process; `null` where the platform has none. */
export const OWN_UID: number | null = process.getuid?.() ?? null;

/** The processes of this machine. */
export interface Processes {
  readonly host: string;
  /** Id of this process. */
  readonly pid: number;
  /** Time since this process started, in ms. */
  readonly ageMs: number;
  exists(pid: number): boolean;
  /** Returns the text of /proc/PID/stat; `null` if it is missing or unreadable. */
  stat(pid: number): string | null;
}

/** Tolerance for a clock that was adjusted in between. */
const LEEWAY_MS = 10_000;
/** Longest possible run: without a start time, an older process id is taken as reused. */
const LONGEST_RUN_MS = 24 * 60 * 60 * 1000;

/**
 * Returns whether the process of a run still exists, and its id was not reused. A process of another machine counts as
 * gone.
 */
export function isAlive({ run }: Pick<PastRun, "run">, now: number, processes = THIS_MACHINE): boolean {
  const { pid, host } = run;
  if (host !== processes.host || pid === processes.pid || !processes.exists(pid)) return false;
  const began = Date.parse(run.at);
  const [it, self] = [pid, processes.pid].map((id) => parseStat(processes.stat(id)));
  if (!it || !self) return now - began < LONGEST_RUN_MS;
  if (it.dead) return false;
  // Both count from the same moment, so that moment cancels out.
  const started = now - processes.ageMs + (it.startedMs - self.startedMs);
  return started <= began + LEEWAY_MS;
}

interface Stat {
  /** True for an ended process whose exit code has not been read yet. */
  readonly dead: boolean;
  /** Time from the machine's start to the process's, in ms. */
  readonly startedMs: number;
}

/**
 * Parses /proc/PID/stat: after the name, which may contain anything, the first field is the state and the 20th the
 * start time.
 */
function parseStat(text: string | null): Stat | null {
  if (text === null) return null;
  const fields = text
    .slice(text.lastIndexOf(")") + 1)
    .trim()
    .split(/\s+/);
  const ticks = Number(fields[19]);
  // Linux reports 100 ticks a second to programs, whatever its own rate.
  return Number.isFinite(ticks) ? { dead: /^[ZXx]$/.test(fields[0] ?? ""), startedMs: ticks * 10 } : null;
}

const THIS_MACHINE: Processes = {
  host: hostname(),
  pid: process.pid,
  get ageMs() {
    return process.uptime() * 1000;
  },
  exists(pid) {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EPERM";
    }
  },
  stat(pid) {
    try {
      return readFileSync(`/proc/${pid}/stat`, "utf8");
    } catch {
      return null;
    }
  },
};

/** The variables by which git takes another repository or index than that of a folder; hooks have them. */
const REPOSITORY: readonly string[] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"];

/** Returns the environment in which git finds a folder's own repository. */
export function withoutRepository(): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !REPOSITORY.includes(name)));
}
