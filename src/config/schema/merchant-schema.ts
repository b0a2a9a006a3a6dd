import * as z from "zod/mini";
import type { FormatCode, Path } from "../diagnostics/problem.ts";
import { member, role } from "./entry-schemas.ts";
import { MAX_CHECKS, MAX_INCLUDES } from "./limits.ts";
import { check, policies } from "./policy-schemas.ts";
import { api, guards, ignore, sync } from "./setting-schemas.ts";
import { described, includeMistake, MERCHANT, matching, optional } from "./text-schemas.ts";

const includePath = described(
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
    merchant: optional(matching(MERCHANT, "bad-merchant"), {
      title: "Merchant code",
      description:
        "The merchant account that this file describes. Absent only in a file that others include.",
      examples: ["MC4F7K2P"],
    }),
    environment: optional(z.enum(["live", "test"]), {
      title: "Environment",
      description:
        "live for a real merchant account, test for a sandbox. It must match the API key's prefix (sk_live_ or sk_test_).",
      examples: ["live", "test"],
    }),
    api: z.optional(api),
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
    checks: optional(z.array(check).check(z.maxLength(MAX_CHECKS, "too-many-checks" satisfies FormatCode)), {
      title: "Checks",
      description: `Tests of the access after a plan; at most ${MAX_CHECKS}. An apply that would fail one is refused.`,
      default: [],
      examples: [[{ can: "payouts_view", at_most: 2 }]],
    }),
    roles: optional(z.array(role), {
      title: "Roles",
      description: "The custom roles. If absent, roles are not managed; [] means none.",
      examples: [[{ name: "Shift Lead", permissions: ["catalog_view"] }]],
    }),
    members: optional(z.array(member), {
      title: "Members",
      description: "The members. If absent, members are not managed; [] means none.",
      examples: [[{ email: "ada@example.com", roles: ["Shift Lead"] }]],
    }),
  }),
  {
    title: "rolecall merchant file",
    description: "The desired roles and members of one merchant account.",
    examples: [{ version: 1, merchant: "MC4F7K2P", roles: [], members: [] }],
    // Without a merchant it is a file for others to include, which says nothing about any one merchant.
    dependencies: { environment: ["merchant"], api: ["merchant"] },
  },
);

/** A file that the schema accepts. */
export type MerchantFile = z.infer<typeof merchantSchema>;

/** Returns the keys that the schema knows at a path; of several forms, those of all. */
export function keysAt(path: Path): readonly string[] {
  let schemas: readonly unknown[] = formsOf(merchantSchema);
  for (const segment of path) {
    schemas = schemas.flatMap((schema) => formsOf(innerAt(schema, segment)));
  }
  const keys = schemas.flatMap((schema) =>
    schema instanceof z.ZodMiniObject ? Object.keys(schema._zod.def.shape) : [],
  );
  return [...new Set(keys)];
}

function innerAt(schema: unknown, segment: string | number): unknown {
  if (schema instanceof z.ZodMiniObject) {
    const { shape } = schema._zod.def;
    return Object.hasOwn(shape, segment) ? shape[segment] : undefined;
  }
  return schema instanceof z.ZodMiniArray ? schema._zod.def.element : undefined;
}

/** Returns what stands behind "may be left out" and "one of". */
function formsOf(schema: unknown): readonly unknown[] {
  if (schema instanceof z.ZodMiniOptional) {
    return formsOf(schema._zod.def.innerType);
  }
  return schema instanceof z.ZodMiniUnion ? schema._zod.def.options.flatMap(formsOf) : [schema];
}
