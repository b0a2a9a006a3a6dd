import { addressesOf, type GlobMatch, matchesAny, type Scope } from "../kernel/diff/scope.ts";
import { toRefusal } from "../kernel/findings/refusals.ts";
import {
  DEFAULT_REMOVAL_LIMIT,
  type DesiredMember,
  type GuardSettings,
  type RemovalLimit,
} from "../model/desired.ts";
import type { MemberChange, Refusal, RoleChange } from "../model/plan.ts";
import { type Access, type AccessChanges, granting } from "./access.ts";
import { changedAddresses, lostByNewAddress } from "./changed-addresses.ts";

/** The input of the guards. */
export interface Guarded {
  readonly settings: GuardSettings;
  /** The declared members: `protect` also matches a pinned member by the address in its entry. */
  readonly entries: readonly DesiredMember[];
  readonly scope: Scope;
  readonly changes: AccessChanges;
  /** Changes that wait for others to accept: `protect` refuses them at once. */
  readonly deferred: AccessChanges;
  readonly before: Access;
  readonly after: Access;
  /** The member that the API key belongs to. */
  readonly callerId: string | null;
  readonly matches: GlobMatch;
}

/** Returns the refusals of all guards except `min_holders`, which can also defer. */
export function guardPlan(all: Guarded): readonly Refusal[] {
  // Expired invitations beside a membership give nobody access.
  const withoutLeftovers = ({ roles, members }: AccessChanges): AccessChanges => ({
    roles,
    members: members.filter(({ kind, reason }) => kind !== "delete" || reason !== "invitation-expired"),
  });
  const guarded = {
    ...all,
    changes: withoutLeftovers(all.changes),
    deferred: withoutLeftovers(all.deferred),
  };
  return [
    ...guardRemovals(guarded),
    ...guardAddresses(guarded),
    ...guardProtected(guarded),
    ...guardCaller(guarded),
  ];
}

/** The number that a share above 0 % always allows. */
export const ALWAYS_ALLOWED = 3;

/**
 * Refuses too many removals and demotions at once, which are usually a mistake; roles and members are counted
 * separately.
 */
function guardRemovals({ settings, entries, scope, changes, after }: Guarded): readonly Refusal[] {
  const limit = settings.maxRemovals ?? DEFAULT_REMOVAL_LIMIT;
  const replaced = replacedBy(changes);
  const rolesOf = (address: string): readonly string[] =>
    after.people.find((person) => person.status === "accepted" && person.email?.toLowerCase() === address)
      ?.roles ?? [];
  const takes = (change: MemberChange): boolean =>
    change.reason === "address-changed"
      ? lostByNewAddress(change, entries, rolesOf)
      : takesRoles(change, replaced);
  const judge = (resource: "role" | "member", removals: number, live: number): readonly Refusal[] => {
    const allowed = allowedRemovals(limit, live);
    return removals > allowed ? [toRefusal({ code: "max-removals", resource, removals, live, allowed })] : [];
  };
  return [
    ...judge(
      "role",
      changes.roles.filter(takesPermissions).length,
      scope.roles.filter(({ predefined }) => !predefined).length,
    ),
    ...judge("member", changes.members.filter(takes).length, scope.members.length),
  ];
}

/** Refuses to take access at once from several people whose address has probably changed. */
function guardAddresses({ changes }: Guarded): readonly Refusal[] {
  const people = changedAddresses(changes.members);
  const [first] = people;
  if (first === undefined || people.length <= ALWAYS_ALLOWED) return [];
  const { name, previously } = first;
  return [toRefusal({ code: "changed-addresses", people: people.length, name, previously })];
}

/** Returns how many removals a limit allows of so many that are live. */
export function allowedRemovals(limit: RemovalLimit, live: number): number {
  if ("count" in limit) return limit.count;
  const share = Math.floor((live * limit.percent) / 100);
  return limit.percent === 0 ? 0 : Math.max(share, ALWAYS_ALLOWED);
}

