import { createRateEstimate } from "./rate-estimate.ts";

/** Spreads requests over time so that a service which allows so many a second need not refuse any. */
export interface Pacer {
  /** Milliseconds until the next request may go out; 0 where it may go now. Called only while no pause is on. */
  due(): number;
  /** A request goes out now. */
  sent(): void;
  /** A request that was sent then was answered well. */
  ok(wentOutAt: number): void;
  /** The first refusal (429) of those that were under way together, of a request sent then; nothing goes out for `pauseMs`. */
  refused(refusedAt: number, pauseMs: number): void;
}

/** Of what the service seems to allow: what is left covers requests that take longer on their way than others. */
const MARGIN = 0.97;

/** What a pace that did well for a while and was refused all the same comes down to. */
const STEP_DOWN = 0.95;

/** How much of what could not be sent in time, on a busy machine, is made up for later. */
const CATCH_UP_MS = 300;

/** What is made up for must not come to more than the pace in any second. */
const SECOND_MS = 1000;

/** How long a pace is kept before more is tried: each try that fails costs about a second. */
const FIRST_HOLD_MS = 30_000;
const LONGEST_HOLD_MS = 300_000;

/** Beyond this a refusal says that its service does not count in seconds. */
const SECONDS_MS = 2_000;

interface Refusal {
  /** When what was refused had gone out. */
  readonly refusedAt: number;
  readonly pauseMs: number;
}

/** Paces nothing until the first refusal; from then on evenly, slightly below what the service seems to allow. */
export function createPacer(now: () => number): Pacer {
  const estimate = createRateEstimate();
  /** Per second; null until the first refusal. */
  let base: number | null = null;
  /** How long the pace has been used in full since it was set, in milliseconds. */
  let used = 0;
  let hold = FIRST_HOLD_MS;
  let next = 0;
  /** When requests went out, as many as matter to the pace. */
  let sentAt: number[] = [];
  let stretch = { began: Number.NaN, passed: 0 };
  /** A refusal that the pace is still to be set by: what is under way counts, too, so that waits for the end of the pause. */
  let open: Refusal | null = null;
  let lastRefusedAt = Number.NEGATIVE_INFINITY;

  // Slow at first, where the limit is most likely near, then ever faster, where it was taken for much too low.
  const pace = (): number => {
    const seconds = Math.max(0, used - hold) / 1000;
    return (base ?? 0) * Math.exp(Math.min(0.02 * seconds ** 2, 20));
  };

  const settle = ({ refusedAt, pauseMs }: Refusal): void => {
    const allowed = estimate.after(refusedAt);
    // Nothing passed that the limit could be told by.
    if (allowed === 0) return;
    const lasted = Math.max(0, refusedAt - stretch.began);
    // Where it asks for more than seconds, what passed has to do for all of that time.
    const rate =
      pauseMs > SECONDS_MS
        ? Math.min(allowed, (stretch.passed * 1000) / (lasted + pauseMs))
        : MARGIN * allowed;
    if (base === null) base = rate;
    else {
      const failed = pace();
      const near = rate > 0.9 * base && rate < 1.1 * base;
      // A limit of a second is met within two; later, it is a bucket that has run dry, or bad luck.
      base = Math.min(rate, failed * (lasted > SECONDS_MS && used < hold ? STEP_DOWN : 0.98));
      hold = near ? Math.min(hold * 4, LONGEST_HOLD_MS) : FIRST_HOLD_MS;
    }
    used = 0;
    next = now();
    stretch = { began: now(), passed: 0 };
  };

  return {
    due() {
      if (open) settle(open);
      open = null;
      if (base === null) return 0;
      const oneSecondAgo = sentAt[sentAt.length - Math.ceil(pace())] ?? Number.NEGATIVE_INFINITY;
      const wait = Math.max(next, oneSecondAgo + SECOND_MS) - now();
      // A timer that is a little early is better than a second one.
      return wait < 1 ? 0 : wait;
    },
    sent() {
      if (Number.isNaN(stretch.began)) stretch = { began: now(), passed: 0 };
      if (base === null) return;
      sentAt.push(now());
      // Cut in bulk: cutting off one at each request would copy the list each time.
      if (sentAt.length > 4 * pace() + 100) sentAt = sentAt.slice(-Math.ceil(2 * pace()));
      const slot = 1000 / pace();
      // Time in which nobody wanted to send says nothing about the pace.
      if (now() - next <= CATCH_UP_MS) used += slot;
      next = Math.max(next, now() - CATCH_UP_MS) + slot;
    },
    ok(wentOutAt) {
      stretch.passed += 1;
      estimate.ok(wentOutAt);
    },
    refused(refusedAt, pauseMs) {
      // Soon after another it is still the same limit: it cannot have been learnt from yet.
      const again = refusedAt - lastRefusedAt < 1000;
      lastRefusedAt = refusedAt;
      if (!again) open = { refusedAt, pauseMs };
    },
  };
}
