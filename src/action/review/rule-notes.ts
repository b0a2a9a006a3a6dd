import { isInShard } from "../../cli/args/shard.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { looseningsOf } from "../../plan/judge/loosenings.ts";
import { groupRuleNotes, type RuleLine, type RuleNote } from "../../render/view/rules-view.ts";
import type { ActionContext } from "../action-context.ts";
import { type LoadedFiles, matchGlob } from "../load-and-plan.ts";
import type { CommitStates } from "./base-states.ts";
import { maskAddresses } from "./mask-addresses.ts";

/** The files of a pull request, those of its base branch, and the plans. */
export interface ComparedRules {
  readonly loaded: Pick<LoadedFiles, "states" | "valid">;
  /** `null` if they could not be read. */
  readonly base: CommitStates | null;
  /** `null` if the files are not compared with the live state. */
  readonly plans: readonly Plan[] | null;
}

/** Returns what a review has to know about the rules of a pull request: what its base branch does not allow. */
export function ruleNotes(
  { loaded, base, plans }: ComparedRules,
  { inputs, masked }: Pick<ActionContext, "inputs" | "masked">,
): readonly RuleLine[] {
  if (base === null) return [BASE_UNKNOWN];
  const planOf = new Map(plans?.map((plan) => [plan.merchant, plan]));
  const before = new Map(base.states.map((state) => [state.merchant, state]));
  const notes = loaded.states.flatMap((head) => {
    const was = before.get(head.merchant);
    const plan = planOf.get(head.merchant) ?? null;
    return [
      ...(was === undefined ? [] : looserRules(was, head)),
      ...overridesIn(head, was?.guards.overrides ?? [], plan),
    ];
  });
  const head = new Set(loaded.states.map(({ merchant }) => merchant));
  const isMeant = ({ merchant }: DesiredState): boolean =>
    (inputs.merchants.length === 0 || inputs.merchants.includes(merchant)) &&
    (inputs.shard === null || isInShard(merchant, inputs.shard));
  // An invalid file may still declare one.
  const gone = loaded.valid ? base.states.filter((state) => !head.has(state.merchant) && isMeant(state)) : [];
  const lines = groupRuleNotes([...gone.map(noLongerManaged), ...base.invalid.map(notCompared), ...notes]);
  return masked ? lines.map(maskAddresses) : lines;
}

const BASE_UNKNOWN: RuleLine = {
  merchants: ["every merchant"],
  kind: "unknown",
  topic: "base branch",
  text: "the base branch could not be read, so its rules are not known",
};

function notCompared(file: string): RuleNote {
  return {
    merchant: file,
    kind: "unknown",
    topic: "base branch",
    text: "has errors on the base branch, so its rules there are not known",
  };
}

function noLongerManaged({ merchant }: DesiredState): RuleNote {
  return {
    merchant,
    kind: "loosened",
    topic: "managed",
    text: "no longer managed, because no file declares it; what is live stays as it is",
  };
}

function looserRules(base: DesiredState, head: DesiredState): readonly RuleNote[] {
  const { merchant } = head;
  return looseningsOf(base, head, matchGlob).map((one) => ({ merchant, kind: "loosened", ...one }));
}

/** Returns the overrides of the plan that is shown, and new ones of another plan, which no review has seen. */
function overridesIn(
  { merchant, guards }: DesiredState,
  known: readonly string[],
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
  const others = (guards.overrides ?? []).filter(
    (one) => !known.includes(one) && (plan === null || leftOver.has(one)),
  );
  const what = plan === null ? "an override for one plan" : "an override for another plan";
  return [
    ...used,
    ...others.map((one): RuleNote => ({ merchant, kind: "loosened", topic, text: `${what}: ${one}` })),
  ];
}
