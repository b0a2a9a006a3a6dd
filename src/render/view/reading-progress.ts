import { counted, grouped } from "../../lib/text.ts";
import type { LiveEvent } from "../../model/events.ts";

/** The progress of reading one merchant. */
export interface ReadingMerchant {
  readonly merchant: string;
  readonly state: "waiting" | "reading" | "read" | "failed";
  /** Members read so far. */
  readonly members: number;
  /** `null` if the service has not reported it. */
  readonly total: number | null;
  /** The reason of a failure; empty otherwise. */
  readonly problem: string;
}

/** The progress of reading. */
export interface ReadingView {
  /** Those that are known so far. */
  readonly merchants: readonly ReadingMerchant[];
  /** The number of merchants, or an upper bound of it. */
  readonly count: number;
  readonly metrics: RequestMetrics;
}

/** Follows how live states are read; times in milliseconds. */
export interface ReadingProgress {
  live(event: LiveEvent, now: number): void;
  /** Records that a merchant was read, or the `problem` that prevented it. */
  ended(merchant: string, problem: string | null): void;
  /** Corrects how many merchants there are. */
  expect(count: number): void;
  view(now: number): ReadingView;
}

/** Starts following the reading of these merchants; with `expected`, of those that turn up, about so many. */
export function readingProgress(codes: readonly string[], expected: number | null = null): ReadingProgress {
  const metrics = collectRequestMetrics();
  let count = expected ?? codes.length;
  const merchants = new Map<string, ReadingMerchant>(codes.map((merchant) => [merchant, waiting(merchant)]));
  const change = (merchant: string, rest: Partial<ReadingMerchant>): void => {
    const known = merchants.get(merchant) ?? (expected === null ? null : waiting(merchant));
    if (known) merchants.set(merchant, { ...known, ...rest });
  };
  return {
    expect(merchantCount) {
      count = merchantCount;
    },
    live(event, now) {
      metrics.event(event, now);
      if (event.type === "read") {
        change(event.merchant, { state: "reading", members: event.members, total: event.total });
      } else if (event.type === "request") {
        const merchant = merchantIn(event.path);
        if (merchant !== null && merchants.get(merchant)?.state === "waiting") {
          change(merchant, { state: "reading" });
        }
      }
    },
    ended: (merchant, problem) =>
      change(merchant, problem === null ? { state: "read" } : { state: "failed", problem }),
    view: (now) => ({
      merchants: [...merchants.values()],
      count: Math.max(count, merchants.size),
      metrics: metrics.view(now),
    }),
  };
}

function waiting(merchant: string): ReadingMerchant {
  return { merchant, state: "waiting", members: 0, total: null, problem: "" };
}

/** Returns the merchant in a request's path; `null` if there is none. */
function merchantIn(path: string): string | null {
  const code = /\/merchants\/([^/?]+)/.exec(path)?.[1];
  return code === undefined ? null : decodeURIComponent(code);
}

/** Returns the number of merchants in a state. */
export function merchantsIn({ merchants }: ReadingView, state: ReadingMerchant["state"]): number {
  return merchants.filter((one) => one.state === state).length;
}

/** "read 2 of 5 merchants, 1 failed; 1,250 members in 61 requests, 42 a second": progress in one line. */
export function readingText(view: ReadingView): string {
  const { merchants, count, metrics } = view;
  const failed = merchantsIn(view, "failed");
  const members = merchants.reduce((sum, one) => sum + one.members, 0);
  return [
    `read ${grouped(merchantsIn(view, "read"))} of ${counted(count, "merchant")}`,
    failed > 0 ? `, ${grouped(failed)} failed` : "",
    `; ${counted(members, "member")} in ${counted(metrics.requests, "request")}`,
    rateText(metrics.perSecond),
  ].join("");
}

/** Returns the rate as ", 42 a second"; empty if it is below one. */
export function rateText(perSecond: number): string {
  return perSecond < 1 ? "" : `, ${grouped(Math.round(perSecond))} a second`;
}

/** A current pause, and its reason. */
export interface Wait {
  readonly reason: string;
  /** Time left, in ms. */
  readonly ms: number;
}

/** The requests to the service so far. */
export interface RequestMetrics {
  /** Requests that have ended, with or without a response. */
  readonly requests: number;
  readonly perSecond: number;
  /** Requests that were repeats of another. */
  readonly retries: number;
  /** The longest first. */
  readonly waits: readonly Wait[];
}

/** Collects the events of the client; times in ms. */
export interface RequestMetricsCollector {
  event(event: LiveEvent, now: number): void;
  view(now: number): RequestMetrics;
}

/** The span that a rate is averaged over. */
const WINDOW_MS = 5_000;

/** Starts collecting request metrics. */
export function collectRequestMetrics(): RequestMetricsCollector {
  const responses = rateMeter(WINDOW_MS);
  const waits = new Map<string, number>();
  let requests = 0;
  let retries = 0;
  return {
    event(event, now) {
      switch (event.type) {
        case "request":
          if (event.attempt > 1) retries += 1;
          break;
        case "response":
        case "no-response":
          requests += 1;
          responses.count(now);
          break;
        case "wait":
          waits.set(event.reason, Math.max(waits.get(event.reason) ?? 0, event.until));
          break;
        case "read":
        case "proxy":
        case "caller-unknown":
          break;
        default:
          event satisfies never;
      }
    },
    view(now) {
      for (const [reason, until] of waits) if (until <= now) waits.delete(reason);
      return {
        requests,
        retries,
        perSecond: responses.perSecond(now),
        waits: [...waits]
          .map(([reason, until]) => ({ reason, ms: until - now }))
          .sort((one, other) => other.ms - one.ms),
      };
    },
  };
}

/** A meter of the recent rate of events. */
export interface RateMeter {
  count(now: number): void;
  perSecond(now: number): number;
}

/** Creates a meter over a sliding window, or since the first event if that is shorter. */
export function rateMeter(windowMs: number): RateMeter {
  let times: number[] = [];
  let first: number | null = null;
  return {
    count(now) {
      first ??= now;
      times.push(now);
    },
    perSecond(now) {
      times = times.filter((time) => time > now - windowMs);
      const since = Math.max(first ?? now, now - windowMs);
      const seconds = Math.max(now - since, 1000) / 1000;
      return times.length / seconds;
    },
  };
}
