import type {
  PageData,
  PageGrants,
  PageHolding,
  PageMember,
  PageMerchant,
  PageRole,
  PageRule,
} from "../page-data.ts";

/** A point in time: before or after the plan. */
export type Side = "before" | "after";

/** Returns the roles of a member at one point in time; `null` if it is not a member. */
export function holdingOf(member: PageMember, side: Side): PageHolding | null {
  return side === "before" && member.before !== undefined ? member.before : member.after;
}

/** Returns the permissions of a role at one point in time. */
export function grantsOf(role: PageRole, side: Side): PageGrants {
  return side === "before" && role.before !== undefined ? role.before : role.after;
}

/** Returns whether a member can use its roles, now or on accepting. */
export function isActiveHolding(holding: PageHolding | null): holding is PageHolding {
  return holding !== null && holding.status !== "expired" && holding.status !== "disabled";
}

/**
 * The permissions of a member at one point in time, each with the roles that grant it, and the roles with unknown
 * permissions.
 */
export interface Effective {
  readonly permissions: ReadonlyMap<number, readonly number[]>;
  readonly unknown: readonly number[];
}

/** Returns the permissions of a member at one point in time, and their sources. */
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

/** The text for facts that the files of a declared report do not contain. */
export const NOT_IN_FILES = "not known from the files";

/** A group of members that a report counts, and can list. */
export interface MemberGroup {
  /** Name in links. */
  readonly id: string;
  readonly title: string;
  /** Returns whether a member is in the group; `null` if the files do not say. */
  readonly is: ((member: PageMember) => boolean) | null;
  /** Returns whether a member who is not in the group as far as known could be in it. */
  readonly mayBe?: (member: PageMember) => boolean;
}

/** Returns how many members are in a group, as text: "at least 3" where the permissions of roles are not known. */
export function countText(count: number, isAtLeast: boolean): string {
  return `${isAtLeast ? "at least " : ""}${count.toLocaleString("en-US")}`;
}

/** Returns the number of members of a group, and whether there could be more. */
export function countGroup(
  { is, mayBe }: MemberGroup,
  members: readonly PageMember[],
): { readonly count: number | null; readonly isAtLeast: boolean } {
  if (is === null) return { count: null, isAtLeast: false };
  const isAtLeast = mayBe !== undefined && members.some((member) => !is(member) && mayBe(member));
  return { count: members.filter(is).length, isAtLeast };
}

const MONTH = 30 * 86_400_000;

/** Returns whether holders of a role may do nearly everything. */
function isAdministrator({ id }: PageRole): boolean {
  return id === "role_owner" || id === "role_admin";
}

