import { createPacer } from "./pacer.ts";

/** The outcome of a request, as far as the rate is concerned. */
export type RequestVerdict =
  | "ok"
  | "other"
  /** Nothing was sent. */
  | "unused"
  /** A 429: how long the request waits before its retry, in ms, and if the service asked for that. */
  | {
      readonly retryMs: number;
      readonly asked: boolean;
      /** The invited address. */
      readonly address?: string;
    };

/** Permission for one request in flight, until released. */
export interface Permit {
  release(verdict: RequestVerdict): void;
}

/** Limits the requests in flight to one service, and pauses all of them while it refuses everything. */
export interface Limiter {
  /**
   * Waits for a permit, behind all `urgent` requests and those of an earlier `turn` (absent: 0); rejects with the
   * signal's reason.
   */
  acquire(urgent: boolean, signal?: AbortSignal, turn?: number): Promise<Permit>;
  /** Returns whether all requests were paused after a time of the clock. */
  pausedAfter(time: number): boolean;
  /** Returns how many requests may be in flight now. */
  width(): number;
  /** Returns since when the service refuses everything, on the clock; `null` if its last response was no refusal. */
  refusedSince(): number | null;
}

/** The options of a limiter. */
export interface LimiterOptions {
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  /** Returns the time of a monotonic clock, in ms. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Once aborted, no request waits for the end of a pause, and those with an aborted signal reject at once. */
  readonly closing?: AbortSignal;
  /** Receives each measured rate limit, per second; `null` when there is none any longer. */
  readonly onPace?: (perSecond: number | null) => void;
}

type Refused = Extract<RequestVerdict, object>;

interface Waiter {
  readonly turn: number;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
}

/** Minimum number of requests in flight before the first response; else half of the maximum. */
const GENTLE_START = 4;

/**
 * Number of consecutive refusals, without a later success, after which all requests are paused; fewer if requests are
 * sent one after the other.
 */
const BLOCKED_BY = 4;
const BLOCKED_ALONE_BY = 2;

/** First pause if the service does not ask for one, in ms; it doubles until a request succeeds. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/** Longest Retry-After that concerns one request only, in ms; a longer one pauses all. */
const LONGEST_ALONE_MS = 2_000;

/** Time without other refusals after which a refused invitation concerns its address only, in ms. */
const ALONE_MS = 1_000;

/** Idle time that does not count for the measured rate, in ms; a shorter gap is a busy machine. */
const IDLE_MS = 300;

/** A series of refusals that may concern all requests. */
interface RefusalStreak {
  /** Time at which the first refused request was sent. */
  readonly since: number;
  /** Number of refusals. */
  refused: number;
  /** True if no other request was in flight at the first refusal. */
  readonly alone: boolean;
}

/**
 * Creates the limiter of one service and key. A refusal delays its request alone if a request that was sent later
 * succeeds. If the next ones are refused too, all are paused, half as many may be in flight afterwards, and the pacer
 * adopts the rate of the successes.
 */
