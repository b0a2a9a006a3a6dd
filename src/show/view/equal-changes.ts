import { PERSONAL_FIELDS, PROPERTY_FIELDS } from "../../kernel/fields/show.ts";
import { byCodeUnit, grouped, naturally } from "../../lib/text.ts";
import type { DetailView, EqualRows, RowView } from "./change-view.ts";
import { DRIFT_TITLES } from "./drift-view.ts";
import { countPeople } from "./names-text.ts";
import type { GroupView, PlanView } from "./plan-view.ts";

/** From this number of merchants on, equal things are shown once. */
export const MIN_SHARED = 3;

/** Above this number of rows, equal changes of different names are combined as well. */
const LONG = 60;

/** From this number of names on, their equal changes are combined in a long plan. */
const MANY_NAMES = 5;

/** An item at a merchant; equal items at several merchants have the same key. */
export interface Occurrence<Item> {
  /** Position of the merchant's view. */
  readonly at: number;
  readonly name: string;
  readonly key: string;
  readonly item: Item;
}

/** Equal things: the first of them, and where the others are. */
export interface Equal<Item> {
  readonly item: Item;
  readonly all: readonly Occurrence<Item>[];
  /** Distinct, in the order of the occurrences. */
  readonly names: readonly string[];
  /** Positions of the merchants' views, in order. */
  readonly places: readonly number[];
}

/** Groups occurrences by a text, in the order of the first of each. */
export function groupEqual<Item>(
  occurrences: readonly Occurrence<Item>[],
  textOf: (one: Occurrence<Item>) => string,
): readonly Equal<Item>[] {
  const groups = new Map<string, Occurrence<Item>[]>();
  for (const occurrence of occurrences) {
    const text = textOf(occurrence);
    const group = groups.get(text);
    if (group) group.push(occurrence);
    else groups.set(text, [occurrence]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const names = [...new Set(group.map(({ name }) => name))];
    return [{ item: first.item, all: group, names, places: [...new Set(group.map(({ at }) => at))] }];
  });
}

/** Returns a merchant's items in the order of all merchants: by code, then as they are. */
export function occurrencesOf<Item>(
  views: readonly PlanView[],
  itemsOf: (
    view: PlanView,
  ) => readonly { readonly name: string; readonly key: string; readonly item: Item }[],
): readonly Occurrence<Item>[] {
  return views.flatMap((view, index) => itemsOf(view).map((item) => ({ ...item, at: index })));
}

/** Returns views in the natural order of their merchants' codes. */
export function inOrder<View extends PlanView>(views: readonly View[]): readonly View[] {
  return views.toSorted((a, b) => naturally(a.merchant, b.merchant));
}

/** The rows that several merchants share, and those of each. */
export interface SharedRows {
  readonly shared: readonly GroupView[];
  /** By the position of the view. */
  readonly own: readonly (readonly GroupView[])[];
}

interface TitledRow {
  readonly title: string;
  readonly row: RowView;
}

/**
 * Splits the rows of views, which are in order, into those that are equal at several merchants and the rest. Every change
 * is in exactly one row. Where more than `long` rows are left, equal changes of different names are one row as well.
 */
export function shareRows(views: readonly PlanView[], shares: boolean, long: number = LONG): SharedRows {
  const occurrences = occurrencesOf(views, ({ groups }) =>
    groups.flatMap(({ title, rows }) =>
      rows.map((row) => ({ name: row.name, key: contentOf(title, row), item: { title, row } })),
    ),
  );
  const isShared = ({ places }: Equal<TitledRow>): boolean => shares && places.length >= MIN_SHARED;
  const byName = groupEqual(occurrences, ({ key, name }) => `${key}\n${name}`);
  const sharedByName = byName.filter(isShared);
  const unshared = byName.filter((group) => !isShared(group)).flatMap((group) => group.all);
  const shared = [
    ...(sharedByName.length > long ? joinNames(sharedByName) : sharedByName),
    ...(unshared.length > long ? manyNames(groupEqual(unshared, ({ key }) => key)).filter(isShared) : []),
  ];
  const taken = new Set(shared.flatMap((group) => group.all));
  const rest = unshared.filter((occurrence) => !taken.has(occurrence)).sort((a, b) => a.at - b.at);
  const ownGroups = unshared.length > long ? groupEqual(rest, ({ key, at }) => `${at}\n${key}`) : [];
  const joined = new Set(manyNames(ownGroups));
  const single = ownGroups.filter((group) => !joined.has(group)).flatMap((group) => group.all);
  const rows = ownGroups.length === 0 ? rest.map(alone) : [...joined, ...single.map(alone)];
  const byView = new Map<number, Equal<TitledRow>[]>();
  for (const row of rows) {
    const [place = 0] = row.places;
    const rows = byView.get(place);
    if (rows) rows.push(row);
    else byView.set(place, [row]);
  }
  const positions = new Map(occurrences.map((occurrence, index) => [occurrence, index]));
  const position = ({ all: [first] }: Equal<TitledRow>): number => (first && positions.get(first)) ?? 0;
  return {
    shared: titled(
      shared.toSorted(
        (a, b) =>
          dangerRank(a.item.row) - dangerRank(b.item.row) ||
          kindRank(a.item.row) - kindRank(b.item.row) ||
          b.all.length - a.all.length ||
          byKey(a, b),
      ),
      views,
    ),
    own: views.map((_, place) =>
      titled(
        (byView.get(place) ?? []).toSorted((a, b) => position(a) - position(b)),
        views,
      ),
    ),
  };
}

