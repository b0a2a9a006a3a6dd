import * as z from "zod/mini";
import { EXAMPLE_OVERRIDE, guardSchemas, OVERRIDE, policySchemas } from "../rules/settings/every-setting.ts";
import { described, matching, optional, PERIOD, texts } from "../values/text-schemas.ts";

const syncMode = (noun: string, sentence: string) =>
  optional(z.enum(["authoritative", "additive"]), {
    title: `Sync of ${noun}`,
    description: `authoritative: ${sentence} is removed. additive: it is left alone.`,
    default: "authoritative",
    examples: ["authoritative", "additive"],
  });

const renewalPeriod = described(
  z.strictObject({
    for: described(matching(PERIOD, "bad-period"), {
      title: "Renewed for",
      description:
        "How long after the last commit that changed the entry an expired invitation is renewed, in weeks (w), days (d) or hours (h).",
      examples: ["30d"],
    }),
  }),
  {
    title: "Renewal period",
    description:
      "How long after the last change of its entry a listed member's expired invitation is renewed.",
    examples: [{ for: "30d" }],
  },
);

/** The treatment of roles and members that the file does not list. */
export const sync = described(
  z.strictObject({
    roles: syncMode("roles", "a live custom role that this file does not list"),
    members: syncMode("members", "a live member that this file does not list"),
    reinvite: optional(z.union([z.boolean(), renewalPeriod]), {
      title: "Invite again",
      description:
        "Whether the expired invitation of a listed member is renewed: true, false, or for a period after the last commit that changed the entry, after which the plan only warns. Outside git, a period never ends.",
      default: { for: "30d" },
      examples: [{ for: "30d" }],
    }),
    replace_roles: optional(z.boolean(), {
      title: "Replace roles",
      description:
        "Whether a role whose metadata changed may be replaced with a new one, to which its holders are moved. The service cannot change a role's metadata in place.",
      default: false,
      examples: [true],
    }),
  }),
  {
    title: "Sync",
    description: "What happens to live roles and members that the file does not list.",
    examples: [{ roles: "authoritative", members: "additive" }],
  },
);

/** The roles and members that plans leave out. */
export const ignore = described(
  z.strictObject({
    roles: texts(
      "Ignored roles",
      "Globs over the names and ids of live roles that no plan changes or removes.",
      [["Legacy *"]],
    ),
    members: texts(
      "Ignored members",
      "Globs over the e-mail addresses and ids of live members that no plan changes or removes. Quote them: an unquoted * is an alias in YAML.",
      [["*@auditor.example"]],
    ),
  }),
  {
    title: "Ignore",
    description:
      "Live roles and members that no plan changes or removes. Policies and checks still apply to them.",
    examples: [{ roles: ["Legacy *"], members: ["*@auditor.example"] }],
  },
);

/** The limits of an apply. */
export const guards = described(
  z.strictObject({
    ...guardSchemas,
    overrides: optional(z.array(matching(OVERRIDE, "bad-override")), {
      title: "Overrides",
      description:
        "Overrides of guards, as the plan prints them; the same as --allow, but reviewed in git. In a merchant's own file; for a whole run, in a file that all its merchants include; for enforced rules, in the rule file.",
      default: [],
      examples: [[EXAMPLE_OVERRIDE]],
    }),
  }),
  {
    title: "Guards",
    description: "Limits on what an apply may change; an override is valid for one plan.",
    examples: [{ max_removals: "25%", min_holders: { role_owner: 2 } }],
  },
);

/** The rules for the access that a plan results in. */
export const policies = described(z.strictObject(policySchemas), {
  title: "Policies",
  description: "Rules for the access to this merchant; an apply that would break one is refused.",
  examples: [{ email_domains: ["example.com"], separate: [["Approver", "Payer"]] }],
});
