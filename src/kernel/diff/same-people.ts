import { canonicalJson } from "../../lib/json-text.ts";
import type { LiveMember } from "../../model/live.ts";

/** Data that identify a person, besides the address. */
interface Person {
  readonly address: string;
  readonly metadata: LiveMember["metadata"];
}

/** One person under two addresses. */
export interface AddressPair<Old, New> {
  readonly from: Old;
  readonly to: New;
}

/**
 * Pairs people who are probably the same: with the same metadata, or the same local part in another domain, if that is
 * unique on both sides.
 */
export function samePeople<Old extends Person, New extends Person>(
  gone: readonly Old[],
  come: readonly New[],
): readonly AddressPair<Old, New>[] {
  const pairs = new Map<New, Old>();
  for (const keyOf of [metadataKey, localPart]) {
    const taken = new Set(pairs.values());
    const [olds, news] = [
      uniqueBy(
        gone.filter((person) => !taken.has(person)),
        keyOf,
      ),
      uniqueBy(
        come.filter((person) => !pairs.has(person)),
        keyOf,
      ),
    ];
    for (const [key, to] of news) {
      const from = olds.get(key);
      if (from !== undefined) pairs.set(to, from);
    }
  }
  return [...pairs].map(([to, from]) => ({ from, to }));
}

function metadataKey({ metadata }: Person): string | null {
  return Object.keys(metadata).length === 0 ? null : canonicalJson(metadata);
}

function localPart({ address }: Person): string | null {
  const separator = address.lastIndexOf("@");
  return separator <= 0 ? null : address.slice(0, separator).toLowerCase();
}

function uniqueBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string | null,
): ReadonlyMap<string, Item> {
  const single = new Map<string, Item | null>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== null) single.set(key, single.has(key) ? null : item);
  }
  return new Map([...single].flatMap(([key, item]) => (item === null ? [] : [[key, item] as const])));
}
