import { neededOverrides } from "../../kernel/rules/overrides.ts";
import { byCodeUnit, groupByKey } from "../../lib/text.ts";
import type { Impact, MemberImpact } from "../../model/plan.ts";
import type { DriftSums, DriftView } from "./drift-view.ts";
import {
  type Equal,
  groupEqual,
  inOrder,
  MIN_SHARED,
  merchantsAt,
  type Occurrence,
  occurrencesOf,
  shareRows,
} from "./equal-changes.ts";
import { countPeople } from "./names-text.ts";
import {
  changesOf,
  type DeferredView,
  type FindingView,
  type GroupView,
  inReportOrder,
  joinSame,
  overrideCommand,
  overridesLine,
  type PlanCommand,
  type PlanView,
  type RefusalView,
} from "./plan-view.ts";
import { type ChangeOrigin, RISK_KINDS, type RiskItem, type RiskKind } from "./risk-view.ts";

/** From this number of merchants on, what they share is shown once. */
export const MIN_FLEET = 4;

/** The plans or drifts of a run: what several merchants share, and what only single ones have. */
export interface FleetView<View extends PlanView = PlanView> {
  /** In the natural order of their codes. */
  readonly views: readonly View[];
  /** The effect on the people of all merchants. */
  readonly impact: FleetImpact;
  /** People with the same changes of access at several merchants. */
  readonly people: readonly Equal<MemberImpact>[];
  /** All risks of all merchants. */
  readonly risks: readonly FleetRisk[];
  /** Rows that stand for equal changes at several merchants, the dangerous ones first. */
  readonly groups: readonly GroupView[];
  /** Rows that stand for equal deferred removals at several merchants. */
  readonly deferred: readonly DeferredView[];
  readonly refusals: readonly Equal<RefusalView>[];
  readonly overridden: readonly Equal<RefusalView>[];
  readonly errors: readonly Equal<FindingView>[];
  readonly warnings: readonly Equal<FindingView>[];
  /** Commands that override the shared refusals, for this run alone. */
  readonly overrides: RunOverrides;
  readonly passwords: readonly string[];
  readonly own: readonly OwnView<View>[];
  readonly rows: readonly MerchantRow[];
}

/** The total effect on people. */
export interface FleetImpact {
  readonly members: number;
  readonly permissions: readonly (Impact["permissions"][number] & { readonly merchants: number })[];
  readonly roles: readonly (Impact["roles"][number] & { readonly merchants: number })[];
  readonly sensitive: readonly string[];
  /** `unknown` if that of some members is. */
  readonly origin: ChangeOrigin;
}

/** The risks of one kind at all merchants. */
export interface FleetRisk {
  readonly kind: RiskKind;
  readonly origin: ChangeOrigin;
  readonly items: readonly RiskItem[];
  /** Number of merchants. */
  readonly merchants: number;
  readonly equal: readonly Equal<RiskItem>[];
}

/** The overrides of a run's shared refusals. */
export interface RunOverrides {
  readonly commands: readonly string[];
  /** The line under `guards` in a file; `null` if there is none. */
  readonly line: string | null;
}

/** The part of a plan that no other merchant shares. */
export interface OwnView<View extends PlanView = PlanView> {
  /** Without what is shared; its counts are those of the whole plan. */
  readonly view: View;
  /** Number of its changes among the shared ones. */
  readonly above: number;
}

/** The sums of a merchant, or of merchants with the same ones. */
export interface MerchantRow {
  readonly merchants: readonly string[];
  /** To create; in a drift, added outside git. */
  readonly create: number;
  /** To update or replace; in a drift, changed or not applied. */
  readonly update: number;
  /** To delete; in a drift, not live. */
  readonly delete: number;
  readonly deferred: number;
  /** Members who gain or lose permissions. */
  readonly people: number;
  readonly risks: number;
  readonly outcome: "problems" | "refused" | "breaks rules" | "";
}

/** The run whose plans are shown. */
export interface RunOf {
  /** The fingerprint over all plans of the run; absent: nothing can be overridden for all together. */
  readonly run?: string;
  readonly command?: PlanCommand;
}

