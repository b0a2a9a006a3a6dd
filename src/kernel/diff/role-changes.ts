import { canonicalJson } from "../../lib/json-text.ts";
import { isSameSet, sortedSet } from "../../lib/text.ts";
import type { DesiredRole } from "../../model/desired.ts";
import type { LiveRole } from "../../model/live.ts";
import { type FieldDiff, type RoleChange, type RoleImage, TEMPORARY_SUFFIX } from "../../model/plan.ts";
import { withFingerprint } from "./fingerprint.ts";

/** Returns the change that creates a role. */
export function createRole(role: DesiredRole, permissions: readonly string[]): RoleChange {
  const { name, description, metadata } = role;
  const after = {
    name,
    description: description ?? null,
    permissions: sortedSet(permissions),
    metadata: metadata ?? {},
  };
  return withFingerprint<RoleChange>({
    resource: "role",
    name,
    kind: "create",
    id: null,
    before: null,
    after,
    fields: [],
    reason: "declared",
  });
}

/** Returns the change of what the service can update in place; `null` if nothing differs. */
export function updateRole(role: DesiredRole, live: LiveRole, hasTemporaryName: boolean): RoleChange | null {
  if (!hasTemporaryName && isAsDeclared(role, live)) return null;
  const image = roleImageOf(live);
  // An interrupted run may have left the role with its temporary name.
  const before =
    hasTemporaryName && live.name === role.name
      ? { ...image, name: `${live.name}${TEMPORARY_SUFFIX}` }
      : image;
  const after = { ...declaredOver(role, before), metadata: before.metadata };
  const fields = [...roleFields(before, after)];
  if (fields.length === 0) return null;
  return withFingerprint<RoleChange>({
    resource: "role",
    name: role.name,
    kind: "update",
    id: live.id,
    before,
    after,
    fields,
    reason: "declared",
  });
}

/** Returns whether nothing differs that can be updated in place, without building images: most roles are unchanged. */
function isAsDeclared({ name, description, permissions }: DesiredRole, live: LiveRole): boolean {
  return (
    name === live.name &&
    (description === undefined || description === (live.description ?? "")) &&
    (permissions === undefined || isSameSet(permissions, live.permissions))
  );
}

/** Returns the change that replaces a live role; `resumed` is the new role's id if an earlier run created it. */
export function replaceRole(role: DesiredRole, live: LiveRole, resumed: string | null): RoleChange {
  const before = roleImageOf(live);
  const after = declaredOver(role, before);
  return withFingerprint<RoleChange>({
    resource: "role",
    name: role.name,
    kind: "replace",
    id: live.id,
    before,
    after,
    fields: [...roleFields(before, after)],
    reason: "immutable-field",
    resumed,
  });
}

/** Returns the change that deletes an unlisted live role. */
export function deleteRole(live: LiveRole): RoleChange {
  return withFingerprint<RoleChange>({
    resource: "role",
    name: live.name,
    kind: "delete",
    id: live.id,
    before: roleImageOf(live),
    after: null,
    fields: [],
    reason: "unlisted",
  });
}

/** Returns the declared fields of a role, with the live values of those that the file leaves out. */
function declaredOver(role: DesiredRole, before: RoleImage): RoleImage {
  const { name, description, permissions, metadata, ...identity } = role;
  const { id: _, previously: __, origin: ___, adjusted: ____, ...rest } = identity;
  rest satisfies Record<string, never>;
  return {
    name,
    description: description ?? before.description,
    permissions: permissions ? sortedSet(permissions) : before.permissions,
    metadata: metadata ?? before.metadata,
  };
}

/** Returns the image of a live role. */
export function roleImageOf(live: LiveRole): RoleImage {
  return {
    name: live.name,
    description: live.description ?? null,
    permissions: sortedSet(live.permissions),
    metadata: live.metadata,
  };
}

/** Yields the differences between two images of a role. */
export function* roleFields(before: RoleImage, after: RoleImage): Generator<FieldDiff> {
  if (before.name !== after.name) yield { field: "name", before: before.name, after: after.name };
  // The service treats an empty description as none.
  if ((before.description ?? "") !== (after.description ?? "")) {
    yield { field: "description", before: before.description, after: after.description ?? "" };
  }
  const was = new Set(before.permissions);
  const is = new Set(after.permissions);
  const added = after.permissions.filter((permission) => !was.has(permission));
  const removed = before.permissions.filter((permission) => !is.has(permission));
  if (added.length + removed.length > 0) yield { field: "permissions", added, removed };
  if (canonicalJson(before.metadata) !== canonicalJson(after.metadata)) {
    yield { field: "metadata", before: before.metadata, after: after.metadata };
  }
}

/** Returns whether the declared metadata differ from the live ones. */
export function metadataDiffers(role: DesiredRole, live: LiveRole): boolean {
  return role.metadata !== undefined && canonicalJson(role.metadata) !== canonicalJson(live.metadata);
}
