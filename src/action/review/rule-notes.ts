import { type CommitStates, inRepository } from "../../app/project/commit-states.ts";
import { isInShard } from "../../app/project/shard.ts";
import { globMatcher } from "../../app/session/session.ts";
import { ruleNotesOf } from "../../app/show/compare-rules.ts";
import { upcomingDates } from "../../kernel/plan/upcoming-dates.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { groupRuleNotes, type RuleLine, type RuleNote } from "../../show/view/rules-view.ts";
import type { ActionContext } from "../context/action-context.ts";
import type { LoadedFiles } from "./load-and-plan.ts";

/** The files of a pull request, those of its base branch, and the plans. */
export interface ComparedRules {
  readonly loaded: Pick<LoadedFiles, "states" | "sources" | "valid">;
  readonly base: CommitStates;
  /** `null` if nothing is planned. */
  readonly plans: readonly Plan[] | null;
}

/**
 * Returns what a review has to know about the rules of a pull request: where they allow what its base branch does not.
 */
export async function ruleNotes(
  { loaded, base, plans }: ComparedRules,
  { inputs, mask, event, io }: Pick<ActionContext, "inputs" | "mask" | "event" | "io">,
): Promise<readonly RuleLine[]> {
  const notes = ruleNotesOf(loaded.states, base.states, plans, globMatcher());
  const head = new Set(loaded.states.map(({ merchant }) => merchant));
  const isMeant = ({ merchant }: DesiredState): boolean =>
    (inputs.merchants.length === 0 || inputs.merchants.includes(merchant)) &&
    (inputs.shard === null || isInShard(merchant, inputs.shard));
  // An invalid file may still declare one.
  const gone = loaded.valid ? base.states.filter((state) => !head.has(state.merchant) && isMeant(state)) : [];
  const hidden = loaded.states.filter(({ origin }) =>
    base.submodules.some((path) => origin.file.startsWith(`${path}/`)),
  );
  const changed = await changedRules(loaded, base, event.workspace);
  const lines = groupRuleNotes([
    ...gone.map((state) => noLongerManaged(state, io.now())),
    ...base.invalid.map(notCompared),
    ...hidden.map(inSubmodule),
    ...notes,
    ...changed.map(changedFile),
  ]);
  return mask(lines);
}

/** Returns the files of enforced rules that differ from those of the base branch, with that of the project. */
async function changedRules(
  { states, sources }: ComparedRules["loaded"],
  base: CommitStates,
  workspace: string,
): Promise<readonly string[]> {
  const inHead = sources.some(({ file }) => inRepository(file, workspace) === PROJECT_FILE);
  const rules = [...states, ...base.states].flatMap(({ enforced = [] }) =>
    enforced.flatMap(({ files, by }) => (by ? [] : files)),
  );
  const files = [...(inHead || base.project !== null ? [PROJECT_FILE] : []), ...new Set(rules)];
  const same = await Promise.all(files.map((file) => base.isSame(file)));
  return files.filter((_, index) => !same[index]);
}

function changedFile(file: string): RuleNote {
  const text =
    file === PROJECT_FILE ? "what the project enforces has changed" : "enforced rules have changed";
  return { merchant: file, kind: "changed", topic: "enforced rules", text };
}

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

function noLongerManaged(state: DesiredState, now: number): RuleNote {
  const { length } = upcomingDates(state, now);
  const dates =
    length === 0 ? "" : `, and ${counted(length, "date")} to come no longer count${length === 1 ? "s" : ""}`;
  return {
    merchant: state.merchant,
    kind: "loosened",
    topic: "managed",
    text: `no longer managed, because no file declares it; the live state stays as it is${dates}`,
  };
}
