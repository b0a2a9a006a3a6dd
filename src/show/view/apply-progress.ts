import { counted, grouped } from "../../lib/text.ts";
import type { Outcome } from "../../model/apply.ts";
import type { ApplyEvent, LiveEvent } from "../../model/events.ts";
import type { Change } from "../../model/plan.ts";
import {
  collectRequestMetrics,
  leftText,
  merchantOf,
  type RequestMetrics,
  rateMeter,
  rateText,
  timeLeft,
} from "./reading-progress.ts";

/** The progress of an apply at one merchant. */
export interface ApplyingMerchant {
  readonly merchant: string;
  /**
   * `waiting` until its first request; `failed` by a failure of its own, `stopped` by something else, `incomplete` if
   * addresses were refused for now.
   */
  readonly state: "waiting" | "applying" | "done" | "incomplete" | "failed" | "stopped";
  readonly changes: number;
  readonly done: number;
  /** Failed, or changed by somebody else since they were planned. */
  readonly failed: number;
  /** Of unknown outcome. */
  readonly unknown: number;
  /** Why the last change failed; empty if none did. */
  readonly problem: string;
  /** Times of its first request and of its end; `null` before. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Members read again so far for the verification; `null` before it. */
  readonly readAgain: { readonly members: number; readonly total: number | null } | null;
  /** Time at which the verification of this merchant ended; `null` before. */
  readonly verifiedAt: number | null;
}

/** A change whose first request was sent, and when. */
export interface ChangeInFlight {
  readonly merchant: string;
  readonly change: Change;
  readonly since: number;
}

/** A change that is done, and how long it took, in ms. */
export interface ChangeDone {
  readonly merchant: string;
  readonly change: Change;
  readonly tookMs: number;
}

/** The progress of an apply. */
export interface ApplyView {
  readonly merchants: readonly ApplyingMerchant[];
  /** The changes in progress, in the order in which they started. */
  readonly inFlight: readonly ChangeInFlight[];
  /** The last changes that are done, the latest one last. */
  readonly lastDone: readonly ChangeDone[];
  /** Recent changes per second. */
  readonly perSecond: number;
  readonly now: number;
  readonly elapsedMs: number;
  /** Estimated time left, in ms; `null` if it is too early to tell, or nothing gets on. */
  readonly leftMs: number | null;
  /** Nothing new starts any more. */
  readonly stopping: boolean;
  /** All changes have ended, and the merchants are read again. */
  readonly verifying: boolean;
  readonly metrics: RequestMetrics;
}

/** Follows an apply; times in milliseconds. */
export interface ApplyProgress {
  live(event: LiveEvent, now: number): void;
  apply(event: ApplyEvent, now: number): void;
  /** Records that nothing new starts any more. */
  stop(): void;
  /** Records that the verification of a merchant has ended. */
  verified(merchant: string, now: number): void;
  view(now: number): ApplyView;
}

const WINDOW_MS = 10_000;
/** The number of finished changes needed for an estimate. */
const ENOUGH_TO_TELL = 5;
/** Number of done changes that are remembered. */
const MOST_DONE = 16;

