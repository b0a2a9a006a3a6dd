import { counted, grouped } from "../../lib/text.ts";
import type { Outcome } from "../../model/apply.ts";
import type { ApplyEvent, LiveEvent } from "../../model/events.ts";
import type { Change } from "../../model/plan.ts";
import { SIGNS } from "../style.ts";
import {
  collectRequestMetrics,
  merchantOf,
  type RequestMetrics,
  rateMeter,
  type Wait,
} from "./request-metrics.ts";

/** A merchant that is read, changed or read again, or a change of the only merchant. */
export interface Job {
  /** The merchant's code, or the change, as in "+ ada@example.com". */
  readonly name: string;
  /**
   * `queued` until its first request; `failed` by a failure of its own, `stopped` by something else, `incomplete` if
   * addresses were refused for now.
   */
  readonly state: "queued" | "active" | "done" | "incomplete" | "failed" | "unknown" | "stopped";
  /** Members that are read, or changes that have ended. */
  readonly done: number;
  /** `null` if the service has not reported it. */
  readonly total: number | null;
  /** Time of its first request, or of that of the change named in `text`; `null` before. */
  readonly since: number | null;
  readonly endedAt: number | null;
  /** The change under way, or why the last one failed; empty if there is neither. */
  readonly text: string;
  readonly isOnWire: boolean;
  /** Remaining time of its wait, in ms; `null` if it does not wait. */
  readonly waits: number | null;
}

/** The progress of reading, applying or verifying. */
export interface ProgressView {
  /** Verifying reads the merchants again, once all changes have ended. */
  readonly phase: "reading" | "applying" | "verifying";
  readonly merchants: readonly string[];
  /** Merchants in natural order; in an apply at one merchant, its changes that are under way or ended last. */
  readonly jobs: readonly Job[];
  /** Number of jobs in each state, also of the changes that are not among the jobs. */
  readonly counts: Readonly<Record<Job["state"], number>>;
  /** Number of changes, and how they ended. */
  readonly changes: ChangeCounts;
  /** The share that is done, from 0 to 1. */
  readonly share: number;
  /** Recent changes per second. */
  readonly perSecond: number;
  readonly now: number;
  readonly elapsedMs: number;
  /** Estimated time left, with the verification, in ms; `null` if it is too early to tell, or there is no progress. */
  readonly leftMs: number | null;
  /** Nothing new starts. */
  readonly isStopping: boolean;
  readonly metrics: RequestMetrics;
}

interface ChangeCounts {
  readonly total: number;
  readonly done: number;
  /** Failed, or changed by somebody else since they were planned. */
  readonly failed: number;
  /** Of unknown outcome. */
  readonly unknown: number;
  readonly inFlight: number;
}

/** Follows how merchants are read, changed and verified; times in milliseconds. */
export interface Progress {
  live(event: LiveEvent, now: number): void;
  apply(event: ApplyEvent, now: number): void;
  /** Records that a merchant was read, also again to verify it, or the `problem` that prevented it. */
  read(merchant: string, problem: string | null, now: number): void;
  /** Records that nothing new starts. */
  stop(): void;
  view(now: number): ProgressView;
}

const WINDOW_MS = 10_000;

/** Changes of the only merchant that have ended and are remembered, done or failed. */
const MOST_ENDED = 16;

/** Starts following how these merchants are read. */
export function readingProgress(merchants: readonly string[], began: number): Progress {
  return follow("reading", new Map(merchants.map((merchant) => [merchant, null])), began, 0);
}

/** Starts following an apply of this many changes at each merchant; reading all of them takes about `readMs`. */
export function applyProgress(
  plans: readonly { readonly merchant: string; readonly changes: number }[],
  began: number,
  readMs = 0,
): Progress {
  const totals = new Map(plans.map(({ merchant, changes }) => [merchant, changes]));
  return follow("applying", totals, began, readMs);
}

type StoredJob = Omit<Job, "isOnWire" | "waits">;

