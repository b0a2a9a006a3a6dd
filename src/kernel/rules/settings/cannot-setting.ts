import * as z from "zod/mini";
import type { Check } from "../../../model/desired.ts";
import { described, emailAddress, text } from "../../values/text-schemas.ts";
import { listOf, unique } from "../../values/values.ts";
import { type CheckSetting, nameAt, namesAt, reachSchema } from "./check-setting.ts";

/** A check of the permissions that a member must not have. */
export type CannotCheck = Extract<Check, { readonly kind: "cannot" }>;

export const cannotSetting = {
  keys: ["member", "cannot"],
  schema: described(
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
      reach: reachSchema(),
    }),
    {
      title: "A member cannot",
      description: "Lists permissions that the member must not have.",
      examples: [{ member: "bob@example.com", cannot: ["refunds_create"] }],
    },
  ),
  parse: ({ member, cannot }) => ({
    kind: "cannot",
    member: String(member),
    cannot: unique(listOf(cannot).map(String)),
  }),
  renamed: (check) => check,
  subject: ({ member }) => member.toLowerCase(),
  names: (written) => [
    ...nameAt(written, "member", "member"),
    ...namesAt(written, "cannot", (permission) => ({ what: "permission", text: permission })),
  ],
  lists: [["cannot"]],
} as const satisfies CheckSetting<CannotCheck>;
