import { sortedSet } from "../../lib/order.ts";
import type { LiveRole } from "../../model/live.ts";
import { type RoleChange, type RoleImage, TEMPORARY_SUFFIX } from "../../model/plan.ts";
import { roleFields, roleImageOf } from "../changes/role-changes.ts";
import { withFingerprint } from "../fingerprint.ts";
import type { Effect } from "./net-effects.ts";
import {
  changeKey,
  isOfRun,
  isRoleIgnored,
  looksLike,
  noteNameTaken,
  type RoleRevertContext,
  roleNamed,
} from "./revert-context.ts";
import { revertSet, revertValue } from "./revert-member.ts";

/** The change that brings a live role back from what the run left to what it was before; what others changed stays. */
export function revertRole(
  live: LiveRole,
  before: RoleImage,
  after: RoleImage,
  pass: RoleRevertContext,
): RoleChange | null {
  const { scope, refs, note } = pass;
  if (live.predefined) return null;
  const image = roleImageOf(live);
  const is = scope.setAside.has(live.id) ? { ...image, name: `${image.name}${TEMPORARY_SUFFIX}` } : image;
  const stays = (field: string): void =>
    note("changed-since", live.name, `The ${field} of the role "${live.name}" was changed since, and stays.`);
  // What was set aside has a name for a moment only, whichever the run went on to give it.
  const aside = is.name !== image.name && before.name !== after.name;
  const wantedName = aside ? before.name : revertValue(before.name, after.name, is.name, () => stays("name"));
  const taken = wantedName !== is.name && pass.nameless.has(live.id);
  const name = taken ? is.name : wantedName;
  if (taken) noteNameTaken(live.name, before.name, pass);
  const text = (one: string | null): string => one ?? "";
  const description = revertValue(
    text(before.description),
    text(after.description),
    text(is.description),
    () => stays("description"),
  );
  const wanted: RoleImage = {
    name,
    description: description === text(is.description) ? is.description : description,
    permissions: sortedSet(revertSet(before.permissions, after.permissions, is.permissions)),
    metadata: is.metadata,
  };
  const fields = [...roleFields(is, wanted)];
  if (fields.length === 0) return null;
  refs.stands(live.id, { id: live.id, name });
  return withFingerprint<RoleChange>({
    resource: "role",
    name,
    kind: "update",
    id: live.id,
    before: is,
    after: wanted,
    fields,
    reason: "undone",
  });
}

/** The change that takes back what a run did to one role; null where nothing is to be done, or may be. */
export function undoRole(effect: Effect<RoleImage>, pass: RoleRevertContext): RoleChange | null {
  const { id, name, before, after } = effect;
  if (isRoleIgnored(effect, pass)) return null;
  const live = id === null ? madeUnknown(effect, pass) : pass.byId.get(id);
  if (before === null) return live && after ? remove(live, after, pass) : null;
  if (live) {
    const left = after ?? { ...before, name: `${before.name}${TEMPORARY_SUFFIX}` };
    return revertRole(live, before, left, pass);
  }
  if (after === null) return recreateRole(id, before, pass);
  pass.note("gone-since", name, `The role "${name}" is not there any more, so nothing of it goes back.`);
  return null;
}

/** What a create of which nobody knows the end has left behind: only what looks exactly like it. */
function madeUnknown({ name, after }: Effect<RoleImage>, pass: RoleRevertContext): LiveRole | undefined {
  const role = roleNamed(pass, name);
  // One that the run knew by its id was there before, and has its name back.
  if (role === undefined || isKnown(role.id, pass)) return undefined;
  if (after === null || looksLike(role, after)) return role;
  pass.note(
    "not-sure",
    name,
    `It is not known whether the run made the role "${name}"; the one there is looks different, and stays.`,
  );
  return undefined;
}

function isKnown(id: string, pass: RoleRevertContext): boolean {
  return isOfRun(id, pass) || pass.effects.replaced.some((one) => one.id === id);
}

function remove(
  live: LiveRole,
  after: RoleImage,
  { kept, refs, note }: RoleRevertContext,
): RoleChange | null {
  const { name, id } = live;
  if (live.predefined) return null;
  if (kept.has(id)) {
    note("still-held", name, `The role "${name}" stays: somebody holds it whom the run did not give it to.`);
    return null;
  }
  if (!looksLike(live, after)) {
    note(
      "changed-since",
      name,
      `The role "${name}" was changed since; it goes all the same, because the run made it.`,
    );
  }
  refs.stands(id, null);
  return withFingerprint<RoleChange>({
    resource: "role",
    name,
    kind: "delete",
    id,
    before: roleImageOf(live),
    after: null,
    fields: [],
    reason: "undone",
  });
}

/** The change that makes a role again which the run removed; null where it is there, or cannot be. */
export function recreateRole(
  id: string | null,
  before: RoleImage,
  pass: RoleRevertContext,
): RoleChange | null {
  const { refs, note } = pass;
  const { name } = before;
  // What the run itself gave this name makes room for it; where it cannot, the name is found to be taken later.
  const named = roleNamed(pass, name);
  const there = named && isOfRun(named.id, pass) ? undefined : named;
  if (there && looksLike(there, before)) {
    // An earlier undo, or somebody, has put it back.
    if (id !== null) refs.stands(id, { id: there.id, name });
    return null;
  }
  if (there || pass.nameless.has(changeKey({ id: null, name }))) {
    noteNameTaken(name, name, pass);
    return null;
  }
  note("new-id", name, `The role "${name}" comes back with another id.`);
  if (id !== null) refs.stands(id, { id: null, name });
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
