import { z } from "zod";
import type { FormatCode } from "../diagnostics/problem.ts";
import { ROLE_ENTRY } from "./patterns.ts";
import { count, EMAIL, matching, text } from "./text-schemas.ts";

// Labels of letters and digits in any script, with hyphens between them; "*." before it stands for every subdomain.
const DOMAIN =
  /^(?=.{3,255}$)(?:\*\.)?(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u;

const roles = (title: string, description: string, examples: readonly string[][]) =>
  z.array(text()).optional().meta({ title, description, default: [], examples });

/** What the access that a plan leaves behind has to keep to. */
export const policies = z
  .strictObject({
    email_domains: z
      .array(matching(DOMAIN, "bad-domain"))
      .optional()
      .meta({
        title: "Domains of addresses",
        description:
          'The allowed domains of members\' addresses; "*.example.com", quoted, is every subdomain of example.com. If absent, any.',
        examples: [["example.com", "*.example.com"]],
      }),
    separate: z
      .array(z.array(text()).min(2, "too-few-roles" satisfies FormatCode))
      .optional()
      .meta({
        title: "Separate roles",
        description: "Sets of roles; nobody may hold two of a set.",
        default: [],
        examples: [[["Approver", "Payer"]]],
      }),
    max_holders: z
      .record(text(), count())
      .optional()
      .meta({
        title: "Most holders",
        description: "By role name or id, how many members may hold it.",
        default: {},
        examples: [{ role_admin: 3 }],
      }),
    require_until: roles("End required", "Roles that are granted with an end date only.", [["Contractor"]]),
    require_mfa: roles(
      "MFA required",
      "Roles whose holders have MFA on login. For a member who has not accepted yet, it is unknown.",
      [["role_admin"]],
    ),
    forbid_permissions: roles("Forbidden permissions", "Permissions that no custom role may grant.", [
      ["payouts_edit"],
    ]),
  })
  .meta({
    title: "Policies",
    description: "Rules for the access of this merchant; an apply that would break one is refused.",
    examples: [{ email_domains: ["example.com"], separate: [["Approver", "Payer"]] }],
  });

const can = () =>
  text().meta({
    title: "Permission",
    description: "The permission to check.",
    examples: ["refunds_create"],
  });

// An address, or a role behind "role:".
const holder = () =>
  matching(new RegExp(`(?:${ROLE_ENTRY.source})|(?:${EMAIL.source})`, "u"), "bad-check-entry");

/** The three tests that a plan's outcome can be put to. */
export const check = z
  .union([
    z
      .strictObject({
        can: can(),
        only: z.array(holder()).meta({
          title: "Only these",
          description:
            'Who may have the permission: e-mail addresses, and roles as "role:Name". [] means nobody.',
          examples: [["ada@example.com", "role:Shift Lead"]],
        }),
      })
      .meta({
        title: "Only these can",
        description: "Only those listed have the permission.",
        examples: [{ can: "refunds_create", only: ["ada@example.com", "role:Shift Lead"] }],
      }),
    z
      .strictObject({
        can: can(),
        at_most: count().meta({
          title: "At most",
          description: "How many members may have the permission.",
          examples: [2],
        }),
      })
      .meta({
        title: "At most this many can",
        description: "No more members than this have the permission.",
        examples: [{ can: "payouts_view", at_most: 2 }],
      }),
    z
      .strictObject({
        member: matching(EMAIL, "bad-email").meta({
          title: "Member",
          description: "The e-mail address of the member to check.",
          examples: ["bob@example.com"],
        }),
        cannot: z.array(text()).meta({
          title: "Cannot",
          description: "Permissions that the member must not have.",
          examples: [["refunds_create"]],
        }),
      })
      .meta({
        title: "A member cannot",
        description: "The member has none of these permissions.",
        examples: [{ member: "bob@example.com", cannot: ["refunds_create"] }],
      }),
  ])
  .meta({ title: "Check", description: "A test of the access after a plan." });
