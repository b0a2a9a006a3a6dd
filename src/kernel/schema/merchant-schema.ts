import * as z from "zod/mini";
import { type ByKind, eachField, type KindNames } from "../fields/field.ts";
import type { KindValues } from "../fields/kind.ts";
import { COMMON_FIELDS, MANAGED_FIELDS } from "../fields/member.ts";
import { ROLE_FIELDS } from "../fields/role.ts";
import type { FormatCode } from "../problems/problem.ts";
import { anyCheckSchema } from "../rules/settings/every-check-setting.ts";
import { parseUntil, UNTIL_PATTERN } from "../values/dates.ts";
import { MAX_CHECKS, MAX_INCLUDES, MAX_PERMISSIONS } from "../values/limits.ts";
import {
  described,
  emailAddress,
  environmentVariable,
  includeMistake,
  lineOfText,
  MEMBER_ID,
  matching,
  metadata,
  oneEmailAddress,
  optional,
  ROLE_ID,
  text,
} from "../values/text-schemas.ts";
import { address } from "./address-schema.ts";
import { guards, ignore, policies, sync } from "./setting-schemas.ts";

/** Accepts an end or a beginning: both are written alike. */
const moment = () =>
  described(
    z.string().check(z.refine((value) => parseUntil(value) !== null, "bad-until" satisfies FormatCode)),
    { pattern: UNTIL_PATTERN },
  );

const permissions = () =>
  z.array(text()).check(z.maxLength(MAX_PERMISSIONS, "too-many-permissions" satisfies FormatCode));

const permissionList = (title: string, description: string) =>
  optional(permissions(), { title, description, examples: [["refunds_create"]] });

const adjust = described(
  z.strictObject({
    add: permissionList("Added permissions", "Permissions that the included role does not have."),
    remove: permissionList("Removed permissions", "Permissions that the included role has."),
  }),
  {
    title: "Adjustment",
    description:
      "Changes the permissions of an included role for this merchant only. The entry can have no other key except name.",
    examples: [{ add: ["refunds_create"], remove: ["catalog_edit"] }],
  },
);

const grant = described(
  z.strictObject({
    role: described(text(), {
      title: "Role",
      description: "A role's name from this file, or an id such as that of a predefined role.",
      examples: ["Shift Lead", "role_employee"],
    }),
    from: optional(moment(), {
      title: "Beginning of the grant",
      description:
        "When the grant begins: a date (the start of that day in UTC), or a timestamp with a time zone. Before that, the grant has no effect.",
      examples: ["2027-01-15", "2027-01-15T08:00:00+01:00"],
    }),
    until: optional(moment(), {
      title: "End of the grant",
      description:
        "When the grant ends: a date (its whole day in UTC is included), or a timestamp with a time zone. If absent, it has no end.",
      examples: ["2027-01-31", "2027-01-31T18:00:00+01:00"],
    }),
  }),
  {
    title: "Grant with dates",
    description: "A grant with a start date, an end date or both.",
    examples: [{ role: "Shift Lead", until: "2027-01-31" }],
  },
);

/** The values of a field in an entry; a text that a file can clear may be empty. */
const FORMS = {
  name: () => text(),
  line: (clearable: boolean) => z.optional(clearable ? lineOfText() : text()),
  prose: () => z.optional(z.string()),
  list: () => z.optional(permissions()),
  roles: () => z.optional(z.array(z.union([text(), grant]))),
  metadata: () => z.optional(metadata()),
};

/** Returns the keys of an entry that hold the fields of a table. */
function fieldKeys<
  Table extends KindNames<Table>,
  Forms extends Readonly<Record<keyof KindValues, z.ZodMiniType>>,
>(
  table: Table,
  forms: { readonly [Kind in keyof Forms]: (clearable: boolean) => Forms[Kind] },
): ByKind<Table, Forms> {
  return eachField<Table, ByKind<Table, Forms>>(table, (_, { kind, declared, clearable }) => {
    const { title, description, examples } = declared;
    return described(forms[kind.name](clearable), { title, description, examples: [...examples] });
  });
}

