/** Returns a number with its noun: "1 change", "2 changes". */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${grouped(count)} ${count === 1 ? singular : plural}`;
}

/** Joins texts with commas and a final conjunction. */
export function listText(texts: readonly string[], last: "and" | "or" = "and"): string {
  return texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} ${last} ${texts.at(-1)}`;
}

/** Formats a time in ISO 8601 as "2026-06-15 12:00 UTC". */
export function utcMinute(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")} UTC`;
}

/** Returns the first texts, and one that counts the others. */
export function firstOf(texts: readonly string[], max: number, noun: string): readonly string[] {
  const more = texts.length - max;
  return more > 0 ? [...texts.slice(0, max), `and ${counted(more, `more ${noun}`)}`] : texts;
}

/** Formats a number as "9,980"; `toLocaleString` would take a third of a short run's time to load. */
export function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Scripts and symbols that terminals draw two cells wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Characters that are drawn as part of the one before them. */
const JOINED = /[\p{M}\p{Cf}]/u;

/** Matches escape sequences that style a text. */
const STYLING = /\p{Cc}\[[\d;]*m/gu;

/** Several characters that are drawn as one emoji. */
const EMOJI =
  /\p{RI}{2}|\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier}|\u200d\p{Extended_Pictographic})+/gu;

/**
 * Returns the width of a text in terminal cells: two for wide characters, none for combining marks and styles. Loading
 * the package for that takes a tenth of the time of a short run; only the board and the browser need its precision.
 */
export function cellWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text.replaceAll(STYLING, "").replaceAll(EMOJI, "😀")) {
    width += WIDE.test(character) ? 2 : JOINED.test(character) ? 0 : 1;
  }
  return width;
}

/** Returns a shell word, quoted if needed. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns a text as it is if unambiguous, else in quotes, with escaped line breaks and quotes; shortened. */
export function quoteIfNeeded(text: string): string {
  return /^[\p{L}\p{N}_.:@+-]+$/u.test(text) ? shorten(text) : quoted(text);
}

/** Returns a text in quotes, with escaped line breaks and quotes; shortened. */
export function quoted(text: string): string {
  return shorten(JSON.stringify(text));
}

const LONGEST_SHOWN = 80;

/** Returns the first characters of a long text, with an ellipsis. */
export function shorten(text: string): string {
  const characters = [...text];
  return characters.length > LONGEST_SHOWN ? `${characters.slice(0, LONGEST_SHOWN).join("")}…` : text;
}

/**
 * Returns the normal form of a service's base URL, in which two spellings of one address are equal: lower-case scheme
 * and host, no default port, no slash at the end, no empty query or fragment. A text that is not a URL is returned
 * without trailing slashes.
 */
export function normalizeServiceUrl(text: string): string {
  return (URL.canParse(text) ? hrefOf(new URL(text)) : text).replace(/\/+$/, "");
}

function hrefOf(url: URL): string {
  if (url.search === "") url.search = "";
  if (url.hash === "") url.hash = "";
  return url.href;
}

/** Compares by code unit: the same order on every machine, whatever its locale. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares by code unit, but numbers inside by their value: MC2 comes before MC10. */
export function naturally(a: string, b: string): number {
  const [parts, otherParts] = [a.match(/\d+|\D+/g) ?? [], b.match(/\d+|\D+/g) ?? []];
  for (const [index, part] of parts.entries()) {
    const next = otherParts[index];
    if (next === undefined) return 1;
    const areNumbers = /^\d/.test(part) && /^\d/.test(next);
    const order = areNumbers ? Number(part) - Number(next) : byCodeUnit(part, next);
    if (order !== 0) return order;
  }
  return parts.length - otherParts.length || byCodeUnit(a, b);
}

/**
 * Returns a text whose order by code unit is natural, whatever the case: numbers inside by their value, so that MC2
 * comes before MC10.
 */
export function naturalKey(text: string): string {
  return text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(20, "0"));
}

/** Returns items in the natural order of their texts, each of which is computed once. */
export function sortNaturally<T>(items: readonly T[], textOf: (item: T) => string): readonly T[] {
  return items
    .map((item) => ({ item, key: naturalKey(textOf(item)) }))
    .sort(by(({ key }) => key))
    .map(({ item }) => item);
}

/** Returns a comparison function by a text of each item. */
export function by<T>(textOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => byCodeUnit(textOf(a), textOf(b));
}

/** Returns the distinct strings of a list, in order. */
export function sortedSet(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].sort(byCodeUnit);
}

/** Groups items with equal keys, in the order of the first item of each group. */
export function groupByKey<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => unknown,
): readonly (readonly [Item, ...Item[]])[] {
  const groups = new Map<unknown, [Item, ...Item[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}

/** Returns where a value of a file is invalid, and what is expected there: `plans[0].changes: expected an array`. */
export function invalidText(
  issue: { readonly path: readonly PropertyKey[]; readonly expected?: unknown } | undefined,
): string {
  const path = (issue?.path ?? []).reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}${text && "."}${String(key)}`),
    "",
  );
  const { expected } = issue ?? {};
  return `${path || "the whole"}: ${typeof expected === "string" ? `expected ${expected}` : "the value is invalid"}`;
}
