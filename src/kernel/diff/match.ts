import { by, byCodeUnit } from "../../lib/text.ts";

/** The result of matching a declared entry with live ones. */
export type Match<Live> =
  | { readonly found: "none" }
  | { readonly found: "one"; readonly live: Live; readonly leftovers: readonly Live[] }
  /** `live` has the live entries with the entry's key. */
  | { readonly found: "pin-missing"; readonly id: string; readonly live: readonly Live[] }
  | { readonly found: "many"; readonly live: readonly Live[] };

/** The live entries to match, and the functions that describe them. */
export interface Candidates<Live> {
  readonly live: readonly Live[];
  /** Returns the distinct keys of an entry; there may be none. */
  readonly keysOf: (live: Live) => readonly string[];
  readonly isLeftover: (live: Live) => boolean;
  /** Returns the time at which a leftover became one, in ISO 8601: the latest of several is matched. */
  readonly endedAt: (live: Live) => string;
  /** Returns whether an entry may have replaced a pinned leftover that no longer exists. */
  readonly isRenewal: (live: Live) => boolean;
}

/** The functions that describe declared entries. */
export interface Declared<Entry> {
  /** Returns the live id to which the entry is pinned. */
  readonly idOf: (entry: Entry) => string | undefined;
  readonly keyOf: (entry: Entry) => string;
  /** Returns the name by which entries with the same key are sorted. */
  readonly nameOf: (entry: Entry) => string;
}

/** The match of each declared entry, sorted by key, and the live entries that no declared one claims. */
export interface Matches<Entry, Live> {
  readonly results: readonly { readonly entry: Entry; readonly match: Match<Live> }[];
  readonly unclaimed: readonly Live[];
}

/** Matches all declared entries: pinned ones first, then by key, so that the order of the file does not matter. */
export function matchAll<Entry, Live extends { readonly id: string }>(
  entries: readonly Entry[],
  { idOf, keyOf, nameOf }: Declared<Entry>,
  candidates: Candidates<Live>,
): Matches<Entry, Live> {
  const { live } = candidates;
  const ids = new Set(entries.flatMap((entry) => idOf(entry) ?? []));
  const pinned = ids.size === 0 ? [] : live.filter(({ id }) => ids.has(id));
  const state: MatchState<Live> = {
    ...candidates,
    byKey: groupByKey(candidates),
    byPin: new Map(pinned.map((resource) => [resource.id, resource])),
    pinned: new Set(pinned),
    claimed: new Set(),
  };
  const keyed = entries.map((entry) => ({ entry, id: idOf(entry), key: keyOf(entry) }));
  keyed.sort((a, b) => byCodeUnit(a.key, b.key) || byCodeUnit(nameOf(a.entry), nameOf(b.entry)));
  const results = [
    ...keyed.flatMap(({ entry, id, key }) =>
      id === undefined ? [] : { entry, match: matchPin(state, id, key) },
    ),
    ...keyed.flatMap(({ entry, id, key }) =>
      id === undefined ? { entry, match: matchKey(state, key) } : [],
    ),
  ];
  // If an id occurs more than once, claiming one of the live entries claims all of them.
  const claimed = new Set([...state.claimed].map(({ id }) => id));
  return { results, unclaimed: live.filter(({ id }) => !claimed.has(id)) };
}

interface MatchState<Live> extends Candidates<Live> {
  /** The entries of each key, sorted by id. */
  readonly byKey: ReadonlyMap<string, readonly Live[]>;
  /** The pinned entries that exist, by id. */
  readonly byPin: ReadonlyMap<string, Live>;
  readonly pinned: ReadonlySet<Live>;
  /** Live entries that are not unlisted. */
  readonly claimed: Set<Live>;
}

function groupByKey<Live extends { readonly id: string }>({
  live,
  keysOf,
}: Candidates<Live>): ReadonlyMap<string, readonly Live[]> {
  const groups = new Map<string, Live[]>();
  for (const resource of live) {
    for (const key of keysOf(resource)) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [resource]);
      else group.push(resource);
    }
  }
  for (const group of groups.values()) if (group.length > 1) group.sort(by(({ id }) => id));
  return groups;
}

/** Matches a pinned entry; an ambiguous one claims all candidates, so that none of them is removed as unlisted. */
function matchPin<Live>(state: MatchState<Live>, id: string, key: string): Match<Live> {
  const { byPin, claimed, isLeftover } = state;
  const same = state.byKey.get(key) ?? [];
  const free = same.filter((resource) => isFree(state, resource));
  const pinned = byPin.get(id);
  if (pinned === undefined) {
    claim(state, same);
    const [renewal] = free;
    return same.length === 1 && renewal !== undefined && state.isRenewal(renewal)
      ? { found: "one", live: renewal, leftovers: [] }
      : { found: "pin-missing", id, live: same };
  }
  claimed.add(pinned);
  // A pinned leftover may have a successor with the same key.
  if (isLeftover(pinned)) return matchLeftover(state, pinned, free);
  const leftovers = same.includes(pinned) ? free.filter(isLeftover) : [];
  claim(state, leftovers);
  return { found: "one", live: pinned, leftovers };
}

/** Matches the only current entry with the pinned leftover's key, or else the leftover; the others are leftovers. */
function matchLeftover<Live>(state: MatchState<Live>, pinned: Live, free: readonly Live[]): Match<Live> {
  const [current = pinned, ...more] = free.filter((resource) => !state.isLeftover(resource));
  claim(state, free);
  if (more.length > 0) return { found: "many", live: free };
  return { found: "one", live: current, leftovers: [pinned, ...free].filter((other) => other !== current) };
}

/**
 * Matches by key among the entries that are not pinned. Of several, the only one that is not a leftover wins; if all
 * are leftovers, the latest wins, and among equally late ones, the first by id.
 */
function matchKey<Live>(state: MatchState<Live>, key: string): Match<Live> {
  const { pinned, claimed, isLeftover, endedAt } = state;
  const withKey = state.byKey.get(key) ?? [];
  const same = pinned.size === 0 ? withKey : withKey.filter((resource) => !pinned.has(resource));
  const [first] = same;
  if (first === undefined) return { found: "none" };
  if (same.length === 1 && !claimed.has(first)) {
    claimed.add(first);
    return { found: "one", live: first, leftovers: [] };
  }
  const isContested = same.some((resource) => claimed.has(resource));
  claim(state, same);
  const latest = (a: Live, b: Live): Live => (endedAt(b) > endedAt(a) ? b : a);
  const [current = same.reduce(latest, first), ...more] = same.filter((resource) => !isLeftover(resource));
  if (isContested || more.length > 0) return { found: "many", live: same };
  return { found: "one", live: current, leftovers: same.filter((other) => other !== current) };
}

/** Returns whether no entry is pinned to a live one, and none has claimed it. */
function isFree<Live>({ pinned, claimed }: MatchState<Live>, resource: Live): boolean {
  return !pinned.has(resource) && !claimed.has(resource);
}

function claim<Live>({ claimed }: MatchState<Live>, resources: readonly Live[]): void {
  for (const resource of resources) claimed.add(resource);
}
