import { counted, groupByKey, sortedSet } from "../../lib/text.ts";
import type { IgnoredAccess } from "../../model/questions.ts";
import { type Document, type Grid, sentence } from "../blocks/block.ts";
import { ignoredTexts } from "../text/ignored-text.ts";
import type { Table } from "../view/table.ts";
import { type LocatedEnd, textOfPlace } from "./answer-formats.ts";
import { caveatBlocks, placeText } from "./answers.ts";

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

/** Returns ends of access by their days; equal ends at several merchants are one row unless `verbose`. */
export function expiringDocument(
  ends: readonly LocatedEnd[],
  {
    within,
    live,
    caveats,
  }: { readonly within: string; readonly live: boolean; readonly caveats: readonly string[] },
  verbose: boolean,
): Document {
  const what = live ? "grant, membership or invitation" : "grant or membership in the files";
  const shown = ends.length === 0 ? sentence(`No ${what} ends within ${within}.`) : endsGrid(ends, verbose);
  return [[shown], caveatBlocks(caveats)];
}

function endsGrid(ends: readonly LocatedEnd[], verbose: boolean): Grid {
  const groups = groupByKey(ends, ({ day, member, what, role, text, merchant }) =>
    JSON.stringify([day, member.name.toLowerCase(), what, role, text, verbose ? merchant : null]),
  );
  const heads = ["Day", "Who", "What", "Merchant", "Where"];
  const rows = groups.map((group) => ({ cells: cellsOf(group) }));
  return { kind: "grid", heads, rows, isGrouped: true };
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
  const moment = text.includes("T") && what !== "invitation" ? ` at ${text}` : "";
  return [
    `${day} (${inDays(daysLeft)})`,
    member.name,
    `${whatText(what, role)}${moment}`,
    codes.length === 1 ? (codes[0] ?? "") : counted(codes.length, "merchant"),
    placeText(group.flatMap(({ places }) => places)),
  ];
}

function whatText(what: LocatedEnd["what"], role: string | null): string {
  switch (what) {
    case "grant":
      return `${role ?? ""} ends`;
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
