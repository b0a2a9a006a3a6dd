import type { PasswordChange } from "../model/apply.ts";
import type { Metadata } from "../model/json.ts";
import type { Change, MemberChange, MemberImage } from "../model/plan.ts";

/** A change that is sent as an update of a member. */
export type MemberUpdateChange = (MemberChange | PasswordChange) & { readonly kind: "update" };

/** A field of a member that an update can hold. */
export type MemberField = "roles" | "metadata" | "nickname";

/** The fields of a member as they were right before an update. */
export interface MemberFields {
  /** Role ids. */
  readonly roles: readonly string[];
  readonly metadata: Metadata;
  readonly nickname: string;
}

/** Whether a change is sent as an update of a member. */
export function isMemberUpdate(change: Change): change is MemberUpdateChange {
  return change.resource === "member" && change.kind === "update";
}

/** The fields that an update of a member sends. */
export function sentFields({ fields }: MemberUpdateChange): ReadonlySet<MemberField> {
  return new Set(
    fields.flatMap(({ field }) =>
      field === "roles" || field === "metadata" || field === "nickname" ? [field] : [],
    ),
  );
}

/** The fields that an update leaves out although the member has something there. */
export function omittedFields(change: MemberUpdateChange): readonly MemberField[] {
  const { roles, metadata, managed } = change.before;
  const sent = sentFields(change);
  const filled = filledFields({
    roles: roles.map(({ name }) => name),
    metadata,
    nickname: managed?.nickname ?? "",
  });
  return filled.filter((field) => !sent.has(field));
}

/** The fields of a member that hold anything. */
export function filledFields(member: MemberFields): readonly MemberField[] {
  const { roles, metadata, nickname, ...rest } = member;
  rest satisfies Record<string, never>;
  return [
    ...(roles.length > 0 ? (["roles"] as const) : []),
    ...(Object.keys(metadata).length > 0 ? (["metadata"] as const) : []),
    ...(nickname === "" ? [] : (["nickname"] as const)),
  ];
}

/** A member's image as a service leaves it that empties the fields that an update does not hold. */
export function emptiedImage(image: MemberImage, change: MemberUpdateChange): MemberImage {
  const omitted = new Set(omittedFields(change));
  return {
    ...image,
    ...(omitted.has("roles") && { roles: [] }),
    ...(omitted.has("metadata") && { metadata: {} }),
    ...(omitted.has("nickname") && image.managed && { managed: { ...image.managed, nickname: null } }),
  };
}
