import { DEFAULT_ESCALATION, type Escalation } from "../../model/desired.ts";
import { missingFrom, type Policy } from "./rule.ts";
import { escalationSetting } from "./settings/escalation-setting.ts";

const WAYS = [
  ["assign", "assign roles"],
  ["edit", "change roles"],
  ["create", "create roles"],
] as const satisfies readonly (readonly [keyof Escalation, string])[];

/** The permissions that lead to others, for checks of what members can reach. */
export const escalation = {
  ...escalationSetting,
  codes: [],
  list: () => [],
  looser: (before, after) =>
    WAYS.flatMap(([key, does]) =>
      missingFrom(
        before?.[key] ?? DEFAULT_ESCALATION[key],
        after?.[key] ?? DEFAULT_ESCALATION[key],
        (permission) => `checks no longer count that ${permission} lets somebody ${does}`,
      ),
    ),
  isOff: () => true,
  judge: () => [],
} as const satisfies Policy<Partial<Escalation> | undefined>;
