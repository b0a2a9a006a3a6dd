import * as z from "zod/mini";
import { described, matching, optional, PERIOD, text } from "../values/text-schemas.ts";

const globs = (title: string, description: string, example: readonly string[]) => ({
  title,
  description,
  examples: [example],
});

const rule = described(
  z.strictObject({
    roles: described(
      z.array(text()),
      globs("Roles", "Globs over the names and ids of roles; case is ignored.", ["Cashier", "Shift *"]),
    ),
    merchants: optional(
      z.array(text()),
      globs("Merchants", "Globs over merchant codes. If absent, all merchants.", ["MC4*"]),
    ),
    members: optional(
      z.array(text()),
      globs("Members", "Globs over e-mail addresses. If absent, anybody.", ["*@example.com"]),
    ),
    for: optional(matching(PERIOD, "bad-period"), {
      title: "Longest period",
      description:
        "The longest time until the end of a grant, in weeks (w), days (d) or hours (h), from its beginning, else from now. If absent, a grant needs no end.",
      examples: ["14d"],
    }),
  }),
  {
    title: "Requestable roles",
    description: "Roles that can be requested, where, for whom and for how long.",
    examples: [{ roles: ["Cashier"], members: ["*@example.com"], for: "14d" }],
  },
);

/** The grants that `grant`, `revoke` and their pull requests may change. */
export const requestable = optional(z.array(rule), {
  title: "Requestable grants",
  description:
    "What grant and revoke may change, on a machine or by a pull request: each grant must be within one entry. If absent, any grant; [] means none.",
  examples: [[{ roles: ["Cashier", "Shift *"], for: "14d" }]],
});

/** One of the entries of `requestable`. */
export type RequestableRule = z.infer<typeof rule>;
