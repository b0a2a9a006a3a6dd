/** Spreads requests over time to stay below the rate limit of a service. */
export interface Pacer {
  /** Returns the time until the next request may be sent, in ms; 0 if now. */
  due(): number;
  /** Records that a request is sent now. */
  sent(): void;
  /** Records that there was nothing to send until now. */
  idle(): void;
  /** Records the success of a request that was sent at `sentAt`. */
  passed(sentAt: number): void;
  /** Notes a 429 to a request that was sent at `sentAt`; returns whether the pace was lowered for it. */
  refused(sentAt: number): boolean;
  /** Records that all requests are paused until a time. */
  blocked(until: number): void;
  /** Returns whether there is a pace. */
  isPacing(): boolean;
}

/** Shortest time to measure a rate over, in ms: most services count by the second. */
const ROUND_MS = 1000;

/** Longest time to measure a rate over, in ms. */
const LOOK_BACK_MS = 4000;

/** Minimum number of responses, and of refusals among them, to judge a rate. */
const ROUND_RESPONSES = 20;
const ROUND_REFUSALS = 3;

/** Share of the measured rate that is used, to allow for requests of different latency. */
const MARGIN = 0.97;

/** Increase in the share of refusals that leads to a cut. */
const TOLERATED = 0.015;

/** Steps up after a cut, as shares of the pace; the last one repeats. */
const STEPS = [0.03, 0.06, 0.12, 0.25, 0.5];

/** Time before the first step up, in ms; doubled if the same limit is met again. */
const FIRST_HOLD_MS = 1000;
const LONGEST_HOLD_MS = 16_000;

/** Number of cuts in a row that may leave the share of refusals unchanged. */
const MOST_FRUITLESS = 2;

/** Relative difference below which two rates are the same limit. */
const NEAR = 0.15;

/** A pace of this multiple of the actual rate is dropped. */
const UNUSED = 4;

/** Longest delay that is made up for, in ms, after a busy machine sent too late. */
const CATCH_UP_MS = 100;

interface ResponseRecord {
  readonly at: number;
  readonly sentAt: number;
  readonly passed: boolean;
}

/**
 * Creates a pacer. There is no pace until the service refuses everything, or more than a few requests, for at least a
 * second. The rate of the successes then becomes the pace, which grows again step by step within seconds. A share of
 * refusals that a lower pace does not reduce has other causes than the rate, and is tolerated from then on. `onPace` takes
 * each measured limit, and `null` when it is dropped.
 */
