import * as z from "zod/mini";
import type { IgnorePatterns } from "../../../model/desired.ts";
import { optional, texts } from "../../values/text-schemas.ts";
import { type GuardSetting, patternLists } from "./setting-kinds.ts";

export const protectSetting = {
  section: "guards",
  key: "protect",
  schema: optional(
    z.strictObject({
      roles: texts("Protected roles", "Globs over the names and ids of roles.", [["Shift Lead"]]),
      members: texts("Protected members", "Globs over the e-mail addresses and ids of members.", [
        ["owner@example.com"],
      ]),
    }),
    {
      title: "Protected",
      description: "Roles and members that an apply must not change or remove.",
      examples: [{ roles: ["Shift Lead"], members: ["owner@example.com"] }],
    },
  ),
  kind: patternLists,
  overrides: { protect: { value: ".+" } },
} as const satisfies GuardSetting<IgnorePatterns>;
