import { by, byCodeUnit } from "../lib/order.ts";

/** What one declared entry stands for among the live ones. */
export type Match<Live> =
  | { readonly found: "none" }
  | { readonly found: "one"; readonly live: Live; readonly leftovers: readonly Live[] }
  /**
   * `namesakes`: how many live entries have the key all the same; `heir`: the only one of them, where no other entry
   * is pinned to it.
   */
  | {
      readonly found: "pin-missing";
      readonly id: string;
      readonly namesakes: number;
      readonly heir: Live | null;
    }
  | { readonly found: "many"; readonly live: readonly Live[] };

/** Live entries, and what matching needs to know of them. */
export interface Candidates<Live> {
  readonly live: readonly Live[];
  /** The distinct keys that people use for it: several, or none. */
  readonly keysOf: (live: Live) => readonly string[];
  readonly isLeftover: (live: Live) => boolean;
  /** When a leftover became one, as a text that sorts by time: of several the latest counts. */
  readonly endedAt: (live: Live) => string;
}

/** Where a live entry stands in its list: told apart by that, nobody's id has to be looked up. */
type Position = number;

interface Standing<Live> {
  readonly at: Position;
  readonly live: Live;
}

/** Live entries by key. Hardly a key is had by two, so that one that is alone stands in no list. */
interface Index<Live> {
  readonly first: ReadonlyMap<string, Position>;
  /** All of those with a key that several have; in the order of ids, not of the answer. */
  readonly several: ReadonlyMap<string, readonly Standing<Live>[]>;
}

function indexLive<Live extends { readonly id: string }>({
  live: entries,
  keysOf,
}: Candidates<Live>): Index<Live> {
  const first = new Map<string, Position>();
  const several = new Map<string, Standing<Live>[]>();
  let at = -1;
  for (const live of entries) {
    at += 1;
    for (const key of keysOf(live)) {
      const known = first.get(key);
      if (known === undefined) {
        first.set(key, at);
        continue;
      }
      const same = several.get(key) ?? standing(entries, known);
      same.push({ at, live });
      several.set(key, same);
    }
  }
  for (const same of several.values()) same.sort(by(({ live }) => live.id));
  return { first, several };
}

function standing<Live>(entries: readonly Live[], at: Position): Standing<Live>[] {
  const live = entries[at];
  return live === undefined ? [] : [{ at, live }];
}

/** How declared entries are told apart. */
export interface Declared<Entry> {
  /** Pins the entry to one live id. */
  readonly idOf: (entry: Entry) => string | undefined;
  readonly keyOf: (entry: Entry) => string;
  /** Tells entries of the same key apart. */
  readonly nameOf: (entry: Entry) => string;
}

/** What was made of every declared entry, by key; and the live ones that nothing declared speaks for. */
export interface Matches<Live, Result> {
  readonly results: readonly Result[];
  readonly unclaimed: readonly Live[];
}

/**
 * Matches all declared entries; pins first, then by key, so that the order of the file does not matter. What `use` makes
 * of a match is kept, the match is not: there are as many as members.
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
  const known: Known<Live> = { live, index: indexLive(candidates), ...pins, claimed, isLeftover, endedAt };
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

/** Whoever is spoken for anywhere is so everywhere, should there be several of one id. */
function unclaimedOf<Live extends { readonly id: string }>(
  live: readonly Live[],
  claimed: Uint8Array,
): readonly Live[] {
  const unclaimed = live.filter((_, at) => claimed[at] === 0);
  if (unclaimed.length === 0) return unclaimed;
  const ids = new Set(live.flatMap(({ id }, at) => (claimed[at] === 0 ? [] : id)));
  return unclaimed.filter(({ id }) => !ids.has(id));
}

/** Entries by key, then by name; and their keys. */
function byKey<Entry>(
  entries: readonly Entry[],
  { keyOf, nameOf }: Declared<Entry>,
): { readonly sorted: readonly Entry[]; readonly keys: readonly string[] } {
  const keys = entries.map(keyOf);
  // As most files are.
  if (isAscending(keys)) return { sorted: entries, keys };
  const keyed = entries.map((entry, at) => ({ entry, key: keys[at] ?? "", name: nameOf(entry) }));
  keyed.sort((a, b) => byCodeUnit(a.key, b.key) || byCodeUnit(a.name, b.name));
  return { sorted: keyed.map(({ entry }) => entry), keys: keyed.map(({ key }) => key) };
}

