import * as z from "zod/mini";
import { RECORD_MODES } from "../../model/record-modes.ts";
import type { FormatCode } from "../problems/problem.ts";
import { atMostSetting } from "../rules/settings/at-most-setting.ts";
import { acrossSchemas, runSchemas } from "../rules/settings/every-setting.ts";
import { DEFAULT_SENSITIVE } from "../rules/settings/sensitive.ts";
import { MAX_CHECKS, MAX_GLOB, MAX_INCLUDES } from "../values/limits.ts";
import { described, globMistake, optional, text } from "../values/text-schemas.ts";
import { includePath, merchantSchema } from "./merchant-schema.ts";
import { requestable } from "./requestable-schema.ts";

/** The sections of a file with rules. */
export const RULE_SECTIONS = ["guards", "policies", "checks", "leavers", "ignore", "sync"] as const;

const IDENTITY: ReadonlySet<string> = new Set(["version", "merchant", "environment"]);

/** The sections that a project may forbid in a file: all but those that say which account it describes. */
export const SECTIONS = Object.keys(merchantSchema._zod.def.shape).filter((key) => !IDENTITY.has(key));

const glob = described(
  z.string().check(z.refine((value) => globMistake(value) === null, "bad-glob" satisfies FormatCode)),
  { maxLength: MAX_GLOB, pattern: "^(?![!/~])[^\\\\]+$" },
);

const entry = described(
  z.strictObject({
    files: described(
      z
        .array(glob)
        .check(
          z.minLength(1, "no-globs" satisfies FormatCode),
          z.maxLength(MAX_INCLUDES, "no-globs" satisfies FormatCode),
        ),
      {
        title: "Files",
        description:
          "Globs over paths from the project's root: * within a folder, ** across folders; case is ignored. Each must match a file.",
        examples: [["access/franchise/**"]],
      },
    ),
    rules: optional(includePath, {
      title: "Rules",
      description: `The file with the rules for these files: ${RULE_SECTIONS.join(", ")}. Its path is relative to the project's root, and must not match any of the globs.`,
      examples: ["hq/policy.yaml"],
    }),
    allow: optional(z.array(z.enum(SECTIONS)), {
      title: "Allowed sections",
      description:
        "The only sections that these files and their includes may have. version, merchant and environment are always allowed. If absent, any section is allowed.",
      examples: [["include", "roles", "members"]],
    }),
  }),
  {
    title: "Enforced rules",
    description: "Rules for some of the project's files. If several entries match a file, all of them apply.",
    examples: [{ files: ["access/franchise/**"], rules: "hq/policy.yaml", allow: ["roles", "members"] }],
  },
);

/** The schema of a project's file, with the descriptions that editors show. */
export const projectSchema = described(
  z.strictObject({
    version: described(z.literal(1), {
      title: "Version",
      description: "The version of the format; always 1.",
      examples: [1],
    }),
    enforce: optional(z.array(entry), {
      title: "Enforced rules",
      description: "Rules that apply to files whether or not they include them, and that no file can loosen.",
      default: [],
      examples: [[{ files: ["access/franchise/**"], rules: "hq/policy.yaml" }]],
    }),
    run: optional(z.strictObject(runSchemas), {
      title: "Limits of a run",
      description:
        "Limits across all merchants of a run with two or more merchants, in addition to the guards of each.",
      examples: [{ max_removals: "5%", max_gains: { sensitive: "5%" } }],
    }),
    across_merchants: optional(
      z.strictObject({
        ...acrossSchemas,
        checks: optional(
          z
            .array(atMostSetting.schema)
            .check(z.maxLength(MAX_CHECKS, "too-many-checks" satisfies FormatCode)),
          {
            title: "Checks",
            description: "Maximum numbers of people, at all merchants together, with a permission.",
            default: [],
            examples: [[{ can: "payouts_edit", at_most: 3 }]],
          },
        ),
      }),
      {
        title: "Rules across merchants",
        description:
          "Rules that apply across all merchants of the project. Somebody at several merchants, also under a previous address, is one person.",
        examples: [{ separate: [["Approver", "Payer"]], max_holders: { role_admin: 5 } }],
      },
    ),
    sensitive: optional(z.array(text()), {
      title: "Sensitive permissions",
      description:
        'Globs over the permissions that limits on gains call "sensitive" and that outputs report as risks; one with ! excludes what others match. The default matches control over access, keys, the account and money.',
      default: [...DEFAULT_SENSITIVE],
      examples: [["payouts_*", "refunds_*", "members_*", "!*_view"]],
    }),
    permissions: optional(z.array(text()), {
      title: "Permissions",
      description:
        "Permissions that exist although they look like typing errors: no live role has them, and another permission has nearly the same name.",
      default: [],
      examples: [["tip_edit"]],
    }),
    requestable,
    records: optional(z.enum(RECORD_MODES), {
      title: "Records of runs",
      description:
        "Where apply and undo record their runs in git: push in the remote repository, local in this clone, off nowhere. If absent, the action pushes, and the commands record nothing.",
      examples: ["push"],
    }),
    live_branch: optional(z.enum(["rolecall-live"]), {
      title: "Branch of live states",
      description:
        "Records the live state of each merchant in this branch, after each verified apply and each drift. Plans then hold back invitations of members who left on their own. If absent, nothing is recorded.",
      examples: ["rolecall-live"],
    }),
    enforce_all: optional(z.boolean(), {
      title: "Require an entry for every file",
      description: "With true, a merchant's file that no glob of enforce matches is an error.",
      default: false,
      examples: [true],
    }),
  }),
  {
    title: "rolecall project file",
    description: "The rules that a project enforces on its files; rolecall.yaml at the project's root.",
    examples: [{ version: 1, enforce: [{ files: ["access/franchise/**"], rules: "hq/policy.yaml" }] }],
  },
);

/** A project's file that the schema accepts. */
export type ProjectFile = z.infer<typeof projectSchema>;
