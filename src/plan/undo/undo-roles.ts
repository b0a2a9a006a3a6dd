import type { LiveRole } from "../../model/live.ts";
import type { UndoNote } from "../../model/past-run.ts";
import { type RoleChange, type RoleImage, TEMPORARY_SUFFIX } from "../../model/plan.ts";
import type { RolePlan } from "../changes/plan-roles.ts";
import { roleFields, roleImageOf } from "../changes/role-changes.ts";
import { withFingerprint } from "../fingerprint.ts";
import type { RoleReplaced } from "./net-effects.ts";
import {
  changeKey,
  isRoleIgnored,
  looksLike,
  noteNameTaken,
  noteTaker,
  type RoleRefs,
  type RoleRevertContext,
  roleNamed,
  roleRefs,
  type UndoContext,
} from "./revert-context.ts";
import { recreateRole, revertRole, undoRole } from "./revert-role.ts";

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

/** The change that puts a role back in whose place the run put another one; null where nothing is to be done, or may be. */
function undoReplacedRole(replaced: RoleReplaced, pass: RoleRevertContext): RoleChange | null {
  const { name, id, before, after, successor } = replaced;
  if (isRoleIgnored({ id, name: before?.name ?? name }, pass)) return null;
  if (isRoleIgnored({ id: successor, name }, pass)) return null;
  if (id === null || before === null) return halfReplaced(name, pass);
  const { byId, scope } = pass;
  const old = byId.get(id);
  const now = (successor === null ? undefined : byId.get(successor)) ?? successorOf(replaced, pass);
  if (old && now) return halfReplaced(before.name, pass);
  if (old && scope.setAside.has(id)) {
    return revertRole(old, before, { ...before, name: `${name}${TEMPORARY_SUFFIX}` }, pass);
  }
  if (old === undefined && after === null) return halfReplaced(before.name, pass);
  if (now && after) return replaceBack(id, before, after, now, pass);
  return old === undefined ? recreateRole(id, before, pass) : null;
}

/** The role that took the place of another one, where nobody knows its id: what looks exactly like it. */
function successorOf({ name, id, after }: RoleReplaced, { scope }: RoleRevertContext): LiveRole | undefined {
  if (after === null) return undefined;
  return scope.roles.find(
    (role) => role.name === name && !scope.setAside.has(role.id) && role.id !== id && looksLike(role, after),
  );
}

function halfReplaced(name: string, { note }: RoleRevertContext): null {
  note(
    "half-replaced",
    name,
    `The role "${name}" was replaced in part only, or by more than one run; it stays as it is. Write it into the file as it was, and apply that.`,
  );
  return null;
}

function replaceBack(
  oldId: string,
  before: RoleImage,
  after: RoleImage,
  now: LiveRole,
  pass: RoleRevertContext,
): RoleChange | null {
  const { scope, kept, nameless, refs, note } = pass;
  const stays = { id: now.id, name: now.name };
  refs.stands(oldId, stays);
  if (
    !looksLike({ ...now, name: after.name }, after) ||
    (now.name !== after.name && now.name !== before.name)
  ) {
    note(
      "changed-since",
      now.name,
      `The role "${now.name}" was changed since it took another one's place, and stays.`,
    );
    return null;
  }
  if (kept.has(now.id)) {
    note(
      "still-held",
      now.name,
      `The role "${now.name}" stays: somebody holds it whom the run did not give it to.`,
    );
    return null;
  }
  if (nameless.has(now.id)) {
    noteNameTaken(now.name, before.name, pass);
    return null;
  }
  const { name } = before;
  // An undo that was cut short has made the new one already.
  const made = scope.setAside.has(now.id) ? roleNamed(pass, name) : undefined;
  const resumed = made && looksLike(made, before) ? made.id : null;
  note("new-id", name, `The role "${name}" comes back with another id.`);
  const ref = { id: resumed, name };
  refs.stands(oldId, ref);
  refs.stands(now.id, ref);
  const is = roleImageOf(now);
  return withFingerprint<RoleChange>({
    resource: "role",
    name,
    kind: "replace",
    id: now.id,
    before: is,
    after: before,
    fields: [...roleFields(is, before)],
    reason: "undone",
    resumed,
  });
}
