import type { DesiredMember } from "../../model/desired.ts";
import type {
  ManagedProperties,
  MemberField,
  MemberProperties,
  MemberValues,
  NamedDiff,
  RoleRef,
  Some,
} from "../../model/field-values.ts";
import type { JsonValue } from "../../model/json.ts";
import type { LiveMember } from "../../model/live.ts";
import type { MemberImage } from "../../model/plan.ts";
import { MAX_METADATA } from "../values/limits.ts";
import {
  completed,
  contents,
  type FieldTable,
  fieldDiffs,
  filledFields,
  heldValues,
  pickFields,
} from "./field.ts";
import { metadataKind } from "./metadata.ts";
import { rolesKind } from "./set.ts";
import { lineKind } from "./text-fields.ts";

/** The fields of users that the merchant manages: under `managed` in files and plans, and under `user` at the service. */
export const MANAGED_FIELDS = {
  nickname: {
    kind: lineKind,
    response: "nickname",
    post: "nickname",
    put: "nickname",
    clearable: false,
    personal: true,
    declared: {
      title: "Nickname",
      description: "Display name of the user.",
      examples: ["Till 7"],
      required: false,
      most: 64,
    },
  },
} satisfies FieldTable<ManagedProperties>;

/** The values of the fields that every member has. */
export type CommonValues = Omit<MemberValues, keyof ManagedProperties>;

/** The fields that every member has. */
export const COMMON_FIELDS = {
  roles: {
    kind: rolesKind,
    response: "roles",
    post: "roles",
    put: "roles",
    clearable: true,
    personal: false,
    declared: {
      title: "Roles",
      description:
        "The member's roles: names from this file, or ids such as those of predefined roles; { role, from, until } for a grant with a beginning or an end. Required for a new member. If absent, the live roles stay; [] removes all roles.",
      examples: [["Shift Lead", "role_employee"], [{ role: "Shift Lead", until: "2027-01-31" }]],
      required: true,
      most: 124,
    },
  },
  metadata: {
    kind: metadataKind,
    response: "metadata",
    post: "metadata",
    put: "metadata",
    clearable: true,
    personal: true,
    declared: {
      title: "Metadata",
      description: `Your own properties; at most ${MAX_METADATA}, always replaced as a whole. If absent, the live ones stay; {} clears them.`,
      examples: [{ employee_id: "4711" }],
      required: false,
      most: MAX_METADATA,
    },
  },
} satisfies FieldTable<CommonValues>;

/** All fields of a member. */
export const MEMBER_FIELDS = { ...MANAGED_FIELDS, ...COMMON_FIELDS } satisfies FieldTable<MemberValues>;

/** Returns the path of a field in an entry of a file. */
export function entryPath(name: MemberField): readonly [string, ...string[]] {
  return name in MANAGED_FIELDS ? ["managed", name] : [name];
}

/** Returns the values of a member from an object that may have other properties, too. */
export function newMemberValues(some: Partial<MemberValues>): MemberValues {
  return completed<MemberValues>(MEMBER_FIELDS, some);
}

/** Returns the values of a managed user from an object that may have other properties, too. */
export function managedValues(some: Partial<ManagedProperties> = {}): ManagedProperties {
  return completed<ManagedProperties>(MANAGED_FIELDS, some);
}

/** Returns the values of an image. */
export function memberValues({ managed, ...image }: MemberImage): MemberValues {
  return newMemberValues({ ...image, ...managed });
}

/** Returns the values of a live member; `refOf` names its roles. */
export function liveValues(
  live: LiveMember,
  refOf: (id: string) => RoleRef = (id) => ({ id, name: id }),
): MemberValues {
  return newMemberValues({ ...(isManaged(live) && live.user), ...live, roles: live.roles.map(refOf) });
}

/** Returns whether a member is a user that the merchant manages. */
export function isManaged({ user }: Pick<LiveMember, "user">): boolean {
  return user?.type === "managed_user";
}

/** Returns the values that an entry declares, except its roles. */
export function declaredValues(member: DesiredMember): Some<MemberProperties & ManagedProperties> {
  const { roles: grants, managed, ...entry } = member;
  return { ...entry, ...managed };
}

