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
  ofRun: {
    schema: optional(amountSchema, {
      title: "Maximum removals of a run",
      description:
        "Maximum number of members, across all merchants, that one run may remove or take a role from: a count, or a percentage of the members such as 5%, which always allows 20, except 0%.",
      default: "5%",
      examples: ["5%", 30],
    }),
    default: { percent: 5 },
    code: "run-removals",
    override: COUNT_OVERRIDE,
  },
} as const satisfies GuardSetting<Amount | undefined>;
