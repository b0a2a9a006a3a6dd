import { changedMerchants } from "../../kernel/read/changed-merchants.ts";
import { firstOf } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { ActionContext } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";

/** The part of an apply that a newer commit of the branch takes over. */
export interface NewerCommit {
  readonly sha: string;
  /** The merchants that differ there: the run for the tip applies them. */
  readonly merchants: ReadonlySet<string>;
}

/**
 * Returns which of the given merchants a newer commit of the branch changes, with what they include; none at the tip.
 * Rejects if the commit is not on the branch.
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
  const codes = firstOf([...merchants], MAX_NAMED, "merchant").join(", ");
  return [
    `${codes}: changed again by the newer commit ${sha.slice(0, 7)}, whose run applies both changes, or asks for approval again.`,
  ];
}