/** Returns the groups of a merchant's members that deserve attention; expired and disabled members hold nothing. */
export function memberGroups(
  { roles, permissions }: PageMerchant,
  { now, about }: Pick<PageData, "now" | "about">,
): readonly MemberGroup[] {
  const rolesThat = (matches: (role: PageRole) => boolean): ReadonlySet<number> =>
    new Set(roles.flatMap((role, index) => (matches(role) ? [index] : [])));
  const administrators = rolesThat(isAdministrator);
  const sensitive = rolesThat(
    (role) =>
      // Their permissions do not matter: the files do not list them.
      isAdministrator(role) ||
      (Array.isArray(role.after) &&
        role.after.some((permission: number) => permissions[permission]?.sensitive)),
  );
  const holders =
    (some: ReadonlySet<number>) =>
    ({ after }: PageMember): boolean =>
      isActiveHolding(after) && after.roles.some((role) => some.has(role));
  const atService = (matches: (member: PageMember) => boolean): MemberGroup["is"] =>
    about === "declared" ? null : matches;
  return [
    { id: "all", title: "Members", is: ({ after }) => after !== null },
    { id: "administrators", title: "Administrators", is: holders(administrators) },
    {
      id: "sensitive",
      title: "Hold sensitive permissions",
      is: holders(sensitive),
      mayBe: holders(rolesThat(({ after }) => after === "unknown")),
    },
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
  /** True if the count could be larger, because the permissions of some roles are not known. */
  readonly isAtLeast?: boolean;
}

/** Returns the numbers of a merchant at the beginning of a report. */
export function measuresOf(
  merchant: PageMerchant,
  data: Pick<PageData, "now" | "about">,
): readonly Measure[] {
  const { members, roles, rules } = merchant;
  const [first, ...otherGroups] = memberGroups(merchant, data).map((group) => ({
    title: group.title,
    ...countGroup(group, members),
  }));
  return [
    ...(first === undefined ? [] : [first]),
    { title: "Roles", count: roles.filter(({ after }) => after !== null).length },
    ...otherGroups,
    ...(rules === undefined ? [] : [{ title: "Failed rules", count: rules.filter(isFailed).length }]),
  ];
}

/** Returns whether a rule is violated: after the plan, if there is one. */
export function isFailed({ after }: PageRule): boolean {
  return after.status === "failed";
}

/** The extent of what a member may do; `unknown` if the permissions of one of its roles are not known. */
export interface MemberReach {
  readonly administrator: boolean;
  /** Number of its sensitive permissions. */
  readonly sensitive: number;
  readonly unknown: boolean;
}

/**
 * Returns a function that determines how much members may do at one point in time; members with the same roles share a
 * result.
 */
export function sensitivities(merchant: PageMerchant, side: Side): (member: PageMember) => MemberReach {
  const grants = grantsAt(merchant, side);
  return (member) => {
    const { roles, permissions, unknown } = grants(member);
    return {
      administrator: roles.some((index) => isAdministratorAt(merchant, index)),
      sensitive: permissions.filter((index) => merchant.permissions[index]?.sensitive).length,
      unknown,
    };
  };
}

function isAdministratorAt({ roles }: PageMerchant, index: number): boolean {
  const role = roles[index];
  return role !== undefined && isAdministrator(role);
}

/** The roles and permissions of a member who can use them. */
interface Grants {
  readonly roles: readonly number[];
  readonly permissions: readonly number[];
  readonly unknown: boolean;
}

const NO_GRANTS: Grants = { roles: [], permissions: [], unknown: false };

function grantsAt({ roles }: PageMerchant, side: Side): (member: PageMember) => Grants {
  const grantsByRoles = new Map<string, Grants>();
  return (member) => {
    const holding = holdingOf(member, side);
    if (!isActiveHolding(holding)) return NO_GRANTS;
    const key = holding.roles.join();
    const grants = grantsByRoles.get(key) ?? grantsOfRoles(holding.roles);
    grantsByRoles.set(key, grants);
    return grants;
  };

  function grantsOfRoles(held: readonly number[]): Grants {
    const sides = held.flatMap((index) => roles[index] ?? []).map((role) => grantsOf(role, side));
    return {
      roles: held,
      permissions: [...new Set(sides.flatMap((side) => (side === "unknown" || side === null ? [] : side)))],
      unknown: sides.includes("unknown"),
    };
  }
}

/** The people with each permission and each role who can use them, as indexes of members. */
export interface Holders {
  readonly byPermission: readonly (readonly number[])[];
  readonly byRole: readonly (readonly number[])[];
}

/** Returns who has each permission and each role at one point in time. */
export function holdersAt(merchant: PageMerchant, side: Side): Holders {
  const byPermission: number[][] = merchant.permissions.map(() => []);
  const byRole: number[][] = merchant.roles.map(() => []);
  const grants = grantsAt(merchant, side);
  for (const [index, member] of merchant.members.entries()) {
    const { roles, permissions } = grants(member);
    for (const permission of permissions) byPermission[permission]?.push(index);
    for (const role of roles) byRole[role]?.push(index);
  }
  return { byPermission, byRole };
}

/** The members who gain and lose a permission by a plan, as indexes. */
export interface PermissionImpact {
  readonly permission: number;
  readonly gained: readonly number[];
  readonly lost: readonly number[];
}

/** Returns who gains and loses which permission by the plan: sensitive ones first, then those of most people. */
export function permissionImpacts(merchant: PageMerchant): readonly PermissionImpact[] {
  const gained: number[][] = merchant.permissions.map(() => []);
  const lost: number[][] = merchant.permissions.map(() => []);
  const [before, after] = [grantsAt(merchant, "before"), grantsAt(merchant, "after")];
  for (const [index, member] of merchant.members.entries()) {
    const [had, has] = [before(member).permissions, after(member).permissions];
    for (const permission of has) if (!had.includes(permission)) gained[permission]?.push(index);
    for (const permission of had) if (!has.includes(permission)) lost[permission]?.push(index);
  }
  const isSensitive = ({ permission }: PermissionImpact): boolean =>
    merchant.permissions[permission]?.sensitive ?? false;
  const size = (impact: PermissionImpact): number => impact.gained.length + impact.lost.length;
  return merchant.permissions
    .map((_, permission) => ({
      permission,
      gained: gained[permission] ?? [],
      lost: lost[permission] ?? [],
    }))
    .filter((impact) => size(impact) > 0)
    .sort((a, b) => Number(isSensitive(b)) - Number(isSensitive(a)) || size(b) - size(a));
}

/** An end of access, or of an open invitation. */
export interface EndOfAccess {
  readonly member: PageMember;
  readonly kind: "grant" | "membership" | "invitation";
  /** The role; empty for the others. */
  readonly role: string;
  /** As written in the file, or the day. */
  readonly text: string;
  /** The first moment without it, in ms since the epoch. */
  readonly ends: number;
}

/** Returns the ends, the earliest first; an invitation that a plan renews or removes no longer ends. */
export function endingsOf({ members }: PageMerchant): readonly EndOfAccess[] {
  return members
    .flatMap((member): readonly EndOfAccess[] => {
      const { ends = [], invitedUntil, after } = member;
      const isOpen = after?.status === "pending" || after?.status === "expired";
      return [
        ...ends.map(({ role, text, ends: moment }): EndOfAccess => {
          const kind = role === null ? "membership" : "grant";
          return { member, kind, role: role ?? "", text, ends: moment };
        }),
        ...(isOpen && invitedUntil !== undefined
          ? [{ member, kind: "invitation", role: "", text: dayOf(invitedUntil), ends: invitedUntil } as const]
          : []),
      ];
    })
    .sort((a, b) => a.ends - b.ends);
}

function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

/** The range of a timeline, in ms since the epoch. */
export interface TimeRange {
  readonly first: number;
  readonly last: number;
}

const YEAR = 365 * 86_400_000;

/** Returns the range of a timeline, in which a distant end does not take space from the near ones. */
export function timeRange(endings: readonly Pick<EndOfAccess, "ends">[], now: number): TimeRange {
  const moments = endings.map(({ ends }) => ends);
  const near = moments.filter((moment) => moment >= now - YEAR && moment <= now + 2 * YEAR);
  const first = Math.min(now - MONTH / 4, ...near);
  const last = Math.max(now + MONTH, ...near);
  return {
    first,
    last: last === now + MONTH && moments.some((moment) => moment > last) ? now + 2 * YEAR : last,
  };
}
