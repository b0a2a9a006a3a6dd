import type { Change, MemberChange, Plan, RoleChange } from "../model/plan.ts";
import { planFingerprint } from "./fingerprint.ts";
import type { AccessChanges } from "./judge/access.ts";

/** A change that cannot be made without another one. */
interface Tie {
  /** Fingerprint of the one that depends on it. */
  readonly dependent: string;
  /** Why, as the end of "left out too: …". */
  readonly why: string;
}

/** Fingerprint of a change → what has to be left out when it is. */
export type Ties = ReadonlyMap<string, readonly Tie[]>;

/** What is left out: fingerprint → why, or null for what was chosen to be. */
export type LeftOut = ReadonlyMap<string, string | null>;

/** Which of a plan's changes cannot be made without which other ones. */
export function tiesOf(changes: readonly Change[]): Ties {
  const roles = changes.filter((change) => change.resource === "role");
  const members = changes.filter((change) => change.resource === "member");
  const ties = new Map<string, Tie[]>();
  for (const [needed, dependent, why] of [
    ...grantsOfNewRoles(roles, members),
    ...holdersOfLeavingRoles(roles, members),
    ...namesInUse(roles),
    ...invitationsInTheWay(members),
  ]) {
    const known = ties.get(needed.fingerprint) ?? [];
    known.push({ dependent: dependent.fingerprint, why });
    ties.set(needed.fingerprint, known);
  }
  return ties;
}

/** Everything that is left out when these are: they, and whatever cannot be made without them. */
export function leftOutWith(ties: Ties, chosen: Iterable<string>): LeftOut {
  const out = new Map<string, string | null>();
  const queue: string[] = [];
  for (const fingerprint of chosen) {
    out.set(fingerprint, null);
    queue.push(fingerprint);
  }
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const { dependent, why } of ties.get(next) ?? []) {
      if (out.has(dependent)) continue;
      out.set(dependent, why);
      queue.push(dependent);
    }
  }
  return out;
}

/** The changes that stay when some are left out, and whatever cannot be made without those. */
export function withoutLeftOut(changes: AccessChanges, chosen: ReadonlySet<string>): AccessChanges {
  if (chosen.size === 0) return changes;
  const out = leftOutWith(tiesOf([...changes.roles, ...changes.members]), chosen);
  return {
    roles: changes.roles.filter(({ fingerprint }) => !out.has(fingerprint)),
    members: changes.members.filter(({ fingerprint }) => !out.has(fingerprint)),
  };
}

/**
 * What somebody who has seen a plan approves by leaving changes out: the changes that stay, to hold a fresh plan
 * against with `approve`. Its sums and its impact are still those of the whole plan; it is not for showing.
 */
export function approvedPart(plan: Plan, chosen: ReadonlySet<string>): Plan {
  if (chosen.size === 0) return plan;
  const out = leftOutWith(tiesOf(plan.changes), chosen);
  const changes = plan.changes.filter(({ fingerprint }) => !out.has(fingerprint));
  return { ...plan, changes, deferred: [], fingerprint: planFingerprint(plan, changes) };
}

type Found = readonly [needed: Change, dependent: Change, why: string];

/** A role that is not created cannot be given to anybody. */
function* grantsOfNewRoles(roles: readonly RoleChange[], members: readonly MemberChange[]): Generator<Found> {
  const created = new Map(
    roles.flatMap((change) =>
      change.kind === "create" || (change.kind === "replace" && change.resumed === null)
        ? [[change.name, change]]
        : [],
    ),
  );
  for (const member of members) {
    for (const { id, name } of member.after?.roles ?? []) {
      const role = id === null ? created.get(name) : undefined;
      if (role) yield [role, member, `it needs the role ${name}`];
    }
  }
}

/** A role that somebody still holds cannot be removed. */
function* holdersOfLeavingRoles(
  roles: readonly RoleChange[],
  members: readonly MemberChange[],
): Generator<Found> {
  const leaving = new Map(
    roles.flatMap((change) =>
      change.kind === "delete" || change.kind === "replace" ? [[change.id, change]] : [],
    ),
  );
  if (leaving.size === 0) return;
  for (const member of members) {
    const kept = new Set(member.after?.roles.map(({ id }) => id));
    for (const { id } of member.before?.roles ?? []) {
      const role = id === null || kept.has(id) ? undefined : leaving.get(id);
      if (role) yield [member, role, `${member.name} still holds it`];
    }
  }
}

/** The service knows no two roles of one name. */
function* namesInUse(roles: readonly RoleChange[]): Generator<Found> {
  const holders = new Map(roles.flatMap((change) => (change.before ? [[change.before.name, change]] : [])));
  for (const role of roles) {
    const name = role.after?.name;
    const holder = name === undefined ? undefined : holders.get(name);
    if (name !== undefined && holder && holder !== role && role.before?.name !== name) {
      yield [holder, role, `the name ${name} is still taken`];
    }
  }
}

/** An expired invitation may stand in the way of a new one. */
function* invitationsInTheWay(members: readonly MemberChange[]): Generator<Found> {
  const invited = new Map(
    members.flatMap((change) =>
      change.kind === "create" || change.kind === "replace" ? [[change.name.toLowerCase(), change]] : [],
    ),
  );
  for (const member of members) {
    if (member.kind !== "delete" || member.reason !== "invitation-expired") continue;
    const invitation = invited.get(member.name.toLowerCase());
    if (invitation) yield [member, invitation, "an expired invitation is in its way"];
  }
}
