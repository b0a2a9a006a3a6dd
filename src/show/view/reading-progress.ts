import { counted, grouped } from "../../lib/text.ts";
import type { LiveEvent } from "../../model/events.ts";
import { ADDRESS, kindOfWait } from "./wait-text.ts";

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
  /** Times of its first request and of its end; `null` before. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

/** The progress of reading. */
export interface ReadingView {
  readonly merchants: readonly ReadingMerchant[];
  readonly metrics: RequestMetrics;
  readonly now: number;
  readonly elapsedMs: number;
  /** Estimated time left, in ms; `null` if it is too early to tell, or nothing gets on. */
  readonly leftMs: number | null;
}

/** Follows how live states are read; times in milliseconds. */
export interface ReadingProgress {
  live(event: LiveEvent, now: number): void;
  /** Records that a merchant was read, or the `problem` that prevented it. */
  ended(merchant: string, problem: string | null, now: number): void;
  view(now: number): ReadingView;
}

/** Starts following the reading of these merchants. */
export function readingProgress(codes: readonly string[], began: number): ReadingProgress {
  const metrics = collectRequestMetrics();
  const merchants = new Map<string, ReadingMerchant>(codes.map((merchant) => [merchant, waiting(merchant)]));
  const change = (merchant: string, rest: Partial<ReadingMerchant>): void => {
    const reading = merchants.get(merchant);
    if (reading) merchants.set(merchant, { ...reading, ...rest });
  };
  const start = (merchant: string, now: number): void => {
    if (merchants.get(merchant)?.state === "waiting") change(merchant, { state: "reading", startedAt: now });
  };
  return {
    live(event, now) {
      metrics.event(event, now);
      const merchant = merchantOf(event);
      if (merchant === null) return;
      if (event.type === "request" || event.type === "read") start(merchant, now);
      if (event.type === "read") change(merchant, { members: event.members, total: event.total });
    },
    ended(merchant, problem, now) {
      metrics.ended(merchant);
      change(
        merchant,
        problem === null ? { state: "read", endedAt: now } : { state: "failed", problem, endedAt: now },
      );
    },
    view(now) {
      const readings = [...merchants.values()];
      // An immediate failure says nothing about the time that the others take.
      const sound = readings.filter(({ state }) => state !== "failed");
      const share = readShare(sound);
      const requests = metrics.view(now);
      return {
        merchants: readings,
        metrics: requests,
        now,
        elapsedMs: now - began,
        leftMs: requests.isStill ? null : timeLeft(share, now - began),
      };
    },
  };
}

function waiting(merchant: string): ReadingMerchant {
  return {
    merchant,
    state: "waiting",
    members: 0,
    total: null,
    problem: "",
    startedAt: null,
    endedAt: null,
  };
}

/** Returns how much is read, from 0 to 1: merchants, and members of those that are being read. */
export function readShare(merchants: readonly ReadingMerchant[]): number {
  const parts = merchants.map(({ state, members, total }) =>
    state === "read" || state === "failed" ? 1 : total === null ? 0 : (0.95 * members) / Math.max(total, 1),
  );
  return parts.length === 0 ? 1 : parts.reduce((sum, part) => sum + part, 0) / parts.length;
}

/** Times and shares below which an estimate is a guess. */
const [ENOUGH_MS, ENOUGH_SHARE] = [2_000, 0.02];

/** Estimates the time left, in ms, from what share of the work took how long; `null` if it is too early to tell. */
export function timeLeft(share: number, elapsedMs: number): number | null {
  if (elapsedMs < ENOUGH_MS || share < ENOUGH_SHARE || share >= 1) return null;
  return (elapsedMs * (1 - share)) / share;
}

/** Returns the merchant that an event is about; `null` if it is about none. */
export function merchantOf(event: LiveEvent): string | null {
  if ("merchant" in event) return event.merchant;
  const code = "path" in event ? /\/merchants\/([^/?]+)/.exec(event.path)?.[1] : undefined;
  return code === undefined ? null : decodeURIComponent(code);
}

/** Returns the number of merchants in a state. */
export function merchantsIn({ merchants }: ReadingView, state: ReadingMerchant["state"]): number {
  return merchants.filter((merchant) => merchant.state === state).length;
}

/** Returns the number of members read so far. */
export function membersRead({ merchants }: ReadingView): number {
  return merchants.reduce((sum, each) => sum + each.members, 0);
}

/**
 * "read 2 of 5 merchants, 1 failed; 1,250 members in 61 requests, 42 a second; about 4 s left": progress in one line.
 */
export function readingText(view: ReadingView): string {
  const { merchants, metrics, leftMs } = view;
  const failed = merchantsIn(view, "failed");
  return [
    `read ${grouped(merchantsIn(view, "read"))} of ${counted(merchants.length, "merchant")}`,
    failed > 0 ? `, ${grouped(failed)} failed` : "",
    `; ${counted(membersRead(view), "member")} in ${counted(metrics.requests, "request")}`,
    rateText(metrics.perSecond),
    leftText(leftMs),
  ].join("");
}

/** Returns the rate as ", 42 a second"; empty if it is below one. */
export function rateText(perSecond: number): string {
  return perSecond < 1 ? "" : `, ${grouped(Math.round(perSecond))} a second`;
}

/** Returns the time left as "; about 4 s left"; empty if it is unknown. */
export function leftText(leftMs: number | null): string {
  return leftMs === null ? "" : `; about ${spanText(leftMs)} left`;
}

const MINUTE = 60;

/** "4 s", "3 min": rounded up. */
export function spanText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 2 * MINUTE ? `${seconds} s` : `${Math.ceil(seconds / MINUTE)} min`;
}

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
  /** Nothing has got on for some seconds, or all merchants wait: an estimate of the time left would be wrong. */
  readonly isStill: boolean;
}

/** Collects the events of the client; times in ms. */
export interface RequestMetricsCollector {
  event(event: LiveEvent, now: number): void;
  /** Forgets the requests of a merchant, whose responses are not needed any more. */
  ended(merchant: string): void;
  view(now: number): RequestMetrics;
}

/** The span that a rate is averaged over. */
const WINDOW_MS = 5_000;

/** Time without a request on the wire after which a wait holds back all merchants, in ms. */
const SHARED_AFTER_MS = 1_000;

/** Time without a response that helps after which an estimate is not shown, in ms. */
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
  // Others go on while an address is refused.
  return [{ reason, ms, merchants, addresses, isShared: isQuiet && addresses.length === 0 }];
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
