import type { MemberChange, RoleChange } from "../../model/plan.ts";
import type { AccessChanges } from "./access.ts";

/** Returns whether a role is removed, or grants less. */
export function takesPermissions({ kind, fields }: RoleChange): boolean {
  return kind === "delete" || fields.some((diff) => diff.field === "permissions" && diff.removed.length > 0);
}

/** Returns whether a member is removed, or loses a role without gaining its successor. */
export function takesRoles({ kind, fields }: MemberChange, replaced: ReadonlySet<string>): boolean {
  if (kind === "delete") return true;
  if (kind !== "update") return false;
  return fields.some(
    (diff) =>
      diff.field === "roles" &&
      // The successor of a replaced role counts as the same role; another role of that name does not.
      diff.removed.some(
        ({ id, name }) => !(replaced.has(id ?? "") && diff.added.some((added) => added.name === name)),
      ),
  );
}

/** Returns the ids of replaced roles. */
export function replacedBy({ roles }: AccessChanges): ReadonlySet<string> {
  return new Set(roles.flatMap(({ kind, id }) => (kind === "replace" && id !== null ? id : [])));
}
