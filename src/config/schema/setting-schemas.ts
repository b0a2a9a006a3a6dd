import { z } from "zod";
import type { FormatCode } from "../diagnostics/problem.ts";
import { PERIOD, SHARE } from "./patterns.ts";
import { count, environmentVariable, matching, text } from "./text-schemas.ts";

/** How to reach the service. */
export const api = z
  .strictObject({
    base_url: z
      .url({ protocol: /^https?$/, error: "bad-base-url" satisfies FormatCode })
      .refine(isPlainUrl, "bad-base-url" satisfies FormatCode)
      .optional()
      .meta({
        title: "Base URL",
        description:
          "Where the service answers. Left out, it comes from --base-url or the environment variable ROLECALL_BASE_URL.",
        examples: ["https://api.example.com"],
      }),
    key_env: environmentVariable()
      .optional()
      .meta({
        title: "Variable with the API key",
        description:
          "The name of the environment variable that holds this merchant's API key; never the key itself. Left out, it is ROLECALL_API_KEY_<MERCHANT>, else ROLECALL_API_KEY.",
        examples: ["RETAIL_API_KEY"],
      }),
  })
  .meta({
    title: "Service",
    description: "How to reach the service for this merchant.",
    examples: [{ base_url: "https://api.example.com", key_env: "RETAIL_API_KEY" }],
  });

const syncMode = (noun: string, sentence: string) =>
  z
    .enum(["authoritative", "additive"])
    .optional()
    .meta({
      title: `Sync of ${noun}`,
      description: `authoritative: ${sentence} is removed. additive: it is left alone.`,
      default: "authoritative",
      examples: ["authoritative", "additive"],
    });

/** What happens to what the file does not list. */
export const sync = z
  .strictObject({
    roles: syncMode("roles", "a live custom role that this file does not list"),
    members: syncMode("members", "a live member that this file does not list"),
    reinvite: z
      .union([
        z.boolean(),
        z
          .strictObject({
            for: matching(PERIOD, "bad-period").meta({
              title: "Renewed for",
              description:
                "How long after the last commit of the member's entry its invitation is renewed: weeks (w), days (d) or hours (h).",
              examples: ["30d"],
            }),
          })
          .meta({
            title: "Renewal period",
            description: "For how long the expired invitations of a listed member are renewed.",
            examples: [{ for: "30d" }],
          }),
      ])
      .optional()
      .meta({
        title: "Invite again",
        description:
          "Whether the expired invitation of a listed member is renewed: true, false, or only while the last commit of its entry is younger than a period; afterwards the plan has a warning. What git does not know is always renewed.",
        default: { for: "30d" },
        examples: [{ for: "30d" }],
      }),
    replace_roles: z
      .boolean()
      .optional()
      .meta({
        title: "Replace roles",
        description:
          "Whether a role whose metadata changed may be replaced by a new one, which its holders are moved to: the service cannot change a role's metadata in place.",
        default: false,
        examples: [true],
      }),
  })
  .meta({
    title: "Sync",
    description: "How the file and what is live are brought together.",
    examples: [{ roles: "authoritative", members: "additive" }],
  });

const globs = (title: string, description: string, examples: readonly string[][]) =>
  z.array(text()).optional().meta({ title, description, default: [], examples });

/** What is never read into a plan. */
export const ignore = z
  .strictObject({
    roles: globs(
      "Ignored roles",
      "Globs over the names and ids of live roles that are never read into a plan and never touched.",
      [["Legacy *"]],
    ),
    members: globs(
      "Ignored members",
      "Globs over the e-mail addresses and ids of live members that are never read into a plan and never touched. Put them in quotes: YAML takes a bare * for an alias.",
      [["*@auditor.example"]],
    ),
  })
  .meta({
    title: "Ignore",
    description: "What rolecall neither sees nor touches.",
    examples: [{ roles: ["Legacy *"], members: ["*@auditor.example"] }],
  });

/** What an apply must not do. */
export const guards = z
  .strictObject({
    max_removals: z
      .union([count("bad-removal-limit"), matching(SHARE, "bad-removal-limit")])
      .optional()
      .meta({
        title: "Most removals",
        description:
          "The most roles, and the most members, that one apply may remove: a share of what is live, such as 25%, of which up to 3 are always allowed, or a count.",
        default: "25%",
        examples: ["25%", 10],
      }),
    protect: z
      .strictObject({
        roles: globs("Protected roles", "Globs over the names and ids of roles.", [["Shift Lead"]]),
        members: globs("Protected members", "Globs over the e-mail addresses and ids of members.", [
          ["owner@example.com"],
        ]),
      })
      .optional()
      .meta({
        title: "Protected",
        description: "Roles and members that no apply changes or removes.",
        examples: [{ roles: ["Shift Lead"], members: ["owner@example.com"] }],
      }),
    min_holders: z
      .record(text(), count())
      .optional()
      .meta({
        title: "Fewest holders",
        description:
          "For a role's name or id, how many accepted members must keep it; service accounts do not count. Unless it names role_owner, that keeps one; role_owner: 0 or {} asks for none.",
        default: { role_owner: 1 },
        examples: [{ role_owner: 2 }],
      }),
  })
  .meta({
    title: "Guards",
    description: "What an apply refuses to do, unless it is overridden for one plan.",
    examples: [{ max_removals: "25%", min_holders: { role_owner: 2 } }],
  });

/** Nothing in it but origin and path: credentials do not belong into a file, and a query would be lost. */
function isPlainUrl(value: string): boolean {
  if (!URL.canParse(value)) {
    return true;
  }
  const { username, password, search, hash } = new URL(value);
  return username === "" && password === "" && search === "" && hash === "";
}
