import { isInShard } from "../../cli/args/shard.ts";
import { ruleNotesOf } from "../../cli/review/compare-rules.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { groupRuleNotes, type RuleLine, type RuleNote } from "../../render/view/rules-view.ts";
import type { ActionContext } from "../action-context.ts";
import { type LoadedFiles, matchGlob } from "../load-and-plan.ts";
import { maskAddresses } from "./annotations.ts";
import type { CommitStates } from "./base-states.ts";

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
  const notes = ruleNotesOf(loaded.states, base.states, plans, matchGlob);
  const head = new Set(loaded.states.map(({ merchant }) => merchant));
  const isMeant = ({ merchant }: DesiredState): boolean =>
    (inputs.merchants.length === 0 || inputs.merchants.includes(merchant)) &&
    (inputs.shard === null || isInShard(merchant, inputs.shard));
  // An invalid file may still declare one.
  const gone = loaded.valid ? base.states.filter((state) => !head.has(state.merchant) && isMeant(state)) : [];
  const hidden = loaded.states.filter(({ origin }) =>
    base.submodules.some((path) => origin.file.startsWith(`${path}/`)),
  );
  const lines = groupRuleNotes([
    ...gone.map(noLongerManaged),
    ...base.invalid.map(notCompared),
    ...hidden.map(inSubmodule),
    ...notes,
  ]);
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

function inSubmodule({ merchant }: DesiredState): RuleNote {
  return {
    merchant,
    kind: "unknown",
    topic: "base branch",
    text: "is in a submodule, so its rules on the base branch are not known",
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
