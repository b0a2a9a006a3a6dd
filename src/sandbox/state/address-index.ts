/** Lower-case e-mail addresses in order, for looking up what begins with a prefix. */
export interface AddressIndex {
  add(address: string): void;
  remove(address: string): void;
  /** The addresses that begin with a prefix; null where they are more than `most`. */
  startingWith(prefix: string, most: number): readonly string[] | null;
}

/** The first position whose address passes a test that all later ones pass, too. */
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

/** Makes an index of addresses that differ from one another. */
export function createAddressIndex(addresses: Iterable<string>): AddressIndex {
  // By code unit, as `<` compares: other orders would tear prefixes apart.
  const sorted = [...addresses].sort((a, b) => (a < b ? -1 : 1));
  const placeOf = (address: string): number => firstWhere(sorted, 0, (one) => one >= address);
  return {
    add: (address) => {
      const place = placeOf(address);
      if (sorted[place] !== address) sorted.splice(place, 0, address);
    },
    remove: (address) => {
      const place = placeOf(address);
      if (sorted[place] === address) sorted.splice(place, 1);
    },
    startingWith: (prefix, most) => {
      const from = placeOf(prefix);
      const to = firstWhere(sorted, from, (one) => !one.startsWith(prefix));
      return to - from > most ? null : sorted.slice(from, to);
    },
  };
}
