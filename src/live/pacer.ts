/** Spreads requests over time so that a service which allows so many a second need not refuse any. */
export interface Pacer {
  /** Milliseconds until the next request may go out; 0 if it may go now. */
  due(): number;
  /** A request goes out now. */
  sent(): void;
  /** Nobody wanted to send anything until now. */
  idle(): void;
  /** A request that went out at `sentAt` has passed. */
  passed(sentAt: number): void;
  /** A request that went out at `sentAt` was refused (429). Returns whether a lower pace is the answer to that. */
  refused(sentAt: number): boolean;
  /** The service refuses everything until then. */
  blocked(until: number): void;
  /** Whether there is a pace. */
  isPacing(): boolean;
}

/** Shortest time that says anything about a rate, in ms: most services count by the second. */
const ROUND_MS = 1000;

/** Longest time that is looked back at, in ms. */
const LOOK_BACK_MS = 4000;

/** Fewest answers, and fewest refusals among them, that say anything about a rate. */
const ROUND_ANSWERS = 20;
const ROUND_REFUSALS = 3;

/** Share of the measured rate that is used: covers requests that take longer on their way than others. */
const MARGIN = 0.97;

/** Share of refusals beyond the usual ones that needs a cut. */
const TOLERATED = 0.015;

/** Steps up after a cut, as shares of the pace; the last one repeats. */
const STEPS = [0.03, 0.06, 0.12, 0.25, 0.5];

/** How long a pace is kept before the first step up, in ms: doubled where the same limit is met again. */
const FIRST_HOLD_MS = 1000;
const LONGEST_HOLD_MS = 16_000;

/** Cuts in a row that may leave refusals as frequent as they were. */
const MOST_FRUITLESS = 2;

/** Rates that differ by less, as a share, are taken for the same limit. */
const NEAR = 0.15;

/** A pace of so many times what passes limits nothing any more. */
const UNUSED = 4;

/** Longest time to make up for, in ms, where a busy machine sent too late. */
const CATCH_UP_MS = 100;

interface Answer {
  readonly at: number;
  readonly sentAt: number;
  readonly passed: boolean;
}

/**
 * Sends unpaced until the service refuses everything, or more than a few of the requests, for at least a second. What
 * passed meanwhile becomes the pace, which grows again step by step within seconds. A share of refusals that a lower
 * pace does not make smaller has other reasons than the rate: it is tolerated from then on.
 */
export function createPacer(now: () => number): Pacer {
  /** Per second; null while nothing limits it. */
  let pace: number | null = null;
  /** The rate that the last cut was made at, and when. */
  let learnt = 0;
  let cutAt = Number.NEGATIVE_INFINITY;
  let hold = FIRST_HOLD_MS;
  let steps = 0;
  let steppedAt = 0;
  let next = Number.NEGATIVE_INFINITY;
  /** Since when requests have been sent without a break, and the latest answers. */
  let since = now();
  let answers: Answer[] = [];
  /** When the service last began to refuse everything; null if it has not since anybody was idle. */
  let blockedAt: number | null = null;
  /** Share of refusals before the last cut, and the one that is tolerated. */
  let shareBefore = 1;
  /** How many cuts in a row have not made refusals rarer, and the pace before the first of them. */
  let fruitless = 0;
  let uncut: number | null = null;
  /** Whether nothing was refused right before the first step up. */
  let wasClean = false;
  let usual = 0;
  let forgettable = ROUND_ANSWERS;

  const record = (answer: Answer): void => {
    answers.push(answer);
    if (answers.length < 2 * forgettable) return;
    answers = answers.filter(
      ({ at }, index) => at >= now() - LOOK_BACK_MS || index >= answers.length - ROUND_ANSWERS,
    );
    forgettable = Math.max(ROUND_ANSWERS, answers.length);
  };

  /** Returns the rate of passed requests since then, per second; null before a whole round. */
  const rate = (from: number): number | null => {
    const ms = now() - from;
    if (ms < ROUND_MS) return null;
    return (1000 * answers.filter(({ at, passed }) => passed && at > from).length) / ms;
  };

  /** Returns the rate of passed requests at the present pace, over whole rounds: over several if few pass. */
  const lately = (): number | null => {
    const wanted = Math.min(LOOK_BACK_MS, (1000 * ROUND_ANSWERS) / (pace ?? 1000));
    const rounds = Math.floor(
      Math.min(Math.max(ROUND_MS, wanted), now() - Math.max(since, cutAt)) / ROUND_MS,
    );
    return rate(now() - rounds * ROUND_MS);
  };

  const cut = (to: number): void => {
    const isSame = Math.abs(to - learnt) <= NEAR * learnt;
    hold = isSame ? Math.min(2 * hold, LONGEST_HOLD_MS) : FIRST_HOLD_MS;
    learnt = to;
    pace = MARGIN * to;
    next = now();
    steps = 0;
    steppedAt = now();
    cutAt = now();
  };

  /** Answers to what was sent since the last cut: those of the last round, or as many as say anything. */
  const judged = (): readonly Answer[] => {
    const own = answers.filter(({ sentAt }) => sentAt >= cutAt);
    return own.filter(({ at }, index) => at >= now() - ROUND_MS || index >= own.length - ROUND_ANSWERS);
  };

  /** Cuts where more is refused than usual, unless the last cut has not made that any rarer. */
  const judge = (): boolean => {
    const all = judged();
    const refused = all.filter(({ passed }) => !passed).length;
    const share = refused / all.length;
    if (all.length < ROUND_ANSWERS || refused < ROUND_REFUSALS) return false;
    if (share <= TOLERATED + 1.5 * usual) return false;
    const measured = lately();
    if (measured === null || measured === 0) return false;
    fruitless = share > shareBefore / 2 ? fruitless + 1 : 0;
    if (fruitless === 0) uncut = pace;
    shareBefore = share;
    if (fruitless > MOST_FRUITLESS) {
      usual = share;
      pace = uncut;
      return false;
    }
    cut(measured);
    return true;
  };

  /** Goes back from a step beyond a known limit, for which one refusal is enough; the rest of the round is full. */
  const stepBack = (beyond: number): void => {
    cut(lately() ?? learnt);
    next = now() + ROUND_MS * Math.max(0, beyond / learnt - MARGIN);
  };

  /** Steps up after a time without more refusals than usual. */
  const grow = (): void => {
    if (pace === null || now() - steppedAt < (steps === 0 ? hold : ROUND_MS)) return;
    const measured = lately();
    const all = judged();
    const share = all.filter(({ passed }) => !passed).length / Math.max(1, all.length);
    usual = Math.min(usual, share);
    if (share === 0) shareBefore = 1;
    if (steps === 0) wasClean = share === 0;
    pace *= 1 + (STEPS[Math.min(steps, STEPS.length - 1)] ?? 0);
    steps += 1;
    steppedAt = now();
    if (measured !== null && pace > UNUSED * measured) pace = null;
  };

  return {
    due() {
      if (pace === null) return 0;
      const wait = next - now();
      // A timer that is a little early is better than a second one.
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
      // From one such moment to the next, just what is allowed has passed.
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
