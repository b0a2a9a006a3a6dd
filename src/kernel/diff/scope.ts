import type { IgnorePatterns } from "../../model/desired.ts";
import type { LiveMember, LiveRole, LiveState } from "../../model/live.ts";
import { isTemporaryName, permanentName } from "../fields/temporary-name.ts";
import { orderedState } from "./ordered-state.ts";

/** Tests a text against a glob. */
export type GlobMatch = (glob: string, text: string) => boolean;

/** The live state without the roles and members that the file ignores. */
export interface Scope {
  /** Roles that are not ignored; those with a temporary name have their former name. */
  readonly roles: readonly LiveRole[];
  readonly members: readonly LiveMember[];
  /** Ids of the roles to which an earlier run gave a temporary name. */
  readonly temporarilyNamed: ReadonlySet<string>;
  /** Ids and names of the ignored roles. */
  readonly ignoredRoles: ReadonlySet<string>;
  /** Ignored roles; members may hold them. */
  readonly ignoredLiveRoles: readonly LiveRole[];
  /** Ignored members; they may hold roles. */
  readonly ignoredMembers: readonly LiveMember[];
}

/**
 * Removes ignored roles and members from the live state, before anything is compared. Members with an address in
 * `left`, in lower case, are never ignored.
 */
export function scopeOf(
  live: LiveState,
  ignore: IgnorePatterns,
  matches: GlobMatch,
  leftBy: ReadonlySet<string> = new Set(),
): Scope {
  const ignoredRole = (role: LiveRole): boolean => matchesAny(ignore.roles, [role.name, role.id], matches);
  const ignoredMember = (member: LiveMember): boolean =>
    matchesAny(ignore.members, [...addressesOf(member), member.id], matches) &&
    !addressesOf(member).some((address) => leftBy.has(address.toLowerCase()));
  const roles = live.roles.filter((role) => !ignoredRole(role));
  const ignoredLiveRoles = roles.length === live.roles.length ? [] : live.roles.filter(ignoredRole);
  const kept = new Set(roles.map(({ id }) => id));
  const nothingIgnored = ignore.members.length === 0;
  return {
    roles: roles.map((role) => ({ ...role, name: permanentName(role.name, role.id) })),
    members: nothingIgnored ? live.members : live.members.filter((member) => !ignoredMember(member)),
    temporarilyNamed: new Set(roles.filter(({ id, name }) => isTemporaryName(name, id)).map(({ id }) => id)),
    // An id comes before a name: an ignored role whose name is another role's id does not hide that role.
    ignoredRoles: new Set(ignoredLiveRoles.flatMap(({ id, name }) => (kept.has(name) ? [id] : [id, name]))),
    ignoredLiveRoles,
    ignoredMembers: nothingIgnored ? [] : live.members.filter(ignoredMember),
  };
}

/** Returns the whole live state, in an order that does not depend on the service. */
export function wholeScope(live: LiveState): Scope {
  return scopeOf(orderedState(live), { roles: [], members: [] }, () => false);
}

/** Returns whether one of the globs matches one of the texts, ignoring case. */
export function matchesAny(globs: readonly string[], texts: readonly string[], matches: GlobMatch): boolean {
  return globs.some((glob) => texts.some((text) => matches(glob.toLowerCase(), text.toLowerCase())));
}

/** Returns a live member's addresses: the user's and the invited one. */
export function addressesOf({ user, invite }: LiveMember): readonly string[] {
  const userEmails = user?.email === undefined ? [] : [user.email];
  return invite === undefined ? userEmails : [...userEmails, invite.email];
}

/** Returns whether an address, in any case, is one of a live member's. */
export function hasAddress(member: LiveMember, email: string): boolean {
  return addressesOf(member).some((address) => address.toLowerCase() === email.toLowerCase());
}

/** Returns the address to display a live member by; `null` without a user and an invitation. */
export function addressOf({ user, invite }: LiveMember): string | null {
  return user?.email ?? invite?.email ?? null;
}

/** Returns whether a member is not a person; `null` if its type is unknown. */
export function isServiceAccount({ user }: LiveMember): boolean | null {
  switch (user?.type) {
    case undefined:
    case "user":
    case "managed_user":
      return false;
    case "service_account":
    case "system_account":
      return true;
    default:
      return null;
  }
}
