import { canonicalJson } from "../../lib/json-text.ts";
import type { LiveMember } from "../../model/live.ts";

/** Signs of a person besides the address. */
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
        gone.filter((one) => !taken.has(one)),
        keyOf,
      ),
      uniqueBy(
        come.filter((one) => !pairs.has(one)),
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
  const at = address.lastIndexOf("@");
  return at <= 0 ? null : address.slice(0, at).toLowerCase();
}

function uniqueBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string | null,
): ReadonlyMap<string, Item> {
  const found = new Map<string, Item | null>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== null) found.set(key, found.has(key) ? null : item);
  }
  return new Map([...found].flatMap(([key, item]) => (item === null ? [] : [[key, item] as const])));
}
