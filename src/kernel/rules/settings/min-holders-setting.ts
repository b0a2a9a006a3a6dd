import * as z from "zod/mini";
import type { GuardSettings } from "../../../model/desired.ts";
import { count, optional, text } from "../../values/text-schemas.ts";
import { fewestByRole, type GuardSetting } from "./setting-kinds.ts";

export const minHoldersSetting = {
  section: "guards",
  key: "min_holders",
  schema: optional(z.record(text(), count()), {
    title: "Fewest holders",
    description:
      "By role name or id, the minimum of accepted holders, not counting service accounts. role_owner has a minimum of 1 unless it is listed; role_owner: 0 or {} turns that off.",
    default: { role_owner: 1 },
    examples: [{ role_owner: 2 }],
  }),
  kind: fewestByRole,
  overrides: { "min-holders": ".+:[0-9]+" },
} as const satisfies GuardSetting<GuardSettings["minHolders"]>;
