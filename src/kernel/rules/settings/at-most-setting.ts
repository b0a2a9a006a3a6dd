import * as z from "zod/mini";
import type { Check } from "../../../model/desired.ts";
import { count, described } from "../../values/text-schemas.ts";
import { type CheckSetting, canSchema, nameAt, reachSchema } from "./check-setting.ts";

/** A check of how many people have a permission. */
export type AtMostCheck = Extract<Check, { readonly kind: "at-most" }>;

export const atMostSetting = {
  keys: ["can", "at_most"],
  schema: described(
    z.strictObject({
      can: canSchema(),
      at_most: described(count(), {
        title: "At most",
        description: "Maximum number of members with the permission.",
        examples: [2],
      }),
      reach: reachSchema(),
    }),
    {
      title: "At most this many can",
      description: "Limits how many members can have the permission.",
      examples: [{ can: "payouts_view", at_most: 2 }],
    },
  ),
  parse: ({ can, at_most }) => ({ kind: "at-most", can: String(can), atMost: Number(at_most) }),
  renamed: (check) => check,
  subject: ({ can }) => can,
  names: (written) => nameAt(written, "can", "permission"),
  lists: [],
} as const satisfies CheckSetting<AtMostCheck>;
