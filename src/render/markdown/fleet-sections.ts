import { oneLine } from "../../lib/escape.ts";
import { counted, grouped } from "../../lib/text.ts";
import { wrapText } from "../text/wrap.ts";
import { equalText, NAMES_SHOWN } from "../view/equal-text.ts";
import { type FleetView, MIN_FLEET } from "../view/fleet-view.ts";
import { fenced, folded, inlineCode } from "./markdown-blocks.ts";

const PERMISSIONS_SHOWN = 40;

/** Returns the permissions that people of many merchants gain or lose, as a table; empty for a few merchants. */
export function impactTable({ views, impact: { permissions } }: FleetView): string {
  if (views.length < MIN_FLEET || permissions.length === 0) return "";
  const rows = permissions
    .slice(0, PERMISSIONS_SHOWN)
    .map(
      ({ permission, gained, lost, merchants }) =>
        `| ${inlineCode(permission)} | ${grouped(gained)} | ${grouped(lost)} | ${grouped(merchants)} |`,
    );
  const more = permissions.length - rows.length;
  return [
    "| Permission | Members who gain it | Members who lose it | Merchants |",
    "|---|--:|--:|--:|",
    ...rows,
    ...(more > 0 ? [`| and ${counted(more, "more permission")} | | | |`] : []),
  ].join("\n");
}

/**
 * Returns all merchants of equal changes, and with `people` all who gain or lose equally, folded; empty if there is nothing
 * to list.
 */
export function namesFold(fleet: FleetView, withPeople: boolean): string {
  const codesAt = (places: readonly number[]): readonly string[] =>
    places.flatMap((at) => fleet.views[at]?.merchant ?? []);
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
      ...[...gained, ...unknown(unknownGained)].map((one) => `+ ${one}`),
      ...[...lost, ...unknown(unknownLost)].map((one) => `- ${one}`),
    ];
    const byPlace = new Map<number, string[]>();
    for (const { at, name } of all) byPlace.set(at, [...(byPlace.get(at) ?? []), name]);
    return [
      ...lines(`${what.join(", ")}:`, ""),
      ...[...byPlace].flatMap(([at, names]) => lines(`${codesAt([at]).join("")}: ${names.join(", ")}`, "  ")),
    ];
  });
  const all = [...changes, ...people];
  return all.length === 0
    ? ""
    : folded(withPeople ? "Merchants and people of the equal changes" : "Merchants of the equal changes", [
        fenced("text", all),
      ]);
}

const COLUMNS = 100;

function lines(text: string, indent: string): readonly string[] {
  return wrapText(oneLine(text), COLUMNS).map((line, index) => `${indent}${index === 0 ? "" : "  "}${line}`);
}