function follow(
  first: "reading" | "applying",
  totals: ReadonlyMap<string, number | null>,
  began: number,
  readMs: number,
): Progress {
  const codes = [...totals.keys()];
  const metrics = collectRequestMetrics();
  const ends = rateMeter(WINDOW_MS);
  const jobs = new Map(codes.map((name) => [name, queued(name, totals.get(name) ?? null)]));
  /** Merchants that are read again. */
  const again = new Map(codes.map((name) => [name, queued(name, null)]));
  /** The changes under way at any merchant, and at the only one also those that ended last. */
  const changes = new Map<Change, ChangeJob>();
  const sums = { done: 0, failed: 0, unknown: 0 };
  let isStopping = false;
  let appliedAt: number | null = null;
  const update = (all: Map<string, StoredJob>, name: string, rest: Partial<StoredJob>): void => {
    const job = all.get(name);
    if (job) all.set(name, { ...job, ...rest });
  };
  const start = (all: Map<string, StoredJob>, name: string, now: number): void => {
    if (all.get(name)?.state === "queued") update(all, name, { state: "active", since: now });
  };
  const isApplied = (merchant: string): boolean =>
    first === "applying" && jobs.get(merchant)?.endedAt !== null;
  const endChange = (outcome: Outcome, merchant: string, now: number): void => {
    const { change, status } = outcome;
    const state = CHANGE_STATES[status];
    const text = "failure" in outcome && outcome.failure ? reasonOf(outcome.failure.message) : "";
    const job = changes.get(change);
    changes.delete(change);
    ends.count(now);
    if (codes.length === 1 && state !== null && job) {
      changes.set(change, { ...job, state, done: 1, text, endedAt: now });
      const ended = [...changes].filter(([, { endedAt }]) => endedAt !== null);
      for (const [oldest] of ended.slice(0, -MOST_ENDED)) changes.delete(oldest);
    }
    if (state !== null) sums[state] += 1;
    const done = jobs.get(merchant)?.done ?? 0;
    update(jobs, merchant, { done: done + (state === null ? 0 : 1), ...(text !== "" && { text }) });
  };
  return {
    live(event, now) {
      metrics.event(event, now);
      const merchant = merchantOf(event);
      if (merchant === null || (event.type !== "request" && event.type !== "read")) return;
      const all = isApplied(merchant) ? again : jobs;
      start(all, merchant, now);
      if (event.type === "read" && (all === again || first === "reading"))
        update(all, merchant, { done: event.members, total: event.total });
    },
    apply(event, now) {
      const { merchant } = event;
      switch (event.type) {
        case "apply-started":
          update(jobs, merchant, { total: event.changes });
          break;
        case "phase-started":
        case "fields-emptied":
          break;
        case "change-started":
          start(jobs, merchant, now);
          changes.set(event.change, { ...begun(event.change, now), merchant });
          break;
        case "change-ended":
          endChange(event.outcome, merchant, now);
          break;
        case "apply-stopped":
          update(jobs, merchant, { state: event.failure === null ? "stopped" : "failed" });
          break;
        case "apply-ended":
          for (const [change, job] of changes)
            if (job.merchant === merchant && job.endedAt === null) changes.delete(change);
          metrics.ended(merchant);
          update(jobs, merchant, {
            ...(event.result.status !== "stopped" && { state: event.result.status }),
            endedAt: now,
          });
          break;
        default:
          event satisfies never;
      }
    },
    read(merchant, problem, now) {
      metrics.ended(merchant);
      const end =
        problem === null
          ? ({ state: "done" } as const)
          : ({ state: "failed", text: reasonOf(problem) } as const);
      update(first === "reading" ? jobs : again, merchant, { ...end, endedAt: now });
    },
    stop() {
      isStopping = true;
    },
    view(now) {
      const merchants = [...jobs.values()];
      const toVerify = merchants.filter(({ state }) => state === "done" || state === "incomplete");
      const isVerifying =
        first === "applying" &&
        !isStopping &&
        toVerify.length > 0 &&
        merchants.every(({ endedAt }) => endedAt !== null);
      if (isVerifying) appliedAt ??= now;
      const phase = isVerifying ? "verifying" : first;
      const phaseMs = now - (appliedAt ?? began);
      const all = isVerifying ? toVerify.flatMap(({ name }) => again.get(name) ?? []) : merchants;
      const requests = metrics.view(now);
      const inFlight = [...changes.values()].filter(({ endedAt }) => endedAt === null);
      const ended = sums.done + sums.failed + sums.unknown;
      const total = merchants.reduce((sum, job) => sum + (job.total ?? 0), 0);
      const share = phase === "applying" ? ended / Math.max(total, 1) : readShare(all);
      const failed = merchants.filter(({ state }) => state === "failed" || state === "stopped").length;
      const verifyMs = readMs * (1 - failed / Math.max(merchants.length, 1));
      const leftMs = {
        // An immediate failure says nothing about the time that the others take.
        reading: () => timeLeft(readShare(all.filter(({ state }) => state !== "failed")), phaseMs),
        applying: () => {
          const left = ended < ENOUGH_TO_TELL ? null : timeLeft(share, phaseMs);
          return left === null ? null : left + verifyMs;
        },
        verifying: () => timeLeft(share, phaseMs) ?? (verifyMs > phaseMs ? verifyMs - phaseMs : null),
      }[phase]();
      const isOfChanges = phase === "applying" && codes.length === 1;
      const queuedChanges = Math.max(total - ended - inFlight.length, 0);
      return {
        phase,
        merchants: all.map(({ name }) => name),
        jobs: isOfChanges
          ? changeJobs([...changes], requests)
          : all.map((job) => merchantJob(job, phase, inFlight, requests)),
        counts: isOfChanges
          ? { ...countStates([]), ...sums, active: inFlight.length, queued: queuedChanges }
          : countStates(all),
        changes: { ...sums, total, inFlight: inFlight.length },
        share,
        perSecond: ends.perSecond(now),
        now,
        elapsedMs: now - began,
        leftMs: isStopping || requests.isStill ? null : leftMs,
        isStopping,
        metrics: requests,
      };
    },
  };
}

