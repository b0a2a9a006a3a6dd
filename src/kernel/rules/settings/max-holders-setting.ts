import * as z from "zod/mini";
import { count, optional, text } from "../../values/text-schemas.ts";
import { mostByRole, type PolicySetting } from "./setting-kinds.ts";

export const maxHoldersSetting = {
  section: "policies",
  acrossMerchants: true,
  key: "max_holders",
  schema: optional(z.record(text(), count()), {
    title: "Most holders",
    description: "Maximum number of holders, by role name or id.",
    default: {},
    examples: [{ role_admin: 3 }],
  }),
  kind: mostByRole,
} as const satisfies PolicySetting<Readonly<Record<string, number>>>;
