/** Compares by code unit: the same order on every machine, whatever its locale. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns a comparison function by a text of each item. */
export function by<T>(textOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => byCodeUnit(textOf(a), textOf(b));
}

/** Returns the distinct strings of a list, in order. */
export function sortedSet(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].sort(byCodeUnit);
}

/** Returns whether two lists have the same strings, ignoring order and duplicates. */
export function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const all = new Set(one);
  return all.size === new Set(other).size && other.every((item) => all.has(item));
}
