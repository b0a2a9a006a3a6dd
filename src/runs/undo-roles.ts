import type { RolePlan } from "../kernel/diff/plan-roles.ts";
import { deleteRole, roleCreation, roleReplacement, roleUpdate } from "../kernel/diff/role-changes.ts";
import { matchesAny, type Scope } from "../kernel/diff/scope.ts";
import { ROLE_FIELDS, roleDiffs, roleImage } from "../kernel/fields/role.ts";
import { temporaryName } from "../kernel/fields/temporary-name.ts";
import type { UndoNote } from "../model/apply.ts";
import type { RoleImage } from "../model/field-values.ts";
import type { LiveMember, LiveRole } from "../model/live.ts";
import type { MemberChange, RoleChange } from "../model/plan.ts";
import type { NetEffects, RoleReplacement } from "./net-effects.ts";
import { createRoleRefs, findRole, type RoleRefs } from "./role-refs.ts";
import {
  type AddNote,
  createNotes,
  isLeftAlone,
  revertedValues,
  type Undoable,
  type UndoContext,
  undoEffect,
} from "./undo-effect.ts";

/** The undo of roles, with the mapping that the undo of members needs. */
export interface UndoneRoles {
  readonly plan: RolePlan;
  readonly notes: readonly UndoNote[];
  readonly refs: RoleRefs;
}

/** Roles that stay as they are because of other roles and of members. */
export interface BlockedRoles {
  /** Ids of the roles that members would still hold. */
  readonly held: Set<string>;
  /** Keys of the changes to a name that another role has. */
  readonly named: Set<string>;
}

interface RoleUndo extends UndoContext {
  readonly blocked: BlockedRoles;
  readonly refs: RoleRefs;
  readonly note: AddNote;
}

type UndoableRoles = Undoable<LiveRole, RoleImage, RoleChange>;

/** Computes the changes that undo a run's effects on roles. */
export function undoRoles(context: UndoContext, blocked: BlockedRoles): UndoneRoles {
  const { scope, effects } = context;
  const { notes, note } = createNotes("role");
  const refs = createRoleRefs(effects, scope);
  const undo = { ...context, blocked, refs, note };
  const kind = undoableRoles(undo);
  const changes = [
    ...effects.roles.flatMap((effect) => undoEffect(effect, kind) ?? []),
    ...effects.replaced.flatMap((replaced) => undoReplacement(replaced, kind, undo) ?? []),
  ];
  const kept = changes.flatMap((change) => (change.after === null ? [] : change));
  const replacements = changes.flatMap((change) => (change.kind === "replace" ? change : []));
  return {
    plan: {
      changes,
      unchanged:
        scope.roles.filter(({ predefined }) => !predefined).length -
        changes.filter(({ id }) => id !== null).length,
      unlisted: 0,
      findingData: [],
      refusalData: [],
      declared: new Map(
        kept.map((change) => [change.name, change.kind === "replace" ? change.resumed : change.id]),
      ),
      unmatched: new Set(),
      replaced: new Map(replacements.map(({ id, name }) => [id, name])),
    },
    notes,
    refs,
  };
}

function undoableRoles(undo: RoleUndo): UndoableRoles {
  const { scope, effects, ignore, matches, blocked, refs, note } = undo;
  return {
    note,
    byId: new Map(scope.roles.map((role) => [role.id, role])),
    describe: (name) => `The role "${name}"`,
    isIgnored: ({ id, name }) => matchesAny(ignore.roles, [name, id ?? name], matches),
    restorable: (effect) => effect,
    nameOf: ({ name }) => name,
    findCreated: (name) => {
      const role = findRole(scope, name);
      // A role whose id the run knew existed before it.
      return role && isKnown(role.id, effects) ? undefined : role;
    },
    isAsAfter: (live, after) => isSameExceptName(live, after),
    isRemovable: ({ id, name, predefined }) => {
      if (predefined) return false;
      if (blocked.held.has(id)) noteHeld(name, note);
      else refs.set(id, null);
      return !blocked.held.has(id);
    },
    revert: (live, before, { after }) =>
      revertRole(live, before, after ?? { ...before, name: temporaryName(before.name, live.id) }, undo),
    recreate: ({ id }, before) => recreateRole(id, before, undo),
    deletion: (live) => deleteRole(live, "undone"),
  };
}