interface ChangeJob extends StoredJob {
  readonly merchant: string;
}

/** The state of a change with this end; `null` if it is not done and has not failed. */
const CHANGE_STATES: Readonly<Record<Outcome["status"], "done" | "failed" | "unknown" | null>> = {
  done: "done",
  stale: "failed",
  failed: "failed",
  unknown: "unknown",
  unfinished: null,
  "not-started": null,
};

function queued(name: string, total: number | null): StoredJob {
  return { name, state: "queued", done: 0, total, since: null, endedAt: null, text: "" };
}

function begun(change: Change, since: number): StoredJob {
  const { kind, resource, name } = change;
  return {
    ...queued(`${SIGNS[kind]} ${resource === "role" ? "role " : ""}${name}`, 1),
    state: "active",
    since,
  };
}

/** Returns a problem without its request, which is longer than a row. */
function reasonOf(problem: string): string {
  return problem.replace(/^[A-Z]+ \/\S+ returned /, "");
}

function countStates(jobs: readonly StoredJob[]): ProgressView["counts"] {
  const counts = { queued: 0, active: 0, done: 0, incomplete: 0, failed: 0, unknown: 0, stopped: 0 };
  for (const { state } of jobs) counts[state] += 1;
  return counts;
}

function merchantJob(
  job: StoredJob,
  phase: ProgressView["phase"],
  inFlight: readonly ChangeJob[],
  metrics: RequestMetrics,
): Job {
  const isOnWire = job.state === "active" && metrics.onWire.has(job.name);
  const wait =
    job.state !== "active" || isOnWire ? undefined : metrics.waits.find((each) => holds(each, job.name));
  const placed = { ...job, isOnWire, waits: wait?.ms ?? null };
  if (phase !== "applying" || job.state !== "active") return placed;
  const current = inFlight.find(({ merchant }) => merchant === job.name);
  return { ...placed, text: current?.name ?? "", since: current?.since ?? null };
}

function holds({ isShared, merchants }: Wait, merchant: string): boolean {
  return isShared || merchants.includes(merchant);
}

