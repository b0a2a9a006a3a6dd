import { by, byCodeUnit } from "./order.ts";

/** What one declared entry stands for among the live ones. */
export type Match<Live> =
  | { readonly found: "none" }
  | { readonly found: "one"; readonly live: Live; readonly leftovers: readonly Live[] }
  /** `namesakes`: how many live entries have the key all the same. */
  | { readonly found: "pin-missing"; readonly id: string; readonly namesakes: number }
  | { readonly found: "many"; readonly live: readonly Live[] };

/** Live entries by id and by a key that people use; an entry may have several keys, or none. */
export interface LiveIndex<Live> {
  readonly byId: ReadonlyMap<string, Live>;
  readonly byKey: ReadonlyMap<string, readonly Live[]>;
}

/** Indexes live entries; the order of each list follows the ids, not the order of the answer. */
export function indexLive<Live extends { readonly id: string }>(
  entries: readonly Live[],
  keysOf: (live: Live) => readonly string[],
): LiveIndex<Live> {
  const byId = new Map<string, Live>();
  const byKey = new Map<string, Live[]>();
  for (const live of entries) {
    byId.set(live.id, live);
    for (const key of new Set(keysOf(live))) {
      const same = byKey.get(key);
      if (same) same.push(live);
      else byKey.set(key, [live]);
    }
  }
  for (const same of byKey.values()) if (same.length > 1) same.sort(by(({ id }) => id));
  return { byId, byKey };
}

/** A declared entry, as far as matching needs it. */
export interface Declared {
  /** Pins the entry to one live id. */
  readonly id?: string;
  readonly key: string;
  /** Tells entries of the same key apart. */
  readonly name: string;
}

/** Every declared entry with what it stands for, by key; and the live ids that are spoken for, so never unlisted. */
export interface Matches<Entry, Live> {
  readonly pairs: readonly (readonly [Entry, Match<Live>])[];
  readonly claimed: ReadonlySet<string>;
}

/** Matches all declared entries; pins first, then by key, so that the order of the file does not matter. */
export function matchAll<Entry, Live extends { readonly id: string }>(
  entries: readonly Entry[],
  declare: (entry: Entry) => Declared,
  index: LiveIndex<Live>,
  isLeftover: (live: Live) => boolean,
): Matches<Entry, Live> {
  const declared = entries.map((entry) => ({ entry, ...declare(entry) }));
  declared.sort((a, b) => pinRank(a) - pinRank(b) || byCodeUnit(a.key, b.key) || byCodeUnit(a.name, b.name));
  const pins = new Set(declared.flatMap(({ id }) => id ?? []));
  const claimed = new Set<string>();
  const pairs = declared.map(({ entry, ...as }) => {
    const match = matchOne(index, pins, claimed, as, isLeftover);
    for (const live of spokenFor(match, index, as)) claimed.add(live.id);
    return [entry, match] as const;
  });
  return { pairs, claimed };
}

function pinRank({ id }: Declared): number {
  return id === undefined ? 1 : 0;
}

/**
 * The pin decides, else the key among the entries that nobody pins. Of several, one that alone is no leftover wins;
 * where all are leftovers, the first in the order of ids stands for them.
 */
function matchOne<Live extends { readonly id: string }>(
  index: LiveIndex<Live>,
  pins: ReadonlySet<string>,
  claimed: ReadonlySet<string>,
  declared: Declared,
  isLeftover: (live: Live) => boolean,
): Match<Live> {
  if (declared.id !== undefined) {
    const live = index.byId.get(declared.id);
    const namesakes = index.byKey.get(declared.key)?.length ?? 0;
    return live
      ? { found: "one", live, leftovers: [] }
      : { found: "pin-missing", id: declared.id, namesakes };
  }
  const same = (index.byKey.get(declared.key) ?? []).filter((live) => !pins.has(live.id));
  const [first] = same;
  if (first === undefined) return { found: "none" };
  if (same.some((live) => claimed.has(live.id))) return { found: "many", live: same };
  const [current = first, ...more] = same.filter((live) => !isLeftover(live));
  if (more.length > 0) return { found: "many", live: same };
  return { found: "one", live: current, leftovers: same.filter((live) => live !== current) };
}

/** An entry whose identity is in doubt still speaks for everything that it could mean: doubt never removes anything. */
function spokenFor<Live>(match: Match<Live>, index: LiveIndex<Live>, declared: Declared): readonly Live[] {
  switch (match.found) {
    case "none":
      return [];
    case "pin-missing":
      return index.byKey.get(declared.key) ?? [];
    case "many":
      return match.live;
    case "one":
      return [match.live, ...match.leftovers];
    default:
      return match satisfies never;
  }
}
