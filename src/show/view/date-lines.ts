import { type DateEffect, effectOfDate, whenText } from "../../kernel/findings/date-words.ts";
import { counted, groupByKey, grouped } from "../../lib/text.ts";
import type { PlanView } from "./plan-view.ts";

/** Effects of the dates in the files of a merchant at one future time. */
export interface LaterView {
  readonly merchant: string;
  /** In ms since the epoch. */
  readonly at: number;
  /** The same in ISO 8601. */
  readonly moment: string;
  readonly dates: readonly DateEffect[];
  /** Why an apply at that time would be refused. */
  readonly refusals: readonly { readonly rule: string; readonly code: string; readonly message: string }[];
  /** People who become administrators or gain sensitive permissions. */
  readonly gains: readonly { readonly name: string; readonly gained: readonly string[] }[];
}

/** Adds the later gains from dates to the risks of a merchant's plan. */
export function withLaterRisks(view: PlanView, later: readonly LaterView[]): PlanView {
  const items = later
    .filter(({ merchant }) => merchant === view.merchant)
    .flatMap(({ dates, gains }) => {
      const [first] = dates;
      const when = first === undefined ? "" : ` ${whenText(first)}`;
      return gains.map(
        ({ name, gained }) =>
          ({ name, what: `${gained.join(", ") || "access"}${when}`, resource: "member" }) as const,
      );
    });
  const risks = items.length === 0 ? [] : [{ kind: "dates", items, origin: "plan" } as const];
  return { ...view, risks: [...view.risks, ...risks] };
}

/** The title of the lines about future dates. */
export const LATER_TITLE = "Later, by dates in the files";

/** Something that happens at one time, at one or more merchants. */
interface Group<Item> {
  readonly item: Item;
  readonly day: LaterView;
  readonly merchants: Set<string>;
}

/** The lines about future dates. */
export interface DateLines {
  /** Effects of the dates: the earliest first, and equal ones of several merchants together. */
  readonly lines: readonly string[];
  /** The number of those beyond the given one. */
  readonly more: number;
  /** Why an apply would be refused on these days. */
  readonly refused: readonly string[];
}

/**
 * Returns the lines about future dates, at most `max` of each kind; with an infinite `max`, a line for each. `nameOf`
 * formats names.
 */
export function dateLines(
  days: readonly LaterView[],
  max: number,
  nameOf: (name: string) => string,
): DateLines {
  const sorted = days.toSorted((a, b) => a.at - b.at);
  const groups = groupDays(sorted, ({ dates }) => dates, keyOf);
  const keys = new Set(groups.map(({ item, day }) => `${day.at} ${keyOf(item)}`));
  // People who leave merchants that list their address are not repeated for the others.
  const shown = groups.filter(
    ({ item, day }) =>
      item.what !== "leaves-unlisted" || !keys.has(`${day.at} ${keyOf({ ...item, what: "leaves" })}`),
  );
  const refused = groupDays(
    sorted,
    ({ refusals }) => refusals,
    ({ code, message }) => `${code} ${message}`,
  );
  const equal = groupByKey(shown, ({ item: { email: _, ...what }, day }) => JSON.stringify([day.at, what]));
  const isFolded = ({ length }: Together): boolean => length > MAX_ALONE && Number.isFinite(max);
  const folded = equal.flatMap((groups): readonly Together[] =>
    isFolded(groups) ? [groups] : groups.map((group) => [group]),
  );
  return {
    lines: folded
      .slice(0, max)
      .map((groups) => (groups.length === 1 ? dateLine(groups[0], nameOf) : foldedLine(groups, nameOf))),
    more: folded.slice(max).flat().length,
    refused: refused.slice(0, max).map((group) => refusedLine(group, nameOf)),
  };
}

/** People for whom a date has the same effect. */
type Together = readonly [Group<DateEffect>, ...Group<DateEffect>[]];

/** Number of people with equal effects of a date up to which each has a line. */
const MAX_ALONE = 3;

/** Number of people who are named in a common line. */
const MAX_NAMED = 3;

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

function keyOf({ email, what, roles }: DateEffect): string {
  return JSON.stringify([email.toLowerCase(), what, roles]);
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
  const when = first === undefined ? "" : `${whenText(first)}: `;
  return `${when}${whereOf(merchants, nameOf)} would be refused by ${rule} ${code}: ${nameOf(message)}`;
}

/** Returns the line for several people for whom a date has the same effect. */
function foldedLine(groups: Together, nameOf: (name: string) => string): string {
  const [{ item }] = groups;
  const where = whereOf(new Set(groups.flatMap(({ merchants }) => [...merchants])), nameOf);
  const named = groups.slice(0, MAX_NAMED).map((group) => nameOf(group.item.email));
  const rest = groups.length - named.length;
  const people = `${named.join(", ")}${rest > 0 ? ` and ${grouped(rest)} more` : ""}`;
  return `${whenText(item)}: ${grouped(groups.length)} people ${togetherText(item, where, nameOf)}: ${people}`;
}

function togetherText({ what, roles }: DateEffect, where: string, nameOf: (name: string) => string): string {
  const names = roles.map(nameOf).join(", ");
  switch (what) {
    case "leaves":
      return `leave ${where}`;
    case "leaves-unlisted":
      return "leave if they are members (no file lists them as members)";
    case "ends":
      return `lose ${names || "the membership"} at ${where}`;
    case "joins":
      return `join ${where}${names && ` with ${names}`}`;
    case "begins":
      return `gain ${names} at ${where}`;
    case "suspended":
      return `are suspended at ${where}`;
    case "back":
      return `are back at ${where}`;
    default:
      return what satisfies never;
  }
}

function dateLine({ item, merchants }: Group<DateEffect>, nameOf: (name: string) => string): string {
  const who = nameOf(item.email);
  const when = whenText(item);
  if (item.what === "leaves") return `${when}: ${who} leaves ${whereOf(merchants, nameOf)}`;
  const where =
    merchants.size === 1 ? whereOf(merchants, nameOf) : `at ${counted(merchants.size, "merchant")},`;
  const isUnlisted = item.what === "leaves-unlisted";
  return `${when}: ${effectOfDate(item, isUnlisted ? who : `${where} ${who}`, nameOf)}`;
}
