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

/** The text for what the files of a declared report do not say. */
export const NOT_IN_FILES = "not known from files";

/** Members that a report counts, and lists by themselves. */
export interface MemberGroup {
  /** Name in links. */
  readonly id: string;
  readonly title: string;
  /** Returns whether a member is one of them; `null` if the files do not say. */
  readonly is: ((member: PageMember) => boolean) | null;
}

const MONTH = 30 * 86_400_000;

/** Returns the groups of a merchant's members that are worth a look; expired and disabled ones hold nothing. */
export function memberGroups(
  { roles, permissions }: PageMerchant,
  { now, about }: Pick<PageData, "now" | "about">,
): readonly MemberGroup[] {
  const rolesThat = (is: (role: PageRole) => boolean): ReadonlySet<number> =>
    new Set(roles.flatMap((role, index) => (is(role) ? [index] : [])));
  const isAdministrator = ({ id }: PageRole): boolean => id === "role_owner" || id === "role_admin";
  const administrators = rolesThat(isAdministrator);
  const sensitive = rolesThat(
    (role) =>
      // Whatever their permissions are: the files do not list them.
      isAdministrator(role) ||
      (Array.isArray(role.after) && role.after.some((one: number) => permissions[one]?.sensitive)),
  );
  const holders =
    (some: ReadonlySet<number>) =>
    ({ after }: PageMember): boolean =>
      isActiveHolding(after) && after.roles.some((role) => some.has(role));
  const atService = (is: (member: PageMember) => boolean): MemberGroup["is"] =>
    about === "declared" ? null : is;
  return [
    { id: "all", title: "Members", is: ({ after }) => after !== null },
    { id: "administrators", title: "Administrators", is: holders(administrators) },
    { id: "sensitive", title: "Hold sensitive permissions", is: holders(sensitive) },
    {
      id: "mfa",
      title: "Without MFA",
      is: atService((member) => member.after !== null && mfaOf(member) === "no"),
    },
    {
      id: "open",
      title: "Open invitations",
      is: atService(({ after }) => after?.status === "pending" || after?.status === "invited"),
    },
    {
      id: "expired",
      title: "Expired invitations",
      is: atService(({ after }) => after?.status === "expired"),
    },
    {
      id: "ending",
      title: "Ending within 30 days",
      is: ({ after, ends = [] }) =>
        after !== null && ends.some((end) => end.ends > now && end.ends - now <= MONTH),
    },
  ];
}

/** A number of a merchant's members; `null` if it is not known from the files. */
export interface Measure {
  readonly title: string;
  readonly count: number | null;
}

/** Returns the numbers of a merchant that a report opens with. */
export function measuresOf(
  merchant: PageMerchant,
  data: Pick<PageData, "now" | "about">,
): readonly Measure[] {
  const { members, roles, rules } = merchant;
  const [first, ...others] = memberGroups(merchant, data).map(({ title, is }) => ({
    title,
    count: is && members.filter(is).length,
  }));
  return [
    ...(first === undefined ? [] : [first]),
    { title: "Roles", count: roles.filter(({ after }) => after !== null).length },
    ...others,
    ...(rules === undefined ? [] : [{ title: "Failed rules", count: rules.filter(isFailed).length }]),
  ];
}

function isFailed({ after }: PageRule): boolean {
  return after.status === "failed";
}
