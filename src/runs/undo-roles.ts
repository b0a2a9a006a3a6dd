import { withFingerprint } from "../kernel/diff/fingerprint.ts";
import type { RolePlan } from "../kernel/diff/plan-roles.ts";
import { roleDiffs, roleImage } from "../kernel/fields/role.ts";
import { temporaryName } from "../kernel/fields/temporary-name.ts";
import type { UndoNote } from "../model/apply.ts";
import type { RoleImage } from "../model/field-values.ts";
import type { LiveRole } from "../model/live.ts";
import type { RoleChange } from "../model/plan.ts";
import type { RoleReplacement } from "./net-effects.ts";
import {
  changeKey,
  createNotes,
  findRoleByName,
  isRoleIgnored,
  matchesImage,
  noteNameTaken,
  type RoleRefs,
  type RoleRevertContext,
  roleRefs,
  type UndoContext,
} from "./revert-context.ts";
import { recreateRole, revertRole, undoRole } from "./revert-role.ts";

/** The undo of roles, with the mapping that the undo of members needs. */
export interface RevertedRoles {
  readonly plan: Omit<RolePlan, "refusalData" | "findingData">;
  readonly notes: readonly UndoNote[];
  readonly refs: RoleRefs;
}

/** Computes the changes that undo a run's effects on roles; those in `kept` cannot be removed. */
export function undoRoles(context: UndoContext, kept: ReadonlySet<string>): RevertedRoles {
  const { scope, effects } = context;
  const byId = new Map(scope.roles.map((role) => [role.id, role]));
  const custom = scope.roles.filter(({ predefined }) => !predefined);
  // A role that keeps its name may take the name that another one needs, so repeat until no more conflicts are found.
  const nameTaken = new Set<string>();
  for (;;) {
    const { notes, note } = createNotes("role");
    const refs = roleRefs(context);
    const roleContext: RoleRevertContext = { ...context, byId, kept, nameTaken, refs, note };
    const changes = [
      ...effects.roles.flatMap((effect) => undoRole(effect, roleContext) ?? []),
      ...effects.replaced.flatMap((replacement) => undoReplacedRole(replacement, roleContext) ?? []),
    ];
    const taken = nameConflicts(changes, custom, scope.temporarilyNamed);
    if (taken.length > 0) {
      for (const key of taken) nameTaken.add(key);
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
        unmatched: new Set(),
        replaced: new Map(
          changes.flatMap((change) => (change.kind === "replace" ? [[change.id, change.name]] : [])),
        ),
      },
      refs,
    };
  }
}

/** Returns the keys of changes to a name that another role keeps or takes. */
function nameConflicts(
  changes: readonly RoleChange[],
  custom: readonly LiveRole[],
  temporarilyNamed: ReadonlySet<string>,
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
      .filter(
        ({ id }) => !moving.has(id) && !resumed.has(id) && !replaced.has(id) && !temporarilyNamed.has(id),
      )
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

/** Returns the change that undoes the replacement of a role; `null` if nothing is to be done, or nothing may be. */
function undoReplacedRole(replaced: RoleReplacement, context: RoleRevertContext): RoleChange | null {
  const { name, id, before, after, successor } = replaced;
  if (isRoleIgnored({ id, name: before?.name ?? name }, context)) return null;
  if (isRoleIgnored({ id: successor, name }, context)) return null;
  if (id === null || before === null) return noteHalfReplaced(name, context);
  const { byId, scope } = context;
  const old = byId.get(id);
  const now = (successor === null ? undefined : byId.get(successor)) ?? successorOf(replaced, context);
  if (old && now) return noteHalfReplaced(before.name, context);
  if (old && scope.temporarilyNamed.has(id)) {
    return revertRole(old, before, { ...before, name: temporaryName(name) }, context);
  }
  if (old === undefined && after === null) {
    // An earlier run created the successor. It stays, and so do the holders that this run moved to it.
    const stays = findRoleByName(context, name);
    if (stays) context.refs.setRef(id, { id: stays.id, name: stays.name });
    return noteHalfReplaced(before.name, context);
  }
  if (now && after) return revertReplacement(id, before, after, now, context);
  return old === undefined ? recreateRole(id, before, context) : null;
}

/** Finds the successor of a replaced role when its id is unknown: only an identical role counts. */
function successorOf(
  { name, id, after }: RoleReplacement,
  { scope }: RoleRevertContext,
): LiveRole | undefined {
  if (after === null) return undefined;
  return scope.roles.find(
    (role) =>
      role.name === name &&
      !scope.temporarilyNamed.has(role.id) &&
      role.id !== id &&
      matchesImage(role, after),
  );
}

function noteHalfReplaced(name: string, { note }: RoleRevertContext): null {
  note(
    "half-replaced",
    name,
    `The role "${name}" was replaced only partly, or by more than one run, so it is left as it is. To restore it, declare it in the file as it was, and apply.`,
  );
  return null;
}

function revertReplacement(
  oldId: string,
  before: RoleImage,
  after: RoleImage,
  now: LiveRole,
  context: RoleRevertContext,
): RoleChange | null {
  const { scope, kept, nameTaken, refs, note } = context;
  const stays = { id: now.id, name: now.name };
  refs.setRef(oldId, stays);
  if (
    !matchesImage({ ...now, name: after.name }, after) ||
    (now.name !== after.name && now.name !== before.name)
  ) {
    note(
      "changed-since",
      now.name,
      `The role "${now.name}" has been changed since it replaced another one, so it is left as it is.`,
    );
    return null;
  }
  if (kept.has(now.id)) {
    note(
      "still-held",
      now.name,
      `The role "${now.name}" is kept: it has a holder to whom the run did not grant it.`,
    );
    return null;
  }
  if (nameTaken.has(now.id)) {
    noteNameTaken(now.name, before.name, context);
    return null;
  }
  const { name } = before;
  // An interrupted undo may have created the role already.
  const made = scope.temporarilyNamed.has(now.id) ? findRoleByName(context, name) : undefined;
  const resumed = made && matchesImage(made, before) ? made.id : null;
  note("new-id", name, `The role "${name}" is created again with a new id.`);
  const ref = { id: resumed, name };
  refs.setRef(oldId, ref);
  refs.setRef(now.id, ref);
  const current = roleImage(now);
  return withFingerprint<RoleChange>({
    resource: "role",
    name,
    kind: "replace",
    id: now.id,
    before: current,
    after: before,
    fields: roleDiffs(current, before),
    reason: "undone",
    resumed,
  });
}
