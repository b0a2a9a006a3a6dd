/** Spreads requests over time so that a service which allows so many a second need not refuse any. */
export interface Pacer {
  /** Milliseconds until the next request may go out; 0 if it may go now. Called only while no pause is on. */
  due(): number;
  /** A request goes out now. `idle`: nothing was under way before it; a pause was on until `pausedUntil`. */
  sent(idle: boolean, pausedUntil: number): void;
  /** A request that went out then was answered, well or with a refusal (429). */
  answered(passed: boolean, wentOutAt: number): void;
  /** The service refuses everything: the round ends with the first request that passes again. */
  blocked(): void;
  /** Nothing goes out until then, because the service asked for it: that says something about a rate only the second time. */
  paused(until: number): void;
}

/** Shortest round, in ms: most services count by the second. */
const ROUND_MS = 1000;

/** Fewest answers that say anything about a rate, unless the round was blocked. */
const ROUND_ANSWERS = 20;

/** So many refusals say enough, too. */
const ROUND_REFUSALS = 3;

/** Share of the measured rate that is used: covers requests that take longer on their way than others. */
const MARGIN = 0.97;

/** Share of refusals that needs no cut. */
const TOLERATED = 0.01;

/** So many cuts in a row that made refusals no rarer say that those have other reasons. */
const MOST_FRUITLESS = 3;

/** Largest share of refusals that is put down to other reasons. */
const MOST_STRAY = 0.06;

/** First step up, as a share of the pace; each further one is twice as large, up to the largest. */
const FIRST_STEP = 0.03;
const LARGEST_STEP = 0.25;

/** How many steps stay small around a known limit. */
const SMALL_STEPS = 4;

/** Rates that differ by less, as a share, are taken for the same limit. */
const NEAR = 0.15;

/** For how long a pace is kept before the first step up, in ms; longer where the same limit is met again and again. */
const FIRST_HOLD_MS = 1_000;
const LONGEST_HOLD_MS = 16_000;

/** So long without anything to send, in ms, is no part of a round; less is a busy machine. */
const IDLE_MS = 300;

/** A pace of so many times what passes limits nothing any more. */
const UNUSED = 4;

/** `Retry-After` knows whole seconds only: on average it asks for so many ms too much. */
const ROUNDING_MS = 500;

/** Longest time to make up for, in ms, where a busy machine sent too late. */
const CATCH_UP_MS = 300;

interface Round {
  readonly began: number;
  passed: number;
  refused: number;
  /** When the service began to refuse everything; null if it did not. */
  blockedAt: number | null;
}

/**
 * Sends unpaced until a round of requests meets refusals. The rate that passed in it becomes the pace, which grows again
 * after a few clean rounds. Refusals that a cut does not make rarer are not about the rate, and no reason for further cuts.
 */
