import { counted, grouped, sortedSet } from "../../lib/text.ts";
import type { JudgedRule, UnnoticedGroup } from "../../model/coverage.ts";
import { type Block, below, type Document, fold, sentence, verboseShows } from "../blocks/block.ts";
import { type FilePlace, textOfPlace } from "./answer-formats.ts";
import {
  bySensitivity,
  type CheckedMerchant,
  type CheckedView,
  SENSITIVITIES,
  type Sensitivity,
  sensitivityOf,
  suggestionYaml,
} from "./coverage-view.ts";

/** Returns the verdicts of the rules on the access and, on request, what they would not notice. */
export function checkedDocument(view: CheckedView, verbose: boolean): Document {
  const isCovered = view.merchants.some(({ coverage }) => coverage !== null);
  return [verdicts(view, { verbose, isCovered }), ...(isCovered ? unnoticed(view, verbose) : [])];
}

/** Returns the merchants with broken rules, and how many rules hold at the others; with `verbose` every rule. */
function verdicts(
  { merchants, across, placeOf, source }: CheckedView,
  { verbose, isCovered }: { readonly verbose: boolean; readonly isCovered: boolean },
): readonly Block[] {
  const all = [...merchants, ...across];
  // If all rules hold, the answer to the question comes first.
  if (isCovered && !verbose && !all.some(isBroken)) return [];
  const shown = verbose || merchants.length === 1 ? all : all.filter(isBroken);
  const hidden = all.filter((one) => !shown.includes(one));
  const others = merchants.filter((merchant) => hidden.includes(merchant)).length;
  const which =
    others === 0
      ? "all merchants"
      : counted(others, others === merchants.length ? "merchant" : "other merchant");
  return [
    ...shown.map((merchant) =>
      fold(
        `${merchant.merchant}: ${holdText([merchant])}`,
        merchant.judged.flatMap(({ rule, violations, unknownRoles }): readonly Block[] => {
          const isTold = verbose || violations.length > 0 || unknownRoles.length > 0;
          const head = violations.length > 0 ? "broken" : unknownRoles.length > 0 ? "unknown" : "ok";
          const texts = verbose ? violations : violations.slice(0, MOST_VIOLATIONS);
          const more = [
            ...texts.map((text) => sentence(text)),
            ...verboseShows(violations.length - texts.length),
          ];
          return isTold ? [below(`${head}  ${ruleText(rule, placeOf(merchant.merchant, rule))}`, more)] : [];
        }),
        isBroken(merchant) ? "red" : "bold",
      ),
    ),
    ...(hidden.length === 0 ? [] : [sentence(`${which}: ${holdText(hidden)}`)]),
    ...unknownGrants(merchants, source),
  ];
}

/** Names the roles whose unknown permissions decide whether checks hold. */
function unknownGrants(
  merchants: readonly CheckedMerchant[],
  source: CheckedView["source"],
): readonly Block[] {
  const roles = sortedSet(
    merchants.flatMap(({ judged }) => judged.flatMap((judgement) => judgement.unknownRoles)),
  );
  if (roles.length === 0) return [];
  const more = roles.length - MOST_NAMES;
  const names = `${roles.slice(0, MOST_NAMES).join(", ")}${more > 0 ? ` and ${counted(more, "more role")}` : ""}`;
  const grants = `not say what ${names} ${roles.length === 1 ? "grants" : "grant"}`;
  return [
    sentence(source === "declared" ? `The files do ${grants}; use --live.` : `The service does ${grants}.`),
  ];
}

/** Maximum number of violations of one rule that are shown. */
const MOST_VIOLATIONS = 5;

