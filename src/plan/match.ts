import { by, byCodeUnit } from "../lib/order.ts";

/** The live entry that a declared entry matches, if it is one. */
export type Match<Live> =
  | { readonly found: "none" }
  | { readonly found: "one"; readonly live: Live; readonly leftovers: readonly Live[] }
  /**
   * `sameKey`: the number of live entries with the entry's key; `heir`: the only one of them, `null` if another entry
   * is pinned to it.
   */
  | {
      readonly found: "pin-missing";
      readonly id: string;
      readonly sameKey: number;
      readonly heir: Live | null;
    }
  | { readonly found: "many"; readonly live: readonly Live[] };

/** The live entries to match, and the functions that describe them. */
export interface Candidates<Live> {
  readonly live: readonly Live[];
  /** Returns the distinct keys of an entry; there may be none. */
  readonly keysOf: (live: Live) => readonly string[];
  readonly isLeftover: (live: Live) => boolean;
  /** Returns the time at which a leftover became one, in ISO 8601: the latest of several is matched. */
  readonly endedAt: (live: Live) => string;
}

/** The index of a live entry in its list. */
type Position = number;

interface IndexedEntry<Live> {
  readonly at: Position;
  readonly live: Live;
}

/** Index of live entries by key. Duplicates are rare, so a unique entry is not wrapped in an array. */
interface Index<Live> {
  readonly first: ReadonlyMap<string, Position>;
  /** The entries of each key that several have, sorted by id. */
  readonly several: ReadonlyMap<string, readonly IndexedEntry<Live>[]>;
}

function indexLive<Live extends { readonly id: string }>({
  live: entries,
  keysOf,
}: Candidates<Live>): Index<Live> {
  const first = new Map<string, Position>();
  const several = new Map<string, IndexedEntry<Live>[]>();
  let at = -1;
  for (const live of entries) {
    at += 1;
    for (const key of keysOf(live)) {
      const known = first.get(key);
      if (known === undefined) {
        first.set(key, at);
        continue;
      }
      const same = several.get(key) ?? entryAt(entries, known);
      same.push({ at, live });
      several.set(key, same);
    }
  }
  for (const same of several.values()) same.sort(by(({ live }) => live.id));
  return { first, several };
}

function entryAt<Live>(entries: readonly Live[], at: Position): IndexedEntry<Live>[] {
  const live = entries[at];
  return live === undefined ? [] : [{ at, live }];
}

/** The functions that describe declared entries. */
export interface Declared<Entry> {
  /** Returns the live id to which the entry is pinned. */
  readonly idOf: (entry: Entry) => string | undefined;
  readonly keyOf: (entry: Entry) => string;
  /** Returns the name by which entries of one key are sorted. */
  readonly nameOf: (entry: Entry) => string;
}

/** The result for each declared entry, sorted by key, and the live entries that no declared one claims. */
export interface Matches<Live, Result> {
  readonly results: readonly Result[];
  readonly unclaimed: readonly Live[];
}

/**
 * Matches all declared entries: pinned ones first, then by key, so that the order of the file does not matter. Only the
 * results of `use` are kept, since there are as many matches as members.
 */
export function matchAll<Entry, Live extends { readonly id: string }, Result>(
  entries: readonly Entry[],
  declared: Declared<Entry>,
  candidates: Candidates<Live>,
  use: (entry: Entry, match: Match<Live>) => Result,
): Matches<Live, Result> {
  const { live, isLeftover, endedAt } = candidates;
  const { idOf } = declared;
  const pinning = entries.filter((entry) => idOf(entry) !== undefined);
  const others = pinning.length === 0 ? entries : entries.filter((entry) => idOf(entry) === undefined);
  const pins = pinnedBy(new Set(pinning.map(idOf)), live);
  const claimed = new Uint8Array(live.length);
  const known: MatchState<Live> = {
    live,
    index: indexLive(candidates),
    ...pins,
    claimed,
    isLeftover,
    endedAt,
  };
  const results: Result[] = [];
  for (const some of [pinning, others]) {
    const { sorted, keys } = byKey(some, declared);
    let at = 0;
    for (const entry of sorted) {
      results.push(use(entry, matchOne(known, idOf(entry), keys[at] ?? "")));
      at += 1;
    }
  }
  return { results, unclaimed: unclaimedOf(live, claimed) };
}

/** Returns the unclaimed entries; if an id occurs more than once, claiming one entry claims all of them. */
function unclaimedOf<Live extends { readonly id: string }>(
  live: readonly Live[],
  claimed: Uint8Array,
): readonly Live[] {
  const unclaimed = live.filter((_, at) => claimed[at] === 0);
  if (unclaimed.length === 0) return unclaimed;
  const ids = new Set(live.flatMap(({ id }, at) => (claimed[at] === 0 ? [] : id)));
  return unclaimed.filter(({ id }) => !ids.has(id));
}

/** Sorts entries by key, then by name, and returns their keys as well. */
function byKey<Entry>(
  entries: readonly Entry[],
  { keyOf, nameOf }: Declared<Entry>,
): { readonly sorted: readonly Entry[]; readonly keys: readonly string[] } {
  const keys = entries.map(keyOf);
  // Most files are sorted.
  if (isAscending(keys)) return { sorted: entries, keys };
  const keyed = entries.map((entry, at) => ({ entry, key: keys[at] ?? "", name: nameOf(entry) }));
  keyed.sort((a, b) => byCodeUnit(a.key, b.key) || byCodeUnit(a.name, b.name));
  return { sorted: keyed.map(({ entry }) => entry), keys: keyed.map(({ key }) => key) };
}