/** Returns what the plans of a run share, and the rest of each. */
export function fleetView<View extends PlanView>(
  plans: readonly View[],
  { run, command = "apply" }: RunOf = {},
): FleetView<View> {
  const views = inOrder(plans).map(inReportOrder);
  const shares = views.length >= MIN_FLEET;
  const rows = shareRows(views, shares);
  const share = <Item>(
    itemsOf: (view: PlanView) => readonly Item[],
    nameOf: (item: Item) => { readonly name: string; readonly key: string },
  ): { readonly shared: readonly Equal<Item>[]; readonly own: (at: number) => readonly Item[] } => {
    const occurrences = occurrencesOf(views, (view) =>
      itemsOf(view).map((item) => ({ ...nameOf(item), item })),
    );
    const shared = groupEqual(occurrences, ({ key }) => key).filter(
      ({ places }) => shares && places.length >= MIN_SHARED,
    );
    const taken = new Set(shared.flatMap((group) => group.all));
    const itemsByView = new Map<number, Item[]>();
    for (const occurrence of occurrences) {
      if (taken.has(occurrence)) continue;
      const items = itemsByView.get(occurrence.at);
      if (items) items.push(occurrence.item);
      else itemsByView.set(occurrence.at, [occurrence.item]);
    }
    return {
      shared: shared.toSorted((a, b) => b.all.length - a.all.length),
      own: (index) => itemsByView.get(index) ?? [],
    };
  };
  const people = share(({ impact }) => impact.members, namedImpact);
  const deferred = share(({ deferred: items }) => items, namedDeferred);
  // Without a run there is an override for each plan only.
  const namedRefusal = refusalNames(views);
  const refusals = share(
    ({ refusals: items }) => items,
    (refusal) => {
      const { name, key } = namedRefusal(refusal);
      return { name, key: run === undefined ? `${key}${refusal.override}` : key };
    },
  );
  const overridden = share(({ overridden: items }) => items, namedRefusal);
  const errors = share(({ errors: items }) => items, namedFinding);
  const warnings = share(({ everyWarning }) => everyWarning, namedFinding);
  const ownViews = views.map((view, index): OwnView<View> => {
    const groups = rows.own[index] ?? [];
    const kept = refusals.own(index);
    return {
      above: shares ? rowsIn(view.groups) - rowsIn(groups) : 0,
      view: {
        ...view,
        groups,
        deferred: deferred.own(index),
        refusals: kept,
        overridden: overridden.own(index),
        overrides: kept.length === 0 ? null : view.overrides,
        errors: errors.own(index),
        warnings: shares ? joinSame(warnings.own(index)) : view.warnings,
        ...(shares && {
          impact: impactOf(people.own(index)),
          risks: [],
          untouched: [],
          passwords: [],
        }),
      },
    };
  });
  return {
    views,
    impact: fleetImpact(views),
    people: people.shared,
    risks: fleetRisks(views),
    groups: rows.shared,
    deferred: deferred.shared.map((group) => joinedDeferred(group, views)),
    refusals: refusals.shared.map((group) => wholeMessage(group, views)),
    overridden: overridden.shared.map((group) => wholeMessage(group, views)),
    errors: errors.shared.map((group) => wholeMessage(group, views)),
    warnings: warnings.shared.map((group) => wholeMessage(group, views)),
    overrides: runOverrides(refusals.shared, run, command),
    passwords: [...new Set(views.flatMap(({ passwords }) => passwords))].sort(byCodeUnit),
    own: shares ? ownViews.filter(({ view }) => hasOwn(view)) : ownViews,
    rows: merchantRows(views),
  };
}

/** Returns the number of changes in groups. */
export function rowsIn(groups: readonly GroupView[]): number {
  return groups.reduce(
    (sum, { rows }) => sum + rows.reduce((total, { equal }) => total + (equal?.changes ?? 1), 0),
    0,
  );
}

/** Returns the number of reasons to refuse; equal ones of several merchants are one. */
export function countReasons({ refusals: shared, own }: FleetView): number {
  return shared.length + own.reduce((sum, { view }) => sum + view.refusals.length, 0);
}

function hasOwn({ groups, deferred, refusals, overridden, errors, warnings, impact }: PlanView): boolean {
  const items = [groups, deferred, refusals, overridden, errors, warnings, impact.members];
  return items.some(({ length }) => length > 0);
}

function namedImpact({ name, ...access }: MemberImpact): { readonly name: string; readonly key: string } {
  const { gained, lost, unknownGained, unknownLost } = access;
  return { name, key: JSON.stringify([gained, lost, unknownGained, unknownLost]) };
}

function namedDeferred({ resource, kind, name, remark, details, until }: DeferredView): {
  readonly name: string;
  readonly key: string;
} {
  return { name, key: JSON.stringify([resource, kind, name, remark, details, until]) };
}

function joinedDeferred(
  { item, all, names, places }: Equal<DeferredView>,
  views: readonly PlanView[],
): DeferredView {
  const rows = all.map((occurrence) => occurrence.item);
  // Losses through a deferred removal are not an effect of the plan.
  const equal = { names, ...merchantsAt(places, views), changes: all.length, rows, gain: 0, lose: 0 };
  return { ...item, equal };
}

