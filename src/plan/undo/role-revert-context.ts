import { sortedSet } from "../../lib/order.ts";
import type { LiveRole } from "../../model/live.ts";
import type { RoleImage } from "../../model/plan.ts";
import { roleFields, roleImageOf } from "../changes/role-changes.ts";
import { matchesAny } from "../scope.ts";
import type { GrowingRoleRefs } from "./role-refs.ts";
import type { UndoContext } from "./undo-context.ts";
import type { TakeNote } from "./undo-notes.ts";

/** One pass over what a run did to roles, as each of them goes back. */
export interface RolePass extends UndoContext {
  /** The managed roles by id. */
  readonly byId: ReadonlyMap<string, LiveRole>;
  /** Ids of roles that have to stay, because somebody holds them. */
  readonly kept: ReadonlySet<string>;
  /** Keys of changes that cannot have the name that they would take. */
  readonly nameless: ReadonlySet<string>;
  readonly refs: GrowingRoleRefs;
  readonly note: TakeNote;
}

/** Whether a role is to be left alone; notes it where it is. */
export function isRoleIgnored(
  { id, name }: { readonly id: string | null; readonly name: string },
  { ignore, matches, note }: RolePass,
): boolean {
  if (!matchesAny(ignore.roles, [name, id ?? name], matches)) return false;
  note("ignored", name, `The role "${name}" is to be ignored, so it stays as it is.`);
  return true;
}

/** Whether the run changed a role, or made it. */
export function isOfRun(id: string, { effects: { roles, replaced } }: RolePass): boolean {
  return roles.some((effect) => effect.id === id) || replaced.some(({ successor }) => successor === id);
}

/** Notes that a role does not get its name back. */
export function noteNameTaken(name: string, wanted: string, { note }: RolePass): void {
  note("name-taken", name, `The role "${wanted}" does not come back: another role has that name by now.`);
}

/** Whether a live role is what an image says. */
export function looksLike(live: LiveRole, image: RoleImage): boolean {
  const is = roleImageOf(live);
  const same = [
    ...roleFields({ ...is, name: image.name }, { ...image, permissions: sortedSet(image.permissions) }),
  ];
  return same.length === 0;
}
