import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";

/** What a date in the files of a merchant brings, in a time to come. */
export interface DateView {
  readonly merchant: string;
  /** In ms since the epoch. */
  readonly at: number;
  /** As the file writes it: an end is the last day, a beginning the first. */
  readonly text: string;
  readonly email: string;
  readonly what: "leaves" | "leaves-unlisted" | "ends" | "joins" | "begins" | "suspended" | "back";
  /** The roles that end or begin; empty for the whole membership. */
  readonly roles: readonly string[];
}

/** Equal dates of one or more merchants. */
interface DateGroup {
  readonly date: DateView;
  readonly merchants: Set<string>;
}

/**
 * Returns a line for each date, the earliest first and equal ones of several merchants together, and the number of those
 * beyond `max`. Names are written by `nameOf`.
 */
export function dateLines(
  dates: readonly DateView[],
  max: number,
  nameOf: (name: string) => string,
): { readonly lines: readonly string[]; readonly more: number } {
  const groups = new Map<string, DateGroup>();
  for (const date of dates.toSorted((a, b) => a.at - b.at)) {
    const key = keyOf(date);
    const known = groups.get(key) ?? { date, merchants: new Set() };
    known.merchants.add(date.merchant);
    groups.set(key, known);
  }
  // Who leaves merchants that list the address need not be named for the others.
  const shown = [...groups.values()].filter(
    ({ date }) => date.what !== "leaves-unlisted" || !groups.has(keyOf({ ...date, what: "leaves" })),
  );
  return {
    lines: shown.slice(0, max).map((group) => dateLine(group, nameOf)),
    more: Math.max(shown.length - max, 0),
  };
}

function keyOf({ at, email, what, roles }: DateView): string {
  return JSON.stringify([at, email.toLowerCase(), what, roles]);
}

function dateLine({ date, merchants }: DateGroup, nameOf: (name: string) => string): string {
  const { text, email, what, roles } = date;
  const isLastDay = what === "ends" || what === "back";
  const when = `${text.includes("T") ? "from" : isLastDay ? "after" : "on"} ${oneLine(text)}:`;
  const [only = ""] = merchants;
  const where = merchants.size === 1 ? nameOf(only) : counted(merchants.size, "merchant");
  const who = nameOf(email);
  const named = roles.map(nameOf).join(", ");
  switch (what) {
    case "leaves":
      return `${when} ${who} leaves ${where}`;
    case "leaves-unlisted":
      return `${when} ${who} leaves, if a member: no file lists the address`;
    case "ends":
      return `${when} ${where} ${who} loses ${named || "the membership"}`;
    case "joins":
      return `${when} ${where} ${who} joins${named && ` with ${named}`}`;
    case "begins":
      return `${when} ${where} ${who} gains ${named}`;
    case "suspended":
      return `${when} ${where} ${who} is suspended`;
    case "back":
      return `${when} ${where} ${who} is back`;
    default:
      return what satisfies never;
  }
}
