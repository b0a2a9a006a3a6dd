import { byCodeUnit } from "../../lib/order.ts";
import type { LiveMember } from "../../model/live.ts";
import type { Deferred, Refusal, RoleChange } from "../../model/plan.ts";
import { addressOf } from "../scope.ts";
import type { AccessChanges } from "./access.ts";
import { toRefusal } from "./refusals.ts";

/** The role changes that can be made now, those that wait for a deferred removal, and refusals. */
export interface BlockedDeletions {
  readonly changes: readonly RoleChange[];
  readonly deferred: readonly Deferred[];
  readonly refusals: readonly Refusal[];
}

/** Finds roles that would be removed while a member still holds them, which the service rejects. */
export function blockHeldRoles(
  changes: AccessChanges,
  waiting: readonly Deferred[],
  everybody: readonly LiveMember[],
): BlockedDeletions {
  const leaving = new Map(
    changes.roles.flatMap((change) =>
      change.kind === "delete" || change.kind === "replace" ? [[change.id, change]] : [],
    ),
  );
  if (leaving.size === 0) return { changes: changes.roles, deferred: [], refusals: [] };
  const holders = holdersAfter(leaving, changes, everybody);
  const waits = new Map(waiting.map((deferred) => [deferred.change.id, deferred]));
  const deferred: Deferred[] = [];
  const refusals: Refusal[] = [];
  for (const change of leaving.values()) {
    const who = holders.get(change.id) ?? [];
    const [first] = who.map(({ id }) => waits.get(id));
    if (first && canWait(change, changes.roles) && who.every(({ id }) => waits.has(id))) {
      deferred.push({ change, role: first.role, waitsFor: first.waitsFor });
    } else if (who.length > 0) {
      refusals.push(toRefusal({ code: "role-still-held", name: change.name, holders: namesOf(who) }));
    }
  }
  const later = new Set(deferred.map(({ change }) => change.id));
  return { changes: changes.roles.filter(({ id }) => id === null || !later.has(id)), deferred, refusals };
}

/** Returns whether a removal can be postponed: no holder moves to a successor, and no role takes its name. */
function canWait(change: RoleChange, roles: readonly RoleChange[]): boolean {
  const name = change.before?.name;
  return (
    change.kind === "delete" &&
    roles.every(({ before, after }) => after?.name !== name || before?.name === name)
  );
}

function holdersAfter(
  leaving: ReadonlyMap<string, RoleChange>,
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