export function createPacer(now: () => number): Pacer {
  /** Per second; null while nothing limits it. */
  let pace: number | null = null;
  /** The pace that the last cut led to. */
  let learnt = 0;
  let hold = FIRST_HOLD_MS;
  /** For how long it has been kept without refusals, in ms, and the steps up since. */
  let kept = 0;
  let steps = 0;
  let cutAt = Number.NEGATIVE_INFINITY;
  /** How many cuts in a row were followed by as many refusals, and the pace before them. */
  let fruitless = 0;
  let uncut: number | null = null;
  let lastShare = 0;
  /** Share of refusals that have nothing to do with the rate. */
  let stray = 0;
  let next = Number.NEGATIVE_INFINITY;
  let answeredAt = now();
  let wasPaused = false;
  /** When requests went out, as many as matter to the pace. */
  let sentAt: number[] = [];
  let round: Round = begin(now());
  /** What passed per second in the round before; null if that was blocked, or none. */
  let before: number | null = null;
  /** What passed per second in the last clean round; 0 if none was since the last cut. */
  let good = 0;

  const isNear = (rate: number): boolean => Math.abs(rate - learnt) <= NEAR * learnt;

  const cut = (rate: number): void => {
    hold = isNear(rate) ? Math.min(4 * hold, LONGEST_HOLD_MS) : FIRST_HOLD_MS;
    pace = MARGIN * Math.min(pace ?? Number.POSITIVE_INFINITY, rate);
    learnt = rate;
    kept = 0;
    steps = 0;
    good = 0;
    cutAt = now();
    next = now();
  };

  /** How much a blocked round lacks of a full second, in ms: so much is taken from the one before. */
  const lacking = ({ began, blockedAt }: Round): number =>
    blockedAt === null || before === null ? 0 : Math.max(0, ROUND_MS - (blockedAt - began));

  const isWhole = (passedAt: number | null): boolean => {
    const ms = now() - round.began + lacking(round);
    if (ms < ROUND_MS) return false;
    if (round.blockedAt !== null) {
      return passedAt !== null && passedAt > round.blockedAt && (round.passed > 0 || before !== null);
    }
    return round.passed + round.refused >= ROUND_ANSWERS || round.refused >= ROUND_REFUSALS;
  };

  /** What passed per second. */
  const rateOf = (ended: Round): number => {
    const ms = now() - ended.began;
    if (ended.blockedAt === null) return (1000 * ended.passed) / ms;
    const lacks = lacking(ended);
    const passed = ended.passed + ((before ?? 0) * lacks) / 1000;
    return (1000 * passed) / Math.max(ROUND_MS, ms + lacks - ROUNDING_MS);
  };

  /** Steps up after enough clean rounds; around a limit that was met more than once, in small steps first. */
  const grow = (rate: number, ms: number): void => {
    if (pace === null) return;
    kept += ms;
    if (kept <= hold + ms / 2) return;
    const doubled = Math.max(0, hold > FIRST_HOLD_MS ? steps - SMALL_STEPS : steps);
    pace *= 1 + Math.min(FIRST_STEP * 2 ** doubled, LARGEST_STEP);
    steps += 1;
    if (pace > UNUSED * rate) pace = null;
  };

  const lossy = (rate: number, share: number): void => {
    // Rarer, or rising though less is sent: a limit.
    fruitless = share < lastShare / 2 || share > 2 * lastShare ? 1 : fruitless + 1;
    lastShare = share;
    uncut ??= pace ?? rate;
    if (fruitless <= MOST_FRUITLESS) {
      // Where everyone was made to wait meanwhile, less was sent than the pace allowed.
      cut((rate + Math.max(rate, (pace ?? 0) * (1 - share))) / 2);
      return;
    }
    // Three cuts have made it no rarer.
    fruitless = 0;
    stray = Math.min(share, MOST_STRAY);
    pace = uncut;
  };

  /** Cuts after a round that ended with everyone being made to wait. */
  const stopped = (rate: number, at: number): void => {
    // Soon after a cut it is still the same refusal.
    if (at - cutAt <= ROUND_MS) return;
    if (good <= rate) cut(rate);
    else cut(isNear(good) ? good : (good + rate) / 2);
  };

  const passedWell = (rate: number, ms: number): void => {
    if (fruitless === 0) stray /= 2;
    fruitless = 0;
    uncut = null;
    good = rate;
    grow(rate, ms);
  };

  const judge = (ended: Round): void => {
    const { began, passed, refused, blockedAt } = ended;
    const share = refused / (passed + refused);
    const rate = rateOf(ended);
    const isLossy = share > TOLERATED + 1.5 * stray && (fruitless === 0 || refused >= ROUND_REFUSALS);
    before = blockedAt === null ? rate : null;
    if (blockedAt !== null) stopped(rate, blockedAt);
    else if (isLossy) lossy(rate, share);
    else passedWell(rate, now() - began);
  };

  return {
    due() {
      if (pace === null) return 0;
      const oneSecondAgo = sentAt[sentAt.length - Math.ceil(pace)] ?? Number.NEGATIVE_INFINITY;
      const wait = Math.max(next, oneSecondAgo + 1000) - now();
      // A timer that is a little early is better than a second one.
      return wait < 1 ? 0 : wait;
    },
    sent(idle, pausedUntil) {
      // Time in which nobody wanted to send says nothing about a rate.
      if (idle && now() - Math.max(answeredAt, next, pausedUntil) > IDLE_MS) {
        round = begin(now());
        before = null;
      }
      if (pace === null) return;
      sentAt.push(now());
      // Cut in bulk: cutting off one at each request would copy the list each time.
      if (sentAt.length > 4 * pace + 100) sentAt = sentAt.slice(-Math.ceil(2 * pace));
      next = Math.max(next, now() - CATCH_UP_MS) + 1000 / pace;
    },
    answered(passed, wentOutAt) {
      answeredAt = now();
      if (isWhole(passed ? wentOutAt : null)) {
        judge(round);
        round = begin(now());
      }
      if (passed) round.passed += 1;
      else round.refused += 1;
    },
    blocked() {
      round.blockedAt ??= now();
    },
    paused(until) {
      if (wasPaused && round.passed >= ROUND_ANSWERS) {
        round.blockedAt ??= now();
        return;
      }
      wasPaused = true;
      round = begin(until);
      before = null;
    },
  };
}

function begin(at: number): Round {
  return { began: at, passed: 0, refused: 0, blockedAt: null };
}
