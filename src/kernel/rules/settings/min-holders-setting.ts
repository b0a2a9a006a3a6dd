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
      "Minimum number of accepted holders, by role name or id, counted with and without service accounts. The default for role_owner is 1; to turn it off, write role_owner: 0 or {}.",
    default: { role_owner: 1 },
    examples: [{ role_owner: 2 }],
  }),
  kind: fewestByRole,
  overrides: { "min-holders": { value: ".+:[0-9]+" } },
} as const satisfies GuardSetting<GuardSettings["minHolders"]>;