function takesPermissions({ kind, fields }: RoleChange): boolean {
  return kind === "delete" || fields.some((diff) => diff.field === "permissions" && diff.removed.length > 0);
}

/** Returns whether a member is removed, or loses a role without gaining its successor. */
function takesRoles({ kind, fields }: MemberChange, replaced: ReadonlySet<string>): boolean {
  if (kind === "delete") return true;
  if (kind !== "update") return false;
  return fields.some(
    (diff) =>
      diff.field === "roles" &&
      // The successor of a replaced role counts as the same role; another role of that name does not.
      diff.removed.some(
        ({ id, name }) => !(replaced.has(id ?? "") && diff.added.some((added) => added.name === name)),
      ),
  );
}

/** Returns the ids of replaced roles. */
function replacedBy({ roles }: AccessChanges): ReadonlySet<string> {
  return new Set(roles.flatMap(({ kind, id }) => (kind === "replace" && id !== null ? id : [])));
}

/** Returns whether a member only moves from replaced roles to their successors. */
function movesAlong(change: MemberChange, replaced: ReadonlySet<string>): boolean {
  return (
    change.kind === "update" &&
    !takesRoles(change, replaced) &&
    change.fields.every((diff) => diff.field === "roles" && diff.added.length === diff.removed.length)
  );
}

function guardProtected({
  settings: { protect },
  entries,
  scope,
  changes: due,
  deferred,
  matches,
}: Guarded): readonly Refusal[] {
  if (protect.roles.length + protect.members.length === 0) return [];
  const addresses = new Map(scope.members.map((member) => [member.id, addressesOf(member)]));
  const pinned = new Map(
    entries.flatMap(({ id, email }) => (id === undefined ? [] : [[id, email] as const])),
  );
  const changes = {
    roles: [...due.roles, ...deferred.roles],
    members: [...due.members, ...deferred.members],
  };
  const replaced = replacedBy(changes);
  const touched = [
    ...changes.roles.filter(({ kind }) => kind !== "create"),
    ...changes.members.filter((change) => change.kind !== "create" && !movesAlong(change, replaced)),
  ];
  return touched.flatMap((change) => {
    const { resource, name, kind, id, before } = change;
    const [isRole, key] = [resource === "role", id ?? ""];
    const others = isRole ? [] : [...(addresses.get(key) ?? []), pinned.get(key) ?? name];
    const names = [id ?? name, name, nameOf(before) ?? name, ...others];
    const globs = isRole ? protect.roles : protect.members;
    return matchesAny(globs, names, matches) ? [toRefusal({ code: "protect", resource, name, kind })] : [];
  });
}

function nameOf(image: RoleChange["before"] | MemberChange["before"]): string | null {
  if (image === null) return null;
  return "permissions" in image ? image.name : image.email;
}

/** The permissions that the next run needs, to read everything and to undo a change. */
const NEEDED = [
  "roles_list",
  "roles_view",
  "roles_create",
  "roles_update",
  "roles_delete",
  "merchant_read",
  "members_view",
  "members_create",
  "members_update",
  "members_delete",
] as const;

function guardCaller({ callerId, before, after }: Guarded): readonly Refusal[] {
  if (callerId === null) return [];
  const caller = ({ people }: Access) => people.find(({ id }) => id === callerId);
  const [was, is] = [caller(before), caller(after)];
  if (was === undefined) return [];
  if (is === undefined) return [toRefusal({ code: "self-lockout", name: was.name, removed: true, lost: [] })];
  const had = granting(before)(was);
  const has = granting(after)(is);
  const lost = [
    ...NEEDED.filter((permission) => had.permissions.has(permission) && !has.permissions.has(permission)),
    ...had.unknown.filter((role) => !has.unknown.includes(role)).map((role) => `what ${role} grants`),
  ];
  return lost.length > 0 ? [toRefusal({ code: "self-lockout", name: was.name, removed: false, lost })] : [];
}
