/** Spreads requests over time to stay below the rate limit of a service. */
export interface Pacer {
  /** Returns the time until the next request may be sent, in ms; 0 if now. */
  due(): number;
  /** Records that a request is sent now. */
  sent(): void;
  /** Records that there has been nothing to send until now. */
  idle(): void;
  /** Records a success. */
  passed(): void;
  /** Records a 429; returns whether the pace is only slightly too fast. */
  refused(): boolean;
  /** Records that all requests are paused until a time, because the service refuses everything. */
  blocked(until: number): void;
  /** Returns whether there is a pace. */
  isPacing(): boolean;
}

/** Shortest time and number of responses to measure a rate over; most services count by the second. */
const ROUND_MS = 1000;
const ROUND_RESPONSES = 20;

/** Share of a measured rate that is used, to allow for requests of different latency. */
const MARGIN = 0.97;

/** Share of refusals above which the pace is too fast, and above which it is much too fast. */
const TOLERATED = 0.02;
const SLIGHT = 0.25;

/** First and largest raise, as shares of the pace. */
const FIRST_RAISE = 0.01;
const LARGEST_RAISE = 0.16;

/** Lowest pace, per second. */
const SLOWEST = 1;

/** A pace of this multiple of the actual rate is dropped. */
const UNUSED = 4;

/** Maximum delay to make up for, in ms, after a busy machine sent too late. */
const CATCH_UP_MS = 100;

/**
 * Creates a pacer. There is no pace until the service refuses everything. Then it is what succeeded in a second: a second
 * without refusals raises it, by twice as much each time, and one with refusals lowers it to what succeeded. `onPace` takes
 * each lower pace, and `null` when it is dropped.
 */
export function createPacer(
  now: () => number,
  onPace: (perSecond: number | null) => void = () => undefined,
): Pacer {
  /** Requests per second; `null` without a limit. */
  let pace: number | null = null;
  let raise = FIRST_RAISE;
  /** The pace before the last raise; `null` if it was followed by refusals. */
  let before: number | null = null;
  let next = Number.NEGATIVE_INFINITY;
  /** Start of the present round; without a pace, it lasts from one pause to the next. */
  let roundAt = now();
  let isPaused = false;
  let [passed, refused] = [0, 0];
  let isBlocked = false;

  const startRound = (time: number): void => {
    roundAt = time;
    isBlocked = false;
    [passed, refused] = [0, 0];
  };

  const lower = (to: number): void => {
    pace = Math.max(SLOWEST, to);
    [raise, before] = [FIRST_RAISE, null];
    onPace(pace);
  };

  const isRound = (): boolean => now() - roundAt >= ROUND_MS;
  const rate = (): number => (1000 * passed) / (now() - roundAt);

  /** Adapts the pace at the end of a round. */
  const judge = (): void => {
    if (pace === null || !isRound() || passed + refused < ROUND_RESPONSES) return;
    if (isBlocked || refused > TOLERATED * (passed + refused)) {
      lower(Math.max(pace / 2, MARGIN * rate()));
    } else if (refused === 0) {
      before = pace;
      pace *= 1 + raise;
      raise = Math.min(2 * raise, LARGEST_RAISE);
      if (pace > UNUSED * rate()) {
        pace = null;
        onPace(null);
      }
    }
    startRound(now());
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
      isPaused = false;
      if (pace === null) startRound(now());
    },
    passed() {
      passed += 1;
      judge();
    },
    refused() {
      refused += 1;
      if (before !== null) lower(MARGIN * before);
      judge();
      return pace !== null && refused <= SLIGHT * Math.max(pace, ROUND_RESPONSES);
    },
    blocked(until) {
      if (isRound() && passed > 0) {
        lower(MARGIN * rate());
        startRound(until);
      } else if (pace === null && !isPaused) startRound(now());
      else isBlocked = true;
      isPaused = true;
      next = until;
    },
    isPacing: () => pace !== null,
  };
}
