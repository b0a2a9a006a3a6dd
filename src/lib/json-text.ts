import { byCodeUnit } from "./text.ts";

/**
 * Returns the canonical text of a JSON value: keys sorted, no white space. Two values are equal exactly if their texts
 * are. Values that JSON cannot represent count as `null`.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => byCodeUnit(a, b));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
}

/** Returns whether two JSON values have the same canonical text, without writing it. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => isSameJson(item, b[index]))
    );
  }
  const theirs = new Map<string, unknown>(Object.entries(b));
  const mine = Object.entries(a);
  return (
    mine.length === theirs.size &&
    mine.every(([key, item]) => theirs.has(key) && isSameJson(item, theirs.get(key)))
  );
}

/** Prefix of the digits of a number that JSON.parse would round. */
const MARK = "\u0000rounded number ";

/** Matches marked numbers in JSON text. */
const MARKED = /"\\u0000rounded number ([^"]*)"/g;

/** Finds bodies that may contain such a number: one of 16 digits or with an exponent. */
const SUSPECT = /(?:^|[:,[\s])-?\d(?:[\d.]{15}|[\d.]*[eE])/;

/** Matches strings, which are skipped, and numbers. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const MOST_DIGITS = 400;

/** Returns JSON text with each number that would be rounded as a marked string; `null` if there is none. */
export function markRounded(json: string): string | null {
  if (!SUSPECT.test(json)) return null;
  let anyRounded = false;
  const marked = json.replace(TOKENS, (token) => {
    if (token.startsWith('"') || isExact(token)) return token;
    anyRounded = true;
    return JSON.stringify(MARK + token);
  });
  return anyRounded ? marked : null;
}

/** Returns metadata with marked numbers rounded, and the properties that contain one. */
export function unmark<Fields extends object>(
  metadata: Fields,
): {
  readonly metadata: Fields;
  readonly rounded: readonly string[];
  /** The JSON text of each property, with all digits. */
  readonly exact: Readonly<Record<string, string>>;
} {
  const rounded: string[] = [];
  const exact: Record<string, string> = {};
  const entries = Object.entries(metadata).map(([key, value]) => {
    let has = false;
    const plain = mapNumbers(value, () => {
      has = true;
    });
    if (has) {
      rounded.push(key);
      exact[key] = JSON.stringify(value).replaceAll(MARKED, "$1");
    }
    return [key, plain] as const;
  });
  return { metadata: Object.fromEntries(entries) as Fields, rounded, exact };
}

function mapNumbers(value: unknown, onMark: () => void): unknown {
  if (typeof value === "string" && value.startsWith(MARK)) {
    onMark();
    return Number(value.slice(MARK.length));
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => mapNumbers(item, onMark));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapNumbers(item, onMark)]));
}

/** Returns whether a number survives JSON.parse and JSON.stringify unchanged. */
function isExact(token: string): boolean {
  if (token.length > MOST_DIGITS) return false;
  const value = Number(token);
  return Number.isFinite(value) && normalForm(token) === normalForm(String(value));
}

/** Returns a canonical text of a number: sign, significant digits and exponent. */
function normalForm(number: string): string {
  const [mantissa = "", exponent = "0"] = number.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  const power = Number(exponent) - fraction.length + digits.length - short.length;
  return `${number.startsWith("-") ? "-" : ""}${short}e${power}`;
}

/** Maximum nesting of JSON from the service. */
export const MAX_LEVELS = 100;

/** Returns whether a value is nested deeper than a number of levels. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