/** "6 policies and checks hold", "1 of 6 policies and checks is broken". */
function holdText(merchants: readonly CheckedMerchant[]): string {
  const judged = merchants.flatMap((merchant) => merchant.judged);
  const broken = judged.filter(({ violations }) => violations.length > 0).length;
  const unknown = judged.filter(
    (judgement) => judgement.violations.length === 0 && judgement.unknownRoles.length > 0,
  ).length;
  if (judged.length === 0) return "no policies and no checks";
  const countText = counted(judged.length, "policy or check", "policies and checks");
  const also = unknown === 0 ? "" : `; ${grouped(unknown)} ${unknown === 1 ? "is" : "are"} unknown`;
  if (broken > 0) return `${grouped(broken)} of ${countText} ${broken === 1 ? "is" : "are"} broken${also}`;
  if (unknown === 0) return `${countText} ${judged.length === 1 ? "holds" : "hold"}`;
  const holding = judged.length - unknown;
  return `${grouped(holding)} of ${countText} ${holding === 1 ? "holds" : "hold"}${also}`;
}

function ruleText(rule: JudgedRule["rule"], place: FilePlace | null): string {
  const where = place === null ? rule.enforcedBy : textOfPlace(place);
  return `${rule.text}${where === null ? "" : ` (${where})`}`;
}

const TITLES: Readonly<Record<Sensitivity, string>> = {
  administrator: "Administrators",
  sensitive: "Sensitive permissions",
  unknown: "Roles with unknown permissions",
  other: "Other access",
};

/** Maximum number of groups of changes that are not sensitive. */
const MOST_OTHERS = 5;

/** The groups of several merchants about one role or permission. */
interface JoinedGroup {
  readonly sensitivity: Sensitivity;
  readonly members: readonly { readonly merchant: string; readonly group: UnnoticedGroup }[];
}

function unnoticed({ merchants, source }: CheckedView, verbose: boolean): Document {
  const sum = (of: (merchant: CheckedMerchant) => number): number =>
    merchants.reduce((total, merchant) => total + of(merchant), 0);
  const changes = sum(({ coverage }) => coverage?.changes ?? 0);
  const missed = sum(({ coverage }) => coverage?.unnoticed ?? 0);
  const title = `${grouped(missed)} of ${grouped(changes)} single changes would go unnoticed.`;
  const unexamined = sum(({ coverage }) => coverage?.unexamined ?? 0);
  const rest = `${counted(unexamined, "less sensitive change")} would take too long and ${unexamined === 1 ? "was" : "were"} not examined.`;
  const joined = joinGroups(merchants);
  const isUnclear =
    source === "declared" &&
    joined.some(({ members }) =>
      members.some(({ group }) => group.change === "role-given" && group.grants === null),
    );
  return [
    [
      sentence(title),
      ...(unexamined === 0 ? [] : [sentence(rest)]),
      ...(source === "declared" ? refusedNote(merchants) : []),
    ],
    ...SENSITIVITIES.map((sensitivity): readonly Block[] => {
      const groups = joined.filter((group) => group.sensitivity === sensitivity);
      if (groups.length === 0) return [];
      const shown = verbose || sensitivity !== "other" ? groups : groups.slice(0, MOST_OTHERS);
      const blocks = shown.flatMap((group) => groupBlocks(group, merchants.length));
      return [fold(TITLES[sensitivity], [...blocks, ...verboseShows(groups.length - shown.length)])];
    }),
    isUnclear ? [sentence("The permissions of predefined roles are not in the files; use --live.")] : [],
  ];
}

/**
 * Says that every plan of files with broken rules is refused, so that unnoticed changes only matter once the rules
 * hold.
 */
function refusedNote(merchants: readonly CheckedMerchant[]): readonly Block[] {
  const broken = merchants.filter(isBroken);
  const [first] = broken;
  if (first === undefined) return [];
  const whose =
    merchants.length === 1
      ? ""
      : broken.length === 1
        ? ` of ${first.merchant}`
        : ` of ${counted(broken.length, "merchant")}`;
  return [
    sentence(`Until the broken rules hold, every plan${whose} is refused. The list assumes they hold.`),
  ];
}

function isBroken({ judged }: CheckedMerchant): boolean {
  return judged.some(({ violations }) => violations.length > 0);
}

