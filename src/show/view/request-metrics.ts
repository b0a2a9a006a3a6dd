import type { LiveEvent } from "../../model/events.ts";
import { ADDRESS, kindOfWait } from "./wait-text.ts";

/** A current pause, and its reason. */
export interface Wait {
  readonly reason: string;
  /** Time left, in ms. */
  readonly ms: number;
  /** The merchants whose requests wait. */
  readonly merchants: readonly string[];
  /** The invited addresses that are refused; empty if the wait is about requests of any kind. */
  readonly addresses: readonly string[];
  /** Nothing is sent until it is over: all merchants wait. */
  readonly isShared: boolean;
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
  /** Number of waits so far. */
  readonly waited: number;
  /** The measured rate limit of the service, per second; `null` if there is none. */
  readonly pace: number | null;
  /** The number of requests without a response yet, by merchant. */
  readonly onWire: ReadonlyMap<string, number>;
  /**
   * There has been no progress for some seconds, or all merchants wait, so an estimate of the time left would be wrong.
   */
  readonly isStill: boolean;
}

/** Collects the events of the client; times in ms. */
export interface RequestMetricsCollector {
  event(event: LiveEvent, now: number): void;
  /** Forgets the requests of a merchant whose responses are no longer needed. */
  ended(merchant: string): void;
  view(now: number): RequestMetrics;
}

/** The span that a rate is averaged over. */
const WINDOW_MS = 5_000;

/** Time without a request in flight after which a wait counts as holding back all merchants, in ms. */
const SHARED_AFTER_MS = 1_000;

/** Time without a successful response after which no estimate is shown, in ms. */
const STILL_AFTER_MS = 4_000;

/** Starts collecting request metrics. */
export function collectRequestMetrics(): RequestMetricsCollector {
  const responses = rateMeter(WINDOW_MS);
  /** The waits by reason, and within it by merchant and address. */
  const waits = new Map<string, Map<string, KnownWait>>();
  /** Times of the last request sent or ended, and of the last progress. */
  const times = { moved: Number.NEGATIVE_INFINITY, helped: null as number | null };
  /** Requests without a response, by merchant. */
  const onWire = new Map<string, number>();
  const [sums, rate] = [{ requests: 0, retries: 0, waited: 0 }, { pace: null as number | null }];
  const count = (event: LiveEvent, by: number): void => {
    const merchant = merchantOf(event) ?? "";
    const onTheWay = (onWire.get(merchant) ?? 0) + by;
    if (onTheWay > 0) onWire.set(merchant, onTheWay);
    else onWire.delete(merchant);
  };
  return {
    event(event, now) {
      switch (event.type) {
        case "request":
          if (event.attempt > 1) sums.retries += 1;
          times.moved = now;
          times.helped ??= now;
          count(event, 1);
          break;
        case "response":
        case "no-response":
          sums.requests += 1;
          times.moved = now;
          if (event.type === "response" && event.status !== 429 && event.status < 500) times.helped = now;
          responses.count(now);
          count(event, -1);
          break;
        case "wait": {
          sums.waited += 1;
          const kind = kindOfWait(event.reason);
          const waitsOfKind = waits.get(kind) ?? new Map<string, KnownWait>();
          const merchant = merchantOf(event) ?? "";
          const address = ADDRESS.exec(event.reason)?.[1] ?? "";
          const key = JSON.stringify([merchant, address]);
          const until = Math.max(waitsOfKind.get(key)?.until ?? 0, event.until);
          waits.set(kind, waitsOfKind.set(key, { merchant, address, until }));
          break;
        }
        case "pace":
          rate.pace = event.perSecond;
          break;
        case "read":
          times.helped = now;
          break;
        case "proxy":
        case "caller-unknown":
          break;
        default:
          event satisfies never;
      }
    },
    ended: (merchant) => void onWire.delete(merchant),
    view(now) {
      const isQuiet = onWire.size === 0 && now - times.moved >= SHARED_AFTER_MS;
      const shownWaits = [...waits].flatMap(([reason, some]) => waitAt(reason, some, isQuiet, now));
      return {
        ...sums,
        ...rate,
        perSecond: responses.perSecond(now),
        waits: shownWaits.sort((a, b) => b.ms - a.ms),
        onWire: new Map([...onWire].filter(([merchant]) => merchant !== "")),
        isStill:
          (times.helped !== null && now - times.helped >= STILL_AFTER_MS) ||
          shownWaits.some(({ isShared }) => isShared),
      };
    },
  };
}

/** The wait of a merchant's request, or of the invitation of an address. */
interface KnownWait {
  readonly merchant: string;
  readonly address: string;
  readonly until: number;
}

/** Returns the wait for one reason, if it is not over for all. */
function waitAt(
  reason: string,
  waitsByRequest: ReadonlyMap<string, KnownWait>,
  isQuiet: boolean,
  now: number,
): readonly Wait[] {
  const unfinished = [...waitsByRequest.values()].filter(({ until }) => until > now);
  if (unfinished.length === 0) return [];
  const some = (key: "merchant" | "address"): readonly string[] => [
    ...new Set(unfinished.map((wait) => wait[key]).filter((text) => text !== "")),
  ];
  const [merchants, addresses] = [some("merchant"), some("address")];
  const ms = Math.max(...unfinished.map(({ until }) => until)) - now;
  // Other requests continue while an address is refused.
  return [{ reason, ms, merchants, addresses, isShared: isQuiet && addresses.length === 0 }];
}

/** Returns the merchant that an event is about; `null` if it is about none. */
export function merchantOf(event: LiveEvent): string | null {
  if ("merchant" in event) return event.merchant;
  const code = "path" in event ? /\/merchants\/([^/?]+)/.exec(event.path)?.[1] : undefined;
  return code === undefined ? null : decodeURIComponent(code);
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
