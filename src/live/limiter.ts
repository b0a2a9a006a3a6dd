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

/** How many may be under way while it is open whether the service refuses everyone. */
const PROBES = 2;

/** So many more refusals than successes say that it does. */
const BLOCKED_BY = 2;

/** Longest that everyone waits for a refusal that may concern one request alone, in ms, and as a share of the time since the last. */
const LONGEST_DOUBT_MS = 200;
const DOUBT_SHARE = 0.25;

/** Longest wait that the service may ask of one request alone, in ms: a longer one is meant for everyone. */
const LONGEST_ALONE_MS = 2_000;

/** For so many ms nothing else may have been refused before a refused invitation counts as one address's matter. */
const ALONE_MS = 1_000;

/** Whether a refusal concerns one request or everyone, by the answers to what was sent after it. */
interface Doubt {
  /** When the refused request had been sent. */
  readonly since: number;
  /** When its refusal came. */
  readonly from: number;
  passed: number;
  refused: number;
  retryMs: number;
}

/**
 * One limiter for each service and key.
 * A refusal among successes holds back its request alone. Where the next ones are refused, too, everyone waits, half as
 * many may be under way from then on, and the pace is what has passed.
 */
export function createLimiter({ concurrency, now, sleep, closing }: LimiterOptions): Limiter {
  const others: Waiter[] = [];
  const urgent: Waiter[] = [];
  const pacer = createPacer(now);
  let width = Math.min(concurrency, Math.max(GENTLE_START, concurrency / 2));
  let running = 0;
  let careful = false;
  let doubt: Doubt | null = null;
  let doubtEnded = now();
  let pausedUntil = Number.NEGATIVE_INFINITY;
  /** What was sent before the last pause says nothing about the time after it. */
  let blockedAt = Number.NEGATIVE_INFINITY;
  let lastPassed = now();
  let lastRefused: { readonly address: string | undefined; readonly at: number } | null = null;
  let waking = false;
  let refusedSince: number | null = null;

  const pause = (ms: number): void => {
    pausedUntil = Math.max(pausedUntil, now() + Math.ceil(ms));
  };

  const passed = (grantedAt: number): void => {
    refusedSince = null;
    lastPassed = now();
    pacer.answered(true, grantedAt);
    if (!doubt) width = Math.min(concurrency, width + (careful ? Math.max(1 / width, 1 / 8) : 1));
    if (!doubt || grantedAt < doubt.since || grantedAt <= blockedAt) return;
    doubt.passed += 1;
    if (doubt.passed < Math.min(PROBES, concurrency) || doubt.passed <= doubt.refused) return;
    doubt = null;
    doubtEnded = now();
    pausedUntil = Math.min(pausedUntil, now());
  };

  /** Everyone waits; half as many may be under way from then on. */
  const block = ({ retryMs, asked }: Refused): void => {
    // Each time longer than before, where nothing says how long.
    pause(asked ? retryMs : Math.max(retryMs, LONGEST_DOUBT_MS, (now() - lastPassed) / 2));
    if (isLong({ retryMs, asked })) pacer.paused(pausedUntil);
    else pacer.blocked();
    careful = true;
    width = Math.max(1, width / 2);
    blockedAt = now();
    doubt = { since: blockedAt, from: blockedAt, passed: 0, refused: BLOCKED_BY - 1, retryMs: 0 };
  };

  const refused = (grantedAt: number, refusal: Refused): void => {
    const { retryMs, asked } = refusal;
    refusedSince ??= now();
    pacer.answered(false, grantedAt);
    if (grantedAt <= blockedAt) return;
    if (isLong(refusal)) {
      block(refusal);
      return;
    }
    if (!doubt) {
      doubt = { since: grantedAt, from: now(), passed: 0, refused: 0, retryMs };
      pause(Math.min(retryMs, LONGEST_DOUBT_MS, DOUBT_SHARE * (now() - doubtEnded)));
      return;
    }
    doubt.retryMs = Math.max(doubt.retryMs, retryMs);
    // Those that were under way together are one sign, not many.
    if (grantedAt >= doubt.from) doubt.refused += 1;
    if (doubt.refused - doubt.passed >= BLOCKED_BY) block({ retryMs: doubt.retryMs, asked });
  };

  /** Whether a refusal is about one address only: nothing else has been refused lately. */
  const isAlone = ({ address }: Refused): boolean => {
    const last = lastRefused;
    lastRefused = { address, at: now() };
    return address !== undefined && (last === null || last.address === address || now() - last.at > ALONE_MS);
  };

  const grant = (): Permit => {
    const grantedAt = now();
    pacer.sent(running === 0, pausedUntil);
    running += 1;
    return {
      release(verdict) {
        running -= 1;
        if (verdict === "ok") passed(grantedAt);
        else if (typeof verdict === "object") {
          if (!isAlone(verdict)) refused(grantedAt, verdict);
        } else if (verdict === "other") refusedSince = null;
        start();
      },
    };
  };

  /** How many may be under way now. */
  const most = (): number => {
    if (!doubt) return Math.floor(width);
    return Math.min(Math.floor(width), doubt.since === blockedAt ? 1 : PROBES);
  };

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
