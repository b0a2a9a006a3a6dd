import type { RoleImage } from "../../model/field-values.ts";
import type { Change, MemberChange, MemberImage, RoleChange } from "../../model/plan.ts";
import { changedParts, withParts } from "../fields/field.ts";
import { MEMBER_FIELDS, memberDiffs, memberValues, withValues } from "../fields/member.ts";
import { ROLE_FIELDS, roleDiffs } from "../fields/role.ts";
import { withFingerprint } from "./fingerprint.ts";

/** An update of a role or member. */
export type UpdateChange = Extract<Change, { readonly kind: "update" }>;

/** Returns the parts of an update: items of lists, properties of metadata, and other fields as a whole. */
export function updateParts({ before, after }: UpdateChange): readonly string[] {
  return differingParts(before, after);
}

/** The state of a role or member before or after an update. */
export type AnyImage = RoleImage | MemberImage;

/** Returns the parts in which two images of a role, or of a member, differ. */
export function differingParts(a: AnyImage, b: AnyImage): readonly string[] {
  if (isRole(a)) return isRole(b) ? changedParts(ROLE_FIELDS, a, b) : [];
  return isRole(b) ? [] : changedParts(MEMBER_FIELDS, memberValues(a), memberValues(b));
}

/** Returns an image with some parts taken from another image of the same role or member. */
export function imageWithParts<Image extends AnyImage>(
  image: Image,
  other: AnyImage,
  parts: ReadonlySet<string>,
): Image;
export function imageWithParts(image: AnyImage, other: AnyImage, parts: ReadonlySet<string>): AnyImage {
  if (isRole(image)) return isRole(other) ? withParts(ROLE_FIELDS, image, other, parts) : image;
  if (isRole(other)) return image;
  return withValues(image, withParts(MEMBER_FIELDS, memberValues(image), memberValues(other), parts));
}

/** Returns an update with only some of its parts. */
export function withSomeParts(update: UpdateChange, parts: ReadonlySet<string>): UpdateChange {
  if (update.resource === "role") {
    const after = imageWithParts(update.before, update.after, parts);
    const fields = roleDiffs(update.before, after);
    return withFingerprint<RoleChange & UpdateChange>({ ...update, after, fields });
  }
  const after = imageWithParts(update.before, update.after, parts);
  const fields = memberDiffs(update.before, after);
  return withFingerprint<MemberChange & UpdateChange>({ ...update, after, fields });
}

function isRole(image: AnyImage): image is RoleImage {
  return "permissions" in image;
}
