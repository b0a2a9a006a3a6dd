import { counted } from "../../lib/text.ts";
import type { EqualRows, RowView } from "./change-view.ts";
import { dangerRank, type Equal } from "./equal-changes.ts";
import type { FleetRisk, FleetView } from "./fleet-view.ts";
import { merchantsText, namesText } from "./names-text.ts";
import { riskTitle } from "./risk-view.ts";

/** The merchants that the places of a group refer to. */
interface MerchantList {
  readonly views: readonly { readonly merchant: string }[];
}

/** Returns the merchants of a group of a fleet, as `merchantsText` has them. */
function placesText({ views }: MerchantList, places: readonly number[]): string {
  const here = new Set(places);
  const codes = (isHere: boolean): readonly string[] =>
    views.flatMap(({ merchant }, place) => (here.has(place) === isHere ? [merchant] : []));
  return merchantsText(codes(true), codes(false));
}

/** Returns a text about several merchants, with their names. */
export function messageAt<Item extends { readonly name: string | null; readonly message: string }>(
  fleet: MerchantList,
  { item, names, places }: Equal<Item>,
): Item {
  const otherNames = names.filter((name) => name !== "" && name !== item.name);
  const also = otherNames.length === 0 ? "" : ` The same applies to ${namesText(otherNames)}.`;
  const where = fleet.views.length === 1 ? "" : `In ${placesText(fleet, places)}: `;
  return { ...item, message: `${where}${item.message}${also}` };
}

/** A row of equal changes in words: "Cashier: + payouts_edit", "all 300 merchants", and its effect on people. */
export interface EqualText {
  /** The resource, with its change if that is short enough. */
  readonly subject: string;
  /** The change, if it is in the subject; else empty. */
  readonly does: string;
  /** Empty at a single merchant. */
  readonly where: string;
  /** Both: "941 members: + Auditor in all 300 merchants". */
  readonly title: string;
  /** "2,700 members gain it"; may be empty. */
  readonly effect: string;
  /** The names, if there are several; each stands for a change of its own. */
  readonly names: readonly string[];
  /** The values that are not the same for all, a line for each change: "ada@example.com: - desk: 4, + desk: 5". */
  readonly values: readonly string[];
  /** True if the details are in the subject. */
  readonly whole: boolean;
}

const SHORT = 48;

/** Returns the words of a row of equal changes. */
export function equalText(row: RowView, equal: EqualRows): EqualText {
  const { resource, kind, name, details, remark } = row;
  const { names, merchants, others } = equal;
  const who =
    names.length === 1 ? `${resource === "role" ? "role " : ""}${name}` : counted(names.length, resource);
  const [only, ...more] = details;
  const said =
    only === undefined || more.length > 0 || (only.label !== "permissions" && only.label !== "roles")
      ? ""
      : [
          ...only.removed.map((line) => `- ${line}`),
          ...only.added.map((line) => `+ ${line}`),
          ...(kind === "create" ? only.plain.map((line) => `+ ${line}`) : []),
        ].join(", ");
  const whole = said !== "" && said.length <= SHORT;
  const subject = `${whole ? `${who}: ${said}` : who}${remark === "" ? "" : ` (${remark})`}`;
  const where = others.length + merchants.length === 1 ? "" : merchantsText(merchants, others);
  return {
    subject,
    does: whole ? said : "",
    where,
    title: where === "" ? subject : `${subject} in ${where}`,
    effect: effectText(row, equal),
    names: names.length === 1 ? [] : names,
    values: valuesOf(row, equal),
    whole,
  };
}

function valuesOf({ kind, details }: RowView, { rows }: EqualRows): readonly string[] {
  const labels = new Set(details.flatMap(({ label, differs }) => (differs ? label : [])));
  if (labels.size === 0 || kind !== "update") return [];
  return rows.map(({ name, details: own }) => {
    const parts = own
      .filter(({ label }) => labels.has(label))
      .flatMap(({ removed, added }) => [
        ...removed.map((text) => `- ${text}`),
        ...added.map((text) => `+ ${text}`),
      ]);
    return `${name}: ${parts.join(", ")}`;
  });
}

function effectText({ resource, kind, verb, details }: RowView, { gain, lose }: EqualRows): string {
  const permissions = details.find(({ label }) => label === "permissions");
  if (resource !== "role" || kind === "create" || kind === "delete" || permissions === undefined) return "";
  const { added, removed } = permissions;
  const parts = [
    ...(added.length > 0 ? [membersText(gain, verb ? "gained" : "gain", added)] : []),
    ...(removed.length > 0 ? [membersText(lose, verb ? "lost" : "lose", removed)] : []),
  ];
  return parts.join(", ");
}

function membersText(members: number, verb: string, permissions: readonly string[]): string {
  const them = permissions.length === 1 ? "it" : "them";
  const singular = verb.endsWith("ed") || verb === "lost" ? verb : `${verb}s`;
  if (members === 0) return `no member ${singular} ${them}`;
  return `${counted(members, "member")} ${members === 1 ? singular : verb} ${them}`;
}

/** "2,700 members gain sensitive permissions, at 300 merchants". */
export function fleetRiskTitle({ kind, items, origin, merchants }: FleetRisk): string {
  // A rule of several merchants is one only if it is in one file.
  const title = kind === "violations" ? "Rules are broken again" : riskTitle(kind, items, origin);
  return `${title}, at ${counted(merchants, "merchant")}`;
}

/** "payouts_edit: ada@example.com, bob@example.com and 2,698 more", or "ada@example.com: Admin in 40 merchants (…)". */
export function riskText(
  fleet: Pick<FleetView, "views">,
  { kind }: Pick<FleetRisk, "kind">,
  { item, names, places, all }: FleetRisk["equal"][number],
): string {
  const where = places.length === 1 ? `at ${placesText(fleet, places)}` : `in ${placesText(fleet, places)}`;
  if (kind === "sensitive" || kind === "reach") {
    const people = all.length > names.length ? ` (${counted(all.length, "membership")})` : "";
    return `${item.what}: ${namesText(names)}${people}, ${where}`;
  }
  // Of sentences, the place comes first.
  if (kind === "violations") return `${where}: ${item.name}: ${item.what}`;
  const name = `${item.resource === "role" ? "role " : ""}${namesText(names)}`;
  return kind === "removals" || item.what === "" ? `${name} ${where}` : `${name}: ${item.what}, ${where}`;
}

/** Gives the shared groups of a plan one title; those of a drift have the cause. */
export function equalGroups({ groups }: Pick<FleetView, "groups">): FleetView["groups"] {
  const isPlan = groups.every(({ title }) => title === "Roles" || title === "Members");
  if (!isPlan) return groups;
  const rows = groups.flatMap((group) => group.rows).toSorted((a, b) => dangerRank(a) - dangerRank(b));
  return rows.length === 0 ? [] : [{ title: "Equal changes", rows }];
}
