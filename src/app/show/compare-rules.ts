import type { GlobMatch } from "../../kernel/diff/scope.ts";
import { looseningsOf } from "../../kernel/rules/loosenings.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { groupRuleNotes, type RuleLine, type RuleNote } from "../../show/view/rules-view.ts";

/** Compares the rules of merchants with their former ones; a merchant that is new has none to compare with. */
export function compareRules(
  states: readonly DesiredState[],
  former: readonly DesiredState[],
  plans: readonly Plan[] | null,
  matches: GlobMatch,
): readonly RuleLine[] {
  return groupRuleNotes(ruleNotesOf(states, former, plans, matches));
}

/** Returns what is looser than before at each merchant, and the overrides of its plan; without plans, all new ones. */
export function ruleNotesOf(
  states: readonly DesiredState[],
  former: readonly DesiredState[],
  plans: readonly Plan[] | null,
  matches: GlobMatch,
): readonly RuleNote[] {
  const before = new Map(former.map((state) => [state.merchant, state]));
  const planOf = new Map(plans?.map((plan) => [plan.merchant, plan]));
  return states.flatMap((state) => {
    const { merchant } = state;
    const former = before.get(merchant);
    const looser = former === undefined ? [] : looseningsOf(former, state, matches);
    return [
      ...looser.map((note): RuleNote => ({ merchant, kind: "loosened", ...note })),
      ...overridesIn(state, former?.guards.overrides ?? [], planOf.get(merchant) ?? null),
    ];
  });
}

/** Returns the overrides of the plan that is shown, and new ones of another plan, which no review has seen. */
function overridesIn(
  { merchant, guards }: DesiredState,
  formerOverrides: readonly string[],
  plan: Plan | null,
): readonly RuleNote[] {
  const topic = "overrides";
  const used = (plan?.overridden ?? []).map(
    ({ code, message }): RuleNote => ({
      merchant,
      kind: "overridden",
      topic,
      text: `overrides ${code} for this plan: ${message}`,
    }),
  );
  const leftOver = new Set(
    plan?.findings.flatMap(({ code, name }) => (code === "override-left-over" ? name : [])),
  );
  const newOverrides = (guards.overrides ?? []).filter(
    (override) => !formerOverrides.includes(override) && (plan === null || leftOver.has(override)),
  );
  const what = plan === null ? "an override for one plan" : "an override for another plan";
  return [
    ...used,
    ...newOverrides.map(
      (text): RuleNote => ({ merchant, kind: "loosened", topic, text: `${what}: ${text}` }),
    ),
  ];
}
