import { leftAt } from "../kernel/diff/active-member.ts";
import { unrestoredMembers } from "../kernel/diff/lost-state.ts";
import { scopeOf } from "../kernel/diff/scope.ts";
import { filledMemberFields, liveValues } from "../kernel/fields/member.ts";
import { type PlanInput, planChanges } from "../kernel/plan/build-plan.ts";
import type { PastRun, UndoNote } from "../model/apply.ts";
import type { LiveMember } from "../model/live.ts";
import type { Plan } from "../model/plan.ts";
import { netEffects } from "./net-effects.ts";
import { withRestoredViolations } from "./restored-violations.ts";
import { undoMembers } from "./undo-members.ts";
import { nameConflicts, rolesStillHeld, undoRoles } from "./undo-roles.ts";

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
  const { desired, live, matches, now } = input;
  const scope = scopeOf(live, desired.ignore, matches);
  const context = {
    effects: netEffects(run),
    scope,
    ignore: desired.ignore,
    matches,
    declared: desired.members ?? [],
    declaredRoles: desired.roles ?? [],
    left: leftAt(desired.leavers, now),
    now,
  };
  const blocked = { held: new Set<string>(), named: new Set<string>() };
  // A role that stays may have the name that another one needs, or prevent others from being reverted: repeat until
  // there is none.
  for (;;) {
    const roles = undoRoles(context, blocked);
    const members = undoMembers(context, roles);
    const { changes } = roles.plan;
    const named = nameConflicts(changes, scope);
    const held = named.length > 0 ? [] : rolesStillHeld(changes, members.changes, live.members);
    for (const key of named) blocked.named.add(key);
    for (const id of held) blocked.held.add(id);
    if (named.length + held.length > 0) continue;
    const plan = planChanges(input, {
      scope,
      byFile: false,
      roles: roles.plan,
      members: {
        changes: members.changes,
        unchanged: scope.members.length - members.changes.filter(({ kind }) => kind !== "create").length,
        unlisted: 0,
        findingData: [],
        laterFindingData: [],
        unresolved: [],
        waiting: [],
      },
    });
    const notes = [...roles.notes, ...members.notes, ...unrestoredNotes(run, live.members)];
    return { plan: withRestoredViolations(plan), notes };
  }
}

/** Returns notes on empty fields that the service may have cleared with an update of unknown outcome. */
function unrestoredNotes(run: PastRun, members: readonly LiveMember[]): readonly UndoNote[] {
  return unrestoredMembers(run).flatMap(({ id, name, fields, part }): readonly UndoNote[] => {
    const live = members.find((member) => member.id === id);
    if (live === undefined || part === "restore") return [];
    const filled = filledMemberFields(liveValues(live));
    const cleared = fields.filter((field) => !filled.includes(field)).join(" and ");
    if (cleared === "") return [];
    const message = `The service may have cleared the ${cleared} of ${name}, which this undo does not restore: "rolecall runs ${run.run.run}" lists what there was.`;
    return [{ code: "maybe-cleared", resource: "member", name, message }];
  });
}