/** Returns whether the run changed, created or replaced a role. */
function isKnown(id: string, effects: NetEffects): boolean {
  return isChangedByRun(id, effects) || effects.replaced.some((replaced) => replaced.id === id);
}

/** Returns whether the run changed or created a role. */
function isChangedByRun(id: string, { roles, replaced }: NetEffects): boolean {
  return roles.some((effect) => effect.id === id) || replaced.some(({ successor }) => successor === id);
}

function isSameExceptName(live: LiveRole, image: RoleImage): boolean {
  return roleDiffs({ ...roleImage(live), name: image.name }, image).length === 0;
}

/** Reverts a live role; fields that others changed since the run stay. */
function revertRole(
  live: LiveRole,
  before: RoleImage,
  after: RoleImage,
  { scope, blocked, refs, note }: RoleUndo,
): RoleChange | null {
  if (live.predefined) return null;
  const image = roleImage(live);
  const current = scope.temporarilyNamed.has(live.id)
    ? { ...image, name: temporaryName(image.name, live.id) }
    : image;
  // A temporary name is never a change by others, whichever name the run was to give next.
  const aside = current.name !== image.name && before.name !== after.name;
  const values = revertedValues<RoleImage>(
    ROLE_FIELDS,
    { before, after, live: current },
    {
      changedSince: (field) => {
        if (field === "name" && aside) return;
        note(
          "changed-since",
          live.name,
          `The ${field} of the role "${live.name}" has been changed since, so it is left as it is.`,
        );
      },
      cannotClear: () => undefined,
    },
  );
  const wanted = aside ? before.name : values.name;
  const taken = wanted !== current.name && blocked.named.has(live.id);
  if (taken) noteNameTaken(live.name, before.name, note);
  const name = taken ? current.name : wanted;
  const reverted = { ...values, name };
  const change = roleUpdate(live.id, current, reverted, "undone");
  if (change !== null) refs.set(live.id, { id: live.id, name });
  return change;
}

/** Creates a removed role again; `null` if it exists or its name is taken. */
function recreateRole(id: string | null, before: RoleImage, undo: RoleUndo): RoleChange | null {
  const { scope, effects, blocked, refs, note } = undo;
  const { name } = before;
  // A role that the run gave this name is reverted as well; if it cannot be, the name is found to be taken.
  const namesake = findRole(scope, name);
  const there = namesake && isChangedByRun(namesake.id, effects) ? undefined : namesake;
  if (there && isSameExceptName(there, before)) {
    // An earlier undo, or a person, has created the role again.
    if (id !== null) refs.set(id, { id: there.id, name });
    return null;
  }
  const twins = effects.roles.filter((other) => other.after === null && other.before?.name === name);
  if (there === undefined && twins.length > 1) {
    const which = id === null ? "" : ` (${id})`;
    note(
      "name-taken",
      name,
      `The role "${name}"${which} is not restored: the run removed several roles with that name, and a new role needs a name of its own.`,
    );
    return null;
  }
  if (there || blocked.named.has(changeKey({ id: null, name }))) {
    noteNameTaken(name, name, note);
    return null;
  }
  note("new-id", name, `The role "${name}" is created again with a new id.`);
  if (id !== null) refs.set(id, { id: null, name });
  return roleCreation(before, "undone");
}

/** Undoes the replacement of a role; `null` if there is nothing to do, or nothing may be done. */
function undoReplacement(replaced: RoleReplacement, kind: UndoableRoles, undo: RoleUndo): RoleChange | null {
  const { name, id, before, after, successor } = replaced;
  const { scope, refs } = undo;
  if (isLeftAlone({ id, name: before?.name ?? name }, kind)) return null;
  if (isLeftAlone({ id: successor, name }, kind)) return null;
  if (id === null || before === null) return noteHalfReplaced(name, undo);
  const old = kind.byId.get(id);
  const now = (successor === null ? undefined : kind.byId.get(successor)) ?? findSuccessor(replaced, undo);
  if (old && now) return noteHalfReplaced(before.name, undo);
  if (old) {
    if (!scope.temporarilyNamed.has(id)) return null;
    return revertRole(old, before, { ...before, name: temporaryName(name, id) }, undo);
  }
  if (after === null) {
    // An earlier run created the successor. It stays, and so do the holders that this run moved to it.
    const stays = findRole(scope, name);
    if (stays) refs.set(id, { id: stays.id, name: stays.name });
    return noteHalfReplaced(before.name, undo);
  }
  return now ? revertReplacement(id, before, after, now, undo) : recreateRole(id, before, undo);
}

