import type { PastRun, UndoNote } from "../../model/journal.ts";
import type { MemberChange, Plan, RoleChange } from "../../model/plan.ts";
import { judgeChanges, type PlanInput } from "../build-plan.ts";
import { scopeOf } from "../scope.ts";
import { netEffects } from "./net-effects.ts";
import { undoMembers } from "./undo-members.ts";
import { type RevertedRoles, undoRoles } from "./undo-roles.ts";

/** The plan that undoes a run, with notes on what it does not restore. */
export interface Undo {
  readonly plan: Plan;
  readonly notes: readonly UndoNote[];
}

/**
 * Computes the plan that undoes a run, from the run's effects and the live state. What others changed since the run stays,
 * and is noted.
 */
export function undoPlan(run: PastRun, input: PlanInput): Undo {
  const { desired, live, matches } = input;
  const scope = scopeOf(live, desired.ignore, matches);
  const effects = netEffects(run);
  const context = { scope, live, effects, ignore: desired.ignore, matches };
  const kept = new Set<string>();
  // A role that cannot be removed may keep others from being reverted, so repeat until no more are found.
  for (;;) {
    const roles = undoRoles(context, kept);
    const members = undoMembers({ ...context, roles, declared: desired.members ?? [] });
    const held = stillHeld(roles, members.changes, live.members);
    if (held.length > 0) {
      for (const id of held) kept.add(id);
      continue;
    }
    const plan = judgeChanges(input, {
      scope,
      byFile: false,
      roles: { ...roles.plan, refusalData: [], findingData: [] },
      members: {
        changes: members.changes,
        unchanged: scope.members.length - touched(members.changes),
        unlisted: 0,
        findingData: [],
      },
    });
    return { plan, notes: [...roles.notes, ...members.notes] };
  }
}

/** Returns the ids of the roles to remove that members would still hold. */
function stillHeld(
  { plan }: RevertedRoles,
  members: readonly MemberChange[],
  live: PlanInput["live"]["members"],
): readonly string[] {
  const after = new Map(members.flatMap((change) => (change.id === null ? [] : [[change.id, change]])));
  const held = new Set(
    live.flatMap((member) => {
      const change = after.get(member.id);
      if (change === undefined) return member.roles;
      return change.after?.roles.flatMap(({ id }) => id ?? []) ?? [];
    }),
  );
  return plan.changes.flatMap((change) =>
    (change.kind === "delete" || change.kind === "replace") && held.has(change.id) ? [change.id] : [],
  );
}

function touched(changes: readonly (RoleChange | MemberChange)[]): number {
  return changes.filter(({ kind }) => kind !== "create").length;
}
