import { counted, quoted } from "../../lib/text.ts";
import type { Refusal } from "../../model/plan.ts";
import { list, ruleAdvice } from "../findings/refusals.ts";
import { refusalRule } from "../problems/rule-table.ts";
import { countOf, fieldsOf } from "../values/values.ts";
import { countWork, holdersBy, STEPS_OF_HOLDER } from "./judged.ts";
import { breachOf, type Policy, policyRefusal } from "./rule.ts";
import { maxHoldersSetting } from "./settings/max-holders-setting.ts";

/** Limits the number of holders of each role. */
export const maxHolders = {
  ...maxHoldersSetting,
  diagnostics: {
    "policy-max-holders": refusalRule("A role must not have more holders than allowed (`max_holders`)."),
  },
  codes: ["max-holders"],
  list: (limits) =>
    Object.entries(limits).map(([role, max]) => ({
      text: limitText(role, max),
      keys: [role],
      entry: null,
      violated: `max-holders ${role}`,
      alone: { [role]: max },
    })),
  looser: (before, after) =>
    Object.entries(before).flatMap(([role, max]) => {
      const now = after[role];
      if (now !== undefined && now <= max) return [];
      return [`"${role}" may have ${max} → ${now ?? "any number of"} holders`];
    }),
  lint: (written, { most }) =>
    Object.entries(fieldsOf(written)).flatMap(([role, value]) => {
      const max = countOf(value);
      if (most === null || max === null || max < most.members) return [];
      return [
        {
          code: "idle-policy",
          path: [role],
          message: `At most ${max} may hold ${quoted(role)}, and ${most.text}.`,
          hint: "Set the limit to the intended number of holders.",
        },
      ];
    }),
  isOff: (limits) => Object.keys(limits).length === 0,
  judge: (limits, context) =>
    Object.entries(limits).flatMap(([role, max]) => {
      const holders = holdersBy(role, context.counted, context);
      if (holders.length <= max) return [];
      countWork(context, holders.length * STEPS_OF_HOLDER);
      const names = holders.map(({ name }) => name);
      const refusal = (isPlan: boolean): Refusal =>
        policyRefusal(
          "max-holders",
          "role",
          role,
          `The role "${role}" ${isPlan ? "would have" : "has"} ${counted(names.length, "holder")} (${list(names)}); the limit is ${max}.`,
          `Remove it from a holder, or ${ruleAdvice("raise policies.max_holders", context.enforcedBy)}.`,
        );
      return [
        {
          rule: `max-holders ${role}`,
          subject: null,
          extent: holders.map(({ id, name }) => id ?? name.toLowerCase()),
          check: null,
          refusal: (tense) => refusal(tense === "plan"),
          breaches: () => {
            const [email = ""] = names.slice(max);
            const subject = { kind: "grant", email, role: context.find(role) ?? role } as const;
            return [breachOf("policy-max-holders", "max_holders", subject, refusal(true))];
          },
        },
      ];
    }),
} as const satisfies Policy<Readonly<Record<string, number>>>;

function limitText(role: string, max: number): string {
  return `max_holders ${role}: ${max}`;
}
