import type { DesiredMember } from "../../model/desired.ts";
import type { JsonValue } from "../../model/json.ts";
import type { LiveMember } from "../../model/live.ts";
import type { MemberImage, RoleRef } from "../../model/plan.ts";
import type {
  ManagedProperties,
  MemberField,
  MemberProperties,
  MemberValues,
  NamedDiff,
  Some,
} from "../../model/values.ts";
import { completed, eachField, type Field, type FieldTable, fieldDiffs } from "./field.ts";
import { metadata } from "./metadata.ts";
import { roles } from "./set.ts";
import { line } from "./text.ts";

type MemberFieldTable = {
  readonly [Name in keyof FieldTable<MemberValues>]: Field<MemberValues[Name]> & {
    /** `true` for a field of users that the merchant manages, under `managed` in files and plans. */
    readonly managed: Name extends keyof ManagedProperties ? true : false;
  };
};

/** Everything about the fields of a member. */
export const MEMBER_FIELDS = {
  nickname: {
    kind: line,
    managed: true,
    response: ["user", "nickname"],
    post: ["nickname"],
    put: ["user", "nickname"],
    clearable: false,
    personal: true,
    declared: {
      title: "Nickname",
      description: "The display name of the user.",
      examples: ["Till 7"],
      required: false,
      most: 64,
    },
  },
  roles: {
    kind: roles,
    managed: false,
    response: ["roles"],
    post: ["roles"],
    put: ["roles"],
    clearable: true,
    personal: false,
    declared: {
      title: "Roles",
      description:
        "The member's roles: names from this file, or ids such as those of predefined roles; { role, from, until } for a grant with a beginning or an end. Required for a new member. If absent, the live roles stay; [] removes all.",
      examples: [["Shift Lead", "role_employee"], [{ role: "Shift Lead", until: "2027-01-31" }]],
      required: true,
      most: 124,
    },
  },
  metadata: {
    kind: metadata,
    managed: false,
    response: ["metadata"],
    post: ["metadata"],
    put: ["metadata"],
    clearable: true,
    personal: true,
    declared: {
      title: "Metadata",
      description:
        "Properties of your own; at most 64, always replaced as a whole. If absent, the live ones stay; {} clears them.",
      examples: [{ employee_id: "4711" }],
      required: false,
      most: 64,
    },
  },
} satisfies MemberFieldTable;

/** The fields of a member. */
const FIELDS: MemberFieldTable = MEMBER_FIELDS;

/** Returns the values of a member that has some, and no others. */
export function newMemberValues(some: Partial<MemberValues>): MemberValues {
  return completed<MemberValues>(FIELDS, some);
}

/** Returns the values of an image. */
export function memberValues({ managed, ...image }: MemberImage): MemberValues {
  return newMemberValues({ ...image, ...managed });
}

/** Returns the values of a live member; `refOf` names its roles. */
export function liveValues(live: LiveMember, refOf: (id: string) => RoleRef): MemberValues {
  return newMemberValues({ ...(isManaged(live) && live.user), ...live, roles: live.roles.map(refOf) });
}

/** Returns whether a member is a user that the merchant manages. */
export function isManaged({ user }: Pick<LiveMember, "user">): boolean {
  return user?.type === "managed_user";
}

/** Returns the values that an entry declares, but for its roles. */
export function declaredValues(member: DesiredMember): Some<MemberProperties & ManagedProperties> {
  const { roles: grants, managed, ...entry } = member;
  return { ...entry, ...managed };
}

/** What an image says besides its values. */
export interface MemberIdentity extends Pick<MemberImage, "email" | "status"> {
  /** `undefined` unless the merchant manages the user. */
  readonly passwordEnv: string | null | undefined;
}

/** Returns the image of a member. */
export function memberImage(
  { email, status, passwordEnv }: MemberIdentity,
  values: MemberValues,
): MemberImage {
  const valuesOf = (managed: boolean): MemberValues =>
    eachField<MemberFieldTable, MemberValues>(FIELDS, (name, field) =>
      field.managed === managed ? values[name] : undefined,
    );
  const managed = passwordEnv === undefined ? null : { ...valuesOf(true), passwordEnv };
  return { email, ...valuesOf(false), managed, status };
}

/** Returns an image with other values. */
export function withValues(image: MemberImage, values: Partial<MemberValues>): MemberImage {
  const { email, status, managed } = image;
  const identity = { email, status, passwordEnv: managed?.passwordEnv };
  return memberImage(identity, newMemberValues({ ...memberValues(image), ...values }));
}

/** Returns the differences of two images. */
export function memberDiffs(before: MemberImage, after: MemberImage): readonly NamedDiff<MemberValues>[] {
  return fieldDiffs<MemberValues>(FIELDS, memberValues(before), memberValues(after));
}

/** Returns what fingerprints count of an image. */
export function memberContent(image: MemberImage): JsonValue {
  const { email, managed } = image;
  const values = memberValues(image);
  const own = eachField<MemberFieldTable, Partial<Record<MemberField, JsonValue>>>(FIELDS, (name, field) =>
    field.managed ? undefined : field.kind.content(values[name]),
  );
  return { email: email?.toLowerCase() ?? null, ...own, managed: managed && { ...managed } };
}
