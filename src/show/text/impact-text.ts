import { oneLine } from "../../lib/escape.ts";
import { memoized } from "../../lib/memoized.ts";
import { cellWidth, counted, groupByKey, grouped } from "../../lib/text.ts";
import type { Impact, MemberImpact } from "../../model/plan.ts";
import { cutList, cutText } from "../blocks/cut-list.ts";
import type { Style, Verbosity } from "../style.ts";

import { type ChangeOrigin, originSuffix } from "../view/risk-view.ts";
import { hangingLines, padTo, wrapList } from "./wrap.ts";

const SUMS_SHOWN = 40;
const GROUPS_SHOWN = 12;
const NAMES_SHOWN = 12;
/** The same for a long plan. */
const LONG_SUMS_SHOWN = 12;
const LONG_GROUPS_SHOWN = 5;

const WIDEST_NAME = 40;
const LABEL_WIDTH = 7;
const INDENT = " ".repeat(6);

/** Formats the impact of a plan on people: by permission, by role, then by member. */
export function renderImpact(
  { members, permissions, roles, sensitive = [] }: Impact,
  style: Style,
  verbosity: Verbosity = "normal",
  origin: ChangeOrigin = "plan",
  isLong = false,
): readonly string[] {
  if (members.length === 0) return [];
  const atMost = (shown: number): number => (verbosity === "verbose" ? Number.POSITIVE_INFINITY : shown);
  const groups = sameImpact(members);
  const { shown, hidden: rest } = cutList(groups, atMost(isLong ? LONG_GROUPS_SHOWN : GROUPS_SHOWN));
  const hidden = rest.reduce((sum, group) => sum + group.length, 0);
  const byMember = [
    ...shown.flatMap((group) => renderGroup(group, style, atMost(NAMES_SHOWN), origin)),
    ...(hidden > 0 ? [`${INDENT}${style.dim(cutText(hidden))}`] : []),
  ];
  return [
    "",
    ...hangingLines(accessText(members.length, origin), style.columns, `  ${style.bold("Access")}: `, "    "),
    // If all people have the same effect, totals would repeat it.
    ...(groups.length === 1
      ? byMember
      : [
          ...renderTotals(
            { permissions, roles, sensitive },
            atMost(isLong ? LONG_SUMS_SHOWN : SUMS_SHOWN),
            style,
          ),
          ...titled("By member", byMember),
        ]),
  ];
}

/** The totals by permission and by role; `where` follows them. */
interface Totals {
  readonly permissions: readonly (Impact["permissions"][number] & { readonly where?: string })[];
  readonly roles: readonly (Impact["roles"][number] & { readonly where?: string })[];
  readonly sensitive: readonly string[];
}

/** Formats the number of members who gain or lose each permission, and of holders of each role. */
export function renderTotals(
  { permissions, roles, sensitive }: Totals,
  shown: number,
  style: Style,
): readonly string[] {
  const isCut = permissions.length > shown;
  const sums = (isCut ? mattersFirst(permissions, sensitive) : permissions).map(
    ({ permission, gained, lost, where = "" }) => {
      const parts = [
        gained > 0 ? style.green(`+${counted(gained, "member")}`) : "",
        lost > 0 ? style.red(`-${counted(lost, "member")}`) : "",
      ].filter((part) => part !== "");
      return [permission, `${parts.join(", ")}${where}`] as const;
    },
  );
  const holders = roles.map(
    ({ name, before, after, where = "" }) =>
      [name, `${grouped(before)} → ${grouped(after)}${where}`] as const,
  );
  return [
    ...titled("By permission", capped(table(sums, style), shown, style)),
    // Somebody may hold a role at several merchants.
    ...titled(
      roles.some(({ where }) => where) ? "Memberships by role" : "Holders by role",
      capped(table(holders, style), shown, style),
    ),
  ];
}

