import { oneLine } from "../../lib/escape.ts";
import { counted, groupByKey, sortedSet } from "../../lib/text.ts";
import type { IgnoredAccess } from "../../model/questions.ts";
import type { Style } from "../style.ts";
import { gridLines } from "../text/grid-text.ts";
import { ignoredTexts } from "../text/ignored-text.ts";
import { hangingLines } from "../text/wrap.ts";
import type { Table } from "../view/table.ts";
import { type LocatedEnd, textOfPlace } from "./answer-formats.ts";
import { caveatLines, placeText } from "./answers-text.ts";

/** Returns what the ends leave out; `expired` is the number of live invitations whose end has passed. */
export function expiringCaveats(
  ignored: readonly IgnoredAccess[],
  live: boolean,
  expired: number,
): readonly string[] {
  const past =
    expired === 0
      ? []
      : [
          `${counted(expired, "invitation has", "invitations have")} already expired; "rolecall lint --live" lists ${expired === 1 ? "it" : "them"}.`,
        ];
  return [...past, ...ignoredTexts(ignored, live ? "" : "--live shows the ends of their invitations.")];
}

/** Renders ends of access by their days; equal ends at several merchants are one line unless `verbose`. */
export function renderExpiring(
  ends: readonly LocatedEnd[],
  {
    within,
    live,
    caveats,
  }: { readonly within: string; readonly live: boolean; readonly caveats: readonly string[] },
  style: Style,
  verbose: boolean,
): string {
  const notes = caveatLines(caveats, style);
  const end = notes.length === 0 ? "" : `\n${notes.join("\n")}\n`;
  if (ends.length === 0) {
    const what = live ? "grant, membership or invitation" : "grant or membership in the files";
    return `${hangingLines(`No ${what} ends within ${within}.`, style.columns, "", "  ").join("\n")}\n${end}`;
  }
  const groups = groupByKey(ends, ({ day, member, what, role, text, merchant }) =>
    JSON.stringify([day, member.name.toLowerCase(), what, role, text, verbose ? merchant : null]),
  );
  const heads = ["Day", "Who", "What", "Merchant", "Where"];
  const rows = groups.map((group) => ({ cells: cellsOf(group) }));
  return `${gridLines({ heads, rows, isGrouped: true }, style, "").join("\n")}\n${end}`;
}

/** Returns ends of access as a table, a row for each merchant. */
export function expiringTable(ends: readonly LocatedEnd[]): Table {
  return {
    columns: ["day", "days_left", "merchant", "environment", "member", "what", "role", "ends", "where"],
    rows: ends.map(({ day, daysLeft, merchant, environment, member, what, role, ends: moment, places }) => [
      ...[day, String(daysLeft), merchant, environment ?? "", member.name, what, role ?? "", moment],
      places.map(textOfPlace).join(" "),
    ]),
  };
}

function inDays(days: number): string {
  return days === 0 ? "today" : days === 1 ? "tomorrow" : `in ${days} days`;
}

function cellsOf(group: readonly [LocatedEnd, ...LocatedEnd[]]): readonly string[] {
  const [{ member, what, role, text, day, daysLeft }] = group;
  const codes = sortedSet(group.map(({ merchant }) => merchant));
  const moment = text.includes("T") && what !== "invitation" ? ` at ${oneLine(text)}` : "";
  return [
    `${day} (${inDays(daysLeft)})`,
    oneLine(member.name),
    `${whatText(what, role)}${moment}`,
    codes.length === 1 ? oneLine(codes[0] ?? "") : counted(codes.length, "merchant"),
    placeText(group.flatMap(({ places }) => places)),
  ];
}

function whatText(what: LocatedEnd["what"], role: string | null): string {
  switch (what) {
    case "grant":
      return `${oneLine(role ?? "")} ends`;
    case "membership":
      return "membership ends";
    case "leaver":
      return "leaves";
    case "invitation":
      return "invitation expires";
    default:
      return what satisfies never;
  }
}
