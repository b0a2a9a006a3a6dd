import { counted, shellWord } from "../../lib/text.ts";
import type { OffboardedPerson, OffboardStay, SoleAccess, UnreadMerchant } from "../../model/reports.ts";
import { type Block, type Document, fold, indented, sentence, toned } from "../blocks/block.ts";

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

/** Says where people are, and what only they have; `isQuiet` leaves only the warnings. */
export function offboardingDocument({ people, sole, asked }: Offboarding, isQuiet: boolean): Document {
  const found = people.flatMap((person): readonly Block[] => {
    const below = warnings(warningsOf(person));
    return isQuiet && below.length === 0 ? [] : [personBlock(person, asked, below)];
  });
  return [
    [...found, indented(warnings(unreadTexts(asked)))],
    ...(isQuiet ? [] : [soleBlocks("Nobody else", "live", sole), soleBlocks(BY_FILES, "declared", sole)]),
  ];
}

const BY_FILES = "According to the files, nobody else";

function warnings(texts: readonly string[]): readonly Block[] {
  return texts.map((text) => sentence(text, { mark: "warning" }));
}

function personBlock(
  { email, files, elsewhere, live, unknown }: OffboardedPerson,
  { merchants }: Offboarding["asked"],
  below: readonly Block[],
): Block {
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
  return sentence([toned("bold", email), `  ${parts.join("; ")}`], { below });
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
          `Also listed in ${several(elsewhere)}, which was not searched. To remove it there: rolecall offboard ${shellWord(email)} ${shellWord(first)}`,
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
    reason === null ? `Not known at ${several(names)} either.` : `Not known at ${several(names)}: ${reason}`,
  );
}

function soleBlocks(
  title: string,
  source: SoleAccess["source"],
  sole: readonly SoleAccess[],
): readonly Block[] {
  const groups = new Map<string, string[]>();
  for (const access of sole) {
    if (access.source !== source) continue;
    const parts = [
      ...(access.permissions.length > 0 ? [`can ${access.permissions.join(", ")}`] : []),
      ...(access.roles.length > 0 ? [`has ${access.roles.join(", ")}`] : []),
    ];
    if (parts.length === 0) continue;
    const text = parts.join("; ");
    groups.set(text, [...(groups.get(text) ?? []), access.merchant]);
  }
  if (groups.size === 0) return [];
  const below = [...groups].map(([text, merchants]) => sentence(`${several(merchants)}: ${text}`));
  return [fold(title, below)];
}

/** Names the first of a list: "a, b and 3 more". */
function several(names: readonly string[]): string {
  const shown = names.slice(0, NAMED);
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${counted(more, "other")}` : shown.join(", ");
}
