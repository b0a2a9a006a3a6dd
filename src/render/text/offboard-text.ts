import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { OffboardedPerson, SoleAccess } from "../../model/reports.ts";
import type { Style } from "../style.ts";
import { hangingLines } from "./wrap.ts";

const NAMED = 5;

/** Renders where people are, and what only they have; ends with a blank line. */
export function renderOffboarding(
  people: readonly OffboardedPerson[],
  sole: readonly SoleAccess[],
  style: Style,
): string {
  const blocks = [people.flatMap((person) => personLines(person, style)), soleLines(sole, people, style)];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join("\n")}\n\n`)
    .join("");
}

function personLines(
  { email, files, live, stays, listed }: OffboardedPerson,
  style: Style,
): readonly string[] {
  const inFiles = files.length === 0 ? "in no file" : `in ${several(files)}`;
  const atMerchants =
    live === null ? "" : live.length === 0 ? "; live at no merchant" : `; live at ${several(live)}`;
  const lines = [
    ...hangingLines(`${inFiles}${atMerchants}`, style.columns, `${style.bold(oneLine(email))}  `, "    "),
  ];
  if (listed.length > 0) {
    const others = `Other files still list it, at ${several(listed)}.`;
    lines.push(...hangingLines(others, style.columns, `  ${style.yellow("!")} `, "    "));
  }
  if (stays.length === 0) return lines;
  const left = `The next plan does not remove it at ${several(stays)}: the files there leave unlisted members alone. List it under "leavers" in a file that they include.`;
  return [...lines, ...hangingLines(left, style.columns, `  ${style.yellow("!")} `, "    ")];
}

function soleLines(
  sole: readonly SoleAccess[],
  people: readonly OffboardedPerson[],
  style: Style,
): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const one of sole) {
    const parts = [
      ...(one.permissions.length > 0 ? [`can ${one.permissions.map(oneLine).join(", ")}`] : []),
      ...(one.roles.length > 0 ? [`have ${one.roles.map(oneLine).join(", ")}`] : []),
    ];
    if (parts.length === 0) continue;
    const text = parts.join("; ");
    groups.set(text, [...(groups.get(text) ?? []), one.merchant]);
  }
  if (groups.size === 0) return [];
  return [
    // The files may leave out members, and what predefined roles grant.
    style.bold(people.some(({ live }) => live === null) ? "Nobody else, by the files" : "Nobody else"),
    ...[...groups].flatMap(([text, merchants]) =>
      hangingLines(`${several(merchants)}: ${text}`, style.columns, "  ", "    "),
    ),
  ];
}

/** Names the first of a list: "a, b and 3 more". */
function several(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).map(oneLine);
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${counted(more, "other")}` : shown.join(", ");
}
