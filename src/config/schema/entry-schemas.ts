import { z } from "zod";
import type { FormatCode } from "../diagnostics/problem.ts";
import { parseUntil, UNTIL_PATTERN } from "../until.ts";
import { MAX_METADATA, MAX_PERMISSIONS } from "./limits.ts";
import { MEMBER_ID, ROLE_ID } from "./patterns.ts";
import { EMAIL, environmentVariable, matching, metadata, text } from "./text-schemas.ts";

const until = () =>
  z
    .string()
    .refine((value) => parseUntil(value) !== null, "bad-until" satisfies FormatCode)
    .meta({ pattern: UNTIL_PATTERN });

/** A custom role, as an entry of `roles`. */
export const role = z
  .strictObject({
    name: text().meta({
      title: "Name",
      description: "What the role is called, and what members refer to it by.",
      examples: ["Shift Lead"],
    }),
    description: z
      .string()
      .optional()
      .meta({
        title: "Description",
        description: 'What the role is for. Left out, the live description stays as it is; "" clears it.',
        examples: ["Opens and closes the till"],
      }),
    permissions: z
      .array(text())
      .max(MAX_PERMISSIONS, "too-many-permissions" satisfies FormatCode)
      .optional()
      .meta({
        title: "Permissions",
        description: `What holders of the role may do; at most ${MAX_PERMISSIONS}. Left out, the live permissions stay as they are; [] takes all of them away.`,
        examples: [["catalog_view", "refunds_create"]],
      }),
    metadata: metadata()
      .optional()
      .meta({
        title: "Metadata",
        description: `Your own properties of the role; at most ${MAX_METADATA}. Left out, the live ones stay as they are. They cannot be changed in place: other ones than are live need sync.replace_roles.`,
        examples: [{ owner: "retail-ops" }],
      }),
    previously: text()
      .optional()
      .meta({
        title: "Previous name",
        description:
          "The name that the role had, so that a new one renames it instead of removing one role and creating another. It may stay after the renaming.",
        examples: ["Team Lead"],
      }),
    id: matching(ROLE_ID, "bad-role-id")
      .optional()
      .meta({
        title: "Id",
        description: "Pins the entry to one live role, so that it is found under any name.",
        examples: ["role_7Kq2"],
      }),
  })
  .meta({
    title: "Role",
    description: "A custom role.",
    examples: [{ name: "Shift Lead", permissions: ["catalog_view", "refunds_create"] }],
  });

const grant = z
  .strictObject({
    role: text().meta({
      title: "Role",
      description: "A role's name from this file, or an id such as that of a predefined role.",
      examples: ["Shift Lead", "role_employee"],
    }),
    until: until()
      .optional()
      .meta({
        title: "End of the grant",
        description:
          "When the member loses the role: a date, which ends with its day in UTC, or a timestamp with its zone. Left out, the role stays.",
        examples: ["2027-01-31", "2027-01-31T18:00:00+01:00"],
      }),
  })
  .meta({
    title: "Role for a time",
    description: "A role that the member holds until an end.",
    examples: [{ role: "Shift Lead", until: "2027-01-31" }],
  });

const managed = z
  .strictObject({
    nickname: text()
      .optional()
      .meta({ title: "Nickname", description: "The name that the user is shown by.", examples: ["Till 7"] }),
    password_env: environmentVariable().meta({
      title: "Variable with the password",
      description:
        "The name of the environment variable that holds the first password, of at least 8 characters; never the password itself.",
      examples: ["TILL_7_PASSWORD"],
    }),
  })
  .meta({
    title: "Managed user",
    description:
      "Makes the member a user whom the merchant manages: it is created at once, without an invitation.",
    examples: [{ nickname: "Till 7", password_env: "TILL_7_PASSWORD" }],
  });

/** Someone who has access, as an entry of `members`. */
export const member = z
  .strictObject({
    email: matching(EMAIL, "bad-email").meta({
      title: "E-mail address",
      description: "Who the member is; upper and lower case are the same.",
      examples: ["ada@example.com"],
    }),
    roles: z
      .array(z.union([text(), grant]))
      .optional()
      .meta({
        title: "Roles",
        description:
          "The roles that the member holds: names from this file, or ids such as those of predefined roles; with an end as { role, until }. Left out, the live roles stay as they are; [] takes all of them away.",
        examples: [["Shift Lead", "role_employee"], [{ role: "Shift Lead", until: "2027-01-31" }]],
      }),
    until: until()
      .optional()
      .meta({
        title: "End of the membership",
        description:
          "When the member goes: a date, which ends with its day in UTC, or a timestamp with its zone. Left out, the membership has no end.",
        examples: ["2027-06-30", "2027-06-30T12:00:00Z"],
      }),
    metadata: metadata()
      .optional()
      .meta({
        title: "Metadata",
        description: `Your own properties of the member; at most ${MAX_METADATA}, always replaced whole. Left out, the live ones stay as they are; {} clears them.`,
        examples: [{ employee_id: "4711" }],
      }),
    managed: managed.optional(),
    id: matching(MEMBER_ID, "bad-member-id")
      .optional()
      .meta({
        title: "Id",
        description: "Pins the entry to one live member, where the e-mail address alone does not tell.",
        examples: ["mem_9aZ1"],
      }),
  })
  .meta({
    title: "Member",
    description: "Someone who has access to the merchant account.",
    examples: [{ email: "ada@example.com", roles: ["Shift Lead", "role_employee"] }],
  });
