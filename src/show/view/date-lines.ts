import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { PlanView } from "./plan-view.ts";

/** An upcoming effect of a date in the files. */
interface DateView {
  /** As the file writes it: an end is the last day, a beginning the first. */
  readonly text: string;
  readonly email: string;
  readonly what: "leaves" | "leaves-unlisted" | "ends" | "joins" | "begins" | "suspended" | "back";
  /** The roles that end or begin; empty for the whole membership. */
  readonly roles: readonly string[];
}

/** Effects of the dates in the files of a merchant at one upcoming moment. */
export interface LaterView {
  readonly merchant: string;
  /** In ms since the epoch. */
  readonly at: number;
  /** The same in ISO 8601. */
  readonly moment: string;
  readonly dates: readonly DateView[];
  /** Why an apply at that time would be refused. */
  readonly refusals: readonly { readonly rule: string; readonly code: string; readonly message: string }[];
  /** Who becomes an administrator or gains sensitive permissions. */
  readonly gains: readonly { readonly name: string; readonly gained: readonly string[] }[];
}

/** Adds what dates give people later to the risks of a merchant's plan. */
export function withLaterRisks(view: PlanView, later: readonly LaterView[]): PlanView {
  const items = later
    .filter(({ merchant }) => merchant === view.merchant)
    .flatMap(({ dates, gains }) => {
      const [first] = dates;
      const when = first === undefined ? "" : ` ${whenOf(first)}`;
      return gains.map(
        ({ name, gained }) =>
          ({ name, what: `${gained.join(", ") || "access"}${when}`, resource: "member" }) as const,
      );
    });
  const risks = items.length === 0 ? [] : [{ kind: "dates", items, origin: "plan" } as const];
  return { ...view, risks: [...view.risks, ...risks] };
}

/** The title of the lines about dates to come. */
export const LATER_TITLE = "Later, by dates in the files";

/** Something that happens at one moment, at one or more merchants. */
interface Group<Item> {
  readonly item: Item;
  readonly day: LaterView;
  readonly merchants: Set<string>;
}

/** The lines about dates to come. */
export interface DateLines {
  /** Effects of the dates: the earliest first, and equal ones of several merchants together. */
  readonly lines: readonly string[];
  /** The number of those beyond the given one. */
  readonly more: number;
  /** Why an apply would be refused on these days. */
  readonly refused: readonly string[];
}

/** Returns the lines about dates to come, at most `max` of each kind. Names are written by `nameOf`. */
export function dateLines(
  days: readonly LaterView[],
  max: number,
  nameOf: (name: string) => string,
): DateLines {
  const sorted = days.toSorted((a, b) => a.at - b.at);
  const groups = groupDays(sorted, ({ dates }) => dates, keyOf);
  const keys = new Set(groups.map(({ item, day }) => `${day.at} ${keyOf(item)}`));
  // People who leave merchants that list their address are not named again for the others.
  const shown = groups.filter(
    ({ item, day }) =>
      item.what !== "leaves-unlisted" || !keys.has(`${day.at} ${keyOf({ ...item, what: "leaves" })}`),
  );
  const refused = groupDays(
    sorted,
    ({ refusals }) => refusals,
    ({ code, message }) => `${code} ${message}`,
  );
  return {
    lines: shown.slice(0, max).map((group) => dateLine(group, nameOf)),
    more: Math.max(shown.length - max, 0),
    refused: refused.slice(0, max).map((group) => refusedLine(group, nameOf)),
  };
}

function groupDays<Item>(
  days: readonly LaterView[],
  itemsOf: (day: LaterView) => readonly Item[],
  identify: (item: Item) => string,
): readonly Group<Item>[] {
  const groups = new Map<string, Group<Item>>();
  for (const day of days) {
    for (const item of itemsOf(day)) {
      const key = `${day.at} ${identify(item)}`;
      const group = groups.get(key) ?? { item, day, merchants: new Set() };
      group.merchants.add(day.merchant);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

function keyOf({ email, what, roles }: DateView): string {
  return JSON.stringify([email.toLowerCase(), what, roles]);
}

function whenOf({ text, what }: DateView): string {
  const isLastDay = what === "ends" || what === "back";
  return `${text.includes("T") ? "from" : isLastDay ? "after" : "on"} ${oneLine(text)}`;
}

function whereOf(merchants: ReadonlySet<string>, nameOf: (name: string) => string): string {
  const [only = ""] = merchants;
  return merchants.size === 1 ? nameOf(only) : counted(merchants.size, "merchant");
}

function refusedLine(
  { item: { rule, code, message }, day, merchants }: Group<LaterView["refusals"][number]>,
  nameOf: (name: string) => string,
): string {
  const [first] = day.dates;
  const when = first === undefined ? "" : `${whenOf(first)}: `;
  return `${when}${whereOf(merchants, nameOf)} would be refused by ${rule} ${code}: ${nameOf(message)}`;
}

function dateLine({ item, merchants }: Group<DateView>, nameOf: (name: string) => string): string {
  const { email, what, roles } = item;
  const when = `${whenOf(item)}:`;
  const where =
    merchants.size === 1 ? whereOf(merchants, nameOf) : `at ${counted(merchants.size, "merchant")},`;
  const who = nameOf(email);
  const names = roles.map(nameOf).join(", ");
  switch (what) {
    case "leaves":
      return `${when} ${who} leaves ${whereOf(merchants, nameOf)}`;
    case "leaves-unlisted":
      return `${when} ${who} leaves, if a member: no file lists the address`;
    case "ends":
      return `${when} ${where} ${who} loses ${names || "the membership"}`;
    case "joins":
      return `${when} ${where} ${who} joins${names && ` with ${names}`}`;
    case "begins":
      return `${when} ${where} ${who} gains ${names}`;
    case "suspended":
      return `${when} ${where} ${who} is suspended`;
    case "back":
      return `${when} ${where} ${who} is back`;
    default:
      return what satisfies never;
  }
}