/** Sorts sensitive permissions first, then those of the most members, so that a cut list keeps what matters. */
function mattersFirst(
  permissions: Totals["permissions"],
  sensitive: readonly string[],
): Totals["permissions"] {
  return permissions.toSorted(
    (a, b) =>
      Number(sensitive.includes(b.permission)) - Number(sensitive.includes(a.permission)) ||
      b.gained + b.lost - a.gained - a.lost,
  );
}

/** "2 members gain or lose permissions", or "1 member gained or lost permissions outside git". */
export function accessText(members: number, origin: ChangeOrigin): string {
  const what = origin !== "plan" ? "gained or lost" : members === 1 ? "gains or loses" : "gain or lose";
  return `${counted(members, "member")} ${what} permissions${originSuffix(origin)}`;
}

function titled(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`    ${title}`, ...lines];
}

function capped(rows: readonly (readonly string[])[], shown: number, style: Style): readonly string[] {
  const { shown: lines, hidden } = cutList(rows, shown);
  return [...lines.flat(), ...(hidden.length > 0 ? [`${INDENT}${style.dim(cutText(hidden.length))}`] : [])];
}

/** Lays out names with their texts in two columns; a very long name shifts only its own line. */
function table(
  rows: readonly (readonly [name: string, text: string])[],
  { columns }: Style,
): readonly (readonly string[])[] {
  const safe = rows.map(([name, text]) => [oneLine(name), text] as const);
  const width = Math.min(
    safe.reduce((widest, [name]) => Math.max(widest, cellWidth(name)), 0),
    WIDEST_NAME,
    Math.floor(columns / 2),
  );
  return safe.map(([name, text]) =>
    hangingLines(text, columns, `${INDENT}${padTo(name, width)}  `, `${INDENT}  `),
  );
}

/** Groups people of equal changes, in the order of the first of each. */
export function sameImpact(
  members: readonly MemberImpact[],
): readonly (readonly [MemberImpact, ...MemberImpact[]])[] {
  const numbers = new Map<string, number>();
  // People with the same roles share their lists, which can be long.
  const numberOf = memoized((list: readonly string[]): number => {
    const text = list.join("\n");
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  });
  return groupByKey(members, ({ gained, lost, unknownGained, unknownLost }) =>
    [gained, lost, unknownGained, unknownLost].map(numberOf).join(" "),
  );
}

function renderGroup(
  group: readonly MemberImpact[],
  style: Style,
  shown: number,
  origin: ChangeOrigin,
): readonly string[] {
  const [first] = group;
  if (first === undefined) return [];
  const { gained, lost, unknownGained, unknownLost } = first;
  const more = group.length - shown;
  const names = [
    ...group.slice(0, shown).map(({ name }) => oneLine(name)),
    ...(more > 0 ? [`and ${counted(more, "member")} more`] : []),
  ];
  const unknown = (roles: readonly string[]): readonly string[] =>
    roles.map((role) => `permissions of ${oneLine(role)} (not reported by the service)`);
  const [gains, loses] =
    origin !== "plan"
      ? (["gained", "lost"] as const)
      : group.length === 1
        ? (["gains", "loses"] as const)
        : (["gain", "lose"] as const);
  return [
    ...wrapList(names, style.columns - INDENT.length - 1).map((line) => `${INDENT}${line}`),
    ...labelled(gains, [...gained.map(oneLine), ...unknown(unknownGained)], style, style.green),
    ...labelled(loses, [...lost.map(oneLine), ...unknown(unknownLost)], style, style.red),
  ];
}

function labelled(
  label: string,
  items: readonly string[],
  style: Style,
  paint: (text: string) => string,
): readonly string[] {
  const indent = `${INDENT}  `;
  return wrapList(items, style.columns - indent.length - LABEL_WIDTH - 1).map(
    (line, index) => `${indent}${style.dim((index === 0 ? label : "").padEnd(LABEL_WIDTH))}${paint(line)}`,
  );
}
