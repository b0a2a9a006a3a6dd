/** A sorted index of lower-case e-mail addresses for prefix searches. */
export interface AddressIndex {
  add(address: string): void;
  remove(address: string): void;
  /** Returns the addresses with a prefix; null if more than `max`. */
  startingWith(prefix: string, max: number): readonly string[] | null;
}

/** Returns the first position whose address passes a test that all later ones pass too (binary search). */
function firstWhere(sorted: readonly string[], from: number, test: (address: string) => boolean): number {
  let low = from;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const address = sorted[middle];
    if (address !== undefined && test(address)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Creates an index of unique addresses. */
export function createAddressIndex(addresses: Iterable<string>): AddressIndex {
  // Sort by code unit, as `<` compares: a locale's order would separate equal prefixes.
  const sorted = [...addresses].sort((a, b) => (a < b ? -1 : 1));
  const positionOf = (address: string): number => firstWhere(sorted, 0, (one) => one >= address);
  return {
    add: (address) => {
      const position = positionOf(address);
      if (sorted[position] !== address) sorted.splice(position, 0, address);
    },
    remove: (address) => {
      const position = positionOf(address);
      if (sorted[position] === address) sorted.splice(position, 1);
    },
    startingWith: (prefix, max) => {
      const from = positionOf(prefix);
      const to = firstWhere(sorted, from, (one) => !one.startsWith(prefix));
      return to - from > max ? null : sorted.slice(from, to);
    },
  };
}
