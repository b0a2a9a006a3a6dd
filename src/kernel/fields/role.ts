import type { DesiredRole } from "../../model/desired.ts";
import type { NamedDiff, RoleImage } from "../../model/field-values.ts";
import type { JsonValue } from "../../model/json.ts";
import type { LiveRole } from "../../model/live.ts";
import { MAX_METADATA, MAX_PERMISSIONS } from "../values/limits.ts";
import {
  completed,
  contents,
  eachField,
  type FieldTable,
  fieldDiffs,
  heldValues,
  isSameDeclared,
} from "./field.ts";
import { metadataKind } from "./metadata.ts";
import { listKind } from "./set.ts";
import { nameKind, proseKind } from "./text-fields.ts";

/** Everything about the fields of a custom role. */
export const ROLE_FIELDS = {
  name: {
    kind: nameKind,
    response: "name",
    post: "name",
    put: "name",
    clearable: false,
    personal: false,
    declared: {
      title: "Name",
      description: "The name of the role; members refer to it.",
      examples: ["Shift Lead"],
      required: true,
      most: null,
    },
  },
  description: {
    kind: proseKind,
    response: "description",
    post: "description",
    put: "description",
    clearable: true,
    personal: false,
    declared: {
      title: "Description",
      description: 'What the role is for. If absent, the live description stays; "" clears it.',
      examples: ["Opens and closes the till"],
      required: false,
      most: null,
    },
  },
  permissions: {
    kind: listKind,
    response: "permissions",
    post: "permissions",
    put: "permissions",
    clearable: true,
    personal: false,
    declared: {
      title: "Permissions",
      description: `What holders of the role can do; at most ${MAX_PERMISSIONS}. Required for a new role. If absent, the live permissions stay; [] removes all permissions.`,
      examples: [["catalog_view", "refunds_create"]],
      required: true,
      most: MAX_PERMISSIONS,
    },
  },
  metadata: {
    kind: metadataKind,
    response: "metadata",
    post: "metadata",
    put: null,
    clearable: true,
    personal: false,
    declared: {
      title: "Metadata",
      description: `Your own properties; at most ${MAX_METADATA}. If absent, the live ones stay. The service cannot change them in place: a change requires sync.replace_roles.`,
      examples: [{ owner: "retail-ops" }],
      required: false,
      most: MAX_METADATA,
    },
  },
} satisfies FieldTable<RoleImage>;

/** Returns the image of a role with some values, and no others. */
export function roleImage(some: Partial<RoleImage>): RoleImage {
  return completed<RoleImage>(ROLE_FIELDS, some);
}

/** Returns the differences of two images. */
export function roleDiffs(before: RoleImage, after: RoleImage): readonly NamedDiff<RoleImage>[] {
  return fieldDiffs<RoleImage>(ROLE_FIELDS, before, after);
}

/** Returns whether two entries declare the same. */
export function isSameDeclaredRole(a: DesiredRole, b: DesiredRole): boolean {
  return isSameDeclared<RoleImage>(ROLE_FIELDS, a, b);
}

/** Returns the values that the service cannot update in place. */
export function fixedValues(image: RoleImage): Partial<RoleImage> {
  return eachField<FieldTable<RoleImage>, Partial<RoleImage>>(ROLE_FIELDS, (name, { put }) =>
    put === null ? image[name] : undefined,
  );
}

/** Returns what fingerprints count of an image. */
export function roleContent(image: RoleImage): JsonValue {
  return contents<RoleImage>(ROLE_FIELDS, image);
}

/** Returns a custom role at the service that is as its entry declares. */
export function roleAsDeclared(role: DesiredRole, id: string): LiveRole {
  return liveRoleOf(roleImage(role), id);
}

/** Returns a custom role at the service with an image. */
export function liveRoleOf(image: RoleImage, id: string): LiveRole {
  return { ...heldValues<RoleImage>(ROLE_FIELDS, image), id, predefined: false, updatedAt: "" };
}
