import { counted, grouped } from "../../lib/text.ts";
import type { Outcome, Phase } from "../../model/apply.ts";
import type { ApplyEvent, LiveEvent } from "../../model/events.ts";
import type { Change } from "../../model/plan.ts";
import { collectRequestMetrics, type RequestMetrics, rateMeter, rateText } from "./reading-progress.ts";

/** The progress of an apply at one merchant. */
export interface ApplyingMerchant {
  readonly merchant: string;
  readonly state: "waiting" | "applying" | "stopped" | "incomplete" | "done";
  readonly phase: Phase | null;
  /** Number of changes of the phase that have ended. */
  readonly phaseEnded: number;
  readonly phaseChanges: number;
  readonly changes: number;
  readonly done: number;
  /** Failed, stale or unknown. */
  readonly failed: number;
  /** Members read again so far for the verification; `null` before it. */
  readonly readAgain: { readonly members: number; readonly total: number | null } | null;
}

/** The progress of an apply. */
export interface ApplyView {
  readonly merchants: readonly ApplyingMerchant[];
  /** The changes in progress, in the order in which they started. */
  readonly inFlight: readonly { readonly merchant: string; readonly change: Change }[];
  /** Recent changes per second. */
  readonly perSecond: number;
  /** Estimated time left, in ms; `null` if it is too early to tell. */
  readonly leftMs: number | null;
  readonly metrics: RequestMetrics;
}

/** Follows an apply; times in milliseconds. */
export interface ApplyProgress {
  live(event: LiveEvent, now: number): void;
  apply(event: ApplyEvent, now: number): void;
  view(now: number): ApplyView;
}

const WINDOW_MS = 10_000;
/** The number of finished changes needed for an estimate. */
const ENOUGH_TO_TELL = 5;

/** Starts following an apply of this many changes for each merchant. */
export function applyProgress(
  plans: readonly { readonly merchant: string; readonly changes: number }[],
): ApplyProgress {
  const metrics = collectRequestMetrics();
  const ends = rateMeter(WINDOW_MS);
  const inFlight = new Map<Change, string>();
  const merchants = new Map<string, ApplyingMerchant>(
    plans.map(({ merchant, changes }) => [merchant, { ...BEFORE, merchant, changes }]),
  );
  const update = (merchant: string, rest: (known: ApplyingMerchant) => Partial<ApplyingMerchant>): void => {
    const known = merchants.get(merchant);
    if (known) merchants.set(merchant, { ...known, ...rest(known) });
  };
  return {
    live(event, now) {
      metrics.event(event, now);
      if (event.type !== "read") return;
      const { members, total } = event;
      update(event.merchant, ({ state }) => (state === "done" ? { readAgain: { members, total } } : {}));
    },
    apply(event, now) {
      const { merchant } = event;
      switch (event.type) {
        case "apply-started":
          update(merchant, () => ({ state: "applying", changes: event.changes }));
          break;
        case "phase-started":
          for (const [change, where] of inFlight) if (where === merchant) inFlight.delete(change);
          update(merchant, () => ({
            phase: event.phase,
            phaseEnded: 0,
            phaseChanges: event.changes,
          }));
          break;
        case "change-started":
          inFlight.set(event.change, merchant);
          break;
        case "fields-emptied":
          break;
        case "change-ended": {
          const { status } = event.outcome;
          const [done, failed] = [status === "done" ? 1 : 0, FAILED.has(status) ? 1 : 0];
          inFlight.delete(event.outcome.change);
          ends.count(now);
          update(merchant, (known) => ({
            done: known.done + done,
            failed: known.failed + failed,
            // Changes that were held back end in a later phase.
            phaseEnded: known.phaseEnded + (event.phase === known.phase ? 1 : 0),
          }));
          break;
        }
        case "apply-stopped":
          update(merchant, () => ({ state: "stopped" }));
          break;
        case "apply-ended":
          update(merchant, () => ({ state: event.result.status, phase: null }));
          break;
        default:
          event satisfies never;
      }
    },
    view(now) {
      const all = [...merchants.values()];
      const ended = all.reduce((sum, { done, failed }) => sum + done + failed, 0);
      const left = all.reduce((sum, { changes }) => sum + changes, 0) - ended;
      const perSecond = ends.perSecond(now);
      return {
        merchants: all,
        inFlight: [...inFlight].map(([change, merchant]) => ({ merchant, change })),
        perSecond,
        leftMs: ended < ENOUGH_TO_TELL || left === 0 || perSecond === 0 ? null : (left / perSecond) * 1000,
        metrics: metrics.view(now),
      };
    },
  };
}

const FAILED: ReadonlySet<Outcome["status"]> = new Set(["failed", "stale", "unknown"]);

const BEFORE: Omit<ApplyingMerchant, "merchant" | "changes"> = {
  state: "waiting",
  phase: null,
  phaseEnded: 0,
  phaseChanges: 0,
  done: 0,
  failed: 0,
  readAgain: null,
};

/** Returns the totals over all merchants. */
export function applySums({ merchants }: ApplyView): {
  readonly changes: number;
  readonly done: number;
  readonly failed: number;
} {
  const sum = (key: "changes" | "done" | "failed"): number =>
    merchants.reduce((total, one) => total + one[key], 0);
  return { changes: sum("changes"), done: sum("done"), failed: sum("failed") };
}

/** "6 of 14 changes done, 1 failed, 3 a second; about 4 s left": progress in one line. */
export function applyText(view: ApplyView): string {
  const { changes, done, failed } = applySums(view);
  return [
    `${grouped(done)} of ${counted(changes, "change")} done`,
    failed > 0 ? `, ${grouped(failed)} failed` : "",
    rateText(view.perSecond),
    view.leftMs === null ? "" : `; about ${spanText(view.leftMs)} left`,
  ].join("");
}

const MINUTE = 60;

/** "4 s", "3 min": rounded up. */
export function spanText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 2 * MINUTE ? `${seconds} s` : `${Math.ceil(seconds / MINUTE)} min`;
}
