import * as z from "zod/mini";
import type { FormatCode } from "../../problems/problem.ts";
import { optional, text } from "../../values/text-schemas.ts";
import { type PolicySetting, roleSets } from "./setting-kinds.ts";

export const separateSetting = {
  section: "policies",
  acrossMerchants: true,
  key: "separate",
  schema: optional(z.array(z.array(text()).check(z.minLength(2, "too-few-roles" satisfies FormatCode))), {
    title: "Separate roles",
    description: "Sets of roles; nobody may hold two roles of a set.",
    default: [],
    examples: [[["Approver", "Payer"]]],
  }),
  kind: roleSets,
} as const satisfies PolicySetting<readonly (readonly string[])[]>;
