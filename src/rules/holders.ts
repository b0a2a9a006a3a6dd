import { addressOf } from "../kernel/diff/scope.ts";
import type { FindingData } from "../kernel/findings/findings.ts";
import { toRefusal } from "../kernel/findings/refusals.ts";
import { by, byCodeUnit } from "../lib/text.ts";
import type { GuardSettings } from "../model/desired.ts";
import type { LiveMember } from "../model/live.ts";
import type { Deferred, MemberChange, Refusal, RoleChange } from "../model/plan.ts";
import {
  type Access,
  type AccessChanges,
  type DeclaredRoles,
  type PersonAccess,
  roleFinder,
} from "./access.ts";
import { holdersOf } from "./impact.ts";

/** The role of the default minimum: without an owner, nobody can restore access. */
const OWNER = "role_owner";
const OWNERS = 1;

/** The minimum where `min_holders` names no owner. */
export const DEFAULT_MIN_HOLDERS: Readonly<Record<string, number>> = { [OWNER]: OWNERS };

/** A removal that is deferred so that a role keeps enough holders. */
export type DeferredForRole = Deferred & { readonly role: string };

/** The keys of the roles that the file declares, and the member that the API key belongs to. */
export interface HolderContext {
  readonly declared: DeclaredRoles;
  readonly callerId: string | null;
}

/** The result of the guard `min_holders`. */
export interface MinHolders {
  /** Removals that are deferred until others have accepted. */
  readonly deferred: readonly DeferredForRole[];
  readonly refusals: readonly Refusal[];
  readonly findingData: readonly FindingData[];
}

/**
 * Keeps enough accepted holders of each role. A removal is deferred if open invitations would make up for it, and
 * refused otherwise. A role that already has too few holders and loses none is only reported.
 */
export function guardMinHolders(
  settings: GuardSettings["minHolders"],
  before: Access,
  after: Access,
  changes: readonly MemberChange[],
  { declared, callerId }: HolderContext,
): MinHolders {
  const [findBefore, findAfter] = [roleFinder(before, declared), roleFinder(after, declared)];
  // A name can move from one role to another, so both are checked. Holders are indexed by id, which also covers
  // ignored and unreported roles.
  const findKeys = (role: string): readonly string[] => {
    const named = [findBefore(role), findAfter(role)].flatMap((key) => key ?? []);
    return named.length > 0 ? [...new Set(named)] : isHeld(before, role) ? [role] : [];
  };
  const known = new Map<string, readonly string[]>();
  const keysOf = (role: string): readonly string[] => {
    const keys = known.get(role) ?? findKeys(role);
    known.set(role, keys);
    return keys;
  };
  const results = rulesOf(settings, keysOf).flatMap(([role, min]) => {
    const isWritten = Object.hasOwn(settings ?? {}, role);
    return keysOf(role).map((key) =>
      guardRole({ role, key, min, isWritten, before, after, changes, callerId }),
    );
  });
  return {
    deferred: distinctChanges(results.flatMap(({ deferred }) => deferred)),
    refusals: results.flatMap(({ refusals }) => refusals),
    findingData: results.flatMap(({ findingData }) => findingData),
  };
}

/** Returns the rules, with the default for owners unless the file sets it, or sets `{}`. */
function rulesOf(
  settings: GuardSettings["minHolders"],
  keysOf: (role: string) => readonly string[],
): readonly (readonly [role: string, min: number])[] {
  const own = Object.entries(settings ?? {});
  const owners = keysOf(OWNER);
  const silent = own.every(([role]) => !keysOf(role).some((key) => owners.includes(key)));
  const defaults = silent && (settings === undefined || own.length > 0) ? [[OWNER, OWNERS] as const] : [];
  return [...own, ...defaults].sort(by(([role]) => role));
}

const NOTHING: MinHolders = { deferred: [], refusals: [], findingData: [] };

interface Rule {
  readonly role: string;
  readonly key: string;
  readonly min: number;
  /** True if a file sets it; the default applies only to a merchant that has an owner. */
  readonly isWritten: boolean;
  readonly before: Access;
  readonly after: Access;
  readonly changes: readonly MemberChange[];
  readonly callerId: string | null;
}

/**
 * Checks one role. Nobody can log in as a service account, so the minimum applies both without and with them.
 */
function guardRole(rule: Rule): MinHolders {
  const judged = [judgeRole(rule, isPerson), judgeRole(rule, () => true)];
  return (
    judged.find(({ refusals }) => refusals.length > 0) ??
    judged.find(({ deferred }) => deferred.length > 0) ??
    judged.find(({ findingData }) => findingData.length > 0) ??
    NOTHING
  );
}

function judgeRole(
  { role, key, min, isWritten, before, after, changes, callerId }: Rule,
  counts: (person: PersonAccess) => boolean,
): MinHolders {
  const accepted = holdersOf(before, key).filter(isAccepted);
  const had = accepted.filter(counts);
  const holders = holdersOf(after, key).filter(counts);
  const has = holders.filter(isAccepted);
  const pending = holders.filter(({ status }) => status === "pending" || status === "invited");
  const name = before.roles.get(key)?.name ?? role;
  if (has.length >= had.length) {
    const wasShort = had.length > 0 || (isWritten && before.roles.has(key));
    return has.length < min && wasShort
      ? { ...NOTHING, findingData: [{ code: "role-few-holders", name, holders: has.length, min }] }
      : NOTHING;
  }
  const needed = Math.min(min, had.length);
  if (has.length >= needed) return NOTHING;
  // Of several who have to wait, the user of the key does: afterwards nobody could remove the others.
  const losing = removalsOf(had, has, changes).toSorted(by(({ id }) => (id === callerId ? "0" : "1")));
  const short = needed - has.length;
  if (has.length + pending.length < needed || losing.length < short) {
    return {
      ...NOTHING,
      refusals: [
        toRefusal({
          code: "min-holders",
          role,
          name,
          before: had.length,
          after: has.length,
          min,
          uncounted: accepted.length - had.length,
        }),
      ],
    };
  }
  const waitsFor = pending.map((person) => person.name);
  return { ...NOTHING, deferred: losing.slice(0, short).map((change) => ({ change, role: name, waitsFor })) };
}

