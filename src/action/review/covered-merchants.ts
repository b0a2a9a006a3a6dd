import type { CommitStates } from "../../app/project/commit-states.ts";
import { changedMerchants } from "../../kernel/read/changed-merchants.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import { hasRows, type MerchantState } from "../../review/merchant-state.ts";
import { inlineCode } from "../../show/markdown/markdown-blocks.ts";
import type { ActionContext } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import type { Inputs } from "../context/inputs.ts";
import { APPLY_ENDS, type ApplyEnd } from "./apply-page.ts";

/**
 * Returns the merchants that a plan covers: those whose resolved state the base does not have. Those that an earlier apply
 * left undone are added if their own file was touched, even by a comment only: so that what is left can be reviewed.
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

/** The part of an apply that a newer commit of the branch takes over. */
export interface NewerCommit {
  /** The tip of the branch. */
  readonly sha: string;
  /** The merchants that differ there: the run for the tip applies them. */
  readonly merchants: ReadonlySet<string>;
}

/**
 * Returns which of the given merchants a newer commit of the branch changes, with what they include; none at the tip.
 * Rejects a commit that is not on the branch.
 */
export async function newerCommit(
  context: ActionContext,
  branch: string,
  states: readonly DesiredState[],
): Promise<NewerCommit> {
  const { sha } = context.event;
  const tip = await tipAfter(context, branch);
  if (tip === sha || states.length === 0) return { sha: tip, merchants: new Set() };
  const changed = changedMerchants((await context.statesAt(tip)).states, states);
  const merchants = changed.flatMap(({ merchant, change }) => (change === "added" ? [] : [merchant]));
  return { sha: tip, merchants: new Set(merchants) };
}

/** GitHub needs some seconds after a push to return the new tip. */
const LAG_WAITS_MS = [1_000, 2_000, 4_000];

/** Returns the tip of a branch, which must contain the commit of the run. */
async function tipAfter({ event, github, io }: ActionContext, branch: string): Promise<string> {
  for (const wait of [...LAG_WAITS_MS, null]) {
    const tip = await github.branchTip(branch);
    if (tip === event.sha) return tip;
    const { status } = await github.compare(event.sha, tip);
    if (status === "ahead") return tip;
    if (status === "diverged" || wait === null) break;
    await io.sleep(wait);
  }
  throw new ActionError(
    "stale-commit",
    `${event.sha.slice(0, 7)} is not on ${branch} any longer.`,
    "The branch was reset: run the workflow for its tip.",
  );
}

const MAX_NAMED = 10;

/** Returns a sentence about the merchants that are left to the run for a newer commit; empty if none are. */
export function leftTo({ sha, merchants }: NewerCommit): readonly string[] {
  if (merchants.size === 0) return [];
  const shown = [...merchants].slice(0, MAX_NAMED);
  const rest = merchants.size - shown.length;
  const codes = [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  return [
    `${codes}: changed again by the newer commit ${sha.slice(0, 7)}, whose run applies both changes, or asks for approval again.`,
  ];
}

/** Returns the outcome of an apply that leaves everything to the run for a newer commit. */
export function supersededEnd({ event }: ActionContext, { sha }: NewerCommit): ApplyEnd {
  const url = `${event.serverUrl}/${event.owner}/${event.repo}/commit/${sha}/checks`;
  const message = `A newer commit changes the same merchants: [the run for ${inlineCode(sha.slice(0, 7))}](${url}) applies both changes, or asks for approval again.`;
  return { ...APPLY_ENDS.superseded, message };
}

/** Returns a sentence about the merchants that a run leaves alone; `null` if there are none. */
export function coverageText(
  covered: number,
  total: number,
  { command }: Pick<Inputs, "command">,
): string | null {
  if (covered === total) return null;
  if (command === "due") {
    return `${total - covered} of ${counted(total, "merchant")} left alone: the apply of what was merged there has not run yet.`;
  }
  const of = `of ${counted(total, "merchant")} changed since the last apply`;
  return covered === 0
    ? `None ${of}.`
    : `${covered} ${of}, or have something left to do; the others are left alone.`;
}
