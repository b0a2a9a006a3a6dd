import type { IgnorePatterns } from "../model/desired.ts";
import type { LiveMember, LiveRole, LiveState } from "../model/live.ts";
import { TEMPORARY_SUFFIX } from "../model/plan.ts";

/** Whether a glob matches a text. */
export type Matches = (glob: string, text: string) => boolean;

/** The live state as a plan sees it. */
export interface Scope {
  /** Without the ignored ones; those that an earlier run set aside stand under the name they had. */
  readonly roles: readonly LiveRole[];
  readonly members: readonly LiveMember[];
  /** Ids of the roles that an earlier run set aside. */
  readonly setAside: ReadonlySet<string>;
  /** Ids and names of roles that nothing may be done with. */
  readonly ignoredRoles: ReadonlySet<string>;
  /** Roles that are left out, but may be held. */
  readonly ignoredLiveRoles: readonly LiveRole[];
  /** Members who are left out, but may hold roles. */
  readonly ignoredMembers: readonly LiveMember[];
}

/** Leaves out what the file tells to ignore, before anything is compared. */
export function scopeOf(live: LiveState, ignore: IgnorePatterns, matches: Matches): Scope {
  const ignoredRole = (role: LiveRole): boolean => matchesAny(ignore.roles, [role.name, role.id], matches);
  const ignoredMember = (member: LiveMember): boolean =>
    matchesAny(ignore.members, [...addressesOf(member), member.id], matches);
  const roles = live.roles.filter((role) => !ignoredRole(role));
  const ignoredLiveRoles = roles.length === live.roles.length ? [] : live.roles.filter(ignoredRole);
  const all = ignore.members.length === 0;
  return {
    roles: roles.map((role) => ({ ...role, name: nameBeforeSetAside(role.name) })),
    members: all ? live.members : live.members.filter((member) => !ignoredMember(member)),
    setAside: new Set(roles.filter(({ name }) => name.endsWith(TEMPORARY_SUFFIX)).map(({ id }) => id)),
    ignoredRoles: new Set(ignoredLiveRoles.flatMap(({ id, name }) => [id, name])),
    ignoredLiveRoles,
    ignoredMembers: all ? [] : live.members.filter(ignoredMember),
  };
}

/** Whether one of the globs matches one of the texts; addresses and ids are compared without regard to case. */
export function matchesAny(globs: readonly string[], texts: readonly string[], matches: Matches): boolean {
  return globs.some((glob) => texts.some((text) => matches(glob.toLowerCase(), text.toLowerCase())));
}

/** Every address that a live member is known by. */
export function addressesOf({ user, invite }: LiveMember): readonly string[] {
  const own = user?.email === undefined ? [] : [user.email];
  return invite === undefined ? own : [...own, invite.email];
}

/** The address that a live member is shown by; null where it has neither a user nor an invitation. */
export function addressOf({ user, invite }: LiveMember): string | null {
  return user?.email ?? invite?.email ?? null;
}

/** Whether somebody is a user that the merchant manages. */
export function isManaged({ user }: LiveMember): boolean {
  return user?.type === "managed_user";
}

/** Whether nobody logs in as this member; null where its type is not known. */
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

function nameBeforeSetAside(name: string): string {
  return name.endsWith(TEMPORARY_SUFFIX) ? name.slice(0, -TEMPORARY_SUFFIX.length) : name;
}