/** Returns the people who have accepted a role; service accounts are none. */
export function acceptedPeople(access: Access, roleKey: string): readonly PersonAccess[] {
  return holdersOf(access, roleKey).filter((person) => isAccepted(person) && isPerson(person));
}

function isHeld({ people }: Access, roleId: string): boolean {
  return people.some(({ roles }) => roles.includes(roleId));
}

function isPerson({ serviceAccount }: PersonAccess): boolean {
  return serviceAccount === false;
}

function isAccepted({ status }: PersonAccess): boolean {
  return status === "accepted";
}

/** Returns the changes that remove the role from an active holder, sorted by name. */
function removalsOf(
  had: readonly PersonAccess[],
  has: readonly PersonAccess[],
  changes: readonly MemberChange[],
): readonly MemberChange[] {
  const kept = new Set(has.map(({ id }) => id));
  const lost = new Set(had.filter(({ id }) => !kept.has(id)).map(({ id }) => id));
  return changes.filter(({ id }) => id !== null && lost.has(id)).sort(by(({ name }) => name));
}

function distinctChanges(deferred: readonly DeferredForRole[]): readonly DeferredForRole[] {
  const byChange = new Map(deferred.map((one) => [one.change.fingerprint, one]));
  return [...byChange.values()].sort(by(({ change }) => change.name));
}

/** The changes that can be made now, those that wait for a deferred removal, and refusals. */
export interface BlockedDeletions {
  readonly changes: AccessChanges;
  readonly deferred: readonly Deferred[];
  readonly refusals: readonly Refusal[];
}

/**
 * Finds roles that would be removed or replaced while a member still holds them, which the service rejects. If all of
 * these members wait, so do the role and those who would move to its successor.
 */
export function blockHeldRoles(
  changes: AccessChanges,
  waiting: readonly Deferred[],
  everybody: readonly LiveMember[],
): BlockedDeletions {
  const leaving = changes.roles.filter(({ kind }) => kind === "delete" || kind === "replace");
  if (leaving.length === 0) return { changes, deferred: [], refusals: [] };
  const waits = new Map(waiting.map((one) => [one.change.id, one]));
  const deferred: Deferred[] = [];
  const ids = new Set(leaving.flatMap(({ id }) => id ?? []));
  let rest = changes;
  for (;;) {
    const holders = holdersAfter(ids, rest, everybody);
    const held = rest.roles.filter(({ id }) => ids.has(id ?? "") && holders.has(id ?? ""));
    const found = held.flatMap((change) => {
      const [first, ...others] = (holders.get(change.id ?? "") ?? []).map(({ id }) => waits.get(id));
      const moves = movesWith(change, rest.members);
      const isOnlyWaiting = first && others.every((one) => one !== undefined);
      return isOnlyWaiting && canWait(change, moves, changes.roles) ? [{ change, moves, first }] : [];
    });
    const [next] = found;
    if (next === undefined) {
      const refusals = held.map(({ id, name }) =>
        toRefusal({ code: "role-still-held", name, holders: namesOf(holders.get(id ?? "") ?? []) }),
      );
      return { changes: rest, deferred, refusals };
    }
    const { role, waitsFor } = next.first;
    const later = [next.change, ...next.moves].map((change): Deferred => ({ change, role, waitsFor }));
    deferred.push(...later);
    for (const one of later) waits.set(one.change.id, one);
    rest = {
      roles: rest.roles.filter((one) => one !== next.change),
      members: rest.members.filter((one) => !next.moves.includes(one)),
    };
  }
}

/** Returns the changes of members that need the successor of a replaced role, if it does not exist yet. */
function movesWith(change: RoleChange, members: readonly MemberChange[]): readonly MemberChange[] {
  if (change.kind !== "replace" || change.resumed !== null) return [];
  const { name } = change.after;
  return members.filter(({ after }) => after?.roles.some((role) => role.id === null && role.name === name));
}

/** Returns whether a role can stay for now: nobody joins with its successor, and no other role takes its name. */
function canWait(change: RoleChange, moves: readonly MemberChange[], roles: readonly RoleChange[]): boolean {
  const name = change.before?.name;
  return (
    moves.every(({ kind }) => kind === "update") &&
    roles.every(({ before, after }) => after?.name !== name || before?.name === name)
  );
}

function holdersAfter(
  leaving: ReadonlySet<string>,
  changes: AccessChanges,
  everybody: readonly LiveMember[],
): ReadonlyMap<string, readonly LiveMember[]> {
  const after = new Map(
    changes.members.flatMap((change) => (change.id === null ? [] : [[change.id, change]])),
  );
  const holders = new Map<string, LiveMember[]>();
  for (const member of everybody) {
    const change = after.get(member.id);
    const roles = change === undefined ? member.roles : (change.after?.roles.map(({ id }) => id) ?? []);
    for (const id of new Set(roles)) {
      if (id !== null && leaving.has(id)) holders.set(id, [...(holders.get(id) ?? []), member]);
    }
  }
  return holders;
}

function namesOf(members: readonly LiveMember[]): readonly string[] {
  return members.map((member) => addressOf(member) ?? member.id).sort(byCodeUnit);
}
