import { counted } from "../../lib/text.ts";
import type { Refusal } from "../../model/plan.ts";
import { list, type Tense } from "../findings/refusals.ts";
import { refusalRule } from "../problems/rule-table.ts";
import type { PersonAccess } from "./access.ts";
import { type CheckContext, type CheckForm, checkRefusal } from "./check.ts";
import { countWork, peopleWith, STEPS_OF_HOLDER } from "./judged.ts";
import { type AtMostCheck, atMostSetting } from "./settings/at-most-setting.ts";

/** Limits the number of people who have a permission. */
export const atMostCheck: CheckForm<AtMostCheck> = {
  ...atMostSetting,
  diagnostic: refusalRule("No more members may have a permission than a check allows."),
  text: ({ can, atMost }, reach) => `can${reach} ${can}: at most ${atMost}`,
  subjects: (_, people) => people,
  judge(check, context) {
    const holders = holdersOf(check, context);
    if (holders.length <= check.atMost) return [];
    countWork(context, holders.length * STEPS_OF_HOLDER);
    const names = holders.map(({ name }) => name);
    const refusal = (tense: Tense): Refusal =>
      checkRefusal(
        "check-at-most",
        null,
        `${holdersText(check, names, tense)}; a check allows at most ${check.atMost}.`,
        context.enforcedBy,
      );
    return [
      {
        subject: null,
        extent: holders.map(({ id, name }) => id ?? name.toLowerCase()),
        refusal,
        breaches() {
          const { message, hint } = refusal("plan");
          const subject = { kind: "check", origin: check.origin, key: "at_most" } as const;
          return [{ code: "check-at-most", subject, message, hint }];
        },
      },
    ];
  },
  looser({ can, atMost }, others, reach) {
    const now = Math.min(...others.map((other) => other.atMost));
    if (now <= atMost) return [];
    const what = `the check that at most ${atMost} can${reach} ${can}`;
    return [others.length === 0 ? `${what} is gone` : `${what} allows ${now}`];
  },
  lint({ can, atMost }, { most }) {
    if (most === null || atMost < most.members) return null;
    return {
      path: ["at_most"],
      message: `At most ${atMost} may use ${can}, and ${most.text}.`,
      hint: "Set the limit to the intended number of members.",
    };
  },
};

/** Returns the people who have the permission, or with `reach` can reach it. */
function holdersOf({ can, reach }: AtMostCheck, context: CheckContext): readonly PersonAccess[] {
  const { counted: index, reachSettled } = context;
  if (!reach) return peopleWith(index, can);
  countWork(context, index.people.length);
  return index.people.filter((person) => reachSettled(person).includes(can));
}

/** "3 members would have payouts_view (a, b and c)". */
function holdersText({ can, reach }: AtMostCheck, names: readonly string[], tense: Tense): string {
  const isPlan = tense === "plan";
  const have = isPlan ? "would have" : names.length === 1 ? "has" : "have";
  const verb = reach ? `${isPlan ? "could" : "can"} reach` : have;
  return `${counted(names.length, "member")} ${verb} ${can} (${list(names)})`;
}