/** Returns the changes of the only merchant: as many as it has requests are on the wire, the oldest ones. */
function changeJobs(
  changes: readonly (readonly [Change, ChangeJob])[],
  { waits, onWire }: RequestMetrics,
): readonly Job[] {
  let requests = onWire.get(changes[0]?.[1].merchant ?? "") ?? 0;
  return changes.map(([{ name }, { merchant, ...job }]): Job => {
    if (job.endedAt !== null) return { ...job, isOnWire: false, waits: null };
    const refused = waits.find(({ addresses }) => addresses.includes(name));
    const isOnWire = refused === undefined && requests > 0;
    if (isOnWire) requests -= 1;
    const wait = refused ?? waits.find((each) => each.addresses.length === 0 && holds(each, merchant));
    return { ...job, isOnWire, waits: isOnWire ? null : (wait?.ms ?? null) };
  });
}

/** Returns how much is read, from 0 to 1: merchants, and members of those that are being read. */
function readShare(jobs: readonly StoredJob[]): number {
  const parts = jobs.map(({ endedAt, done, total }) =>
    endedAt !== null ? 1 : total === null ? 0 : (0.95 * done) / Math.max(total, 1),
  );
  return parts.length === 0 ? 1 : parts.reduce((sum, part) => sum + part, 0) / parts.length;
}

/** The number of changes that have ended, the time and the share below which an estimate is a guess. */
const [ENOUGH_TO_TELL, ENOUGH_MS, ENOUGH_SHARE] = [5, 2_000, 0.02];

/** Estimates the time left, in ms, from what share of the work took how long; `null` if it is too early to tell. */
function timeLeft(share: number, elapsedMs: number): number | null {
  if (elapsedMs < ENOUGH_MS || share < ENOUGH_SHARE || share >= 1) return null;
  return (elapsedMs * (1 - share)) / share;
}

/** Returns the number of members read so far. */
export function membersRead({ jobs }: Pick<ProgressView, "jobs">): number {
  return jobs.reduce((sum, { done }) => sum + done, 0);
}

/**
 * Returns progress in one line: "read 2 of 5 merchants, 1 failed; 1,250 members in 61 requests, 42 a second; about 4 s left"
 * or "6 of 14 changes done, 1 failed, 3 a second; about 4 s left".
 */
export function progressText(view: ProgressView): string {
  const { phase, merchants, counts, changes, metrics, isStopping } = view;
  const left = isStopping
    ? "; stopping"
    : view.leftMs === null
      ? ""
      : `; about ${spanText(view.leftMs)} left`;
  const ofMerchants = `of ${counted(merchants.length, "merchant")}`;
  const more = (count: number, word: string): string => (count > 0 ? `, ${grouped(count)} ${word}` : "");
  const rate = (perSecond: number): string =>
    perSecond < 1 ? "" : `, ${grouped(Math.round(perSecond))} a second`;
  switch (phase) {
    case "reading": {
      const read = `read ${grouped(counts.done)} ${ofMerchants}${more(counts.failed, "failed")}`;
      const requests = `${counted(membersRead(view), "member")} in ${counted(metrics.requests, "request")}`;
      return `${read}; ${requests}${rate(metrics.perSecond)}${left}`;
    }
    case "applying": {
      const complete = merchants.length > 1 ? `, ${grouped(counts.done)} ${ofMerchants} complete` : "";
      const { done, total, failed, unknown } = changes;
      const ended = `${more(failed, "failed")}${more(unknown, "of unknown outcome")}`;
      return `${grouped(done)} of ${counted(total, "change")} done${complete}${ended}${rate(view.perSecond)}${left}`;
    }
    case "verifying":
      return `verified ${grouped(counts.done)} ${ofMerchants}${left}`;
    default:
      return phase satisfies never;
  }
}

const MINUTE = 60;

/** Returns a time as in "4 s" or "3 min", rounded up. */
export function spanText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 2 * MINUTE ? `${seconds} s` : `${Math.ceil(seconds / MINUTE)} min`;
}
