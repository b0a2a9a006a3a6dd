import { withFingerprint } from "../kernel/diff/fingerprint.ts";
import { ROLE_FIELDS, roleDiffs, roleImage } from "../kernel/fields/role.ts";
import { temporaryName } from "../kernel/fields/temporary-name.ts";
import type { RoleImage } from "../model/field-values.ts";
import type { LiveRole } from "../model/live.ts";
import type { RoleChange } from "../model/plan.ts";
import type { Effect } from "./net-effects.ts";
import {
  changeKey,
  findRoleByName,
  isChangedByRun,
  isRoleIgnored,
  matchesImage,
  noteNameTaken,
  type RoleRevertContext,
} from "./revert-context.ts";
import { revertedValues } from "./reverted-values.ts";

/** Returns the change that reverts a live role; fields that others changed since the run stay. */
export function revertRole(
  live: LiveRole,
  before: RoleImage,
  after: RoleImage,
  context: RoleRevertContext,
): RoleChange | null {
  const { scope, refs, note } = context;
  if (live.predefined) return null;
  const image = roleImage(live);
  const current = scope.temporarilyNamed.has(live.id) ? { ...image, name: temporaryName(image.name) } : image;
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
  const wantedName = aside ? before.name : values.name;
  const taken = wantedName !== current.name && context.nameTaken.has(live.id);
  const name = taken ? current.name : wantedName;
  if (taken) noteNameTaken(live.name, before.name, context);
  const reverted = { ...values, name };
  const fields = roleDiffs(current, reverted);
  if (fields.length === 0) return null;
  refs.setRef(live.id, { id: live.id, name });
  return withFingerprint<RoleChange>({
    resource: "role",
    name,
    kind: "update",
    id: live.id,
    before: current,
    after: reverted,
    fields,
    reason: "undone",
  });
}

/** Returns the change that undoes a run's effect on a role; `null` if nothing is to be done, or nothing may be. */
export function undoRole(effect: Effect<RoleImage>, context: RoleRevertContext): RoleChange | null {
  const { id, name, before, after } = effect;
  if (isRoleIgnored(effect, context)) return null;
  const live = id === null ? findMaybeCreated(effect, context) : context.byId.get(id);
  if (before === null) return live && after ? remove(live, after, context) : null;
  if (live) {
    const written = after ?? { ...before, name: temporaryName(before.name) };
    return revertRole(live, before, written, context);
  }
  if (after === null) return recreateRole(id, before, context);
  context.note("gone-since", name, `The role "${name}" no longer exists, so nothing is restored.`);
  return null;
}

/** Finds the role that a create with an unknown outcome may have left: only an identical one counts. */
function findMaybeCreated(
  { name, after }: Effect<RoleImage>,
  context: RoleRevertContext,
): LiveRole | undefined {
  const role = findRoleByName(context, name);
  // A role whose id the run knew existed before it.
  if (role === undefined || isKnown(role.id, context)) return undefined;
  if (after === null || matchesImage(role, after)) return role;
  context.note(
    "not-sure",
    name,
    `It is unknown whether the run created the role "${name}"; the existing one differs, so it is left as it is.`,
  );
  return undefined;
}

function isKnown(id: string, context: RoleRevertContext): boolean {
  return isChangedByRun(id, context) || context.effects.replaced.some((replacement) => replacement.id === id);
}

function remove(
  live: LiveRole,
  after: RoleImage,
  { kept, refs, note }: RoleRevertContext,
): RoleChange | null {
  const { name, id } = live;
  if (live.predefined) return null;
  if (kept.has(id)) {
    note("still-held", name, `The role "${name}" is kept: it has a holder to whom the run did not grant it.`);
    return null;
  }
  if (!matchesImage(live, after)) {
    note(
      "changed-since",
      name,
      `The role "${name}" has been changed since; it is still removed, because the run created it.`,
    );
  }
  refs.setRef(id, null);
  return withFingerprint<RoleChange>({
    resource: "role",
    name,
    kind: "delete",
    id,
    before: roleImage(live),
    after: null,
    fields: [],
    reason: "undone",
  });
}

/** Returns the change that creates a removed role again; `null` if it exists or its name is taken. */
export function recreateRole(
  id: string | null,
  before: RoleImage,
  context: RoleRevertContext,
): RoleChange | null {
  const { refs, note } = context;
  const { name } = before;
  // A role that the run gave this name is reverted as well; if it cannot be, `nameConflicts` finds the name taken.
  const namesake = findRoleByName(context, name);
  const there = namesake && isChangedByRun(namesake.id, context) ? undefined : namesake;
  if (there && matchesImage(there, before)) {
    // An earlier undo, or a person, has created the role again.
    if (id !== null) refs.setRef(id, { id: there.id, name });
    return null;
  }
  if (there || context.nameTaken.has(changeKey({ id: null, name }))) {
    noteNameTaken(name, name, context);
    return null;
  }
  note("new-id", name, `The role "${name}" is created again with a new id.`);
  if (id !== null) refs.setRef(id, { id: null, name });
  return withFingerprint<RoleChange>({
    resource: "role",
    name,
    kind: "create",
    id: null,
    before: null,
    after: before,
    fields: [],
    reason: "undone",
  });
}
