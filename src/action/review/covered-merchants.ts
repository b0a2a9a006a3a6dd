import { changedMerchants } from "../../config/changed-merchants.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { ActionContext } from "../action-context.ts";
import { type Baseline, NO_BASELINE } from "../github/apply-mark.ts";
import { GithubError } from "../github/github-api.ts";
import type { Approvals } from "../github/merged-approval.ts";
import { statesAt } from "./base-states.ts";

/**
 * Returns the merchants that an apply covers: those whose resolved state differs from their baseline, and those that an
 * earlier apply left undone. What drifted elsewhere is not its business, unless the inputs say so.
 */
export async function coveredMerchants(
  context: ActionContext,
  states: readonly DesiredState[],
  baselines: ReadonlyMap<string, Baseline>,
  approvals: Approvals,
): Promise<readonly DesiredState[]> {
  const { inputs, event, github } = context;
  if (inputs.scope === "all" || inputs.onPlanChange === "apply") return states;
  const baselineOf = ({ merchant }: DesiredState): Baseline => baselines.get(merchant) ?? NO_BASELINE;
  const settled = states.filter((state) => !baselineOf(state).pending);
  const covered = new Set(states.filter((state) => baselineOf(state).pending));
  for (const [commit, group] of groupBy(settled, (state) => baselineOf(state).commit)) {
    if (commit === event.sha) continue;
    // Without an earlier apply, what this push and the pull requests before it changed is all that is known.
    const since = commit ?? event.before ?? (await github.parents(event.sha))[0] ?? null;
    const changed = new Set(await changedSince(since, group, context));
    if (commit === null) {
      for await (const { records } of approvals.of(NO_BASELINE)) {
        for (const { merchant } of records) changed.add(merchant);
      }
    }
    for (const state of group) if (changed.has(state.merchant)) covered.add(state);
  }
  return states.filter((state) => covered.has(state));
}

function groupBy<K, V>(values: readonly V[], keyOf: (value: V) => K): ReadonlyMap<K, readonly V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value)) ?? [];
    group.push(value);
    groups.set(keyOf(value), group);
  }
  return groups;
}

/** Returns the merchants that differ from those of a commit; all of them if it cannot be read. */
async function changedSince(
  commit: string | null,
  states: readonly DesiredState[],
  context: ActionContext,
): Promise<readonly string[]> {
  const all = states.map(({ merchant }) => merchant);
  if (commit === null) return all;
  try {
    return changedMerchants(states, await statesAt(commit, context)).map(({ merchant }) => merchant);
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    return all;
  }
}