function joinGroups(merchants: readonly CheckedMerchant[]): readonly JoinedGroup[] {
  const joined = new Map<
    string,
    JoinedGroup & { readonly members: { merchant: string; group: UnnoticedGroup }[] }
  >();
  for (const { merchant, coverage } of merchants) {
    for (const group of bySensitivity(coverage?.groups ?? [])) {
      const sensitivity = sensitivityOf(group);
      const key = JSON.stringify([sensitivity, group.change, group.role, group.permission]);
      const joinedGroup = joined.get(key) ?? { sensitivity, members: [] };
      joined.set(key, joinedGroup);
      joinedGroup.members.push({ merchant, group });
    }
  }
  return [...joined.values()].sort(
    (a, b) => SENSITIVITIES.indexOf(a.sensitivity) - SENSITIVITIES.indexOf(b.sensitivity),
  );
}

function groupBlocks({ members }: JoinedGroup, merchants: number): readonly Block[] {
  const [first] = members;
  if (first === undefined) return [];
  const where =
    merchants === 1
      ? ""
      : members.length === 1
        ? `, at ${first.merchant}`
        : `, at ${counted(members.length, "merchant")}`;
  const text = `${changeText(members.map(({ group }) => group))}${where}`;
  const suggestions = new Map<string, string[]>();
  for (const { merchant, group } of members) {
    const { section, yaml } = suggestionYaml(group.suggestion);
    const line = `${section}:  ${yaml}`;
    suggestions.set(line, [...(suggestions.get(line) ?? []), merchant]);
  }
  const shown = [...suggestions].slice(0, MOST_SUGGESTIONS);
  const hidden = suggestions.size - shown.length;
  const texts = shown.map(([line, [code = "", ...more]]) => {
    const whose =
      suggestions.size === 1 ? "" : `${code}${more.length > 0 ? ` and ${more.length} more` : ""}  `;
    return `${whose}${line}`;
  });
  const rest = `and ${counted(hidden, "other")}: --merchant or --format json shows them`;
  const lines = [...texts, ...(hidden > 0 ? [rest] : [])];
  return [
    below(
      text,
      lines.map((line) => sentence(line, { tone: "dim" })),
    ),
  ];
}

/** Maximum number of suggested rules if merchants need different ones. */
const MOST_SUGGESTIONS = 2;

/** "Bookkeeping given to 3 members (a, b, c) or somebody new". */
function changeText(groups: readonly UnnoticedGroup[]): string {
  const [first] = groups;
  if (first === undefined) return "";
  const role = first.role?.name ?? "";
  const id = first.role?.id ?? null;
  const roleText = id === null || id === first.role?.name ? role : `${role} (${id})`;
  // A member of several merchants counts as one person, and roles with one name as one role.
  const subjects = sortedSet(groups.flatMap((group) => group.subjects));
  const names = listText(subjects);
  switch (first.change) {
    case "role-given": {
      const isAll = groups.every((group) => group.toAnybody && group.subjects.length + 1 === group.of);
      const anybody = groups.some(({ toAnybody }) => toAnybody);
      if (isAll && subjects.length > 0)
        return `${roleText} given to anybody: ${counted(subjects.length, "member")}, or somebody new`;
      if (subjects.length === 0) return `${roleText} given to somebody new`;
      return `${roleText} given to ${counted(subjects.length, "member")}${names}${anybody ? ", or to somebody new" : ""}`;
    }
    case "role-taken":
      return `${roleText} taken from ${counted(subjects.length, "member")}${names}`;
    case "permission-given":
      return `${first.permission ?? ""} given to ${counted(subjects.length, "role")}${names}`;
    case "permission-taken":
      return `${counted(subjects.length, "permission")} taken from ${roleText}${names}`;
    default:
      return first.change satisfies never;
  }
}

const MOST_NAMES = 4;

/** Returns a few names in parentheses; many are in the JSON only. */
function listText(names: readonly string[]): string {
  return names.length > MOST_NAMES ? "" : ` (${names.join(", ")})`;
}