/** Returns an entry that also declares what a live member has and the entry does not declare. */
export function inheriting(member: DesiredMember, live: LiveMember): DesiredMember {
  const { roles = live.roles.map((role) => ({ role })), managed } = member;
  const values = liveValues(live);
  return {
    ...heldValues<CommonValues>(COMMON_FIELDS, values),
    ...member,
    roles,
    ...(managed && { managed: { ...heldValues<ManagedProperties>(MANAGED_FIELDS, values), ...managed } }),
  };
}

/** Returns the fields of a live member, except roles, that differ from its entry. */
export function undeclaredFields(live: LiveMember, member: DesiredMember): readonly MemberField[] {
  const values = liveValues(live);
  const declared = newMemberValues({ ...values, ...declaredValues(member) });
  return fieldDiffs<MemberValues>(MEMBER_FIELDS, values, declared).map(({ field }) => field);
}

/** Returns an accepted member at the service that is as its entry declares, with roles of some ids. */
export function memberAsDeclared(member: DesiredMember, id: string, roleIds: readonly string[]): LiveMember {
  const { email, managed } = member;
  const values = newMemberValues({
    ...declaredValues(member),
    roles: roleIds.map((role) => ({ id: role, name: role })),
  });
  const user = { id, email, mfaOnLogin: true, type: managed ? "managed_user" : "user" };
  return {
    ...heldValues<CommonValues>(COMMON_FIELDS, values),
    id,
    status: "accepted",
    user: { ...heldValues<ManagedProperties>(MANAGED_FIELDS, values), ...user },
    updatedAt: "",
  };
}

/** Returns a live member with the values of an image; `idOf` returns the id of a role. */
export function liveMemberWith(
  live: LiveMember,
  image: MemberImage,
  idOf: (role: RoleRef) => string,
): LiveMember {
  const values = memberValues(image);
  const roles = values.roles.map((role) => ({ id: idOf(role), name: role.name }));
  return {
    ...live,
    ...heldValues<CommonValues>(COMMON_FIELDS, { ...values, roles }),
    ...(live.user && {
      user: {
        ...live.user,
        ...(isManaged(live) && heldValues<ManagedProperties>(MANAGED_FIELDS, values)),
      },
    }),
  };
}

/** Identity of an image, besides its values. */
export interface MemberIdentity extends Pick<MemberImage, "email" | "status"> {
  /** `undefined` unless the merchant manages the user. */
  readonly passwordEnv: string | null | undefined;
}

/** Returns the image of a member. */
export function memberImage(
  { email, status, passwordEnv }: MemberIdentity,
  values: MemberValues,
): MemberImage {
  return {
    email,
    ...completed<CommonValues>(COMMON_FIELDS, values),
    managed:
      passwordEnv === undefined
        ? null
        : { ...completed<ManagedProperties>(MANAGED_FIELDS, values), passwordEnv },
    status,
  };
}

/** Returns an image with other values. */
export function withValues(image: MemberImage, values: Partial<MemberValues>): MemberImage {
  const { email, status, managed } = image;
  const identity = { email, status, passwordEnv: managed?.passwordEnv };
  return memberImage(identity, newMemberValues({ ...memberValues(image), ...values }));
}

/** Returns the differences of two images. */
export function memberDiffs(before: MemberImage, after: MemberImage): readonly NamedDiff<MemberValues>[] {
  return fieldDiffs<MemberValues>(MEMBER_FIELDS, memberValues(before), memberValues(after));
}

/** Returns the parts of an image that fingerprints include. */
export function memberContent(image: MemberImage): JsonValue {
  const { email, managed } = image;
  return {
    email: email?.toLowerCase() ?? null,
    ...contents<CommonValues>(COMMON_FIELDS, image),
    managed: managed && { ...managed },
  };
}

/** Returns the fields of a member that have a value. */
export function filledMemberFields(values: MemberValues): readonly MemberField[] {
  return filledFields<MemberValues>(MEMBER_FIELDS, values);
}

/** Returns an image without the values of some fields. */
export function withoutFields(image: MemberImage, fields: readonly MemberField[]): MemberImage {
  return withValues(image, pickFields<MemberValues>(MEMBER_FIELDS, NO_VALUES, new Set(fields)));
}

const NO_VALUES = newMemberValues({});

/** Returns whether a name is that of a member's field. */
export function isMemberField(name: string): name is MemberField {
  return name in MEMBER_FIELDS;
}
