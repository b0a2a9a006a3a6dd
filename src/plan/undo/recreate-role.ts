import type { RoleChange, RoleImage } from "../../model/plan.ts";
import { seal } from "../fingerprint.ts";
import { keyOf } from "./name-conflicts.ts";
import { roleNamed } from "./role-refs.ts";
import { isOfRun, looksLike, noteNameTaken, type RolePass } from "./role-revert-context.ts";

/** The change that makes a role again which the run removed; null where it is there, or cannot be. */
export function putRoleBack(id: string | null, before: RoleImage, pass: RolePass): RoleChange | null {
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
  if (there || pass.nameless.has(keyOf({ id: null, name }))) {
    noteNameTaken(name, name, pass);
    return null;
  }
  note("new-id", name, `The role "${name}" comes back with another id.`);
  if (id !== null) refs.stands(id, { id: null, name });
  return seal<RoleChange>({
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
