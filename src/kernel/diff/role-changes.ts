import type { DesiredRole } from "../../model/desired.ts";
import type { RoleImage } from "../../model/field-values.ts";
import type { LiveRole } from "../../model/live.ts";
import type { Reason, RoleChange } from "../../model/plan.ts";
import { pickFields } from "../fields/field.ts";
import { fixedValues, ROLE_FIELDS, roleDiffs, roleImage } from "../fields/role.ts";
import { temporaryName } from "../fields/temporary-name.ts";
import { withFingerprint } from "./fingerprint.ts";

/** Returns the change that creates a role. */
export function createRole(role: DesiredRole, permissions: readonly string[]): RoleChange {
  return roleCreation(roleImage({ ...role, permissions }), "declared");
}

/** Returns the change that creates a role with an image. */
export function roleCreation(after: RoleImage, reason: Reason): RoleChange {
  const { name } = after;
  const parts = { id: null, before: null, after, fields: [], reason } as const;
  return withFingerprint<RoleChange>({ resource: "role", name, kind: "create", ...parts });
}

/** Returns the change of the values that the service can update in place; `null` if nothing differs. */
export function updateRole(role: DesiredRole, live: LiveRole, hasTemporaryName: boolean): RoleChange | null {
  const image = roleImage(live);
  // An interrupted run may have left the role with its temporary name.
  const before =
    hasTemporaryName && live.name === role.name
      ? { ...image, name: temporaryName(live.name, live.id) }
      : image;
  return roleUpdate(live.id, before, updatedInPlace(before, role), "declared");
}

/** Returns the change from one image of a role to another, under its new name; `null` if nothing differs. */
export function roleUpdate(
  id: string,
  before: RoleImage,
  after: RoleImage,
  reason: Reason,
): RoleChange | null {
  const fields = roleDiffs(before, after);
  const { name } = after;
  return fields.length === 0
    ? null
    : withFingerprint<RoleChange>({
        resource: "role",
        name,
        kind: "update",
        id,
        before,
        after,
        fields,
        reason,
      });
}

/** Returns the change that replaces a live role; `resumed` is the new role's id if an earlier run created it. */
export function replaceRole(role: DesiredRole, live: LiveRole, resumed: string | null): RoleChange {
  return roleReplacement(live, declaredOver(roleImage(live), role), resumed, "immutable-field");
}

/** Returns the change that replaces a live role with a new role with an image. */
export function roleReplacement(
  live: LiveRole,
  after: RoleImage,
  resumed: string | null,
  reason: Reason,
): RoleChange {
  const [{ id }, { name }] = [live, after];
  const before = roleImage(live);
  const fields = roleDiffs(before, after);
  return withFingerprint<RoleChange>({
    resource: "role",
    name,
    kind: "replace",
    id,
    before,
    after,
    fields,
    reason,
    resumed,
  });
}

/** Returns the change that deletes a live role. */
export function deleteRole(live: LiveRole, reason: Reason): RoleChange {
  return withFingerprint<RoleChange>({
    resource: "role",
    name: live.name,
    kind: "delete",
    id: live.id,
    before: roleImage(live),
    after: null,
    fields: [],
    reason,
  });
}

/** Returns the live values that differ and that the service cannot update in place. */
export function fixedDifferences(role: DesiredRole, live: LiveRole): Partial<RoleImage> {
  const before = roleImage(live);
  const diffs = roleDiffs(updatedInPlace(before, role), declaredOver(before, role));
  return pickFields<RoleImage>(ROLE_FIELDS, before, new Set(diffs.map(({ field }) => field)));
}

/** Returns an image with the declared values. */
export function declaredOver(before: RoleImage, role: DesiredRole): RoleImage {
  return roleImage({ ...before, ...role });
}

/** Returns an image with the declared values that the service can update in place. */
function updatedInPlace(before: RoleImage, role: DesiredRole): RoleImage {
  return { ...declaredOver(before, role), ...fixedValues(before) };
}
