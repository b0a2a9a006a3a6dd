import { oneLine } from "../../lib/escape.ts";
import { cellWidth, counted, shorten, sortedSet } from "../../lib/text.ts";
import type { Style } from "../style.ts";
import { ignoredTexts } from "../text/ignored-text.ts";
import { hangingLines, moreText, padTo } from "../text/wrap.ts";
import {
  type ExplanationsView,
  type FilePlace,
  type LocatedExplanation,
  type LocatedWay,
  otherHolders,
  textOfPlace,
} from "./answer-formats.ts";
import {
  atLines,
  caveatLines,
  holdingText,
  ignoredAdvice,
  incompleteText,
  roleTitle,
} from "./answers-text.ts";

/** Formats why somebody can do something, and what has to change to end it; `verbose` shows every merchant. */
export function renderExplanations(view: ExplanationsView, style: Style, verbose: boolean): string {
  const blocks = [
    atLines(view.question, style),
    ...(view.explanations.length === 0
      ? [hangingLines(notFound(view), style.columns, "", "  ")]
      : grouped(view, verbose).map((group) => explanationLines(group, view, style, verbose))),
    caveatLines(explanationCaveats(view), style),
  ].filter(({ length }) => length > 0);
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** Returns sentences about what the explanations leave out. */
export function explanationCaveats({ incomplete, ignored, question }: ExplanationsView): readonly string[] {
  return [
    ...(incomplete.length === 0 ? [] : [incompleteText(incomplete, question.at === null)]),
    ...ignoredTexts(ignored, ignoredAdvice(question)),
  ];
}

function notFound({ question, nearMember, merchants }: ExplanationsView): string {
  if (merchants.length === 0) return "No merchant is selected.";
  const hint = nearMember === null ? "" : ` Did you mean ${oneLine(nearMember)}?`;
  const what = question.source === "live" ? "a live member" : "a member in the files";
  return `${shorten(oneLine(question.member))} is not ${what} of ${counted(merchants.length, "merchant")}.${hint}`;
}

/** Joins the explanations of merchants that differ only in their line numbers. */
function grouped(
  { explanations, now }: Pick<ExplanationsView, "explanations" | "now">,
  verbose: boolean,
): readonly (readonly LocatedExplanation[])[] {
  const groups = new Map<string, LocatedExplanation[]>();
  for (const explanation of explanations) {
    const { merchant, member, permission, ways, without, unclear } = explanation;
    const texts = [ways, without].map((some) =>
      some.map((way) => [roleTitle(way.role), holdingText(way.held, now)]),
    );
    const key = JSON.stringify([
      member.name.toLowerCase(),
      permission,
      texts,
      unclear,
      verbose ? merchant : "",
    ]);
    const group = groups.get(key) ?? [];
    group.push(explanation);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function explanationLines(
  group: readonly LocatedExplanation[],
  view: ExplanationsView,
  style: Style,
  verbose: boolean,
): readonly string[] {
  const [first] = group;
  if (first === undefined) return [];
  const { member, permission, ways, without, unclear } = first;
  const codes = sortedSet(group.map(({ merchant }) => merchant));
  const place = `at ${codes.length > 3 ? counted(codes.length, "merchant") : codes.join(", ")}`;
  const who = shorten(oneLine(member.name));
  const what = oneLine(permission);
  const groupWays = group.flatMap((explanation) => explanation.ways);
  if (ways.length === 0) {
    const unknown = unknownReason(first, view);
    const text =
      unknown === null
        ? `${who} cannot ${what} ${place}${reasonOf(first, view)}`
        : `It is not known whether ${who} can ${what} ${place}: ${unknown}${hintOf(view)}`;
    const none = group.flatMap((explanation) => explanation.without);
    return [
      ...hangingLines(text, style.columns, "", "  ").map(unknown === null ? style.bold : style.yellow),
      ...without.flatMap(({ role, held }) => {
        const same = none.filter((way) => isSameRole(way.role, role));
        return withoutLines(role, holdingText(held, view.now), same, style, verbose);
      }),
    ];
  }
  const roles =
    ways.length === 1 ? "through 1 role" : `through ${ways.length} roles, each of which is enough`;
  return [
    ...hangingLines(`${who} can ${what} ${place} ${roles}:`, style.columns, "", "  ").map(style.bold),
    ...ways.flatMap(({ role, held }) => {
      const same = groupWays.filter((way) => isSameRole(way.role, role));
      return wayLines(role, holdingText(held, view.now), same, style, verbose);
    }),
    "",
    ...endLines(ways, groupWays, { who, what, member: member.name }, style, verbose),
    ...(unclear.length > 0
      ? hangingLines(
          `It is not known whether ${unclear.map(oneLine).join(", ")} ${unclear.length === 1 ? "grants" : "grant"} it too.`,
          style.columns,
          "",
          "  ",
        ).map(style.yellow)
      : []),
  ];
}

function reasonOf({ without }: LocatedExplanation, view: ExplanationsView): string {
  if (without.length > 0) {
    if (view.question.at !== null) return " then:";
    const statuses = sortedSet(without.map(({ held }) => held.status));
    if (statuses.every((status) => status === "not-begun")) return " yet:";
    return statuses.some((status) => status === "not-begun" || status === "suspended")
      ? " now:"
      : " any more:";
  }
  return view.permissions.length > 0 ? "." : `: no role is known to grant it.${hintOf(view)}`;
}

function hintOf({ nearPermission }: ExplanationsView): string {
  return nearPermission === null ? "" : ` Did you mean ${oneLine(nearPermission)}?`;
}

/** Returns why it is unknown whether a member can use a permission; `null` if it is known. */
function unknownReason(
  { member, unclear }: LocatedExplanation,
  { question: { source, at } }: ExplanationsView,
): string | null {
  const live = at === null && source === "declared" ? "; --live does" : "";
  if (!member.rolesKnown) return `the files do not say what roles they hold${live}.`;
  if (unclear.length === 0) return null;
  const says = source === "live" ? "the service does" : "the files do";
  const roles = sortedSet(unclear).map(oneLine);
  return `${says} not say what ${roles.join(", ")} ${roles.length === 1 ? "grants" : "grant"}${live}.`;
}

function isSameRole(role: LocatedWay["role"], other: LocatedWay["role"]): boolean {
  return role.name === other.name && role.id === other.id;
}

/** Returns the lines of a role that gives no access: its status, and where that comes from. */
function withoutLines(
  role: LocatedWay["role"],
  status: string,
  same: readonly LocatedWay[],
  style: Style,
  verbose: boolean,
): readonly string[] {
  const granted = placesOf(same.flatMap(({ grantedAt }) => grantedAt));
  const because = placesOf(same.flatMap(({ statusAt }) => statusAt));
  const label = same.some(({ held }) => held.suspension !== null) ? "suspended at" : "ended at";
  return [
    ...hangingLines(`${shorten(oneLine(roleTitle(role)))}: ${status}`, style.columns, "  ", "    "),
    ...(granted.length > 0 ? labelled("granted at", granted, style, verbose) : []),
    ...(because.length > 0 ? labelled(label, because, style, verbose) : []),
  ];
}

function wayLines(
  role: LocatedWay["role"],
  status: string,
  same: readonly LocatedWay[],
  style: Style,
  verbose: boolean,
): readonly string[] {
  const shown = status === "active" ? "" : `, ${status}`;
  const granted = placesOf(same.flatMap(({ grantedAt }) => grantedAt));
  const permitted = placesOf(same.flatMap(({ permittedAt }) => permittedAt));
  return [
    ...hangingLines(`${shorten(oneLine(roleTitle(role)))}${shown}`, style.columns, "  ", "    "),
    ...labelled("granted at", granted.length > 0 ? granted : ["not in the files"], style, verbose),
    ...labelled(
      "grants it at",
      permitted.length > 0 ? permitted : [role.predefined ? "predefined" : "not in the files"],
      style,
      verbose,
    ),
  ];
}

/** Lines of one label without `verbose`. */
const MAX_PLACES = 5;

function labelled(
  label: string,
  texts: readonly string[],
  { columns, dim }: Style,
  verbose: boolean,
): readonly string[] {
  const shown = verbose ? texts : texts.slice(0, MAX_PLACES);
  const more = texts.length > shown.length ? [dim(moreText(texts.length - shown.length))] : [];
  const lines = [...shown, ...more];
  if (LABEL + 4 + Math.max(0, ...shown.map(cellWidth)) > columns) {
    return [`    ${label}`, ...lines.map((text) => `      ${text}`)];
  }
  return lines.map((text, index) => `    ${padTo(index === 0 ? label : "", LABEL)}${text}`);
}

const LABEL = cellWidth("grants it at") + 2;

function placesOf(places: readonly FilePlace[]): readonly string[] {
  return [...new Set(places.map(textOfPlace))];
}

/** Returns what has to change to end the access. */
function endLines(
  ways: readonly LocatedWay[],
  allWays: readonly LocatedWay[],
  { who, what, member }: { readonly who: string; readonly what: string; readonly member: string },
  style: Style,
  verbose: boolean,
): readonly string[] {
  const lines = new Map<string, Set<string>>();
  for (const { role, grantedAt } of allWays) {
    for (const place of grantedAt.map(textOfPlace)) {
      lines.set(place, (lines.get(place) ?? new Set()).add(shorten(oneLine(roleTitle(role)))));
    }
  }
  const width = Math.max(0, ...[...lines.keys()].map(cellWidth));
  const rows = [...lines].map(([place, roles]) => [padTo(place, width), [...roles].join(", ")] as const);
  const shown = verbose ? rows : rows.slice(0, MAX_PLACES * ways.length);
  const outside = allWays.some(({ grantedAt }) => grantedAt.length === 0);
  const wrap = (text: string): readonly string[] => hangingLines(text, style.columns, "", "  ");
  const custom = ways.filter(({ role }) => !role.predefined);
  const holderCounts = custom.map(({ role }) => {
    const holders = otherHolders(
      allWays.filter((way) => way.role.name === role.name),
      member,
    );
    return `${shorten(oneLine(roleTitle(role)))} (${holders === 0 ? "no other holder" : counted(holders, "other holder")})`;
  });
  return [
    ...(rows.length > 0
      ? wrap(
          `To end it, take ${allWays.length === 1 && rows.length === 1 ? "this role" : "all of these"} from ${who}:`,
        )
      : []),
    ...shown.flatMap(([place, roles]) => hangingLines(roles, style.columns, `  ${place}  `, "    ")),
    ...(rows.length > shown.length ? [style.dim(`  ${moreText(rows.length - shown.length)}`)] : []),
    ...(outside
      ? wrap(
          `A grant that is not in the files must be removed at the service; rolecall plan shows whether an apply does so.`,
        )
      : []),
    ...(custom.length === ways.length ? wrap(`Or take ${what} from ${holderCounts.join(" and ")}.`) : []),
  ];
}
