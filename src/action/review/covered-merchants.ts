import { hashOfTimes } from "../../kernel/plan/due.ts";
import { hasDates } from "../../kernel/plan/upcoming-dates.ts";
import { changedMerchants } from "../../kernel/read/changed-merchants.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import { inlineCode } from "../../show/markdown/markdown-blocks.ts";
import type { ActionContext } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import { GithubError } from "../context/github-api.ts";
import { approvedSince, type Baseline, NO_BASELINE, readBaselines } from "../github/apply-mark.ts";
import type { Approvals } from "../github/merged-approval.ts";
import { recordTrust } from "../github/pull-approval.ts";
import { APPLY_ENDS, type ApplyEnd } from "./apply-page.ts";
import { type CommitStates, statesAt } from "./base-states.ts";

/**
 * Returns the merchants that a plan covers: those whose resolved state the base does not have. Those that an earlier apply
 * left undone are added if their own file was touched, even by a comment only: so that what is left can be reviewed.
 */
export async function plannedMerchants(
  context: ActionContext,
  states: readonly DesiredState[],
  base: CommitStates | null,
): Promise<readonly DesiredState[]> {
  const { inputs, github, scope } = context;
  if (base === null || inputs.scope === "all") return states;
  const changed = new Set(changedMerchants(states, base.states).map(({ merchant }) => merchant));
  const touched: string[] = [];
  for (const { merchant, origin } of states) {
    if (!changed.has(merchant) && !(await base.isSame(origin.file))) touched.push(merchant);
  }
  if (touched.length > 0) {
    const place = { sha: base.commit, family: scope.family };
    const baselines = await readBaselines(touched, place, recordTrust(inputs), github).catch(noBaselines);
    for (const [merchant, { pending }] of baselines) if (pending) changed.add(merchant);
  }
  return states.filter(({ merchant }) => changed.has(merchant));
}

/** Returns no baselines where they cannot be read: then only what has changed is planned. */
function noBaselines(error: unknown): ReadonlyMap<string, Baseline> {
  if (!(error instanceof GithubError)) throw error;
  return new Map();
}

/**
 * Returns the merchants that an apply covers: those whose resolved state differs from their baseline, and those that an
 * earlier apply left undone. What drifted elsewhere is not its business, unless the inputs say so.
 */
async function coveredMerchants(
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
    const [floor = null] = group.map((state) => approvedSince(baselineOf(state)));
    for (const merchant of await approvedMerchants(approvals, floor)) changed.add(merchant);
    for (const state of group) if (changed.has(state.merchant)) covered.add(state);
  }
  return states.filter((state) => covered.has(state));
}

/**
 * Returns the merchants that a pull request merged since a commit has planned. An apply may have made that plan and left no
 * mark: then a merchant whose files are as before, because they were reverted since, is not.
 */
async function approvedMerchants(approvals: Approvals, since: string | null): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const { records } of approvals.of(since)) {
    for (const { merchant } of records) found.add(merchant);
  }
  return found;
}

/** Adds to the baselines of merchants with end dates what their files left to time then. */
export async function withTimes(
  baselines: ReadonlyMap<string, Baseline>,
  states: readonly DesiredState[],
  context: ActionContext,
): Promise<ReadonlyMap<string, Baseline>> {
  const { event, github, inputs } = context;
  const known = new Map(baselines);
  const baselineOf = ({ merchant }: DesiredState): Baseline => baselines.get(merchant) ?? NO_BASELINE;
  for (const [commit, group] of groupBy(states.filter(hasDates), (state) => baselineOf(state).commit)) {
    const comparable = group.filter((state) => commit !== null || !baselineOf(state).pending);
    if (comparable.length === 0) continue;
    const since = commit ?? event.before ?? (await github.parents(event.sha))[0] ?? null;
    if (since === null) continue;
    const before = new Map((await statesAt(since, context)).map((state) => [state.merchant, state]));
    for (const state of comparable) {
      const was = before.get(state.merchant);
      if (was === undefined) continue;
      const times = hashOfTimes(was, inputs.approvalSecret);
      known.set(state.merchant, { ...baselineOf(state), times });
    }
  }
  return known;
}

