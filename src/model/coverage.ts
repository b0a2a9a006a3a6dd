import type { Origin } from "./desired.ts";

/** A rule of a merchant: a check, an entry of a policy, or a guard. */
export interface ListedRule {
  readonly section: "checks" | "policies" | "guards";
  /** In one line, such as `can payouts_edit: only ada@example.com` or `max_holders role_admin: 3`. */
  readonly text: string;
  /** The location of a check; `null` for other rules. */
  readonly origin: Origin | null;
  /** The keys in a file that lead to the rule, such as `policies`, `require_mfa`; empty for a check. */
  readonly keys: readonly string[];
  /** The entry of the list that the keys lead to; `null` if they lead to the rule itself. */
  readonly entry: string | readonly string[] | null;
  /** The file of rules that the project enforces; `null` for the merchant's own. */
  readonly enforcedBy: string | null;
}

/** A rule with its verdict on the access. */
export interface JudgedRule {
  readonly rule: ListedRule;
  /** Violations, in sentences; empty if it holds. */
  readonly violations: readonly string[];
  /** The held roles with unknown permissions, by name, because of which more people may break it. */
  readonly unknownRoles: readonly string[];
}

/** A rule that would notice changes, derived from today's holders. */
export type SuggestedRule =
  | { readonly kind: "only"; readonly can: string; readonly only: readonly string[] }
  | { readonly kind: "max-holders"; readonly role: string; readonly max: number }
  | { readonly kind: "min-holders"; readonly role: string; readonly min: number }
  | { readonly kind: "protect"; readonly role: string };

/**
 * The changes of one kind that no rule notices: a role given to or taken from members, a permission given to roles, or
 * permissions taken from a role.
 */
export interface UnnoticedGroup {
  readonly change: "role-given" | "role-taken" | "permission-given" | "permission-taken";
  /** The role, with the id of a predefined one; `null` where roles are the subjects. */
  readonly role: { readonly name: string; readonly id: string | null } | null;
  /** The permission that is given; `null` for the other kinds. */
  readonly permission: string | null;
  /** Permissions of the role; `null` if unknown, or if the change is of permissions. */
  readonly grants: readonly string[] | null;
  /** True if a permission of the change is sensitive. */
  readonly sensitive: boolean;
  /** The members, roles or permissions whose changes go unnoticed, in the order of the access. */
  readonly subjects: readonly string[];
  /** True if the role can be given to somebody who is not a member yet. */
  readonly toAnybody: boolean;
  /** The number of changes of this kind that change what anybody can do. */
  readonly of: number;
  readonly suggestion: SuggestedRule;
}

/** The single changes of a merchant's access that its rules notice. */
export interface RuleCoverage {
  readonly groups: readonly UnnoticedGroup[];
  /** The number of examined changes that change what anybody can do, and of those that no rule notices. */
  readonly changes: number;
  readonly unnoticed: number;
  /** The number of changes that would have taken too long, among them some that change nothing for anybody. */
  readonly unexamined: number;
}
