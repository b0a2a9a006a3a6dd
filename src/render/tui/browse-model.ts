import type { Change, MemberImpact, Plan } from "../../model/plan.ts";

/** A change with the texts that search and filters match. */
export interface BrowsedChange {
  /** Names it among those of all merchants. */
  readonly id: string;
  readonly change: Change;
  /** Lower case. */
  readonly text: string;
  /** Permissions that the member gains, or that the role newly grants. */
  readonly gained: readonly string[];
  readonly lost: readonly string[];
}

/** A plan prepared for browsing. */
export interface BrowsedPlan {
  readonly plan: Plan;
  readonly roles: readonly BrowsedChange[];
  readonly members: readonly BrowsedChange[];
}

/** Names a change among those of all merchants: two merchants can have the same to do. */
export function changeId(merchant: string, { fingerprint }: Pick<Change, "fingerprint">): string {
  return `${merchant}\n${fingerprint}`;
}

/** Indexes plans for browsing once, so that a key press only looks things up. */
export function browseModel(plans: readonly Plan[]): readonly BrowsedPlan[] {
  return plans.map((plan) => {
    const impacts = new Map(plan.impact.members.map((impact) => [impact.name, impact]));
    const changes = plan.changes.map((change) => browsed(change, plan.merchant, impacts));
    return {
      plan,
      roles: changes.filter(({ change }) => change.resource === "role"),
      members: changes.filter(({ change }) => change.resource === "member"),
    };
  });
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
    return { id, change, text, gained: impact?.gained ?? [], lost: impact?.lost ?? [] };
  }
  const before = new Set(change.before?.permissions);
  const after = new Set(change.after?.permissions);
  return {
    id,
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
