import * as z from "zod/mini";
import type { FormatCode } from "../diagnostics/problem.ts";
import {
  count,
  DOMAIN,
  described,
  EMAIL,
  emailAddress,
  matching,
  optional,
  ROLE_ENTRY,
  text,
  texts,
} from "./text-schemas.ts";

/** The rules for the access that a plan results in. */
export const policies = described(
  z.strictObject({
    email_domains: optional(z.array(matching(DOMAIN, "bad-domain")), {
      title: "Domains of addresses",
      description:
        'The allowed domains of members\' addresses; "*.example.com", quoted, is every subdomain of example.com. If absent, any.',
      examples: [["example.com", "*.example.com"]],
    }),
    separate: optional(z.array(z.array(text()).check(z.minLength(2, "too-few-roles" satisfies FormatCode))), {
      title: "Separate roles",
      description: "Sets of roles; nobody may hold two of a set.",
      default: [],
      examples: [[["Approver", "Payer"]]],
    }),
    max_holders: optional(z.record(text(), count()), {
      title: "Most holders",
      description: "By role name or id, how many members may hold it.",
      default: {},
      examples: [{ role_admin: 3 }],
    }),
    require_until: texts("End required", "Roles that are granted with an end date only.", [["Contractor"]]),
    require_mfa: texts(
      "MFA required",
      "Roles whose holders have MFA on login. For a member who has not accepted yet, it is unknown.",
      [["role_admin"]],
    ),
    forbid_permissions: texts("Forbidden permissions", "Permissions that no custom role may grant.", [
      ["payouts_edit"],
    ]),
  }),
  {
    title: "Policies",
    description: "Rules for the access of this merchant; an apply that would break one is refused.",
    examples: [{ email_domains: ["example.com"], separate: [["Approver", "Payer"]] }],
  },
);

const can = () =>
  described(text(), {
    title: "Permission",
    description: "The permission to check.",
    examples: ["refunds_create"],
  });

// An address, or a role behind "role:".
const HOLDER = new RegExp(`(?:${ROLE_ENTRY.source})|(?:${EMAIL.source})`, "u");

const only = described(
  z.strictObject({
    can: can(),
    only: described(z.array(matching(HOLDER, "bad-check-entry")), {
      title: "Only these",
      description:
        'Who may have the permission: e-mail addresses, and roles as "role:Name". [] means nobody.',
      examples: [["ada@example.com", "role:Shift Lead"]],
    }),
  }),
  {
    title: "Only these can",
    description: "Only those listed have the permission.",
    examples: [{ can: "refunds_create", only: ["ada@example.com", "role:Shift Lead"] }],
  },
);

const atMost = described(
  z.strictObject({
    can: can(),
    at_most: described(count(), {
      title: "At most",
      description: "How many members may have the permission.",
      examples: [2],
    }),
  }),
  {
    title: "At most this many can",
    description: "No more members than this have the permission.",
    examples: [{ can: "payouts_view", at_most: 2 }],
  },
);

const cannot = described(
  z.strictObject({
    member: described(emailAddress(), {
      title: "Member",
      description: "The e-mail address of the member to check.",
      examples: ["bob@example.com"],
    }),
    cannot: described(z.array(text()), {
      title: "Cannot",
      description: "Permissions that the member must not have.",
      examples: [["refunds_create"]],
    }),
  }),
  {
    title: "A member cannot",
    description: "The member has none of these permissions.",
    examples: [{ member: "bob@example.com", cannot: ["refunds_create"] }],
  },
);

/** The three forms of a check. */
export const check = described(z.union([only, atMost, cannot]), {
  title: "Check",
  description: "A test of the access after a plan.",
});
