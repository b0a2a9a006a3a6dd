import { z } from "zod";
import type { FormatCode } from "../diagnostics/problem.ts";
import { member, role } from "./entry-schemas.ts";
import { includeMistake } from "./include-path.ts";
import { MAX_CHECKS, MAX_INCLUDES } from "./limits.ts";
import { MERCHANT } from "./patterns.ts";
import { check, policies } from "./policy-schemas.ts";
import { api, guards, ignore, sync } from "./setting-schemas.ts";
import { matching } from "./text-schemas.ts";

const includePath = z
  .string()
  .refine((value) => includeMistake(value) === null, "bad-include" satisfies FormatCode)
  .meta({ pattern: "^(?![/~])[^\\\\:*?]*\\.[yY][aA]?[mM][lL]$" });

/** A merchant's file, or one that is only included: what it may say, with the words that editors show. */
export const merchantSchema = z
  .strictObject({
    version: z
      .literal(1)
      .meta({ title: "Version", description: "The version of the format; always 1.", examples: [1] }),
    merchant: matching(MERCHANT, "bad-merchant")
      .optional()
      .meta({
        title: "Merchant code",
        description:
          "The merchant account that this file describes. Absent only in a file that others include.",
        examples: ["MC4F7K2P"],
      }),
    environment: z
      .enum(["live", "test"])
      .optional()
      .meta({
        title: "Environment",
        description:
          "live for a real merchant account, test for a sandbox. It must match the API key's prefix (sk_live_ or sk_test_).",
        examples: ["live", "test"],
      }),
    api: api.optional(),
    include: z
      .array(includePath)
      .max(MAX_INCLUDES, "too-many-includes" satisfies FormatCode)
      .optional()
      .meta({
        title: "Included files",
        description: `Files whose sections are added to this one's; at most ${MAX_INCLUDES}. Paths are relative to this file and stay within the project.`,
        default: [],
        examples: [["../shared/retail.yaml"]],
      }),
    sync: sync.optional(),
    ignore: ignore.optional(),
    guards: guards.optional(),
    policies: policies.optional(),
    checks: z
      .array(check)
      .max(MAX_CHECKS, "too-many-checks" satisfies FormatCode)
      .optional()
      .meta({
        title: "Checks",
        description: `Tests of the access after a plan; at most ${MAX_CHECKS}. An apply that would fail one is refused.`,
        default: [],
        examples: [[{ can: "payouts_view", at_most: 2 }]],
      }),
    roles: z
      .array(role)
      .optional()
      .meta({
        title: "Roles",
        description: "The custom roles. If absent, roles are not managed; [] means none.",
        examples: [[{ name: "Shift Lead", permissions: ["catalog_view"] }]],
      }),
    members: z
      .array(member)
      .optional()
      .meta({
        title: "Members",
        description: "The members. If absent, members are not managed; [] means none.",
        examples: [[{ email: "ada@example.com", roles: ["Shift Lead"] }]],
      }),
  })
  .meta({
    title: "rolecall merchant file",
    description: "The desired roles and members of one merchant account.",
    examples: [{ version: 1, merchant: "MC4F7K2P", roles: [], members: [] }],
    // Without a merchant it is a file for others to include, which says nothing about any one merchant.
    dependencies: { environment: ["merchant"], api: ["merchant"] },
  });

/** A file as the schema has found it to be right. */
export type MerchantFile = z.infer<typeof merchantSchema>;
