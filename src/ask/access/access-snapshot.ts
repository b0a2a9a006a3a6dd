import { hasBegun, isSuspended } from "../../kernel/diff/active-member.ts";
import { wholeScope } from "../../kernel/diff/scope.ts";
import { accessBefore, isActive, type RoleAccess, titlesOf, withId } from "../../kernel/rules/access.ts";
import { entriesByAddress } from "../../kernel/values/person.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type {
  DesiredMember,
  DesiredRole,
  DesiredState,
  Environment,
  From,
  Origin,
} from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type {
  AccessEnd,
  AccessSnapshot,
  AccessSuspension,
  HeldRole,
  HoldingStatus,
  SnapshotMember,
  SnapshotRole,
} from "../../model/questions.ts";

/**
 * Returns the access that the files declare at a time, in ms since the epoch. Ended grants are included, but give no
 * access.
 */
export function declaredSnapshot(desired: DesiredState, now: number): AccessSnapshot {
  const { merchant, environment = null, roles = [], members = [], sync } = desired;
  const declared = new Map<string, SnapshotRole>(roles.map((role) => [role.name, declaredRole(role)]));
  const keys = keysOfRoles(declared.values());
  const leaving = leaverEnds(desired);
  const namedRoles = members.flatMap((member) => (member.roles ?? []).map(({ role }) => role));
  for (const role of namedRoles) if (!keys.has(role)) declared.set(role, namedRole(role));
  return {
    merchant,
    environment,
    file: desired.origin.file,
    source: "declared",
    complete: desired.members !== undefined && sync.members === "authoritative",
    roles: [...declared.values()].sort(byName),
    members: members
      .map((member): SnapshotMember => {
        const { email, id = null, origin } = member;
        return {
          name: email,
          email,
          otherAddresses: member.previously ?? [],
          id,
          status: "declared",
          rolesKnown: !isWithoutRoles(member),
          end: membershipEnd(member, leaving(email)),
          invitedUntil: null,
          origin,
          held: joinHeld(
            declaredGrants(member, leaving(email)).map(({ role, from, end, origins }) => {
              const status = statusAt(member, { from, end }, now);
              const effective = status === "active" || status === "ends";
              const suspension = status === "suspended" ? suspensionOf(member) : null;
              return { role: keys.get(role) ?? role, from, end, status, suspension, effective, origins };
            }),
          ),
        };
      })
      .sort(byName),
  };
}

/** Returns the access in a live state, with the end dates and locations from the files. */
export function liveSnapshot(
  live: LiveState,
  desired: DesiredState,
  environment: Environment | null,
): AccessSnapshot {
  const access = accessBefore(wholeScope(live), NO_CHANGES, { mergeReplacedRoles: false });
  const roleOf = entriesOf(desired.roles ?? []);
  const titleOf = titlesOf(access.roles.values());
  const roles = new Map(
    [...access.roles].map(([key, role]) => [key, liveRole(key, role, titleOf(role), roleOf(role))] as const),
  );
  for (const key of access.people.flatMap(({ roles: held }) => held)) {
    // A role that the service no longer returns.
    if (!roles.has(key)) roles.set(key, { ...namedRole(key), id: key });
  }
  const keys = keysOfRoles(roles.values());
  const entryOf = declaredMembers(desired);
  const leaving = leaverEnds(desired);
  const invitations = new Map(live.members.map((member) => [member.id, member.invite?.expiresAt]));
  return {
    merchant: live.merchant,
    environment,
    file: desired.origin.file,
    source: "live",
    complete: true,
    roles: [...roles.values()].sort(byName),
    members: access.people
      .map((person): SnapshotMember => {
        const { id, name, email, status, roles: held } = person;
        const entry = entryOf(id ?? "", email);
        const leaves = leaving(email);
        const grants = new Map(
          (entry === undefined ? [] : declaredGrants(entry, leaves)).map((grant) => [
            keys.get(grant.role) ?? grant.role,
            grant,
          ]),
        );
        return {
          name,
          email,
          otherAddresses: [entry?.email ?? [], entry?.previously ?? []]
            .flat()
            .filter((address) => address.toLowerCase() !== email?.toLowerCase()),
          id,
          // Only a plan invites.
          status: status === "invited" ? "unknown" : status,
          rolesKnown: true,
          end: entry === undefined ? leaves : membershipEnd(entry, leaves),
          invitedUntil: status === "pending" ? (invitations.get(id ?? "") ?? null) : null,
          origin: entry?.origin ?? null,
          held: held.map((role) => ({
            role,
            from: grants.get(role)?.from ?? null,
            end: grants.get(role)?.end ?? leaves,
            status: status === "invited" ? "unknown" : status,
            suspension: null,
            effective: isActive(person),
            origins: grants.get(role)?.origins ?? [],
          })),
        };
      })
      .sort(byName),
  };
}

const NO_CHANGES = { roles: [], members: [] };

function declaredRole(role: DesiredRole): SnapshotRole {
  const { name, id = null, previously, permissions = null, origin, adjusted = null } = role;
  return {
    key: name,
    name,
    title: name,
    id,
    previousNames: previously ?? [],
    permissions,
    predefined: false,
    origin,
    adjusted,
  };
}

/** Returns a role of which only the name or id is known. */
function namedRole(name: string): SnapshotRole {
  const predefined = name.startsWith("role_");
  return {
    key: name,
    name,
    title: name,
    id: predefined ? name : null,
    previousNames: [],
    permissions: null,
    predefined,
    origin: null,
    adjusted: null,
  };
}

