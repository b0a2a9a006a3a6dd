import type { LiveRole } from "../../model/live.ts";
import { type RoleChange, type RoleImage, TEMPORARY_SUFFIX } from "../../model/plan.ts";
import { roleImageOf } from "../changes/role-changes.ts";
import { seal } from "../fingerprint.ts";
import type { Effect } from "./net-effects.ts";
import { putRoleBack } from "./recreate-role.ts";
import { changeRoleBack } from "./revert-role.ts";
import { roleNamed } from "./role-refs.ts";
import { isOfRun, isRoleIgnored, looksLike, type RolePass } from "./role-revert-context.ts";

/** The change that takes back what a run did to one role; null where nothing is to be done, or may be. */
export function undoRole(effect: Effect<RoleImage>, pass: RolePass): RoleChange | null {
  const { id, name, before, after } = effect;
  if (isRoleIgnored(effect, pass)) return null;
  const live = id === null ? madeUnknown(effect, pass) : pass.byId.get(id);
  if (before === null) return live && after ? remove(live, after, pass) : null;
  if (live) {
    const left = after ?? { ...before, name: `${before.name}${TEMPORARY_SUFFIX}` };
    return changeRoleBack(live, before, left, pass);
  }
  if (after === null) return putRoleBack(id, before, pass);
  pass.note("gone-since", name, `The role "${name}" is not there any more, so nothing of it goes back.`);
  return null;
}

/** What a create of which nobody knows the end has left behind: only what looks exactly like it. */
function madeUnknown({ name, after }: Effect<RoleImage>, pass: RolePass): LiveRole | undefined {
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

function isKnown(id: string, pass: RolePass): boolean {
  return isOfRun(id, pass) || pass.effects.replaced.some((one) => one.id === id);
}

function remove(live: LiveRole, after: RoleImage, { kept, refs, note }: RolePass): RoleChange | null {
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
  return seal<RoleChange>({
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
