import { grouped } from "../../lib/text.ts";

/** Splits a list; an item is shown if the count would replace only that item. */
export function cutList<Item>(
  items: readonly Item[],
  most: number,
): { readonly shown: readonly Item[]; readonly hidden: readonly Item[] } {
  const shown = items.length > most + 1 ? most : items.length;
  return { shown: items.slice(0, shown), hidden: items.slice(shown) };
}

/** Returns the last line of a cut list, in a text that ends with how to see everything. */
export function cutText(count: number): string {
  return `… and ${grouped(count)} more`;
}

/** Matches the end of a list that is cut, also across a line break. */
const CUT = /\band\s+[\d,]+\s+(?:\p{L}+\s+)?more\b/u;

/** Returns whether a list in the text is cut: "and 55 more", "and 18 members more", "… and 4 more merchants". */
export function hasCutList(text: string): boolean {
  return CUT.test(text.replaceAll(/\p{Cc}\[[\d;]*m/gu, ""));
}
