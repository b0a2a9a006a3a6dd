import type { PastRun, UndoNote } from "../../model/past-run.ts";
import type { MemberChange, Plan, RoleChange } from "../../model/plan.ts";
import { judgeChanges, type PlanInput } from "../build-plan.ts";
import { scopeOf } from "../scope.ts";
import { netEffects } from "./net-effects.ts";
import { undoMembers } from "./undo-members.ts";
import { type RolesBack, undoRoles } from "./undo-roles.ts";

/** What would take a run back, and what would not come back, or is left alone, all the same. */
export interface Undo {
  readonly plan: Plan;
  readonly notes: readonly UndoNote[];
}

/**
 * Computes what takes a run back, from what it did and what is live today. Nothing else is touched: where somebody
 * has changed a field, a role or a member since, that stays as it is and is noted.
 */
export function undoPlan(run: PastRun, input: PlanInput): Undo {
  const { desired, live, matches } = input;
  const scope = scopeOf(live, desired.ignore, matches);
  const effects = netEffects(run);
  const context = { scope, live, effects, ignore: desired.ignore, matches };
  const kept = new Set<string>();
  // What cannot go back may keep something else from going back: until nothing more comes up.
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

/** Ids of the roles that would go while somebody holds them whom the run did not give them to. */
function stillHeld(
  { plan }: RolesBack,
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
