import type { CommitStates } from "../../app/project/commit-states.ts";
import { changedMerchants } from "../../kernel/read/changed-merchants.ts";
import type { DesiredState } from "../../model/desired.ts";
import { hasRows, type MerchantState } from "../../review/merchant-state.ts";
import type { ActionContext } from "../context/action-context.ts";

/**
 * Returns the merchants that a plan covers: those whose resolved state the base does not have, and those of the approved
 * plans, whose changes a later commit or another pull request may undo. Those that an earlier apply left undone are added
 * if their own file was touched, even if only by a comment, so that the remaining changes can be reviewed.
 */
export async function plannedMerchants(
  { inputs }: Pick<ActionContext, "inputs">,
  states: readonly DesiredState[],
  base: CommitStates | null,
  {
    recorded,
    approved,
  }: {
    readonly recorded: ReadonlyMap<string, MerchantState | null>;
    /** The merchants of the approved plans. */
    readonly approved: ReadonlySet<string>;
  },
): Promise<readonly DesiredState[]> {
  if (base === null || inputs.scope === "all") return states;
  const open = states.filter(({ merchant }) => {
    const state = recorded.get(merchant);
    return state === null || (state && (state.failure !== null || state.open.some(hasRows)));
  });
  const touched = await touchedMerchants(states, base, open);
  return states.filter(({ merchant }) => touched.has(merchant) || approved.has(merchant));
}

/** Returns the merchants whose state differs from that of an earlier commit, and those among some whose file does. */
export async function touchedMerchants(
  states: readonly DesiredState[],
  before: CommitStates,
  byFile: readonly DesiredState[],
): Promise<ReadonlySet<string>> {
  const touched = new Set(changedMerchants(states, before.states).map(({ merchant }) => merchant));
  for (const { merchant, origin } of byFile) {
    if (!touched.has(merchant) && !(await before.isSame(origin.file))) touched.add(merchant);
  }
  return touched;
}