/** A custom role, as an entry of `roles`. */
const role = described(
  z.strictObject({
    ...fieldKeys(ROLE_FIELDS, FORMS),
    adjust: z.optional(adjust),
    previously: optional(z.union([text(), z.array(text())]), {
      title: "Previous names",
      description:
        "The previous name of the role, or a list of them: renames the live role with that name instead of deleting it and creating another. A previous name can still be used to refer to the role. May stay in the file afterwards.",
      examples: ["Team Lead", ["Team Lead", "Shift Supervisor"]],
    }),
    id: optional(matching(ROLE_ID, "bad-role-id"), {
      title: "Id",
      description: "Pins the entry to one live role, regardless of its name.",
      examples: ["role_7Kq2"],
    }),
  }),
  {
    title: "Role",
    description: "A custom role.",
    examples: [{ name: "Shift Lead", permissions: ["catalog_view", "refunds_create"] }],
  },
);

const managed = described(
  z.strictObject({
    ...fieldKeys(MANAGED_FIELDS, FORMS),
    password_env: described(environmentVariable(), {
      title: "Variable with the password",
      description:
        "The environment variable that holds the first password, of at least 8 characters; never the password itself. Used only to create the user, or by apply --rotate-password.",
      examples: ["TILL_7_PASSWORD"],
    }),
  }),
  {
    title: "Managed user",
    description:
      "Makes the member a managed user, such as a till, which is created at once, without an invitation.",
    examples: [{ nickname: "Till 7", password_env: "TILL_7_PASSWORD" }],
  },
);

const suspension = described(
  z.strictObject({
    from: optional(moment(), {
      title: "First day",
      description:
        "When the suspension begins: a date (the start of that day in UTC), or a timestamp with a time zone. If absent, it has already begun.",
      examples: ["2027-02-01"],
    }),
    until: optional(moment(), {
      title: "Last day",
      description:
        "When the suspension ends: a date (its whole day in UTC is included), or a timestamp with a time zone. If absent, it lasts until further notice.",
      examples: ["2027-03-01"],
    }),
  }),
  {
    title: "Suspension",
    description: "A period without roles.",
    examples: [{ until: "2027-03-01" }],
  },
);

const { roles, ...properties } = fieldKeys(COMMON_FIELDS, FORMS);

/** The schema of an entry of `members`: a person who has access. */
const member = described(
  z.strictObject({
    email: described(emailAddress(), {
      title: "E-mail address",
      description: "The address of the member, case-insensitive.",
      examples: ["ada@example.com"],
    }),
    roles,
    from: optional(moment(), {
      title: "Beginning of the membership",
      description:
        "When the membership begins: a date (the start of that day in UTC), or a timestamp with a time zone. Before that, the person is not invited.",
      examples: ["2027-01-15", "2027-01-15T08:00:00+01:00"],
    }),
    until: optional(moment(), {
      title: "End of the membership",
      description:
        "When the membership ends: a date (its whole day in UTC is included), or a timestamp with a time zone. If absent, it has no end.",
      examples: ["2027-06-30", "2027-06-30T12:00:00Z"],
    }),
    suspended: optional(z.union([z.boolean(), suspension]), {
      title: "Suspended",
      description:
        "Keeps the membership, but without roles until the suspension ends: { until } for a period, true until further notice.",
      examples: [{ until: "2027-03-01" }, true],
    }),
    reinvite: optional(z.boolean(), {
      title: "Invite again",
      description:
        "Whether the expired invitation of this member is renewed. If absent, sync.reinvite decides.",
      examples: [false],
    }),
    ...properties,
    managed: z.optional(managed),
    previously: optional(z.union([emailAddress(), z.array(emailAddress())]), {
      title: "Previous addresses",
      description:
        "The previous e-mail address of the person, or a list of them: the membership with that address stays until the one with the new address is accepted, and is then removed. May stay in the file afterwards.",
      examples: ["ada@old.example", ["ada@old.example", "lovelace@old.example"]],
    }),
    id: optional(matching(MEMBER_ID, "bad-member-id"), {
      title: "Id",
      description: "Pins the entry to one live member, if the e-mail address is ambiguous.",
      examples: ["mem_9aZ1"],
    }),
  }),
  {
    title: "Member",
    description: "A person or managed user with access to the merchant account.",
    examples: [{ email: "ada@example.com", roles: ["Shift Lead", "role_employee"] }],
  },
);

