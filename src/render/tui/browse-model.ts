import type { Change, MemberImpact, Plan } from "../../model/plan.ts";

/** One change, with what searching and filtering look at. */
export interface BrowsedChange {
  /** Names it among those of all merchants. */
  readonly id: string;
  readonly change: Change;
  /** Lower case. */
  readonly text: string;
  /** Permissions that a member gains through it, or that a role comes to grant. */
  readonly gained: readonly string[];
  readonly lost: readonly string[];
}

/** One plan as it is browsed. */
export interface BrowsedPlan {
  readonly plan: Plan;
  readonly roles: readonly BrowsedChange[];
  readonly members: readonly BrowsedChange[];
}

/** Names a change among those of all merchants: two merchants can have the same to do. */
export function changeId(merchant: string, { fingerprint }: Pick<Change, "fingerprint">): string {
  return `${merchant}\n${fingerprint}`;
}

/** Prepares plans for browsing: once, so that a key press only looks things up. */
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

/** What is typed into the bottom line: a search, or a permission that is gained or lost. */
export type Typing = "search" | "gained" | "lost";

/** Where somebody is in a plan, what they look for, and what they have left out. */
export interface BrowseState {
  /** Key of the row that the cursor is on; null for the first. */
  readonly cursor: string | null;
  /** Index of the first row on the screen. */
  readonly top: number;
  /** How rows are that nobody has folded or unfolded: as suits the size of the plan, or all one way. */
  readonly folding: "usual" | "open" | "closed";
  /** Keys of rows that are the other way; see `foldKey`. */
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
  /** How it ends. */
  readonly end: "apply" | "leave" | null;
}

/** Where everybody begins. */
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

/** What a row is remembered by when it is folded: with a search or a filter on, everything begins unfolded again. */
export function foldKey(state: BrowseState, key: string): string {
  return isFiltered(state) ? `filtered ${key}` : key;
}

/** Whether only a part of the changes is shown. */
export function isFiltered({ search, gained, lost, kind }: BrowseState): boolean {
  return search !== "" || gained !== "" || lost !== "" || kind !== null;
}
