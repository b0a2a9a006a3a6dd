import { oneLine } from "../../lib/escape.ts";
import { counted, sortedSet } from "../../lib/text.ts";
import type { IgnoredAccess } from "../../model/questions.ts";
import type { Style } from "../style.ts";
import { ignoredTexts } from "../text/ignored-text.ts";
import { hangingLines, wrapList } from "../text/wrap.ts";
import { type LocatedEnd, textOfPlace } from "./answer-formats.ts";

/** Renders ends of access, a section for each day; equal ends at several merchants are one line unless `verbose`. */
export function renderExpiring(
  ends: readonly LocatedEnd[],
  {
    within,
    live,
    ignored,
  }: { readonly within: string; readonly live: boolean; readonly ignored: readonly IgnoredAccess[] },
  style: Style,
  verbose: boolean,
): string {
  const notes = ignoredTexts(ignored, live ? "" : "--live shows the ends of their invitations.").flatMap(
    (text) => hangingLines(text, style.columns, "", "  ").map((line) => style.yellow(line)),
  );
  const end = notes.length === 0 ? "" : `\n${notes.join("\n")}\n`;
  if (ends.length === 0) {
    const what = live ? "grant, membership or invitation" : "grant or membership in the files";
    return `${hangingLines(`No ${what} ends within ${within}.`, style.columns, "", "  ").join("\n")}\n${end}`;
  }
  const blocks = [...groupedBy(ends, ({ day }) => day)].map(([day, dayEnds]) => [
    style.bold(`${day} (${inDays(dayEnds[0]?.daysLeft ?? 0)})`),
    ...groupsOf(dayEnds, verbose).flatMap((group) =>
      wrapList(cellsOf(group), style.columns - 4, "  ").map(
        (text, index) => `${index === 0 ? "  " : "    "}${text}`,
      ),
    ),
  ]);
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n${end}`;
}

function inDays(days: number): string {
  return days === 0 ? "today" : days === 1 ? "tomorrow" : `in ${days} days`;
}

function groupedBy(
  ends: readonly LocatedEnd[],
  keyOf: (end: LocatedEnd) => string,
): ReadonlyMap<string, readonly LocatedEnd[]> {
  const groups = new Map<string, LocatedEnd[]>();
  for (const end of ends) {
    const group = groups.get(keyOf(end)) ?? [];
    group.push(end);
    groups.set(keyOf(end), group);
  }
  return groups;
}

function groupsOf(ends: readonly LocatedEnd[], verbose: boolean): readonly (readonly LocatedEnd[])[] {
  if (verbose) return ends.map((end) => [end]);
  const key = ({ member, what, role, text }: LocatedEnd): string =>
    JSON.stringify([member.name.toLowerCase(), what, role, text]);
  return [...groupedBy(ends, key).values()];
}

function cellsOf(group: readonly LocatedEnd[]): readonly string[] {
  const [first] = group;
  if (first === undefined) return [];
  const { member, what, role, text } = first;
  const codes = sortedSet(group.map(({ merchant }) => merchant));
  const places = sortedSet(group.flatMap(({ places: endPlaces }) => endPlaces.map(textOfPlace)));
  const moment = text.includes("T") && what !== "invitation" ? ` at ${oneLine(text)}` : "";
  return [
    oneLine(member.name),
    `${whatText(what, role)}${moment}`,
    codes.length === 1 ? oneLine(codes[0] ?? "") : counted(codes.length, "merchant"),
    ...places.slice(0, 1),
    ...(places.length > 1 ? [`and ${places.length - 1} more`] : []),
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
