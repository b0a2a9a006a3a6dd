import { createPacer } from "./pacer.ts";

/** How a request ended, as far as the rate is concerned. */
export type Verdict =
  | "ok"
  | "other"
  /** Nothing was sent. */
  | "unused"
  /** A 429, for how long the request waits before it comes again, in ms, and whether the service asked for that. */
  | {
      readonly retryMs: number;
      readonly asked: boolean /** The address that was invited. */;
      readonly address?: string;
    };

/** The right to have one request under way, until it is given back. */
export interface Permit {
  release(verdict: Verdict): void;
}

/** Takes turns at one service: bounds what is under way, and makes everyone wait when the service refuses everyone. */
export interface Limiter {
  /** Waits for a turn, first come first served, after all who may not be kept waiting (`urgent`); rejects with the signal's reason. */
  acquire(urgent: boolean, signal?: AbortSignal): Promise<Permit>;
  /** Whether everyone was made to wait after that moment of the clock. */
  pausedAfter(time: number): boolean;
  /** How many may be under way now. */
  width(): number;
  /** Since when the service has refused everything, on the clock; null if its last answer was none of that. */
  refusedSince(): number | null;
}

/** What a limiter is made with. */
export interface LimiterOptions {
  /** Most requests under way at once. */
  readonly concurrency: number;
  /** A clock that is never set back, in ms. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Once aborted, nobody is kept waiting for the end of a pause, and whoever has given up with it is told at once. */
  readonly closing?: AbortSignal;
}

type Refused = Extract<Verdict, object>;

interface Waiter {
  readonly signal: AbortSignal | undefined;
  readonly resolve: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
}

/** How many requests go out together before the service has answered any: half of what may be, but so many at least. */
const GENTLE_START = 4;

/** So many refusals in a row, with nothing that was sent later passing, say that everything is refused. */
const BLOCKED_BY = 3;

/** First wait for everyone where the service does not ask for one, in ms; it doubles until something passes. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/** Longest wait that the service may ask of one request alone, in ms: a longer one is meant for everyone. */
const LONGEST_ALONE_MS = 2_000;

/** For so many ms nothing else may have been refused before a refused invitation counts as one address's matter. */
const ALONE_MS = 1_000;

/** So long without anything to send, in ms, is no part of what a rate is learnt from; less is a busy machine. */
const IDLE_MS = 300;

/** Refusals in a row, none of which is known to concern one request alone. */
interface RefusalStreak {
  /** When the first refused request was sent. */
  readonly since: number;
  /** How many refusals there have been. */
  refused: number;
  /** Whether nothing else was under way when the first came. */
  readonly alone: boolean;
}

/**
 * One limiter for each service and key.
 * A refusal holds back its request alone if something that was sent after it passes. If the next ones are refused, too,
 * everyone waits, half as many may be under way from then on, and the pace is what has passed.
 */
export function createLimiter({ concurrency, now, sleep, closing }: LimiterOptions): Limiter {
  const others: Waiter[] = [];
  const urgent: Waiter[] = [];
  const pacer = createPacer(now);
  let width = Math.min(concurrency, Math.max(GENTLE_START, concurrency / 2));
  let running = 0;
  let releasedAt = now();
  let careful = false;
  let streak: RefusalStreak | null = null;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  /** Start of the last pause: answers to earlier requests say nothing about the time after it. */
  let blockedAt = Number.NEGATIVE_INFINITY;
  /** How many pauses there have been since something passed. */
  let pauses = 0;
  let lastRefused: { readonly address: string | undefined; readonly at: number } | null = null;
  let waking = false;
  let refusedSince: number | null = null;

  const passed = (sentAt: number): void => {
    refusedSince = null;
    width = Math.min(concurrency, width + (careful ? Math.max(1 / width, 1 / 8) : 1));
    pacer.passed(sentAt);
    if (sentAt < blockedAt) return;
    pauses = 0;
    if (streak && sentAt >= streak.since) streak = null;
  };

  /** Everyone waits; half as many may be under way from then on. */
  const block = ({ retryMs, asked }: Refused): void => {
    const backoff = Math.min(FIRST_PAUSE_MS * 2 ** pauses, LONGEST_PAUSE_MS);
    const wait = asked ? retryMs : Math.max(retryMs, backoff);
    // With a known pace, little more is sent than allowed: whole seconds would be too long.
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
    if (pacer.refused(sentAt) && !isLong(refusal)) return;
    streak ??= { since: sentAt, refused: 0, alone: running === 0 };
    streak.refused += 1;
    const isBlocked = pauses > 0 || streak.refused >= (streak.alone ? BLOCKED_BY - 1 : BLOCKED_BY);
    if (isBlocked || isLong(refusal)) block(refusal);
  };

  /** Whether a refusal is about one address only: nothing else has been refused lately. */
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

  /** How many may be under way now: one at a time to find out whether a pause is over, or a refusal concerns everyone. */
  const most = (): number => (pauses > 0 || streak ? 1 : Math.floor(width));

  const start = (): void => {
    while (running < most() && urgent.length + others.length > 0) {
      const wait = pausedUntil > now() ? Math.ceil(pausedUntil - now()) : pacer.due();
      if (wait > 0) {
        wakeAfter(wait);
        return;
      }
      const next = urgent.shift() ?? others.shift();
      // Whoever gave up while waiting takes no turn.
      if (next?.signal?.aborted) next.reject(next.signal.reason);
      else next?.resolve(grant());
    }
  };

  // One sleeper for everyone; a pause that has grown meanwhile is slept again.
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
        for (const waiter of [...urgent.splice(0), ...others.splice(0)]) waiter.reject(reason);
      },
    );
  };

  closing?.addEventListener("abort", () => {
    for (const queue of [urgent, others]) {
      for (const waiter of queue.splice(0)) {
        if (waiter.signal?.aborted) waiter.reject(waiter.signal.reason);
        else queue.push(waiter);
      }
    }
  });

  return {
    acquire: (isUrgent, signal) =>
      new Promise((resolve, reject) => {
        const isIdle = running + urgent.length + others.length === 0 && now() - releasedAt > IDLE_MS;
        if (isIdle && now() > pausedUntil) pacer.idle();
        (isUrgent ? urgent : others).push({ signal, resolve, reject });
        start();
      }),
    pausedAfter: (time) => pausedUntil > time,
    width: () => Math.floor(width),
    refusedSince: () => refusedSince,
  };
}

function isLong({ retryMs, asked }: Refused): boolean {
  return asked && retryMs > LONGEST_ALONE_MS;
}