function liveRole(
  key: string,
  { id, name, permissions, custom }: RoleAccess,
  title: string,
  entry: DesiredRole | undefined,
): SnapshotRole {
  const { origin = null, adjusted = null, previously } = entry ?? {};
  return {
    key,
    name,
    title: custom || id === null || id === name ? title : withId(name, id),
    id,
    previousNames: previously ?? [],
    permissions,
    predefined: !custom,
    origin,
    adjusted,
  };
}

/** Returns the keys of roles by their previous names, names and ids; of equal ones, an id comes before a name. */
function keysOfRoles(roles: Iterable<SnapshotRole>): ReadonlyMap<string, string> {
  const roleList = [...roles];
  const keys = new Map<string, string>();
  for (const { previousNames, key } of roleList) for (const name of previousNames) keys.set(name, key);
  for (const { name, key, predefined } of roleList) if (predefined) keys.set(name, key);
  for (const { name, key, predefined } of roleList) if (!predefined) keys.set(name, key);
  for (const { id, key } of roleList) if (id !== null) keys.set(id, key);
  return keys;
}

/** Finds the file's entry of a live role: by its id, its name, or its previous name. */
function entriesOf(roles: readonly DesiredRole[]): (role: RoleAccess) => DesiredRole | undefined {
  const byId = new Map(roles.flatMap((role) => (role.id === undefined ? [] : [[role.id, role]])));
  const names = new Map(roles.map((role) => [role.name, role]));
  const previous = new Map(
    roles.flatMap((role) => (role.previously ?? []).map((name) => [name, role] as const)),
  );
  return ({ id, name, custom }) =>
    byId.get(id ?? "") ?? (custom ? (names.get(name) ?? previous.get(name)) : undefined);
}

/** Finds the file's entry of a live member, by its id or address, which may be a previous one. */
export function declaredMembers({
  members = [],
}: DesiredState): (id: string, email: string | null) => DesiredMember | undefined {
  const byId = new Map(members.flatMap((member) => (member.id === undefined ? [] : [[member.id, member]])));
  const byAddress = entriesByAddress(members);
  return (id, email) => byId.get(id) ?? (email === null ? undefined : byAddress.get(email.toLowerCase()));
}

/** A grant with its end, or its membership's, and its locations. */
interface DeclaredGrant {
  readonly role: string;
  readonly from: From | null;
  readonly end: AccessEnd | null;
  readonly origins: readonly Origin[];
}

function declaredGrants(member: DesiredMember, leaves: AccessEnd | null): readonly DeclaredGrant[] {
  const { roles = [], origin } = member;
  const whole = membershipEnd(member, leaves);
  return roles.map((grant, index) => {
    const origins = grant.origins ?? [{ file: origin.file, path: [...origin.path, "roles", index] }];
    const grantEnd: AccessEnd | null =
      grant.until === undefined
        ? null
        : { by: "grant", ...grant.until, origins: origins.map((place) => fieldOf(place, "until")) };
    return {
      role: grant.role,
      from: later(grant.from ?? null, member.from ?? null),
      end: earlier(grantEnd, whole),
      origins,
    };
  });
}

function membershipEnd({ until, origin, setAt }: DesiredMember, leaves: AccessEnd | null): AccessEnd | null {
  if (until === undefined) return leaves;
  return earlier({ by: "membership", ...until, origins: [fieldOf(setAt?.until ?? origin, "until")] }, leaves);
}

function suspensionOf({ suspended, origin, setAt }: DesiredMember): AccessSuspension {
  return { until: suspended?.until ?? null, origin: fieldOf(setAt?.suspended ?? origin, "suspended") };
}

function fieldOf({ file, path }: Origin, key: string): Origin {
  return { file, path: [...path, key] };
}

function later(first: From | null, other: From | null): From | null {
  if (first === null || other === null) return first ?? other;
  return other.starts > first.starts ? other : first;
}

function earlier(first: AccessEnd | null, other: AccessEnd | null): AccessEnd | null {
  if (first === null || other === null) return first ?? other;
  return other.ends < first.ends ? other : first;
}

/** Returns a lookup of when somebody leaves. */
function leaverEnds({ leavers = [] }: DesiredState): (email: string | null) => AccessEnd | null {
  const ends = new Map(
    leavers.map(({ email, from: { text, starts }, origin }): [string, AccessEnd] => [
      email.toLowerCase(),
      { by: "leaver", text, ends: starts, origins: [fieldOf(origin, "from")] },
    ]),
  );
  return (email) => ends.get(email?.toLowerCase() ?? "") ?? null;
}

function statusAt(
  member: DesiredMember,
  { from, end }: Pick<DeclaredGrant, "from" | "end">,
  now: number,
): HoldingStatus {
  if (end !== null && end.ends <= now) return "ended";
  if (!hasBegun(from ?? undefined, now)) return "not-begun";
  if (isSuspended(member, now)) return "suspended";
  return end === null ? "active" : "ends";
}

/** Returns whether the files leave a member's roles as they are. */
function isWithoutRoles({ roles, managed }: DesiredMember): boolean {
  return roles === undefined && managed === undefined;
}

/** Joins the grants of one role that is granted both by name and by id; they have the same end. */
function joinHeld(held: readonly HeldRole[]): readonly HeldRole[] {
  if (new Set(held.map(({ role }) => role)).size === held.length) return held;
  const joined = new Map<string, HeldRole>();
  for (const heldRole of held) {
    const earlierRole = joined.get(heldRole.role);
    joined.set(
      heldRole.role,
      earlierRole ? { ...earlierRole, origins: [...earlierRole.origins, ...heldRole.origins] } : heldRole,
    );
  }
  return [...joined.values()];
}

/** Compares by name, regardless of case first. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return byCodeUnit(a.name.toLowerCase(), b.name.toLowerCase()) || byCodeUnit(a.name, b.name);
}
