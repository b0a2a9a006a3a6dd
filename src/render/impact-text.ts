import type { Impact, MemberImpact } from "../model/plan.ts";
import { oneLine } from "./escape.ts";
import type { Style } from "./style.ts";
import { counted, wrapList } from "./words.ts";

const GROUPS_SHOWN = 12;
const NAMES_SHOWN = 12;
const WIDEST_NAME = 40;
const LABEL_WIDTH = 7;
const INDENT = " ".repeat(6);

/** What a plan means for people, ahead of the changes: by permission, by role, then who gains and loses what. */
export function renderImpact({ members, permissions, roles }: Impact, style: Style): readonly string[] {
  if (members.length === 0) return [];
  const sums = permissions.map(({ permission, gained, lost }) => {
    const parts = [
      gained > 0 ? style.green(`+${counted(gained, "member")}`) : "",
      lost > 0 ? style.red(`-${counted(lost, "member")}`) : "",
    ].filter((part) => part !== "");
    return [permission, parts.join(", ")] as const;
  });
  const holders = roles.map(({ name, before, after }) => [name, `${before} → ${after} holders`] as const);
  const groups = sameImpact(members);
  const hidden = groups.slice(GROUPS_SHOWN).reduce((sum, group) => sum + group.length, 0);
  const what = members.length === 1 ? "gains or loses" : "gain or lose";
  return [
    "",
    `  ${style.bold("Access")}: ${counted(members.length, "member")} ${what} permissions`,
    ...titled("By permission", table(sums)),
    ...titled("By role", table(holders)),
    ...titled("By member", [
      ...groups.slice(0, GROUPS_SHOWN).flatMap((group) => renderGroup(group, style)),
      ...(hidden > 0 ? [`${INDENT}${style.dim(`and ${counted(hidden, "member")} more`)}`] : []),
    ]),
  ];
}

function titled(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`    ${title}`, ...lines];
}

/** Names with what is said of each, side by side; a name that is very long moves its own line only. */
function table(rows: readonly (readonly [name: string, text: string])[]): readonly string[] {
  const safe = rows.map(([name, text]) => [oneLine(name), text] as const);
  const width = Math.min(Math.max(...safe.map(([name]) => name.length), 0), WIDEST_NAME);
  return safe.map(([name, text]) => `${INDENT}${name.padEnd(width)}  ${text}`);
}

/** People to whom the same happens, together; in the order of the first of each. */
function sameImpact(members: readonly MemberImpact[]): readonly (readonly MemberImpact[])[] {
  const groups = new Map<string, MemberImpact[]>();
  for (const member of members) {
    const { name: _, ...what } = member;
    const key = JSON.stringify(what);
    const group = groups.get(key);
    if (group) group.push(member);
    else groups.set(key, [member]);
  }
  return [...groups.values()];
}

function renderGroup(group: readonly MemberImpact[], style: Style): readonly string[] {
  const [first] = group;
  if (first === undefined) return [];
  const { gained, lost, unknownGained, unknownLost } = first;
  const more = group.length - NAMES_SHOWN;
  const names = [
    ...group.slice(0, NAMES_SHOWN).map(({ name }) => oneLine(name)),
    ...(more > 0 ? [`and ${counted(more, "member")} more`] : []),
  ];
  const unknown = (roles: readonly string[]): readonly string[] =>
    roles.map((role) => `whatever ${oneLine(role)} grants (the service does not tell)`);
  const [gains, loses] = group.length === 1 ? (["gains", "loses"] as const) : (["gain", "lose"] as const);
  return [
    ...wrapList(names, style.columns - INDENT.length).map((line) => `${INDENT}${line}`),
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
  return wrapList(items, style.columns - indent.length - LABEL_WIDTH).map(
    (line, index) => `${indent}${style.dim((index === 0 ? label : "").padEnd(LABEL_WIDTH))}${paint(line)}`,
  );
}
