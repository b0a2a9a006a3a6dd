/** A figure that is measured over time. */
export interface Series {
  readonly name: string;
  /** In the order of time; null where the system does not tell. */
  readonly values: readonly (number | null)[];
  /** The most that it may grow by over the last two thirds, whatever its level. */
  readonly slack: number;
  /** The same as a share of its level. */
  readonly share: number;
}

/** Whether a figure has stayed as it was. */
export interface Verdict {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** What the trend of the last two thirds adds up to. */
  readonly growth: number;
  readonly bound: number;
  readonly flat: boolean;
}

/** Too few samples show no trend. */
const FEWEST_SAMPLES = 6;

/** Judges the trend of the last two thirds: the first third is what a process needs to warm up. */
export function verdictOf({ name, values, slack, share }: Series): Verdict | null {
  const known = values.filter((value) => value !== null);
  const settled = known.slice(Math.floor(known.length / 3));
  const [first, last] = [settled[0], settled.at(-1)];
  if (first === undefined || last === undefined || settled.length < FEWEST_SAMPLES) return null;
  const growth = slopeOf(settled) * (settled.length - 1);
  const bound = Math.max(slack, medianOf(settled) * share);
  return { name, first, last, growth, bound, flat: growth <= bound };
}

/** Returns the median of the slopes between all pairs, which single outliers do not bend. */
function slopeOf(values: readonly number[]): number {
  const slopes = values.flatMap((from, at) =>
    values.slice(at + 1).map((to, distance) => (to - from) / (distance + 1)),
  );
  return medianOf(slopes);
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}
