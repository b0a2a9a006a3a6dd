import type { LiveRole } from "../../model/live.ts";
import type { UndoNote } from "../../model/past-run.ts";
import type { RoleChange } from "../../model/plan.ts";
import type { RolePlan } from "../changes/plan-roles.ts";
import { undoRole } from "./revert-role.ts";
import {
  changeKey,
  noteTaker,
  type RoleRefs,
  type RoleRevertContext,
  roleRefs,
  type UndoContext,
} from "./role-revert-context.ts";
import { undoReplacedRole } from "./undo-replaced-role.ts";

/** How roles go back, and what members need to know of it. */
export interface RolesBack {
  readonly plan: Omit<RolePlan, "refusalData" | "findingData">;
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
    const pass: RoleRevertContext = { ...context, byId, kept, nameless, refs, note };
    const changes = [
      ...effects.roles.flatMap((effect) => undoRole(effect, pass) ?? []),
      ...effects.replaced.flatMap((one) => undoReplacedRole(one, pass) ?? []),
    ];
    const taken = nameConflicts(changes, custom, scope.setAside);
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

/** The keys of changes that would take a name which another role keeps, or takes as well. */
function nameConflicts(
  changes: readonly RoleChange[],
  custom: readonly LiveRole[],
  setAside: ReadonlySet<string>,
): readonly string[] {
  const moving = new Set(
    changes.flatMap((change) => (change.before?.name === change.after?.name ? [] : (change.id ?? []))),
  );
  const resumed = new Set(
    changes.flatMap((change) => (change.kind === "replace" ? (change.resumed ?? []) : [])),
  );
  const replaced = new Set(changes.flatMap((change) => (change.kind === "replace" ? change.id : [])));
  const names = new Set(
    custom
      .filter(({ id }) => !moving.has(id) && !resumed.has(id) && !replaced.has(id) && !setAside.has(id))
      .map(({ name }) => name),
  );
  return changes.flatMap((change) => {
    if (change.after === null || (change.kind === "update" && !moving.has(change.id))) return [];
    const { name } = change.after;
    if (names.has(name)) return [changeKey(change)];
    names.add(name);
    return [];
  });
}
