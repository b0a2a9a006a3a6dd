import { oneLine } from "../../lib/escape.ts";
import { counted, grouped, sortedSet } from "../../lib/text.ts";
import type { IdleRule, JudgedRule, UnnoticedGroup } from "../../model/coverage.ts";
import type { Style } from "../style.ts";
import { hangingLines, moreText } from "../text/wrap.ts";
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

/** Renders the verdicts of the rules on the access and, on request, what they would not notice. */
export function renderChecked(view: CheckedView, style: Style, verbose: boolean): string {
  const isCovered = view.merchants.some(({ coverage }) => coverage !== null);
  const blocks = [
    rulesLines(view, style, { verbose, isCovered }),
    ...(isCovered ? [...unnoticedBlocks(view, style, verbose), idleLines(view, style)] : []),
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

/** Returns the merchants with broken rules, and how many rules hold at the others; with `verbose` every rule. */
function rulesLines(
  { merchants, across, placeOf, source }: CheckedView,
  style: Style,
  { verbose, isCovered }: { readonly verbose: boolean; readonly isCovered: boolean },
): readonly string[] {
  const all = [...merchants, ...across];
  const shown = verbose || merchants.length === 1 ? all : all.filter(isBroken);
  const hidden = all.filter((one) => !shown.includes(one));
  const others = merchants.filter((merchant) => hidden.includes(merchant)).length;
  const lines = shown.flatMap((merchant) => [
    ...hangingLines(`${oneLine(merchant.merchant)}: ${holdText([merchant])}`, style.columns, "", "  ").map(
      isBroken(merchant) ? style.red : style.bold,
    ),
    ...merchant.judged.flatMap(({ rule, violations, unknownRoles }) => [
      ...(verbose || violations.length > 0 || unknownRoles.length > 0
        ? ruleLines(
            rule,
            placeOf(merchant.merchant, rule),
            violations.length > 0 ? "broken  " : unknownRoles.length > 0 ? "unknown  " : "ok  ",
            style,
          )
        : []),
      ...(verbose ? violations : violations.slice(0, MOST_VIOLATIONS)).flatMap((text) =>
        hangingLines(oneLine(text), style.columns, "    ", "      "),
      ),
      ...(verbose || violations.length <= MOST_VIOLATIONS
        ? []
        : [style.dim(`    ${moreText(violations.length - MOST_VIOLATIONS)}`)]),
    ]),
  ]);
  // If all rules hold, the answer to the question comes first.
  if (isCovered && !verbose && !all.some(isBroken)) return [];
  const which =
    others === 0
      ? "all merchants"
      : counted(others, others === merchants.length ? "merchant" : "other merchant");
  const rest =
    hidden.length === 0 ? [] : hangingLines(`${which}: ${holdText(hidden)}`, style.columns, "", "  ");
  return [...lines, ...rest, ...unknownLines(merchants, source, style)];
}

/** Names the roles whose unknown permissions decide whether checks hold. */
function unknownLines(
  merchants: readonly CheckedMerchant[],
  source: CheckedView["source"],
  { columns }: Style,
): readonly string[] {
  const roles = sortedSet(
    merchants.flatMap(({ judged }) => judged.flatMap((judgement) => judgement.unknownRoles)),
  );
  if (roles.length === 0) return [];
  const more = roles.length - MOST_NAMES;
  const names = `${roles.slice(0, MOST_NAMES).map(oneLine).join(", ")}${more > 0 ? ` and ${counted(more, "more role")}` : ""}`;
  const text =
    source === "declared"
      ? `The files do not say what ${names} ${roles.length === 1 ? "grants" : "grant"}; use --live.`
      : `The service does not say what ${names} ${roles.length === 1 ? "grants" : "grant"}.`;
  return hangingLines(text, columns, "", "  ");
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

function ruleLines(
  rule: JudgedRule["rule"],
  place: FilePlace | null,
  head: string,
  { columns }: Style,
): readonly string[] {
  const where = place === null ? rule.enforcedBy : textOfPlace(place);
  const text = `${oneLine(rule.text)}${where === null ? "" : ` (${oneLine(where)})`}`;
  return hangingLines(text, columns, `  ${head}`, "    ");
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

function unnoticedBlocks(
  { merchants, source }: CheckedView,
  style: Style,
  verbose: boolean,
): readonly (readonly string[])[] {
  const sum = (of: (merchant: CheckedMerchant) => number): number =>
    merchants.reduce((total, merchant) => total + of(merchant), 0);
  const changes = sum(({ coverage }) => coverage?.changes ?? 0);
  const unnoticed = sum(({ coverage }) => coverage?.unnoticed ?? 0);
  const title = `${grouped(unnoticed)} of ${grouped(changes)} single changes would go unnoticed.`;
  const joined = joinGroups(merchants);
  const blocks = SENSITIVITIES.map((sensitivity): readonly string[] => {
    const groups = joined.filter((group) => group.sensitivity === sensitivity);
    if (groups.length === 0) return [];
    const shown = verbose || sensitivity !== "other" ? groups : groups.slice(0, MOST_OTHERS);
    return [
      style.bold(TITLES[sensitivity]),
      ...shown.flatMap((group) => groupLines(group, merchants.length, style)),
      ...(shown.length < groups.length ? [style.dim(`  ${moreText(groups.length - shown.length)}`)] : []),
    ];
  });
  const isUnclear =
    source === "declared" &&
    joined.some(({ members }) =>
      members.some(({ group }) => group.change === "role-given" && group.grants === null),
    );
  return [
    [
      ...hangingLines(title, style.columns, "", "  "),
      ...(source === "declared" ? refusedLines(merchants, style) : []),
    ],
    ...blocks,
    isUnclear
      ? hangingLines(
          "The permissions of predefined roles are not in the files; use --live.",
          style.columns,
          "",
          "  ",
        )
      : [],
  ];
}

/**
 * Says that every plan of files with broken rules is refused, so that unnoticed changes only matter once the rules
 * hold.
 */
function refusedLines(merchants: readonly CheckedMerchant[], style: Style): readonly string[] {
  const broken = merchants.filter(isBroken);
  const [first] = broken;
  if (first === undefined) return [];
  const whose =
    merchants.length === 1
      ? ""
      : broken.length === 1
        ? ` of ${oneLine(first.merchant)}`
        : ` of ${counted(broken.length, "merchant")}`;
  return hangingLines(
    `Until the broken rules hold, every plan${whose} is refused. The list assumes they hold.`,
    style.columns,
    "",
    "  ",
  );
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

function groupLines({ members }: JoinedGroup, merchants: number, style: Style): readonly string[] {
  const [first] = members;
  if (first === undefined) return [];
  const where =
    merchants === 1
      ? ""
      : members.length === 1
        ? `, at ${oneLine(first.merchant)}`
        : `, at ${counted(members.length, "merchant")}`;
  const text = `${changeText(members.map(({ group }) => group))}${where}`;
  const suggestions = new Map<string, string[]>();
  for (const { merchant, group } of members) {
    const { section, yaml } = suggestionYaml(group.suggestion);
    const line = `${section}:  ${yaml}`;
    suggestions.set(line, [...(suggestions.get(line) ?? []), merchant]);
  }
  const shown = [...suggestions].slice(0, MOST_SUGGESTIONS);
  return [
    ...hangingLines(text, style.columns, "  ", "    "),
    ...shown.flatMap(([line, lineMerchants]) => {
      const whose =
        suggestions.size === 1
          ? ""
          : `${oneLine(lineMerchants[0] ?? "")}${lineMerchants.length > 1 ? ` and ${lineMerchants.length - 1} more` : ""}  `;
      return hangingLines(`${whose}${oneLine(line)}`, style.columns, "    ", "      ").map(style.dim);
    }),
    ...(shown.length < suggestions.size
      ? hangingLines(
          `and ${counted(suggestions.size - shown.length, "other")}: --merchant or --format json shows them`,
          style.columns,
          "    ",
          "      ",
        ).map(style.dim)
      : []),
  ];
}

/** Maximum number of suggested rules if merchants need different ones. */
const MOST_SUGGESTIONS = 2;

/** "Bookkeeping given to 3 members (a, b, c) or somebody new". */
function changeText(groups: readonly UnnoticedGroup[]): string {
  const [first] = groups;
  if (first === undefined) return "";
  const role = oneLine(first.role?.name ?? "");
  const id = first.role?.id ?? null;
  const roleText = id === null || id === first.role?.name ? role : `${role} (${oneLine(id)})`;
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
      return `${oneLine(first.permission ?? "")} given to ${counted(subjects.length, "role")}${names}`;
    case "permission-taken":
      return `${counted(subjects.length, "permission")} taken from ${roleText}${names}`;
    default:
      return first.change satisfies never;
  }
}

const MOST_NAMES = 4;

/** Returns a few names in parentheses; many are in the JSON only. */
function listText(names: readonly string[]): string {
  return names.length > MOST_NAMES ? "" : ` (${names.map(oneLine).join(", ")})`;
}

function idleLines({ merchants, placeOf }: CheckedView, style: Style): readonly string[] {
  const joined = new Map<string, { readonly idle: IdleRule; readonly at: string[] }>();
  for (const { merchant, coverage } of merchants) {
    for (const idle of coverage?.idle ?? []) {
      const { text, enforcedBy, origin } = idle.rule;
      const key = JSON.stringify([text, enforcedBy, origin?.file, idle.count]);
      const entry = joined.get(key) ?? { idle, at: [] };
      joined.set(key, entry);
      entry.at.push(merchant);
    }
  }
  if (joined.size === 0) return [];
  return [
    style.bold(`Rules that refuse none of these changes: ${joined.size}`),
    ...[...joined.values()].flatMap(({ idle: { rule, count }, at }) => {
      const places = new Map(
        at.map((merchant) => placeOf(merchant, rule)).map((place) => [place && textOfPlace(place), place]),
      );
      const [place = null] = places.size === 1 ? places.values() : [];
      const where =
        merchants.length === 1
          ? []
          : [`at ${at.length === 1 ? oneLine(at[0] ?? "") : counted(at.length, "merchant")}`];
      const facts = [...(count === null ? [] : [`${counted(count.people, "holder")} today`]), ...where];
      return [
        ...ruleLines(rule, place, "", style),
        ...(facts.length === 0 ? [] : hangingLines(facts.join(", "), style.columns, "    ", "      ")),
      ];
    }),
  ];
}