export function createPacer(
  now: () => number,
  onPace: (perSecond: number | null) => void = () => undefined,
): Pacer {
  /** Requests per second; `null` without a limit. */
  let pace: number | null = null;
  /** The measured rate at the last cut, and its time. */
  let learnt = 0;
  let cutAt = Number.NEGATIVE_INFINITY;
  let hold = FIRST_HOLD_MS;
  let steps = 0;
  let steppedAt = 0;
  let next = Number.NEGATIVE_INFINITY;
  /** Start of uninterrupted sending, and the latest responses. */
  let since = now();
  let responses: ResponseRecord[] = [];
  /** Time at which the service last began to refuse everything; `null` if not since the last idle time. */
  let blockedAt: number | null = null;
  /** Share of refusals before the last cut, and the tolerated one. */
  let shareBefore = 1;
  /** Number of cuts in a row that did not reduce refusals, and the pace before the first of them. */
  let fruitless = 0;
  let uncut: number | null = null;
  /** True if there were no refusals right before the first step up. */
  let wasClean = false;
  let usual = 0;
  let forgettable = ROUND_RESPONSES;

  const record = (response: ResponseRecord): void => {
    responses.push(response);
    if (responses.length < 2 * forgettable) return;
    responses = responses.filter(
      ({ at }, index) => at >= now() - LOOK_BACK_MS || index >= responses.length - ROUND_RESPONSES,
    );
    forgettable = Math.max(ROUND_RESPONSES, responses.length);
  };

  /** Returns the rate of successes since a time, per second; `null` if that is less than a round ago. */
  const rate = (from: number): number | null => {
    const ms = now() - from;
    if (ms < ROUND_MS) return null;
    return (1000 * responses.filter(({ at, passed }) => passed && at > from).length) / ms;
  };

  /** Returns the rate of successes at the present pace, measured over whole rounds. */
  const lately = (): number | null => {
    const roundsMs = Math.min(LOOK_BACK_MS, (1000 * ROUND_RESPONSES) / (pace ?? 1000));
    const rounds = Math.floor(
      Math.min(Math.max(ROUND_MS, roundsMs), now() - Math.max(since, cutAt)) / ROUND_MS,
    );
    return rate(now() - rounds * ROUND_MS);
  };

  const cut = (to: number): void => {
    const isSame = Math.abs(to - learnt) <= NEAR * learnt;
    hold = isSame ? Math.min(2 * hold, LONGEST_HOLD_MS) : FIRST_HOLD_MS;
    learnt = to;
    pace = MARGIN * to;
    onPace(to);
    next = now();
    steps = 0;
    steppedAt = now();
    cutAt = now();
  };

  /** Returns the responses to requests since the last cut: those of the last round, or the minimum number. */
  const judged = (): readonly ResponseRecord[] => {
    const sinceCut = responses.filter(({ sentAt }) => sentAt >= cutAt);
    return sinceCut.filter(
      ({ at }, index) => at >= now() - ROUND_MS || index >= sinceCut.length - ROUND_RESPONSES,
    );
  };

  /** Cuts the pace if more is refused than usual, unless earlier cuts did not help. */
  const judge = (): boolean => {
    const responsesSinceCut = judged();
    const refused = responsesSinceCut.filter(({ passed }) => !passed).length;
    const share = refused / responsesSinceCut.length;
    if (responsesSinceCut.length < ROUND_RESPONSES || refused < ROUND_REFUSALS) return false;
    if (share <= TOLERATED + 1.5 * usual) return false;
    const measured = lately();
    if (measured === null || measured === 0) return false;
    fruitless = share > shareBefore / 2 ? fruitless + 1 : 0;
    if (fruitless === 0) uncut = pace;
    shareBefore = share;
    if (fruitless > MOST_FRUITLESS) {
      usual = share;
      pace = uncut;
      onPace(uncut);
      return false;
    }
    cut(measured);
    return true;
  };

  /** Reverts a step up after one refusal, and waits for the rest of the round. */
  const stepBack = (beyond: number): void => {
    cut(lately() ?? learnt);
    next = now() + ROUND_MS * Math.max(0, beyond / learnt - MARGIN);
  };

  /** Raises the pace after a time without unusual refusals. */
  const grow = (): void => {
    if (pace === null || now() - steppedAt < (steps === 0 ? hold : ROUND_MS)) return;
    const measured = lately();
    const responsesSinceCut = judged();
    const share =
      responsesSinceCut.filter(({ passed }) => !passed).length / Math.max(1, responsesSinceCut.length);
    usual = Math.min(usual, share);
    if (share === 0) shareBefore = 1;
    if (steps === 0) wasClean = share === 0;
    pace *= 1 + (STEPS[Math.min(steps, STEPS.length - 1)] ?? 0);
    steps += 1;
    steppedAt = now();
    if (measured === null || pace <= UNUSED * measured) return;
    pace = null;
    onPace(null);
  };

  return {
    due() {
      if (pace === null) return 0;
      const wait = next - now();
      // Sending a little early is better than a second timer.
      return wait < 1 ? 0 : wait;
    },
    sent() {
      if (pace !== null) next = Math.max(next, now() - CATCH_UP_MS) + 1000 / pace;
    },
    idle() {
      since = now();
      blockedAt = null;
    },
    passed(sentAt) {
      record({ at: now(), sentAt, passed: true });
      if (sentAt >= cutAt) grow();
    },
    refused(sentAt) {
      if (sentAt < cutAt) return true;
      record({ at: now(), sentAt, passed: false });
      if (pace === null || steps === 0 || !wasClean) return judge();
      stepBack(pace);
      return true;
    },
    blocked(until) {
      // From one block to the next, just the allowed number of requests has succeeded.
      const between = rate(Math.max(blockedAt ?? since, now() - LOOK_BACK_MS));
      const measured = (pace === null ? null : lately()) ?? between;
      if (measured !== null && measured > 0) {
        cut(measured);
        shareBefore = 1;
        fruitless = 0;
      }
      if (measured !== null || blockedAt === null) blockedAt = now();
      cutAt = now();
      since = until;
      steppedAt = until;
      next = until;
    },
    isPacing: () => pace !== null,
  };
}
