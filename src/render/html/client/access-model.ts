import type {
  PageData,
  PageGrants,
  PageHolding,
  PageMember,
  PageMerchant,
  PageRole,
  PageRule,
} from "../page-data.ts";

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

/** MFA on login: `none` for an account that nobody logs in as. */
export type MfaState = "yes" | "no" | "unknown" | "none";

/** Returns whether a member logs in with MFA. */
export function mfaOf({ mfa, service }: PageMember): MfaState {
  if (service) return "none";
  if (mfa === undefined) return "unknown";
  return mfa ? "yes" : "no";
}

/** Returns the indexes of the roles that may do nearly everything. */
function administratorRoles({ roles }: PageMerchant): ReadonlySet<number> {
  return new Set(
    roles.flatMap(({ id }, index) => (id === "role_owner" || id === "role_admin" ? [index] : [])),
  );
}

/** The text for what the files of a declared report do not say. */
export const NOT_IN_FILES = "not known from files";

/** A number of a merchant's members; `null` if it is not known from the files. */
export interface Measure {
  readonly title: string;
  readonly count: number | null;
}

const MONTH = 30 * 86_400_000;

/** Returns the numbers of a merchant that a report opens with. */
export function measuresOf(
  merchant: PageMerchant,
  { now, about }: Pick<PageData, "now" | "about">,
): readonly Measure[] {
  const { members, roles } = merchant;
  const declared = about === "declared";
  const administrators = administratorRoles(merchant);
  const count = (is: (member: PageMember, after: PageHolding) => boolean): number =>
    members.filter((member) => member.after !== null && is(member, member.after)).length;
  const atService = (is: (member: PageMember, after: PageHolding) => boolean): number | null =>
    declared ? null : count(is);
  return [
    { title: "Members", count: count(() => true) },
    { title: "Roles", count: roles.filter(({ after }) => after !== null).length },
    {
      title: "Administrators",
      count: count((_, after) => after.roles.some((role) => administrators.has(role))),
    },
    { title: "Without MFA", count: atService((member) => mfaOf(member) === "no") },
    {
      title: "Open invitations",
      count: atService((_, { status }) => status === "pending" || status === "invited"),
    },
    { title: "Expired invitations", count: atService((_, { status }) => status === "expired") },
    {
      title: "Ending within 30 days",
      count: count(({ ends = [] }) => ends.some((end) => end.ends > now && end.ends - now <= MONTH)),
    },
    ...(merchant.rules === undefined
      ? []
      : [{ title: "Failed rules", count: merchant.rules.filter(isFailed).length }]),
  ];
}

function isFailed({ after }: PageRule): boolean {
  return after.status === "failed";
}
