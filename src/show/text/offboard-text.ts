import { oneLine } from "../../lib/escape.ts";
import { counted, shellWord } from "../../lib/text.ts";
import type { OffboardedPerson, OffboardStay, SoleAccess, UnreadMerchant } from "../../model/reports.ts";
import type { Style } from "../style.ts";
import { hangingLines } from "./wrap.ts";

const NAMED = 5;

/** The people to remove, the access that only they have, and the merchants that were read. */
export interface Offboarding {
  readonly people: readonly OffboardedPerson[];
  readonly sole: readonly SoleAccess[];
  readonly asked: {
    /** Number of merchants that were read. */
    readonly merchants: number;
    /** Merchants without a file that could not be read. */
    readonly notAsked: readonly UnreadMerchant[];
  };
}

/** Renders where people are, and what only they have; ends with a blank line. `quiet` leaves only the warnings. */
export function renderOffboarding(
  { people, sole, asked }: Offboarding,
  style: Style,
  quiet: boolean,
): string {
  const blocks = [
    [
      ...people.flatMap((person) => {
        const warnings = warningsOf(person).flatMap((text) => warning(text, style));
        return quiet && warnings.length === 0 ? [] : [...personLines(person, asked, style), ...warnings];
      }),
      ...unreadTexts(asked).flatMap((text) => warning(text, style)),
    ],
    ...(quiet
      ? []
      : [soleLines("Nobody else", "live", sole, style), soleLines(BY_FILES, "declared", sole, style)]),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join("\n")}\n\n`)
    .join("");
}

const BY_FILES = "According to the files, nobody else";

function warning(text: string, style: Style): readonly string[] {
  return hangingLines(text, style.columns, `  ${style.yellow("!")} `, "    ");
}

function personLines(
  { email, files, elsewhere, live, unknown }: OffboardedPerson,
  { merchants }: Offboarding["asked"],
  style: Style,
): readonly string[] {
  const inFiles =
    files.length > 0
      ? `in ${several(files)}`
      : elsewhere.length > 0
        ? "in no file that was searched"
        : "in no file";
  // A key cannot access every merchant.
  const none = `live at 0 of ${counted(merchants, "merchant")}`;
  const parts = [
    inFiles,
    ...(live === null || (live.length === 0 && merchants === 0)
      ? []
      : [live.length === 0 ? none : `live at ${several(live)}`]),
    ...(unknown.length > 0 ? [`live: not known at ${several(unknown)}`] : []),
  ];
  return hangingLines(parts.join("; "), style.columns, `${style.bold(oneLine(email))}  `, "    ");
}

function warningsOf({ email, elsewhere, listed, stays }: OffboardedPerson): readonly string[] {
  const groups = new Map<string, OffboardStay[]>();
  for (const stay of stays) {
    const key = `${stay.because} ${stay.live}`;
    groups.set(key, [...(groups.get(key) ?? []), stay]);
  }
  const [first] = elsewhere;
  return [
    ...(first === undefined
      ? []
      : [
          `Also listed in ${several(elsewhere)}, which was not searched. To remove it there: rolecall offboard ${shellWord(oneLine(email))} ${shellWord(oneLine(first))}`,
        ]),
    ...(listed.length > 0 ? [`Other files still list it, at ${several(listed)}.`] : []),
    ...[...groups.values()].map(stayText),
  ];
}

function stayText(stays: readonly OffboardStay[]): string {
  const [first] = stays;
  if (first === undefined) return "";
  const codes = several(stays.map(({ merchant }) => merchant));
  const next =
    first.live === null
      ? `If it is live at ${codes}, the next plan does not remove it there`
      : `The next plan does not remove it at ${codes}`;
  return `${next}: ${STAYS[first.because]}`;
}

const LEAVERS = 'List it under "leavers" in a file that they include.';

const STAYS: Readonly<Record<OffboardStay["because"], string>> = {
  unlisted: `the files there leave unlisted members alone. ${LEAVERS}`,
  ignored: `the files there have it under "ignore". ${LEAVERS}`,
  "service-account": `it is a service account, which is not removed for being unlisted. ${LEAVERS}`,
  "leaves-later": 'it is under "leavers" there, with a future date.',
  "no-file": "no valid file declares it. Remove it at the service.",
  unplanned: "remove it at the service.",
};

/** Says what could not be read, each reason once. */
function unreadTexts({ notAsked }: Offboarding["asked"]): readonly string[] {
  const groups = new Map<string | null, string[]>();
  for (const { merchant, reason } of notAsked) {
    const merchants = groups.get(reason) ?? [];
    groups.set(reason, [...merchants, merchant ?? "merchants without a file"]);
  }
  return [...groups].map(([reason, names]) =>
    reason === null
      ? `Not known at ${several(names)} either.`
      : `Not known at ${several(names)}: ${oneLine(reason)}`,
  );
}

function soleLines(
  title: string,
  source: SoleAccess["source"],
  sole: readonly SoleAccess[],
  style: Style,
): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const access of sole) {
    if (access.source !== source) continue;
    const parts = [
      ...(access.permissions.length > 0 ? [`can ${access.permissions.map(oneLine).join(", ")}`] : []),
      ...(access.roles.length > 0 ? [`have ${access.roles.map(oneLine).join(", ")}`] : []),
    ];
    if (parts.length === 0) continue;
    const text = parts.join("; ");
    groups.set(text, [...(groups.get(text) ?? []), access.merchant]);
  }
  if (groups.size === 0) return [];
  return [
    style.bold(title),
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
