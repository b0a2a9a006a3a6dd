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