function alone(occurrence: Occurrence<TitledRow>): Equal<TitledRow> {
  return { item: occurrence.item, all: [occurrence], names: [occurrence.name], places: [occurrence.at] };
}

function manyNames(groups: readonly Equal<TitledRow>[]): readonly Equal<TitledRow>[] {
  return groups.filter(({ names }) => names.length >= MANY_NAMES);
}

/** Combines groups of equal content at exactly the same merchants. */
function joinNames(groups: readonly Equal<TitledRow>[]): readonly Equal<TitledRow>[] {
  const byPlaces = new Map<Occurrence<TitledRow>, string>();
  for (const { all, places } of groups)
    for (const occurrence of all) byPlaces.set(occurrence, places.join(" "));
  return groupEqual(
    groups.flatMap(({ all }) => all),
    (occurrence) => `${occurrence.key}\n${byPlaces.get(occurrence)}`,
  );
}

/** Returns what a change does, without its name and without what differs from person to person. */
function contentOf(title: string, row: RowView): string {
  const { kind, verb, resource, remark, details } = row;
  return JSON.stringify([
    title,
    kind,
    verb,
    resource,
    remark,
    details.flatMap((detail) => comparedPart(row, detail)),
  ]);
}

/**
 * Returns the part of a detail that equal changes share: of what identifies a member, such as an employee number, which
 * properties change.
 */
function comparedPart({ kind, resource }: RowView, detail: DetailView): unknown {
  if (resource !== "member" || !PERSONAL_FIELDS.has(detail.label)) return [detail];
  return kind === "create" || kind === "delete" ? [] : [detail.label, propertiesOf([detail])];
}

/** Returns the names of the properties in details, such as "desk.floor"; of a field without properties, none. */
function propertiesOf(details: readonly (DetailView | undefined)[]): readonly string[] {
  const lines = details.flatMap((detail) =>
    detail !== undefined && PROPERTY_FIELDS.has(detail.label)
      ? [...detail.removed, ...detail.added, ...detail.plain]
      : [],
  );
  return [...new Set(lines.flatMap((line) => /^(.+?): /s.exec(line)?.[1] ?? []))].sort(byCodeUnit);
}

const DANGEROUS = 0;
const HARMLESS = 1;

/** Ranks what cannot be undone, or gives control over access or money, first. */
export function dangerRank(row: RowView): number {
  if (row.kind === "delete" || row.kind === "replace") return DANGEROUS;
  const isAdministrator = row.details.some(
    ({ label, added, plain }) =>
      label === "roles" && [...added, ...plain].some((role) => ADMINISTRATOR.test(role)),
  );
  return row.sensitive || isAdministrator ? DANGEROUS : HARMLESS;
}

/** Matches how a change names an administrator's role. */
const ADMINISTRATOR = /\brole_(?:owner|admin)\b/;

function byKey(a: Equal<TitledRow>, b: Equal<TitledRow>): number {
  const textOf = ({ all: [first] }: Equal<TitledRow>): string => `${first?.name}\n${first?.key}`;
  return byCodeUnit(textOf(a), textOf(b));
}

const TITLES: readonly string[] = ["Roles", "Members", ...DRIFT_TITLES];

