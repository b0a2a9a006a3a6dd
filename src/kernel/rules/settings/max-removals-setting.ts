import { type Amount, DEFAULT_REMOVAL_LIMIT } from "../../../model/desired.ts";
import { optional } from "../../values/text-schemas.ts";
import { amountLimit, amountSchema, leastOf } from "./amount.ts";
import { COUNT_OVERRIDE, type GuardSetting, type SettingKind } from "./setting-kinds.ts";

const removalLimit: SettingKind<Amount | undefined> = {
  combine: leastOf,
  renamed: (value) => value,
  meaning: (value = DEFAULT_REMOVAL_LIMIT) => value,
  readable: (written) => written,
  names: () => [],
  lists: () => [],
  keys: () => [],
  limits: (written) => amountLimit([], null, written),
};

export const maxRemovalsSetting = {
  section: "guards",
  key: "max_removals",
  schema: optional(amountSchema, {
    title: "Most removals",
    description:
      "Maximum number of roles, and of members, that one apply may remove or take access from: a count, or a percentage of the live ones such as 25%, which allows at least 3 (0% allows none).",
    default: "25%",
    examples: ["25%", 10],
  }),
  kind: removalLimit,
  overrides: { "max-removals": COUNT_OVERRIDE },
} as const satisfies GuardSetting<Amount | undefined>;