/** Finds the successor of a replaced role when its id is unknown: only an identical role counts. */
function findSuccessor({ name, id, after }: RoleReplacement, { scope }: RoleUndo): LiveRole | undefined {
  const role = findRole(scope, name);
  return role && after && role.id !== id && isSameExceptName(role, after) ? role : undefined;
}

function noteHalfReplaced(name: string, { note }: RoleUndo): null {
  note(
    "half-replaced",
    name,
    `The role "${name}" was replaced only partly, or by more than one run, so it is left as it is. To restore it, declare it in the file as it was, and apply.`,
  );
  return null;
}

/** Replaces the successor of a role with a new role that is identical to the replaced one. */
function revertReplacement(
  oldId: string,
  before: RoleImage,
  after: RoleImage,
  now: LiveRole,
  { scope, blocked, refs, note }: RoleUndo,
): RoleChange | null {
  refs.set(oldId, { id: now.id, name: now.name });
  if (!isSameExceptName(now, after) || ![before.name, after.name].includes(now.name)) {
    note(
      "changed-since",
      now.name,
      `The role "${now.name}" has been changed since it replaced another one, so it is left as it is.`,
    );
    return null;
  }
  if (blocked.held.has(now.id)) {
    noteHeld(now.name, note);
    return null;
  }
  if (blocked.named.has(now.id)) {
    noteNameTaken(now.name, before.name, note);
    return null;
  }
  const { name } = before;
  // An interrupted undo may have created the role already.
  const made = scope.temporarilyNamed.has(now.id) ? findRole(scope, name) : undefined;
  const resumed = made && isSameExceptName(made, before) ? made.id : null;
  note("new-id", name, `The role "${name}" is created again with a new id.`);
  refs.set(oldId, { id: resumed, name });
  refs.set(now.id, { id: resumed, name });
  return roleReplacement(now, before, resumed, "undone");
}

function noteHeld(name: string, note: AddNote): void {
  note("still-held", name, `The role "${name}" is kept: it has a holder to whom the run did not grant it.`);
}

function noteNameTaken(name: string, former: string, note: AddNote): void {
  note("name-taken", name, `The role "${former}" is not restored: another role now has that name.`);
}

/** Returns the ids of the roles that members would still hold if the changes removed them. */
export function rolesStillHeld(
  roles: readonly RoleChange[],
  members: readonly MemberChange[],
  live: readonly LiveMember[],
): readonly string[] {
  const changed = new Set(members.map(({ id }) => id));
  const unchanged = live.filter(({ id }) => !changed.has(id)).flatMap((member) => member.roles);
  const granted = members.flatMap(({ after }) => after?.roles.flatMap(({ id }) => id ?? []) ?? []);
  const held = new Set([...unchanged, ...granted]);
  return roles.flatMap(({ kind, id }) =>
    (kind === "delete" || kind === "replace") && held.has(id) ? [id] : [],
  );
}

/** Returns the keys of changes to a name that another role keeps or takes. */
export function nameConflicts(
  changes: readonly RoleChange[],
  { roles, temporarilyNamed }: Scope,
): readonly string[] {
  const leaving = new Set([
    ...temporarilyNamed,
    ...changes.flatMap((change) => {
      if (change.kind === "replace") return [change.id, change.resumed];
      return change.before?.name === change.after?.name ? [] : [change.id];
    }),
  ]);
  const names = new Set(
    roles.filter(({ id, predefined }) => !predefined && !leaving.has(id)).map(({ name }) => name),
  );
  return changes.flatMap((change) => {
    if (change.after === null || (change.kind === "update" && !leaving.has(change.id))) return [];
    const { name } = change.after;
    if (names.has(name)) return [changeKey(change)];
    names.add(name);
    return [];
  });
}

/** Returns a key that is unique among the changes of an undo. */
function changeKey({ id, name }: { readonly id: string | null; readonly name: string }): string {
  return id ?? `new ${name}`;
}