export function createLimiter({ concurrency, now, sleep, closing, onPace }: LimiterOptions): Limiter {
  const normal: Waiter[] = [];
  const urgent: Waiter[] = [];
  const pacer = createPacer(now, onPace);
  let width = Math.min(concurrency, Math.max(GENTLE_START, concurrency / 2));
  let running = 0;
  let releasedAt = now();
  let careful = false;
  let streak: RefusalStreak | null = null;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  /** Start of the last pause: responses to earlier requests say nothing about the time since. */
  let blockedAt = Number.NEGATIVE_INFINITY;
  /** Number of pauses since the last success. */
  let pauses = 0;
  let lastRefused: { readonly address: string | undefined; readonly at: number } | null = null;
  let waking = false;
  let refusedSince: number | null = null;

  const passed = (sentAt: number): void => {
    refusedSince = null;
    width = Math.min(concurrency, width + (careful ? Math.max(1 / width, 1 / 8) : 1));
    pacer.passed();
    if (sentAt < blockedAt) return;
    pauses = 0;
    if (streak && sentAt >= streak.since) streak = null;
  };

  /** Pauses all requests, and halves how many may be in flight afterwards. */
  const block = ({ retryMs, asked }: Refused): void => {
    const backoff = Math.min(FIRST_PAUSE_MS * 2 ** pauses, LONGEST_PAUSE_MS);
    const wait = asked ? retryMs : Math.max(retryMs, backoff);
    // At a known pace the limit is exceeded only slightly: whole seconds would be too long.
    const isShort = pauses === 0 && pacer.isPacing() && !isLong({ retryMs, asked });
    pausedUntil = Math.max(pausedUntil, now() + Math.ceil(isShort ? Math.min(wait, FIRST_PAUSE_MS) : wait));
    pacer.blocked(pausedUntil);
    careful = true;
    if (!pacer.isPacing()) width = Math.max(1, width / 2);
    blockedAt = now();
    pauses += 1;
    streak = null;
  };

  const refused = (sentAt: number, refusal: Refused): void => {
    refusedSince ??= now();
    if (sentAt < blockedAt) return;
    if (pacer.refused() && !isLong(refusal)) return;
    streak ??= { since: sentAt, refused: 0, alone: running === 0 };
    streak.refused += 1;
    const isBlocked = pauses > 0 || streak.refused >= (streak.alone ? BLOCKED_ALONE_BY : BLOCKED_BY);
    if (isBlocked || isLong(refusal)) block(refusal);
  };

  /** Returns whether a refusal concerns one address only: nothing else was refused lately. */
  const isAlone = ({ address }: Refused): boolean => {
    const last = lastRefused;
    lastRefused = { address, at: now() };
    return address !== undefined && (last === null || last.address === address || now() - last.at > ALONE_MS);
  };

  const grant = (): Permit => {
    const sentAt = now();
    pacer.sent();
    running += 1;
    return {
      release(verdict) {
        running -= 1;
        releasedAt = now();
        if (verdict === "ok") passed(sentAt);
        else if (typeof verdict === "object") {
          if (!isAlone(verdict)) refused(sentAt, verdict);
        } else if (verdict === "other") refusedSince = null;
        start();
      },
    };
  };

  /**
   * Returns how many may be in flight: only one while it is unclear whether a pause is over or a refusal concerns all.
   */
  const most = (): number => (pauses > 0 || streak ? 1 : Math.floor(width));

  const start = (): void => {
    while (running < most() && urgent.length + normal.length > 0) {
      const wait = pausedUntil > now() ? Math.ceil(pausedUntil - now()) : pacer.due();
      if (wait > 0) {
        wakeAfter(wait);
        return;
      }
      const next = urgent.shift() ?? normal.shift();
      // A waiter that was aborted takes no permit.
      if (next?.signal?.aborted) next.reject(next.signal.reason);
      else next?.resolve(grant());
    }
  };

  // One timer for all waiters; it is restarted if the pause has grown meanwhile.
  const wakeAfter = (ms: number): void => {
    if (waking) return;
    waking = true;
    sleep(ms, closing).then(
      () => {
        waking = false;
        start();
      },
      (reason: unknown) => {
        waking = false;
        for (const waiter of [...urgent.splice(0), ...normal.splice(0)]) waiter.reject(reason);
      },
    );
  };

  const rejectAborted = (): void => {
    for (const queue of [urgent, normal]) {
      for (const waiter of queue.splice(0)) {
        if (waiter.signal?.aborted) waiter.reject(waiter.signal.reason);
        else queue.push(waiter);
      }
    }
  };
  // Node keeps a combined signal for as long as it has a listener, even after it aborted.
  closing?.addEventListener("abort", rejectAborted, { once: true });

  return {
    acquire: (isUrgent, signal, turn = 0) =>
      new Promise((resolve, reject) => {
        const isIdle = running + urgent.length + normal.length === 0 && now() - releasedAt > IDLE_MS;
        if (isIdle && now() > pausedUntil) pacer.idle();
        const waiter = { turn, signal, resolve, reject };
        if (isUrgent) urgent.push(waiter);
        else insertByTurn(normal, waiter);
        start();
      }),
    pausedAfter: (time) => pausedUntil > time,
    width: () => Math.floor(width),
    refusedSince: () => refusedSince,
  };
}

/** Inserts a waiter behind all those of its own turn and of earlier ones. */
function insertByTurn(queue: Waiter[], waiter: Waiter): void {
  const behind = queue.findLastIndex(({ turn }) => turn <= waiter.turn);
  queue.splice(behind + 1, 0, waiter);
}

function isLong({ retryMs, asked }: Refused): boolean {
  return asked && retryMs > LONGEST_ALONE_MS;
}