/** Starts following an apply of this many changes for each merchant. */
export function applyProgress(
  plans: readonly { readonly merchant: string; readonly changes: number }[],
  began: number,
): ApplyProgress {
  const metrics = collectRequestMetrics();
  const ends = rateMeter(WINDOW_MS);
  const inFlight = new Map<Change, ChangeInFlight>();
  let lastDone: readonly ChangeDone[] = [];
  let stopping = false;
  let writtenAt: number | null = null;
  const merchants = new Map<string, ApplyingMerchant>(
    plans.map(({ merchant, changes }) => [merchant, { ...BEFORE, merchant, changes }]),
  );
  const update = (merchant: string, rest: (known: ApplyingMerchant) => Partial<ApplyingMerchant>): void => {
    const progress = merchants.get(merchant);
    if (progress) merchants.set(merchant, { ...progress, ...rest(progress) });
  };
  const start = (merchant: string, now: number): void =>
    update(merchant, ({ state }) => (state === "waiting" ? { state: "applying", startedAt: now } : {}));
  const end = (outcome: Outcome, merchant: string, now: number): void => {
    const { change, status } = outcome;
    if (status === "done") {
      const since = inFlight.get(change)?.since ?? now;
      lastDone = [...lastDone, { merchant, change, tookMs: now - since }].slice(-MOST_DONE);
    }
    inFlight.delete(change);
    ends.count(now);
    update(merchant, (progress) => ({
      done: progress.done + (status === "done" ? 1 : 0),
      failed: progress.failed + (FAILED.has(status) ? 1 : 0),
      unknown: progress.unknown + (status === "unknown" ? 1 : 0),
      ...("failure" in outcome && outcome.failure && { problem: outcome.failure.message }),
    }));
  };
  return {
    live(event, now) {
      metrics.event(event, now);
      const merchant = merchantOf(event);
      if (merchant === null) return;
      if (event.type === "request") start(merchant, now);
      if (event.type !== "read") return;
      const { members, total } = event;
      update(merchant, ({ endedAt }) => (endedAt === null ? {} : { readAgain: { members, total } }));
    },
    apply(event, now) {
      const { merchant } = event;
      switch (event.type) {
        case "apply-started":
          update(merchant, () => ({ changes: event.changes }));
          break;
        case "phase-started":
        case "fields-emptied":
          break;
        case "change-started":
          start(merchant, now);
          inFlight.set(event.change, { merchant, change: event.change, since: now });
          break;
        case "change-ended":
          end(event.outcome, merchant, now);
          break;
        case "apply-stopped":
          update(merchant, () => ({ state: event.failure === null ? "stopped" : "failed" }));
          break;
        case "apply-ended":
          for (const [change, started] of inFlight)
            if (started.merchant === merchant) inFlight.delete(change);
          metrics.ended(merchant);
          update(merchant, ({ state }) => ({
            state: event.result.status === "stopped" ? state : event.result.status,
            endedAt: now,
          }));
          break;
        default:
          event satisfies never;
      }
    },
    stop() {
      stopping = true;
    },
    verified: (merchant, now) => update(merchant, () => ({ verifiedAt: now })),
    view(now) {
      const rows = [...merchants.values()];
      const ended = rows.reduce((sum, { done, failed, unknown }) => sum + done + failed + unknown, 0);
      const share = ended / Math.max(sumOf(rows, "changes"), 1);
      const read = toVerify(rows);
      const verifying = rows.every(({ endedAt }) => endedAt !== null) && read.length > 0 && !stopping;
      if (verifying) writtenAt ??= now;
      const verified = read.filter(({ verifiedAt }) => verifiedAt !== null).length / Math.max(read.length, 1);
      const applyMs = ended < ENOUGH_TO_TELL ? null : timeLeft(share, now - began);
      const leftMs = verifying ? timeLeft(verified, now - (writtenAt ?? now)) : applyMs;
      const requests = metrics.view(now);
      return {
        merchants: rows,
        inFlight: [...inFlight.values()],
        lastDone,
        perSecond: ends.perSecond(now),
        now,
        elapsedMs: now - began,
        leftMs: stopping || requests.isStill ? null : leftMs,
        stopping,
        verifying,
        metrics: requests,
      };
    },
  };
}

const FAILED: ReadonlySet<Outcome["status"]> = new Set(["failed", "stale"]);

const BEFORE: Omit<ApplyingMerchant, "merchant" | "changes"> = {
  state: "waiting",
  done: 0,
  failed: 0,
  unknown: 0,
  problem: "",
  startedAt: null,
  endedAt: null,
  readAgain: null,
  verifiedAt: null,
};

/** Returns the merchants that are read again: those where nothing failed. */
export function toVerify(merchants: readonly ApplyingMerchant[]): readonly ApplyingMerchant[] {
  return merchants.filter(({ state }) => state === "done" || state === "incomplete");
}

function sumOf(
  merchants: readonly ApplyingMerchant[],
  key: "changes" | "done" | "failed" | "unknown",
): number {
  return merchants.reduce((total, merchant) => total + merchant[key], 0);
}

/** Returns the totals over all merchants. */
export function applySums({ merchants }: ApplyView): {
  readonly changes: number;
  readonly done: number;
  readonly failed: number;
  readonly unknown: number;
} {
  return {
    changes: sumOf(merchants, "changes"),
    done: sumOf(merchants, "done"),
    failed: sumOf(merchants, "failed"),
    unknown: sumOf(merchants, "unknown"),
  };
}

/** "6 of 14 changes done, 1 failed, 3 a second; about 4 s left": progress in one line. */
export function applyText(view: ApplyView): string {
  const { merchants, verifying } = view;
  if (verifying) {
    const read = toVerify(merchants);
    const verified = read.filter(({ verifiedAt }) => verifiedAt !== null).length;
    return `verified ${grouped(verified)} of ${counted(read.length, "merchant")}${leftText(view.leftMs)}`;
  }
  const { changes, done, failed, unknown } = applySums(view);
  const ended = merchants.filter(({ state }) => state === "done").length;
  return [
    `${grouped(done)} of ${counted(changes, "change")} done`,
    merchants.length > 1 ? `, ${grouped(ended)} of ${counted(merchants.length, "merchant")} complete` : "",
    failed > 0 ? `, ${grouped(failed)} failed` : "",
    unknown > 0 ? `, ${grouped(unknown)} of unknown outcome` : "",
    rateText(view.perSecond),
    view.stopping ? "; stopping" : leftText(view.leftMs),
  ].join("");
}
