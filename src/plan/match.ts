import { by, byCodeUnit } from "./order.ts";

/** What one declared entry stands for among the live ones. */
export type Match<Live> =
  | { readonly found: "none" }
  | { readonly found: "one"; readonly live: Live; readonly leftovers: readonly Live[] }
  /** `namesakes`: how many live entries have the key all the same. */
  | { readonly found: "pin-missing"; readonly id: string; readonly namesakes: number }
  | { readonly found: "many"; readonly live: readonly Live[] };

/** Live entries, and what matching needs to know of them. */
export interface Candidates<Live> {
  readonly live: readonly Live[];
  /** The distinct keys that people use for it: several, or none. */
  readonly keysOf: (live: Live) => readonly string[];
  readonly isLeftover: (live: Live) => boolean;
}

/** Live entries by key. Hardly a key is had by two, so that one that is alone stands in no list. */
interface Index<Live> {
  readonly first: ReadonlyMap<string, Live>;
  /** All of those with a key that several have; in the order of ids, not of the answer. */
  readonly several: ReadonlyMap<string, readonly Live[]>;
}

function indexLive<Live extends { readonly id: string }>({
  live: entries,
  keysOf,
}: Candidates<Live>): Index<Live> {
  const first = new Map<string, Live>();
  const several = new Map<string, Live[]>();
  for (const live of entries) {
    for (const key of keysOf(live)) {
      const known = first.get(key);
      const same = several.get(key);
      if (known === undefined) first.set(key, live);
      else if (same === undefined) several.set(key, [known, live]);
      else same.push(live);
    }
  }
  for (const same of several.values()) same.sort(by(({ id }) => id));
  return { first, several };
}

function withKey<Live>({ first, several }: Index<Live>, key: string): readonly Live[] {
  const one = first.get(key);
  return one === undefined ? [] : (several.get(key) ?? [one]);
}

/** A declared entry, as far as matching needs it. */
export interface Declared<Entry> {
  readonly entry: Entry;
  /** Pins the entry to one live id. */
  readonly id: string | undefined;
  readonly key: string;
  /** Tells entries of the same key apart. */
  readonly name: string;
}

/** Every declared entry with what it stands for, by key; and the live ids that are spoken for, so never unlisted. */
export interface Matches<Entry, Live> {
  readonly pairs: readonly { readonly entry: Entry; readonly match: Match<Live> }[];
  readonly claimed: ReadonlySet<string>;
}

/** Matches all declared entries; pins first, then by key, so that the order of the file does not matter. */
export function matchAll<Entry, Live extends { readonly id: string }>(
  entries: readonly Entry[],
  declare: (entry: Entry) => Declared<Entry>,
  candidates: Candidates<Live>,
): Matches<Entry, Live> {
  const index = indexLive(candidates);
  const declared = entries.map(declare);
  declared.sort((a, b) => pinRank(a) - pinRank(b) || byCodeUnit(a.key, b.key) || byCodeUnit(a.name, b.name));
  const pins = pinned(declared, candidates.live);
  const claimed = new Set<string>();
  const known: Known<Live> = { index, pins, claimed, isLeftover: candidates.isLeftover };
  const pairs = declared.map((one) => {
    const match = matchOne(known, one);
    if (match.found === "one") claimed.add(match.live.id);
    for (const live of doubted(match, index, one)) claimed.add(live.id);
    return { entry: one.entry, match };
  });
  return { pairs, claimed };
}

function pinRank({ id }: Declared<unknown>): number {
  return id === undefined ? 1 : 0;
}

/** Ids that are pinned → their live entries, where they are there. */
function pinned<Live extends { readonly id: string }>(
  declared: readonly Declared<unknown>[],
  live: readonly Live[],
): ReadonlyMap<string, Live | undefined> {
  const pins = new Map<string, Live | undefined>();
  for (const { id } of declared) if (id !== undefined) pins.set(id, undefined);
  if (pins.size > 0) for (const one of live) if (pins.has(one.id)) pins.set(one.id, one);
  return pins;
}

interface Known<Live> {
  readonly index: Index<Live>;
  readonly pins: ReadonlyMap<string, Live | undefined>;
  readonly claimed: ReadonlySet<string>;
  readonly isLeftover: (live: Live) => boolean;
}

const NONE = { found: "none" } as const;
const NOBODY: readonly never[] = [];

/**
 * The pin decides, else the key among the entries that nobody pins. Of several, one that alone is no leftover wins;
 * where all are leftovers, the first in the order of ids stands for them.
 */
function matchOne<Live extends { readonly id: string }>(
  { index, pins, claimed, isLeftover }: Known<Live>,
  { id, key }: Declared<unknown>,
): Match<Live> {
  if (id !== undefined) {
    const live = pins.get(id);
    return live
      ? { found: "one", live, leftovers: NOBODY }
      : { found: "pin-missing", id, namesakes: withKey(index, key).length };
  }
  const alone = index.several.has(key) ? undefined : index.first.get(key);
  // As nearly everybody is matched.
  if (alone && !pins.has(alone.id) && !claimed.has(alone.id)) {
    return { found: "one", live: alone, leftovers: NOBODY };
  }
  const same = withKey(index, key).filter((live) => !pins.has(live.id));
  const [first] = same;
  if (first === undefined) return NONE;
  if (same.some((live) => claimed.has(live.id))) return { found: "many", live: same };
  const [current = first, ...more] = same.filter((live) => !isLeftover(live));
  if (more.length > 0) return { found: "many", live: same };
  return { found: "one", live: current, leftovers: same.filter((live) => live !== current) };
}

/** An entry whose identity is in doubt still speaks for everything that it could mean: doubt never removes anything. */
function doubted<Live>(match: Match<Live>, index: Index<Live>, { key }: Declared<unknown>): readonly Live[] {
  switch (match.found) {
    case "none":
      return NOBODY;
    case "pin-missing":
      return withKey(index, key);
    case "many":
      return match.live;
    case "one":
      return match.leftovers;
    default:
      return match satisfies never;
  }
}