/** Returns a function that names refusals: equal ones have the same key. */
function refusalNames(
  views: readonly PlanView[],
): (refusal: RefusalView) => { readonly name: string; readonly key: string } {
  const merchants = new Map<string, Set<string>>();
  for (const { merchant, refusals, overridden } of views) {
    for (const { place } of [...refusals, ...overridden])
      if (place !== null) merchants.set(place, (merchants.get(place) ?? new Set()).add(merchant));
  }
  return ({ rule, code, name, message, hint, place }) => {
    // A rule of a shared file counts once, whoever breaks it.
    const isShared = (merchants.get(place ?? "")?.size ?? 0) > 1;
    const what = isShared ? [place] : [patternOf(message, name), patternOf(hint, name)];
    return { name: name ?? "", key: JSON.stringify([rule, code, ...what]) };
  };
}

function namedFinding({ code, severity, resource, name, message, hint }: FindingView): {
  readonly name: string;
  readonly key: string;
} {
  const said = [patternOf(message, name), patternOf(hint ?? "", name)];
  return { name, key: JSON.stringify([code, severity, resource, said]) };
}

const NUMBERS = /\d+/g;

/** Returns the parts of a text that are the same whatever its subject and its numbers are. */
function patternOf(text: string, name: string | null): readonly (readonly string[])[] {
  return (name === null || name === "" ? [text] : text.split(name)).map((part) => part.split(NUMBERS));
}

/** Phrases a group of messages: different numbers are shown as a range; of other messages, the first is an example. */
function wholeMessage<Item extends RefusalView | FindingView>(
  group: Equal<Item>,
  views: readonly PlanView[],
): Equal<Item> {
  const { item, all, names } = group;
  const places = new Set(all.map(({ item: one }) => one.place));
  const place = places.size === 1 ? item.place : null;
  const patterns = all.map(({ item: one }) => JSON.stringify(patternOf(one.message, one.name)));
  if (new Set(patterns).size > 1) {
    const merchant = views[all[0]?.at ?? 0]?.merchant ?? "";
    const message = `for example, at ${merchant}: ${item.message}`;
    return { ...group, names: names.slice(0, 1), item: { ...item, message, place } };
  }
  if (names.length > 1) return { ...group, item: { ...item, place } };
  const numbers = all.map(({ item: { message } }) => (message.match(NUMBERS) ?? []).map(Number));
  let index = -1;
  const message = item.message.replaceAll(NUMBERS, (text) => {
    index += 1;
    const values = numbers.map((number) => number[index] ?? 0);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return least === most ? text : `${least}–${most}`;
  });
  return { ...group, item: { ...item, message, place } };
}

function impactOf(members: readonly MemberImpact[]): Impact {
  return { members, permissions: [], roles: [] };
}

function fleetImpact(views: readonly PlanView[]): FleetImpact {
  const members = views.flatMap(({ impact }) => impact.members);
  const origins = views.flatMap(({ impact, origin }) => (impact.members.length > 0 ? origin : []));
  const peopleWho = (side: "gained" | "lost"): ReadonlyMap<string, number> => {
    const found = members.flatMap(({ name, [side]: permissions }) =>
      permissions.map((permission) => ({ name, permission })),
    );
    const groups = groupByKey(found, ({ permission }) => permission);
    return new Map(groups.map((group) => [group[0].permission, countPeople(group)]));
  };
  const [gain, lose] = [peopleWho("gained"), peopleWho("lost")];
  const merchants = new Map<string, number>();
  const roles = new Map<string, FleetImpact["roles"][number]>();
  for (const { impact } of views) {
    for (const { permission } of impact.permissions)
      merchants.set(permission, (merchants.get(permission) ?? 0) + 1);
    for (const { name, before, after } of impact.roles) {
      const sum = roles.get(name) ?? { name, before: 0, after: 0, merchants: 0 };
      roles.set(name, {
        name,
        before: sum.before + before,
        after: sum.after + after,
        merchants: sum.merchants + 1,
      });
    }
  }
  return {
    members: countPeople(members),
    permissions: [...merchants]
      .map(([permission, count]) => ({
        permission,
        gained: gain.get(permission) ?? 0,
        lost: lose.get(permission) ?? 0,
        merchants: count,
      }))
      .sort((a, b) => byCodeUnit(a.permission, b.permission)),
    roles: [...roles.values()].sort((a, b) => byCodeUnit(a.name, b.name)),
    sensitive: [...new Set(views.flatMap(({ impact }) => impact.sensitive ?? []))],
    origin: origins.find((origin) => origin === "unknown") ?? origins[0] ?? "plan",
  };
}

const ORIGINS: readonly ChangeOrigin[] = ["plan", "outside-git", "unknown"];

