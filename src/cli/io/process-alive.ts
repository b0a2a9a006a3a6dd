import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { PastRun } from "../../model/past-run.ts";

/** What can be learned of the processes of this machine. */
export interface Processes {
  readonly host: string;
  /** Of this process. */
  readonly pid: number;
  /** Milliseconds since this process started. */
  readonly ageMs: number;
  exists(pid: number): boolean;
  /** The text of /proc/PID/stat; null where there is none, or it may not be read. */
  stat(pid: number): string | null;
}

/** The clock may have been set a little between then and now. */
const LEEWAY_MS = 10_000;
/** No run takes that long: where nothing tells when a process started, its id went to another one since. */
const LONGEST_RUN_MS = 24 * 60 * 60 * 1000;

/**
 * Whether the process of a run is still there, and no other one that got its id since; of another machine's nobody can
 * tell, and it counts as gone.
 */
export function isAlive({ run }: Pick<PastRun, "run">, now: number, processes = THIS_MACHINE): boolean {
  const { pid, host } = run;
  if (host !== processes.host || pid === processes.pid || !processes.exists(pid)) return false;
  const began = Date.parse(run.at);
  const [it, self] = [pid, processes.pid].map((one) => parseStat(processes.stat(one)));
  if (!it || !self) return now - began < LONGEST_RUN_MS;
  if (it.dead) return false;
  // Both are counted from the same moment, which therefore need not be known.
  const started = now - processes.ageMs + (it.startedMs - self.startedMs);
  return started <= began + LEEWAY_MS;
}

interface Stat {
  /** It has ended, and only nobody has asked for its exit code yet. */
  readonly dead: boolean;
  /** Milliseconds from the machine's start to the process's. */
  readonly startedMs: number;
}

/** Reads /proc/PID/stat: behind the name, which may hold anything, come the state and, as the 20th, the start. */
function parseStat(text: string | null): Stat | null {
  if (text === null) return null;
  const fields = text
    .slice(text.lastIndexOf(")") + 1)
    .trim()
    .split(/\s+/);
  const ticks = Number(fields[19]);
  // Linux tells programs of 100 ticks a second, whatever it counts itself.
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