/** Whether each is before the next one, which it does not equal. */
function isAscending(texts: readonly string[]): boolean {
  return texts.every((text, at) => at === 0 || (texts[at - 1] ?? "") < text);
}

interface Pins {
  /** Ids that are pinned, as far as they are there. */
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

interface Known<Live> extends Pins, Pick<Candidates<Live>, "isLeftover" | "endedAt"> {
  readonly live: readonly Live[];
  readonly index: Index<Live>;
  /** 1 for every live entry that is spoken for, so never unlisted. */
  readonly claimed: Uint8Array;
}

const NONE = { found: "none" } as const;
const NOBODY: readonly never[] = [];

/** What an entry stands for. In doubt it claims everything that it could mean: doubt never removes anything. */
function matchOne<Live>(known: Known<Live>, id: string | undefined, key: string): Match<Live> {
  return id === undefined ? matchKey(known, key) : matchPin(known, id, key);
}

function matchPin<Live>(known: Known<Live>, id: string, key: string): Match<Live> {
  const { live, pins, claimed } = known;
  const [pinned] = standing(live, pins.get(id) ?? -1);
  if (pinned === undefined) {
    const same = withKey(known, key);
    const [only, ...more] = same;
    const isFree =
      only !== undefined && more.length === 0 && !known.pinned.has(only.at) && claimed[only.at] === 0;
    for (const { at } of same) claimed[at] = 1;
    return { found: "pin-missing", id, namesakes: same.length, heir: isFree ? only.live : null };
  }
  claimed[pinned.at] = 1;
  // A pinned entry may be gone, and another one with its key may have taken its place.
  if (known.isLeftover(pinned.live)) return matchLeftover(known, pinned, key);
  return one(pinned.live, leftoversBeside(known, pinned, key));
}

/** Claims the leftovers of a key beside a pinned entry that has it, as they are where nothing is pinned. */
function leftoversBeside<Live>(
  known: Known<Live>,
  pinned: Standing<Live>,
  key: string,
): readonly Standing<Live>[] {
  const { claimed, isLeftover } = known;
  const same = withKey(known, key);
  if (same.length < 2 || !same.some(({ at }) => at === pinned.at)) return NOBODY;
  const left = same.filter(({ at, live }) => isLeftover(live) && !known.pinned.has(at) && claimed[at] === 0);
  for (const { at } of left) claimed[at] = 1;
  return left;
}

/** A pinned leftover stands for itself, or for the only entry of its key that is none; others of its key are leftovers. */
function matchLeftover<Live>(known: Known<Live>, pinned: Standing<Live>, key: string): Match<Live> {
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

function one<Live>(live: Live, leftovers: readonly Standing<Live>[] = NOBODY): Match<Live> {
  return { found: "one", live, leftovers: leftovers.map((other) => other.live) };
}

/**
 * The key decides, among the entries that nobody pins. Of several, one that alone is no leftover wins; where all are
 * leftovers, the latest stands for them, of several such ones the first in the order of ids.
 */
function matchKey<Live>(known: Known<Live>, key: string): Match<Live> {
  const { live, index, pinned, claimed, isLeftover, endedAt } = known;
  const at = index.first.get(key);
  const alone = at === undefined || index.several.has(key) ? undefined : live[at];
  // As nearly everybody is matched.
  if (at !== undefined && alone !== undefined && !pinned.has(at) && claimed[at] === 0) {
    claimed[at] = 1;
    return { found: "one", live: alone, leftovers: NOBODY };
  }
  const latest = (a: Standing<Live>, b: Standing<Live>): Standing<Live> =>
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

function withKey<Live>({ live, index }: Known<Live>, key: string): readonly Standing<Live>[] {
  return index.several.get(key) ?? standing(live, index.first.get(key) ?? -1);
}
