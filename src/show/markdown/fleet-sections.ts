import { oneLine } from "../../lib/escape.ts";
import { counted, groupByKey, grouped, naturally } from "../../lib/text.ts";
import { accessText } from "../text/impact-text.ts";
import { wrapText } from "../text/wrap.ts";
import { equalText } from "../view/equal-text.ts";
import { type FleetView, MIN_FLEET } from "../view/fleet-view.ts";
import { NAMES_SHOWN } from "../view/names-text.ts";
import { fenced, folded, inlineCode } from "./markdown-blocks.ts";

const PERMISSIONS_SHOWN = 40;

/** The maximum numbers of names in a cell, tried one after the other. */
const NAMES_IN_CELL = [NAMES_SHOWN, 2, 0];

/**
 * Returns the permissions that people gain or lose as a table, with as many names as fit into a size; empty if there are
 * none.
 */
export function impactTable(fleet: FleetView, size: number): string {
  const rows = impactRows(fleet);
  if (rows.length === 0) return "";
  if (fleet.views.length >= MIN_FLEET) return tableText(fleet, rows, 0);
  const tables = NAMES_IN_CELL.map((names) => tableText(fleet, rows, names));
  return tables.find(({ length }) => length <= size) ?? tables.at(-1) ?? "";
}

function tableText({ views, impact }: FleetView, rows: readonly ImpactRow[], names: number): string {
  const isFleet = views.length >= MIN_FLEET;
  const { origin } = impact;
  const sides = origin === "plan" ? "Gain | Lose" : "Gained | Lost";
  const more = rows.slice(PERMISSIONS_SHOWN).flatMap(({ permissions }) => permissions).length;
  return [
    `### Access: ${accessText(impact.members, origin)}`,
    "",
    `| Permission | ${sides} |${isFleet ? " Merchants |" : ""}`,
    isFleet ? "|---|--:|--:|--:|" : "|---|---|---|",
    ...rows.slice(0, PERMISSIONS_SHOWN).map(({ permissions, gained, lost, merchants }) => {
      const cells = [
        permissions.map(inlineCode).join(", "),
        namesCell([...gained], names),
        namesCell([...lost], names),
      ];
      return `| ${[...cells, ...(isFleet ? [grouped(merchants.size)] : [])].join(" | ")} |`;
    }),
    ...(more > 0 ? [`| and ${counted(more, "more permission")} |${" |".repeat(isFleet ? 3 : 2)}`] : []),
  ].join("\n");
}

/** The members who gain and who lose some permissions. */
interface ImpactRow {
  readonly permissions: readonly string[];
  readonly gained: Set<string>;
  readonly lost: Set<string>;
  readonly merchants: Set<string>;
}

/** Returns the rows of the table, sensitive permissions first; those with the same members share a row. */
function impactRows({ views, impact: { sensitive } }: FleetView): readonly ImpactRow[] {
  const rows = new Map<string, ImpactRow>();
  const add = (side: "gained" | "lost", permission: string, name: string, merchant: string): void => {
    const row = rows.get(permission) ?? {
      permissions: [permission],
      gained: new Set(),
      lost: new Set(),
      merchants: new Set(),
    };
    row[side].add(name);
    row.merchants.add(merchant);
    rows.set(permission, row);
  };
  for (const { merchant, impact } of views) {
    for (const { name, gained, lost, unknownGained, unknownLost } of impact.members) {
      for (const permission of gained) add("gained", permission, name, merchant);
      for (const permission of lost) add("lost", permission, name, merchant);
      for (const role of unknownGained) add("gained", `permissions of ${role}`, name, merchant);
      for (const role of unknownLost) add("lost", `permissions of ${role}`, name, merchant);
    }
  }
  const isSensitive = ([permission = ""]: readonly string[]): boolean => sensitive.includes(permission);
  const sorted = [...rows.values()].toSorted(
    ({ permissions: a }, { permissions: b }) =>
      Number(isSensitive(b)) - Number(isSensitive(a)) || naturally(a.join(), b.join()),
  );
  const groups = groupByKey(sorted, ({ permissions, ...rest }) =>
    JSON.stringify([isSensitive(permissions), ...Object.values(rest).map((names) => [...names])]),
  );
  return groups.map((group) => ({
    ...group[0],
    permissions: group.flatMap(({ permissions }) => permissions),
  }));
}

/** "ada@example.com, bob@example.com", or with their number if not all are named. */
function namesCell(names: readonly string[], shown: number): string {
  if (names.length === 0 || shown === 0) return names.length === 0 ? "" : grouped(names.length);
  const more = names.length - shown;
  const listed = (more > 1 ? names.slice(0, shown) : names).map(inlineCode).join(", ");
  return more > 1 ? `**${grouped(names.length)}**: ${listed} and ${grouped(more)} more` : listed;
}

/**
 * Returns all merchants of equal changes, and with `people` everybody with the same gains or losses, folded; empty if
 * there is nothing to list.
 */
export function namesFold(fleet: FleetView, withPeople: boolean): string {
  const codesAt = (places: readonly number[]): readonly string[] =>
    places.flatMap((place) => fleet.views[place]?.merchant ?? []);
  const changes = fleet.groups.flatMap(({ rows }) =>
    rows.flatMap((row): readonly string[] => {
      const { equal } = row;
      if (equal === undefined || Math.max(equal.merchants.length, equal.names.length) <= NAMES_SHOWN)
        return [];
      const { subject, names } = equalText(row, equal);
      return [
        ...lines(`${row.kind} ${subject}, in ${counted(equal.merchants.length, "merchant")}:`, ""),
        ...lines(equal.merchants.join(", "), "  "),
        ...(names.length === 0 || !withPeople ? [] : lines(names.join(", "), "  ")),
      ];
    }),
  );
  const people = (withPeople ? fleet.people : []).flatMap(({ item, all }) => {
    const { gained, lost, unknownGained, unknownLost } = item;
    const unknown = (roles: readonly string[]): readonly string[] =>
      roles.map((role) => `permissions of ${role}`);
    const what = [
      ...[...gained, ...unknown(unknownGained)].map((permission) => `+ ${permission}`),
      ...[...lost, ...unknown(unknownLost)].map((permission) => `- ${permission}`),
    ];
    const byPlace = new Map<number, string[]>();
    for (const { at, name } of all) byPlace.set(at, [...(byPlace.get(at) ?? []), name]);
    return [
      ...lines(`${what.join(", ")}:`, ""),
      ...[...byPlace].flatMap(([place, names]) =>
        lines(`${codesAt([place]).join("")}: ${names.join(", ")}`, "  "),
      ),
    ];
  });
  const sections = [...changes, ...people];
  return sections.length === 0
    ? ""
    : folded(withPeople ? "Merchants and people with the same changes" : "Merchants with the same changes", [
        fenced("text", sections),
      ]);
}

const COLUMNS = 100;

function lines(text: string, indent: string): readonly string[] {
  return wrapText(oneLine(text), COLUMNS).map((line, index) => `${indent}${index === 0 ? "" : "  "}${line}`);
}
