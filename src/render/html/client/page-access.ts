import type { PageGrants, PageHolding, PageMember, PageMerchant, PageRole } from "../page-data.ts";

/** A moment: before or after the plan. */
export type Side = "before" | "after";

/** Returns the roles of a member at one moment; `null` if it is no member. */
export function holdingOf(member: PageMember, side: Side): PageHolding | null {
  return side === "before" && member.before !== undefined ? member.before : member.after;
}

/** Returns the permissions of a role at one moment. */
export function grantsOf(role: PageRole, side: Side): PageGrants {
  return side === "before" && role.before !== undefined ? role.before : role.after;
}

/** Returns whether a member can use its roles, now or on accepting. */
export function isActiveHolding(holding: PageHolding | null): holding is PageHolding {
  return holding !== null && holding.status !== "expired" && holding.status !== "disabled";
}

/** The permissions of a member at one moment, each with the roles that grant it, and the roles of unknown permissions. */
export interface Effective {
  readonly permissions: ReadonlyMap<number, readonly number[]>;
  readonly unknown: readonly number[];
}

/** Returns the permissions of a member at one moment, and their sources. */
export function effective(member: PageMember, { roles }: PageMerchant, side: Side): Effective {
  const holding = holdingOf(member, side);
  const permissions = new Map<number, number[]>();
  const unknown: number[] = [];
  for (const index of isActiveHolding(holding) ? holding.roles : []) {
    const role = roles[index];
    const grants = role === undefined ? null : grantsOf(role, side);
    if (grants === "unknown") unknown.push(index);
    else
      for (const permission of grants ?? [])
        permissions.set(permission, [...(permissions.get(permission) ?? []), index]);
  }
  return { permissions, unknown };
}

/** Returns whether the plan changes the roles or permissions of a member. */
export function isMemberChanged(member: PageMember, merchant: PageMerchant): boolean {
  if (member.before !== undefined) return true;
  return (member.after?.roles ?? []).some((index) => merchant.roles[index]?.before !== undefined);
}
