import * as z from "zod/mini";
import type { RunLimits } from "../../../model/desired.ts";
import { optional } from "../../values/text-schemas.ts";
import { omitUndefined } from "../../values/values.ts";
import { amountSchema, parseAmount } from "./amount.ts";
import { gainLimitsSchema, maxGainsSetting, parseGains } from "./max-gains-setting.ts";
import type { SettingName } from "./setting-kinds.ts";

/** The limits across all merchants of a run, as a project's file has them. */
export const runSchema = optional(
  z.strictObject({
    max_removals: optional(amountSchema, {
      title: "Maximum removals of a run",
      description:
        "Maximum number of members, across all merchants, that one run may remove or take a role from: a count, or a percentage of the members such as 5%, which always allows 20, except 0%.",
      default: "5%",
      examples: ["5%", 30],
    }),
    max_gains: optional(gainLimitsSchema, {
      title: "Maximum gains of a run",
      description:
        "Maximum number of people, across all merchants, who may newly gain in one run what a key names, as in guards.max_gains. A percentage of the members always allows 20, except 0%.",
      default: { sensitive: "5%" },
      examples: [{ sensitive: "5%", payouts_edit: 3 }],
    }),
  }),
  {
    title: "Limits of a run",
    description:
      "Limits across all merchants of a run with two or more merchants, in addition to the guards of each.",
    examples: [{ max_removals: "5%", max_gains: { sensitive: "5%" } }],
  },
);

/** Parses limits as a project's file has them. */
export function parseRun(
  { max_removals: removals, max_gains: gains }: NonNullable<z.infer<typeof runSchema>>,
  file: string,
): RunLimits {
  return omitUndefined({
    origin: { file, path: ["run"] },
    maxRemovals: parseAmount(removals) ?? undefined,
    maxGains: gains && parseGains(gains),
  });
}

/** Returns the names in limits, with their paths below those. */
export function namesInLimits({ maxGains }: RunLimits): readonly SettingName[] {
  return maxGainsSetting.kind.names(maxGains).map((name) => ({ ...name, path: ["max_gains", ...name.path] }));
}
