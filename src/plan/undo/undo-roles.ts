import type { UndoNote } from "../../model/past-run.ts";
import type { RolePlan } from "../changes/plan-roles.ts";
import { namesTaken } from "./name-conflicts.ts";
import { type RoleRefs, roleRefs } from "./role-refs.ts";
import type { RolePass } from "./role-revert-context.ts";
import type { UndoContext } from "./undo-context.ts";
import { noteTaker } from "./undo-notes.ts";
import { undoReplacedRole } from "./undo-replaced-role.ts";
import { undoRole } from "./undo-role.ts";

/** How roles go back, and what members need to know of it. */
export interface RolesBack {
  readonly plan: Omit<RolePlan, "objections" | "discoveries">;
  readonly notes: readonly UndoNote[];
  /** What stands for the roles of before and after the run, once all is back. */
  readonly refs: RoleRefs;
}

/** Takes back what a run did to roles; those in `kept` cannot go. */
export function undoRoles(context: UndoContext, kept: ReadonlySet<string>): RolesBack {
  const { scope, effects } = context;
  const byId = new Map(scope.roles.map((role) => [role.id, role]));
  const custom = scope.roles.filter(({ predefined }) => !predefined);
  // A name that is not free may keep another one from becoming free: until nothing more comes up.
  const nameless = new Set<string>();
  for (;;) {
    const { notes, note } = noteTaker("role");
    const refs = roleRefs(context);
    const pass: RolePass = { ...context, byId, kept, nameless, refs, note };
    const changes = [
      ...effects.roles.flatMap((effect) => undoRole(effect, pass) ?? []),
      ...effects.replaced.flatMap((one) => undoReplacedRole(one, pass) ?? []),
    ];
    const taken = namesTaken(changes, custom, scope.setAside);
    if (taken.length > 0) {
      for (const key of taken) nameless.add(key);
      continue;
    }
    return {
      notes,
      plan: {
        changes,
        unchanged: custom.length - changes.filter(({ kind }) => kind !== "create").length,
        unlisted: 0,
        declared: new Map(
          changes.flatMap((change): readonly [string, string | null][] => {
            if (change.after === null) return [];
            return [[change.name, change.kind === "replace" ? change.resumed : change.id]];
          }),
        ),
        replaced: new Map(
          changes.flatMap((change) => (change.kind === "replace" ? [[change.id, change.name]] : [])),
        ),
      },
      refs,
    };
  }
}
