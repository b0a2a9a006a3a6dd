import * as z from "zod/mini";
import type { Policies } from "../../../model/desired.ts";
import { matching, optional, PERIOD, text } from "../../values/text-schemas.ts";
import { type PolicySetting, periodsByRole } from "./setting-kinds.ts";

export const requireUntilSetting = {
  section: "policies",
  key: "require_until",
  schema: optional(z.union([z.array(text()), z.record(text(), matching(PERIOD, "bad-period"))]), {
    title: "End required",
    description:
      "Roles that must be granted with an end date: a list, or a limit for each role on the length of a new grant, in weeks (w), days (d) or hours (h), from now or from its beginning.",
    default: [],
    examples: [["Contractor"], { Contractor: "90d", role_admin: "4h" }],
  }),
  kind: periodsByRole,
} as const satisfies PolicySetting<Policies["requireUntil"]>;