function fleetRisks(views: readonly PlanView[]): readonly FleetRisk[] {
  return ORIGINS.flatMap((origin) =>
    RISK_KINDS.flatMap((kind): readonly FleetRisk[] => {
      const occurrences = occurrencesOf(views, ({ risks }) =>
        risks
          .filter((risk) => risk.kind === kind && risk.origin === origin)
          .flatMap(({ items }) =>
            items.map((item) => ({
              name: item.name,
              key: JSON.stringify([item.resource, item.what]),
              item,
            })),
          ),
      );
      if (occurrences.length === 0) return [];
      return [
        {
          kind,
          origin,
          items: occurrences.map(({ item }) => item),
          merchants: new Set(occurrences.map(({ at }) => at)).size,
          equal: equalRisks(occurrences, kind),
        },
      ];
    }),
  );
}

/** From this number of groups on, those of single merchants are combined. */
const MANY_RISKS = 8;

/**
 * Groups risks: equal gains are combined, whoever has them; people who become administrators or are removed are named,
 * if there are not too many.
 */
function equalRisks(
  occurrences: readonly Occurrence<RiskItem>[],
  kind: RiskKind,
): readonly Equal<RiskItem>[] {
  const byName = groupEqual(occurrences, ({ key, name }) => `${key}\n${name}`);
  const isGained = kind === "sensitive" || kind === "reach";
  if (!isGained && byName.length <= MANY_RISKS) return byFrequency(byName);
  const apart = isGained ? [] : byName.filter(({ places }) => places.length >= MIN_SHARED);
  const taken = new Set(apart.flatMap((group) => group.all));
  const rest = occurrences.filter((occurrence) => !taken.has(occurrence));
  return byFrequency([...apart, ...groupEqual(rest, ({ key }) => key)]);
}

function byFrequency<Item>(groups: readonly Equal<Item>[]): readonly Equal<Item>[] {
  return groups.toSorted((a, b) => b.all.length - a.all.length);
}

function runOverrides(
  refusals: readonly Equal<RefusalView>[],
  run: string | undefined,
  command: PlanCommand,
): RunOverrides {
  const refusalViews = refusals.flatMap((group) => group.all.map(({ item }) => item));
  const whats = refusalViews.flatMap(({ override, overrideOf }) =>
    override === null ? [] : (overrideOf ?? []),
  );
  if (run === undefined || whats.length === 0) return { commands: [], line: null };
  const needed = neededOverrides(whats);
  return {
    commands: needed.map((what) => overrideCommand(command, what, run)),
    // Enforced rules are overridden in their own files.
    line:
      command === "apply" && refusalViews.every(({ inFile }) => inFile) ? overridesLine(needed, run) : null,
  };
}

const ROWS_APART = 12;

/** Returns the sums of the merchants with changes, those with problems first; in a long list, equal ones together. */
function merchantRows(views: readonly (PlanView | DriftView)[]): readonly MerchantRow[] {
  const rows = views.flatMap((view): readonly MerchantRow[] => {
    const { create, update, replace, delete: remove } = view.counts;
    const { errors, refusals, deferred, impact, risks } = view;
    if (changesOf(view.counts) + errors.length + refusals.length + deferred.length === 0) return [];
    const refused = "sums" in view ? "breaks rules" : "refused";
    return [
      {
        merchants: [view.merchant],
        ...("sums" in view ? driftNumbers(view.sums) : { create, update: update + replace, delete: remove }),
        deferred: deferred.length,
        people: impact.members.length,
        risks: risks.reduce((sum, { items }) => sum + items.length, 0),
        outcome: errors.length > 0 ? "problems" : refusals.length > 0 ? refused : "",
      },
    ];
  });
  const joined = rows.length > ROWS_APART ? joinRows(rows) : rows;
  return joined.toSorted((a, b) => severity(a) - severity(b));
}

function driftNumbers({
  added,
  missing,
  changed,
  notApplied,
  due,
  unknown,
}: DriftSums): Pick<MerchantRow, "create" | "update" | "delete"> {
  return { create: added, update: changed + notApplied + due + unknown, delete: missing };
}

function severity({ outcome, risks }: MerchantRow): number {
  if (outcome === "") return risks > 0 ? 2 : 3;
  return outcome === "problems" ? 0 : 1;
}

function joinRows(rows: readonly MerchantRow[]): readonly MerchantRow[] {
  const rowsByMerchant = new Map<string, MerchantRow>();
  for (const row of rows) {
    const { merchants, ...numbers } = row;
    const key = JSON.stringify(numbers);
    const before = rowsByMerchant.get(key);
    rowsByMerchant.set(key, before ? { ...row, merchants: [...before.merchants, ...merchants] } : row);
  }
  return [...rowsByMerchant.values()];
}