/** The merchants of the files that a run covers. */
export interface Coverage {
  readonly covered: readonly DesiredState[];
  /** Merchants of which only what is due is planned: their files are as they were at their last apply. */
  readonly settled: ReadonlySet<string>;
  /** Merchants with changes that this run leaves to the apply after a merge. */
  readonly waiting: readonly string[];
}

/** Returns what an apply covers; with `only: due`, settled merchants, and those that an earlier apply left undone. */
export async function applyCoverage(
  context: ActionContext,
  states: readonly DesiredState[],
  baselines: ReadonlyMap<string, Baseline>,
  approvals: Approvals,
): Promise<Coverage> {
  if (context.inputs.only === "") {
    const covered = await coveredMerchants(context, states, baselines, approvals);
    return { covered, settled: new Set(), waiting: [] };
  }
  const baselineOf = ({ merchant }: DesiredState): Baseline => baselines.get(merchant) ?? NO_BASELINE;
  const applied = states.filter((state) => baselineOf(state).commit !== null && !baselineOf(state).pending);
  const settled = new Set(applied.map(({ merchant }) => merchant));
  for (const [commit, group] of groupBy(applied, (state) => baselineOf(state).commit)) {
    if (commit === context.event.sha) continue;
    for (const merchant of await changedSince(commit, group, context)) settled.delete(merchant);
    for (const merchant of await approvedMerchants(approvals, commit)) settled.delete(merchant);
  }
  const isCovered = (state: DesiredState): boolean =>
    settled.has(state.merchant) || baselineOf(state).pending;
  const waiting = states.flatMap((state) => (isCovered(state) ? [] : [state.merchant]));
  return { covered: states.filter(isCovered), settled, waiting };
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
  const changed = changedMerchants(await statesAt(tip, context), states);
  const merchants = changed.flatMap(({ merchant, change }) => (change === "added" ? [] : [merchant]));
  return { sha: tip, merchants: new Set(merchants) };
}

/** GitHub needs some seconds after a push to return the new tip. */
const LAG_WAITS_MS = [1_000, 2_000, 4_000];

/** Returns the tip of a branch, which must contain the commit of the run; that commit itself if the inputs allow it. */
export async function tipAfter(
  { event, github, inputs, io }: ActionContext,
  branch: string,
): Promise<string> {
  if (inputs.allow.includes(`commit=${event.sha}`)) return event.sha;
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
    `${event.sha.slice(0, 7)} is not on ${branch} any more.`,
    `The branch was reset. To apply this commit anyway, add commit=${event.sha} to the input allow.`,
  );
}

const MAX_NAMED = 10;

/** Returns a sentence about the merchants that are left to the run for a newer commit. */
export function leftTo({ sha, merchants }: NewerCommit): string {
  const named = [...merchants].slice(0, MAX_NAMED);
  const rest = merchants.size - named.length;
  const all = [...named, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  return `${all}: changed again by the newer commit ${sha.slice(0, 7)}, whose run applies both changes.`;
}

/** Returns the outcome of an apply that leaves everything to the run for a newer commit. */
export function supersededEnd({ event }: ActionContext, { sha }: NewerCommit): ApplyEnd {
  const url = `${event.serverUrl}/${event.owner}/${event.repo}/commit/${sha}/checks`;
  const message = `A newer commit changes the same merchants: [the run for ${inlineCode(sha.slice(0, 7))}](${url}) applies both changes.`;
  return { ...APPLY_ENDS.superseded, message };
}

/** Returns a sentence about the merchants that an apply leaves alone; `null` if there are none. */
export function coverageText(covered: number, all: number, waiting: readonly string[]): string | null {
  if (waiting.length > 0) {
    return `${counted(waiting.length, "merchant")} changed since the last apply, or without one: the apply after a merge makes those changes, not this run.`;
  }
  if (covered === all) return null;
  const of = `of ${counted(all, "merchant")} changed since the last apply`;
  return covered === 0 ? `None ${of}.` : `${covered} ${of}; the others are left alone.`;
}