function isAscending(texts: readonly string[]): boolean {
  return texts.every((text, at) => at === 0 || (texts[at - 1] ?? "") < text);
}

interface Pins {
  /** Positions of the pinned entries that exist, by id. */
  readonly pins: ReadonlyMap<string, Position>;
  readonly pinned: ReadonlySet<Position>;
}

function pinnedBy(ids: ReadonlySet<string | undefined>, live: readonly { readonly id: string }[]): Pins {
  const pins = new Map<string, Position>();
  const pinned = new Set<Position>();
  if (ids.size === 0) return { pins, pinned };
  for (const [at, { id }] of live.entries()) {
    if (!ids.has(id)) continue;
    pins.set(id, at);
    pinned.add(at);
  }
  return { pins, pinned };
}

interface MatchState<Live> extends Pins, Pick<Candidates<Live>, "isLeftover" | "endedAt"> {
  readonly live: readonly Live[];
  readonly index: Index<Live>;
  /** 1 for each claimed entry, which therefore is not unlisted. */
  readonly claimed: Uint8Array;
}

const NONE = { found: "none" } as const;
const NO_LEFTOVERS: readonly never[] = [];

/** Matches one entry. An ambiguous one claims all candidates, so that none of them is removed as unlisted. */
function matchOne<Live>(known: MatchState<Live>, id: string | undefined, key: string): Match<Live> {
  return id === undefined ? matchKey(known, key) : matchPin(known, id, key);
}

function matchPin<Live>(known: MatchState<Live>, id: string, key: string): Match<Live> {
  const { live, pins, claimed } = known;
  const [pinned] = entryAt(live, pins.get(id) ?? -1);
  if (pinned === undefined) {
    const same = withKey(known, key);
    const [only, ...more] = same;
    const isFree =
      only !== undefined && more.length === 0 && !known.pinned.has(only.at) && claimed[only.at] === 0;
    for (const { at } of same) claimed[at] = 1;
    return { found: "pin-missing", id, sameKey: same.length, heir: isFree ? only.live : null };
  }
  claimed[pinned.at] = 1;
  // A pinned leftover may have a successor with the same key.
  if (known.isLeftover(pinned.live)) return matchLeftover(known, pinned, key);
  return one(pinned.live, leftoversBeside(known, pinned, key));
}

/** Claims the leftovers of a key beside a pinned entry that has it, as they are where nothing is pinned. */
function leftoversBeside<Live>(
  known: MatchState<Live>,
  pinned: IndexedEntry<Live>,
  key: string,
): readonly IndexedEntry<Live>[] {
  const { claimed, isLeftover } = known;
  const same = withKey(known, key);
  if (same.length < 2 || !same.some(({ at }) => at === pinned.at)) return NO_LEFTOVERS;
  const left = same.filter(({ at, live }) => isLeftover(live) && !known.pinned.has(at) && claimed[at] === 0);
  for (const { at } of left) claimed[at] = 1;
  return left;
}

/** Matches the only current entry with the pinned leftover's key, or else the leftover; the others are leftovers. */
function matchLeftover<Live>(known: MatchState<Live>, pinned: IndexedEntry<Live>, key: string): Match<Live> {
  const { claimed, isLeftover } = known;
  const same = withKey(known, key).filter(({ at }) => !known.pinned.has(at) && claimed[at] === 0);
  const [current = pinned, ...more] = same.filter(({ live }) => !isLeftover(live));
  for (const { at } of same) claimed[at] = 1;
  if (more.length > 0) return { found: "many", live: same.map(({ live }) => live) };
  return one(
    current.live,
    [pinned, ...same].filter((other) => other !== current),
  );
}

function one<Live>(live: Live, leftovers: readonly IndexedEntry<Live>[] = NO_LEFTOVERS): Match<Live> {
  return { found: "one", live, leftovers: leftovers.map((other) => other.live) };
}

/**
 * Matches by key among the entries that are not pinned. Of several, the only one that is no leftover wins; if all are
 * leftovers, the latest wins, and of equally late ones the first by id.
 */
function matchKey<Live>(known: MatchState<Live>, key: string): Match<Live> {
  const { live, index, pinned, claimed, isLeftover, endedAt } = known;
  const at = index.first.get(key);
  const alone = at === undefined || index.several.has(key) ? undefined : live[at];
  // The common case: one live entry, not claimed yet.
  if (at !== undefined && alone !== undefined && !pinned.has(at) && claimed[at] === 0) {
    claimed[at] = 1;
    return { found: "one", live: alone, leftovers: NO_LEFTOVERS };
  }
  const latest = (a: IndexedEntry<Live>, b: IndexedEntry<Live>): IndexedEntry<Live> =>
    endedAt(b.live) > endedAt(a.live) ? b : a;
  const same = withKey(known, key).filter((one) => !pinned.has(one.at));
  const [first] = same;
  if (first === undefined) return NONE;
  const isContested = same.some((each) => claimed[each.at] === 1);
  for (const each of same) claimed[each.at] = 1;
  const [current = same.reduce(latest, first), ...more] = same.filter((each) => !isLeftover(each.live));
  if (isContested || more.length > 0) return { found: "many", live: same.map((each) => each.live) };
  return one(
    current.live,
    same.filter((each) => each !== current),
  );
}

function withKey<Live>({ live, index }: MatchState<Live>, key: string): readonly IndexedEntry<Live>[] {
  return index.several.get(key) ?? entryAt(live, index.first.get(key) ?? -1);
}