function titled(groups: readonly Equal<TitledRow>[], views: readonly PlanView[]): readonly GroupView[] {
  const titles = [...new Set(groups.map(({ item }) => item.title))];
  return titles
    .toSorted((a, b) => TITLES.indexOf(a) - TITLES.indexOf(b))
    .map((title) => ({
      title,
      rows: groups
        .filter(({ item }) => item.title === title)
        .map((group) => (group.all.length === 1 ? group.item.row : joinedRow(group, views))),
    }));
}

function joinedRow(group: Equal<TitledRow>, views: readonly PlanView[]): RowView {
  const { row } = group.item;
  const rows = group.all.map(({ item }) => item.row);
  const details = [...new Set(rows.flatMap((row) => row.details.map(({ label }) => label)))].map((label) =>
    joinedDetail(
      label,
      rows.map((row) => row.details.find((detail) => detail.label === label)),
    ),
  );
  return { ...row, details, equal: equalRows(group, views) };
}

function joinedDetail(label: string, details: readonly (DetailView | undefined)[]): DetailView {
  const [first] = details;
  const same = first !== undefined && new Set(details.map((detail) => JSON.stringify(detail))).size === 1;
  if (same) return first;
  const properties = propertiesOf(details);
  const what = properties.length === 0 ? "" : `${properties.join(", ")}: `;
  return { label, removed: [], added: [], plain: [`${what}not the same for all`], differs: true };
}

function equalRows(
  { all, names, places, item: { row } }: Equal<TitledRow>,
  views: readonly PlanView[],
): EqualRows {
  const permissions =
    row.resource === "role" ? row.details.filter(({ label }) => label === "permissions") : [];
  const [added, removed] = [
    new Set(permissions.flatMap((detail) => detail.added)),
    new Set(permissions.flatMap((detail) => detail.removed)),
  ];
  const members = places.flatMap((place) => views[place]?.impact.members ?? []);
  return {
    names,
    ...merchantsAt(places, views),
    changes: all.length,
    rows: all.map(({ item }) => item.row),
    gain: countPeople(members.filter(({ gained }) => gained.some((permission) => added.has(permission)))),
    lose: countPeople(members.filter(({ lost }) => lost.some((permission) => removed.has(permission)))),
  };
}

/** Returns the codes of the merchants at some places, and of the others. */
export function merchantsAt(
  places: readonly number[],
  views: readonly PlanView[],
): Pick<EqualRows, "merchants" | "others"> {
  const here = new Set(places);
  const codes = (isHere: boolean): readonly string[] =>
    views.flatMap(({ merchant }, place) => (here.has(place) === isHere ? [merchant] : []));
  return { merchants: codes(true), others: codes(false) };
}

/** Groups of changes, without those that are hidden. */
export interface CutGroups {
  readonly groups: readonly GroupView[];
  readonly hidden: readonly RowView[];
}

/** Cuts groups to a number of rows; dangerous changes are kept first, and a single row is never hidden. */
export function cutRows(groups: readonly GroupView[], most: number): CutGroups {
  const allRows = groups.flatMap(({ rows }) => rows);
  if (allRows.length <= most + 1) return { groups, hidden: [] };
  const kept = new Set(allRows.toSorted((a, b) => dangerRank(a) - dangerRank(b)).slice(0, most));
  return {
    groups: groups
      .map(({ title, rows }) => ({ title, rows: rows.filter((row) => kept.has(row)) }))
      .filter(({ rows }) => rows.length > 0),
    hidden: allRows.filter((row) => !kept.has(row)),
  };
}

/** "… and 1,387 more: 187 to delete, 1,200 to create"; empty if no row is hidden. */
export function hiddenRowsText(rows: readonly RowView[]): string {
  const counts = new Map<string, number>();
  for (const { kind, verb, equal } of rows.toSorted((a, b) => kindRank(a) - kindRank(b))) {
    const what = verb ?? `to ${kind}`;
    counts.set(what, (counts.get(what) ?? 0) + (equal?.changes ?? 1));
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return "";
  const parts = [...counts].map(([what, count]) => `${grouped(count)} ${what}`);
  const what = counts.size === 1 ? ` ${[...counts.keys()].join()}` : `: ${parts.join(", ")}`;
  return `… and ${grouped(total)} more${what}`;
}

const KINDS: readonly RowView["kind"][] = ["delete", "replace", "update", "create"];

function kindRank({ kind }: RowView): number {
  return KINDS.indexOf(kind);
}
