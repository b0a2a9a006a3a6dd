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
