import { type Change, changeId, type MemberImpact, type Plan } from "../../model/plan.ts";
import type { EqualRows, RowView } from "../view/change-view.ts";
import { equalGroups, messageAt } from "../view/equal-text.ts";
import { fleetView } from "../view/fleet-view.ts";
import { type GroupView, type PlanView, planView } from "../view/plan-view.ts";

/** A change with the texts that search and filters match. */
export interface BrowsedChange {
  /** Names it among those of all merchants. */
  readonly id: string;
  readonly merchant: string;
  readonly change: Change;
  /** Lower case. */
  readonly text: string;
  /** Permissions that the member gains, or that the role newly grants. */
  readonly gained: readonly string[];
  readonly lost: readonly string[];
}

/** Equal changes that can be taken or left as one. */
export interface BrowsedGroup {
  readonly row: RowView;
  readonly equal: EqualRows;
  readonly changes: readonly BrowsedChange[];
}

/** Plans prepared for browsing. */
export interface BrowseModel {
  /** Changes that are equal at several merchants, the dangerous ones first. */
  readonly shared: readonly BrowsedGroup[];
  /** Refusals that several merchants share: rule and message. */
  readonly refusals: readonly (readonly [rule: string, message: string])[];
  readonly plans: readonly BrowsedPlan[];
}

/** A plan prepared for browsing. */
export interface BrowsedPlan {
  readonly plan: Plan;
  /** Equal changes of this merchant, of a long plan. */
  readonly groups: readonly BrowsedGroup[];
  /** Ids of the changes that are in a group. */
  readonly grouped: ReadonlySet<string>;
  /** True if there is anything besides what several merchants share. */
  readonly hasOwn: boolean;
  readonly roles: readonly BrowsedChange[];
  readonly members: readonly BrowsedChange[];
}

/** Indexes plans for browsing once, so that a key press only looks things up. */
export function browseModel(plans: readonly Plan[]): BrowseModel {
  const views = plans.map((plan) => planView(plan));
  const byRow = new Map<RowView, BrowsedChange>();
  const all = plans.map((plan, at) => {
    const impacts = new Map(plan.impact.members.map((impact) => [impact.name, impact]));
    const changes = plan.changes.map((change) => browsed(change, plan.merchant, impacts));
    const roles = changes.filter(({ change }) => change.resource === "role");
    const members = changes.filter(({ change }) => change.resource === "member");
    const rows = views[at]?.groups.flatMap((group) => group.rows) ?? [];
    for (const [index, one] of [...roles, ...members].entries()) {
      const row = rows[index];
      if (row) byRow.set(row, one);
    }
    return { plan, roles, members };
  });
  const groupsOf = (groups: readonly GroupView[]): readonly BrowsedGroup[] =>
    equalGroups({ groups }).flatMap(({ rows }) =>
      rows.flatMap((row): readonly BrowsedGroup[] => {
        const { equal } = row;
        if (equal === undefined) return [];
        return [{ row, equal, changes: equal.rows.flatMap((one) => byRow.get(one) ?? []) }];
      }),
    );
  // Overrides are not shown here, so equal refusals are one whatever the run.
  const fleet = fleetView(views, { run: "" });
  const shared = groupsOf(fleet.groups);
  const above = new Set(shared.flatMap(({ changes }) => changes.map(({ id }) => id)));
  const ownViews = new Map(fleet.own.map(({ view }) => [view.merchant, view]));
  return {
    shared,
    refusals: fleet.refusals.map((group) => {
      const { rule, code, message } = messageAt(fleet, group);
      return [`${rule} ${code}`, message] as const;
    }),
    plans: all.map((one) => {
      const own = ownViews.get(one.plan.merchant);
      const groups = groupsOf(own?.groups ?? []);
      const inGroups = groups.flatMap(({ changes }) => changes.map(({ id }) => id));
      const inShared = [...one.roles, ...one.members].flatMap(({ id }) => (above.has(id) ? [id] : []));
      return {
        ...one,
        groups,
        grouped: new Set([...inGroups, ...inShared]),
        hasOwn: one.plan.deferred.length > 0 || (own !== undefined && hasMore(own)),
      };
    }),
  };
}

/** Returns whether a view has anything besides what people gain and lose. */
function hasMore({ groups, deferred, refusals, overridden, errors, warnings }: PlanView): boolean {
  return [groups, deferred, refusals, overridden, errors, warnings].some(({ length }) => length > 0);
}

function browsed(
  change: Change,
  merchant: string,
  impacts: ReadonlyMap<string, MemberImpact>,
): BrowsedChange {
  const text =
    `${merchant} ${change.kind} ${change.resource} ${change.name} ${change.id ?? ""}`.toLowerCase();
  const id = changeId(merchant, change);
  if (change.resource === "member") {
    const impact = impacts.get(change.name);
    return { id, merchant, change, text, gained: impact?.gained ?? [], lost: impact?.lost ?? [] };
  }
  const before = new Set(change.before?.permissions);
  const after = new Set(change.after?.permissions);
  return {
    id,
    merchant,
    change,
    text,
    gained: [...after].filter((permission) => !before.has(permission)),
    lost: [...before].filter((permission) => !after.has(permission)),
  };
}

/** The purpose of the bottom line: a search, or a filter by gained or lost permission. */
export type Typing = "search" | "gained" | "lost";

/** The state of browsing: position, filters and changes left out. */
export interface BrowseState {
  /** Key of the row that the cursor is on; null for the first. */
  readonly cursor: string | null;
  /** Index of the first row on the screen. */
  readonly top: number;
  /** The default folding: by the size of the plan, or all rows one way. */
  readonly folding: "usual" | "open" | "closed";
  /** Keys of rows that differ from the default folding; see `foldKey`. */
  readonly turned: ReadonlySet<string>;
  readonly typing: Typing | null;
  readonly search: string;
  readonly gained: string;
  readonly lost: string;
  readonly kind: Change["kind"] | null;
  /** Ids of the changes that were chosen to be left out. */
  readonly chosen: ReadonlySet<string>;
  readonly help: boolean;
  /** A sentence for the bottom line, until the next key. */
  readonly note: string;
  /** The decision that ends browsing; `null` before. */
  readonly end: "apply" | "leave" | null;
}

/** The state at the start. */
export const INITIAL_BROWSE_STATE: BrowseState = {
  cursor: null,
  top: 0,
  folding: "usual",
  turned: new Set(),
  typing: null,
  search: "",
  gained: "",
  lost: "",
  kind: null,
  chosen: new Set(),
  help: false,
  note: "",
  end: null,
};

/** Returns the key that a row's folding is stored under; a filtered view has its own, which starts unfolded. */
export function foldKey(state: BrowseState, key: string): string {
  return isFiltered(state) ? `filtered ${key}` : key;
}

/** Returns whether a search or filter is active. */
export function isFiltered({ search, gained, lost, kind }: BrowseState): boolean {
  return search !== "" || gained !== "" || lost !== "" || kind !== null;
}
