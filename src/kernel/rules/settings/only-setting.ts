import * as z from "zod/mini";
import type { Check } from "../../../model/desired.ts";
import { described, EMAIL, matching, ROLE_ENTRY } from "../../values/text-schemas.ts";
import { listOf, unique } from "../../values/values.ts";
import { type CheckSetting, canSchema, nameAt, namesAt, reachSchema } from "./check-setting.ts";

/** A check of who alone may have a permission. */
export type OnlyCheck = Extract<Check, { readonly kind: "only" }>;

const ROLE_PREFIX = "role:";

/** Returns the role whose holders an entry of `only` refers to; `null` for an address. */
export function roleOfHolder(holder: string): string | null {
  return holder.startsWith(ROLE_PREFIX) ? holder.slice(ROLE_PREFIX.length).trim() : null;
}

// An address, or a role after "role:".
const HOLDER = new RegExp(`(?:${ROLE_ENTRY.source})|(?:${EMAIL.source})`, "u");

export const onlySetting = {
  keys: ["can", "only"],
  schema: described(
    z.strictObject({
      can: canSchema(),
      only: described(z.array(matching(HOLDER, "bad-check-entry")), {
        title: "Only these",
        description:
          'Who may have the permission: e-mail addresses, and roles as "role:Name". [] means nobody.',
        examples: [["ada@example.com", "role:Shift Lead"]],
      }),
      reach: reachSchema(),
    }),
    {
      title: "Only these can",
      description: "Limits the permission to those listed.",
      examples: [{ can: "refunds_create", only: ["ada@example.com", "role:Shift Lead"] }],
    },
  ),
  parse: ({ can, only }) => ({
    kind: "only",
    can: String(can),
    only: holders(listOf(only).map(String), (role) => role),
  }),
  renamed: (check, nameOf) => ({ ...check, only: holders(check.only, nameOf) }),
  subject: ({ can }) => can,
  names: (written) => [
    ...nameAt(written, "can", "permission"),
    ...namesAt(written, "only", (holder) => {
      const role = roleOfHolder(holder);
      return role === null ? { what: "member", text: holder } : { what: "role", text: role };
    }),
  ],
  lists: [["only"]],
} as const satisfies CheckSetting<OnlyCheck>;

/** Returns distinct entries, with the current names of roles. */
function holders(entries: readonly string[], nameOf: (role: string) => string): readonly string[] {
  return unique(
    entries.map((holder) => {
      const role = roleOfHolder(holder);
      return role === null ? holder : `${ROLE_PREFIX}${nameOf(role)}`;
    }),
  );
}