/** The schema of an entry of `leavers`. */
const leaver = described(
  z.strictObject({
    email: described(oneEmailAddress(), {
      title: "E-mail address",
      description: "The address of the person, case-insensitive.",
      examples: ["karim@example.com"],
    }),
    from: described(moment(), {
      title: "From",
      description:
        "The first moment without access: a date (the start of that day in UTC), or a timestamp with a time zone.",
      examples: ["2027-01-15", "2027-01-14T18:00:00+01:00"],
    }),
  }),
  {
    title: "Leaver",
    description: "A person who leaves.",
    examples: [{ email: "karim@example.com", from: "2027-01-15" }],
  },
);

/** The schema of `members` by itself. */
export const membersSchema = z.array(member);

/** The relative path of a YAML file of the project. */
export const includePath = described(
  z.string().check(z.refine((value) => includeMistake(value) === null, "bad-include" satisfies FormatCode)),
  { pattern: "^(?![/~])[^\\\\:*?]*\\.[yY][aA]?[mM][lL]$" },
);

/** The schema of a merchant's file or an included one, with the descriptions that editors show. */
export const merchantSchema = described(
  z.strictObject({
    version: described(z.literal(1), {
      title: "Version",
      description: "The version of the format; always 1.",
      examples: [1],
    }),
    ...address,
    include: optional(
      z.array(includePath).check(z.maxLength(MAX_INCLUDES, "too-many-includes" satisfies FormatCode)),
      {
        title: "Included files",
        description: `Files whose sections are added to this one's; at most ${MAX_INCLUDES}. Paths are relative to this file and stay within the project.`,
        default: [],
        examples: [["../shared/retail.yaml"]],
      },
    ),
    sync: z.optional(sync),
    ignore: z.optional(ignore),
    guards: z.optional(guards),
    policies: z.optional(policies),
    checks: optional(
      z.array(anyCheckSchema).check(z.maxLength(MAX_CHECKS, "too-many-checks" satisfies FormatCode)),
      {
        title: "Checks",
        description: `Tests of the access after a plan; at most ${MAX_CHECKS}. An apply that would break one is refused.`,
        default: [],
        examples: [[{ can: "payouts_view", at_most: 2 }]],
      },
    ),
    roles: optional(z.array(role), {
      title: "Roles",
      description: "The custom roles. If absent, roles are not managed; [] means no roles.",
      examples: [[{ name: "Shift Lead", permissions: ["catalog_view"] }]],
    }),
    members: optional(membersSchema, {
      title: "Members",
      description: "The members. If absent, members are not managed; [] means no members.",
      examples: [[{ email: "ada@example.com", roles: ["Shift Lead"] }]],
    }),
    leavers: optional(z.array(leaver), {
      title: "Leavers",
      description:
        "People who leave, and when. From then on, the address has no membership or invitation, whatever else any file declares, even under members or ignore. Guards apply. If an address has several entries, the earliest counts.",
      default: [],
      examples: [[{ email: "karim@example.com", from: "2027-01-15" }]],
    }),
  }),
  {
    title: "rolecall merchant file",
    description: "The desired roles and members of one merchant account.",
    examples: [{ version: 1, merchant: "MC4F7K2P", roles: [], members: [] }],
    // Without a merchant, it is a file for others to include, which must not be specific to one merchant.
    dependencies: { api: ["merchant"] },
  },
);

/** A file that the schema accepts. */
export type MerchantFile = z.infer<typeof merchantSchema>;
