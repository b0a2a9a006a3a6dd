import { byCodeUnit, sortedSet } from "../../lib/text.ts";
import type { LiveMember } from "../../model/live.ts";
import type { Deferred, MemberChange, Refusal, RoleChange } from "../../model/plan.ts";
import { addressOf } from "../diff/scope.ts";
import { toRefusal } from "../findings/refusals.ts";
import type { AccessChanges } from "./access.ts";

/** The changes that can be made now, those that wait for a deferred removal, and refusals. */
export interface BlockedDeletions {
  readonly changes: AccessChanges;
  readonly deferred: readonly Deferred[];
  readonly refusals: readonly Refusal[];
}

/**
 * Finds roles that would be removed or replaced while a member still holds them, which the service rejects. If the
 * changes of all these members wait, so do the change of the role and the moves to its successor.
 */
export function blockHeldRoles(
  changes: AccessChanges,
  waiting: readonly Deferred[],
  everybody: readonly LiveMember[],
): BlockedDeletions {
  const leaving = changes.roles.filter(({ kind }) => kind === "delete" || kind === "replace");
  if (leaving.length === 0) return { changes, deferred: [], refusals: [] };
  const waits = new Map(waiting.map((waitingChange) => [waitingChange.change.id, waitingChange]));
  const deferred: Deferred[] = [];
  const ids = new Set(leaving.flatMap(({ id }) => id ?? []));
  let rest = changes;
  for (;;) {
    const holders = holdersAfter(ids, rest, everybody);
    const held = rest.roles.filter(({ id }) => ids.has(id ?? "") && holders.has(id ?? ""));
    const deferrable = held.flatMap((change) => {
      const [first] = waitsOf(holders.get(change.id ?? "") ?? [], waits);
      const moves = movesWith(change, rest.members);
      return first && canWait(change, moves, changes.roles) ? [{ change, moves, first }] : [];
    });
    const [next] = deferrable;
    if (next === undefined) {
      const refusals = held.map(({ id, name }) => {
        const holding = holders.get(id ?? "") ?? [];
        const waitsFor = sortedSet(waitsOf(holding, waits).flatMap((wait) => wait.waitsFor));
        return toRefusal({ code: "role-still-held", name, holders: namesOf(holding), waitsFor });
      });
      return { changes: rest, deferred, refusals };
    }
    const { role, waitsFor } = next.first;
    const later = [next.change, ...next.moves].map((change): Deferred => ({ change, role, waitsFor }));
    deferred.push(...later);
    for (const laterChange of later) waits.set(laterChange.change.id, laterChange);
    rest = {
      roles: rest.roles.filter((change) => change !== next.change),
      members: rest.members.filter((change) => !next.moves.includes(change)),
    };
  }
}

/** Returns what the changes of some holders wait for; empty if one of them does not wait. */
function waitsOf(
  holders: readonly LiveMember[],
  waits: ReadonlyMap<string | null, Deferred>,
): readonly Deferred[] {
  const found = holders.flatMap(({ id }) => waits.get(id) ?? []);
  return found.length === holders.length ? found : [];
}

/** Returns the changes of members that need the successor of a replaced role, if it does not exist yet. */
function movesWith(change: RoleChange, members: readonly MemberChange[]): readonly MemberChange[] {
  if (change.kind !== "replace" || change.resumed !== null) return [];
  const { name } = change.after;
  return members.filter(({ after }) => after?.roles.some((role) => role.id === null && role.name === name));
}

/** Returns whether a role can stay for now: nobody is invited with its successor, and no other role takes its name. */
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
