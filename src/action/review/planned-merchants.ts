import type { CommitStates } from "../../app/project/commit-states.ts";
import { changedMerchants } from "../../kernel/read/changed-merchants.ts";
import type { DesiredState } from "../../model/desired.ts";
import { hasRows, type MerchantState } from "../../review/merchant-state.ts";
import type { ActionContext } from "../context/action-context.ts";

/**
 * Returns the merchants that a plan covers: those whose resolved state the base does not have. Those that an earlier apply
 * left undone are added if their own file was touched, even if only by a comment, so that what is left can be reviewed.
 */
export async function plannedMerchants(
  { inputs }: Pick<ActionContext, "inputs">,
  states: readonly DesiredState[],
  base: CommitStates | null,
  recordedStates: ReadonlyMap<string, MerchantState | null>,
): Promise<readonly DesiredState[]> {
  if (base === null || inputs.scope === "all") return states;
  const changed = new Set(changedMerchants(states, base.states).map(({ merchant }) => merchant));
  for (const { merchant, origin } of states) {
    const state = recordedStates.get(merchant);
    const isOpen = state === null || (state && (state.failure !== null || state.open.some(hasRows)));
    if (isOpen && !changed.has(merchant) && !(await base.isSame(origin.file))) changed.add(merchant);
  }
  return states.filter(({ merchant }) => changed.has(merchant));
}
