import type { LiveEvent } from "../../model/events.ts";

/** A pause that is under way, and its reason. */
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
  const answers = rateMeter(WINDOW_MS);
  const waits = new Map<string, number>();
  let requests = 0;
  let retries = 0;
  return {
    event(event, now) {
      switch (event.type) {
        case "request":
          if (event.attempt > 1) retries += 1;
          break;
        case "answer":
        case "no-answer":
          requests += 1;
          answers.count(now);
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
        perSecond: answers.perSecond(now),
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
