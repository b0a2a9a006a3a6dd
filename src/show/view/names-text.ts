import { counted, grouped } from "../../lib/text.ts";

/** Maximum number of names in a list; the others are only counted. */
export const NAMES_SHOWN = 5;

/** "MC1, MC2 and 38 more". */
export function namesText(names: readonly string[], shown: number = NAMES_SHOWN): string {
  const more = names.length - shown;
  // A name is shown if the count would replace only that name.
  if (more <= 1) return names.join(", ");
  return `${names.slice(0, shown).join(", ")} and ${grouped(more)} more`;
}

/** "298 merchants (all but MC12, MC40)", "40 merchants (MC1, MC2 and 38 more)", "all 300 merchants" or "MC1". */
export function merchantsText(merchants: readonly string[], absent: readonly string[]): string {
  if (merchants.length === 1) return merchants.join();
  const isMost = absent.length <= NAMES_SHOWN && absent.length * 2 < merchants.length;
  if (absent.length === 0) return `all ${counted(merchants.length, "merchant")}`;
  const which = isMost ? `all but ${absent.join(", ")}` : namesText(merchants);
  return `${counted(merchants.length, "merchant")} (${which})`;
}

/** Turns a text about one merchant into one about several, which are named beside it. */
export function textOfSeveral(text: string, merchant: string): string {
  return text.replaceAll(merchant, (_, at: number) => {
    if (/(?:[/_]|-m |merchant )$/.test(text.slice(0, at))) return "<MERCHANT>";
    return at === 0 ? "These merchants" : "these merchants";
  });
}

/** Returns the number of people with these addresses, each of whom may be a member of several merchants. */
export function countPeople(items: readonly { readonly name: string }[]): number {
  return new Set(items.map(({ name }) => name.toLowerCase())).size;
}
