import { declaredText } from "../../kernel/read/changed-merchants.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { ApplyRecords } from "../../review/apply-run.ts";
import {
  lookReason,
  type MergedReview,
  type OpenStore,
  recordedReviews,
  recordOf,
} from "../../review/merchant-state.ts";
import { approvedRest } from "../../review/waiting-changes.ts";
import type { ActionContext } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import { pullsMergedAs } from "../github/merged-pulls.ts";

/** A pull request that a run reports on. */
export interface TellablePull {
  readonly number: number;
  /** Id of its comment; `null` if unknown. */
  readonly comment: number | null;
  /** Those of its merchants that no run has looked at yet. */
  readonly merchants: readonly string[];
}

/** Records of a run, with the pull requests that it reports on. */
export interface CoveredRecords extends ApplyRecords {
  /** Numbers of the pull requests that its commit merged. */
  readonly ofCommit: readonly number[];
  readonly told: readonly TellablePull[];
}

/**
 * Reads what was merged and not applied yet, and which merchants a run has to look at, however long ago the last apply was.
 * `isBroken` if errors in files keep it from looking at more.
 */
export async function readApplyRecords(
  context: ActionContext,
  branch: string,
  openStore: OpenStore,
  states: readonly DesiredState[],
  isBroken: boolean,
): Promise<CoveredRecords> {
  const { inputs, event, github } = context;
  const records = await openStore.store.read();
  const declared = new Map(states.map((state) => [state.merchant, openStore.seal(declaredText(state))]));
  const common = { records, declared };
  if (inputs.environment !== "") {
    const rest = await approvedRest(event, records, inputs.environment, await github.approvals());
    if (typeof rest === "string") throw NOT_APPROVED[rest](inputs.environment);
    const { waiting, approved } = rest;
    const covered = states.filter(({ merchant }) => approved.has(merchant));
    return {
      ...common,
      waiting,
      approved,
      unapplied: new Set(),
      covered,
      merged: [],
      abandoned: [],
      ofCommit: [],
      told: [],
    };
  }
  let reviews = await recordedReviews(records, github, branch);
  let mergedHere = reviews.merged
    .filter(({ pull }) => pull.mergedAs === event.sha)
    .map(({ pull }) => pull.number);
  if (mergedHere.length === 0 && event.name === "push") {
    mergedHere = (await pullsMergedAs(event, branch, context, reviews.hasOpen)).map(({ number }) => number);
    // GitHub may report only now that they were merged.
    if (mergedHere.some((number) => records.names.includes(recordOf(number))))
      reviews = await recordedReviews(records, github, branch);
  }
  const { merged, abandoned } = reviews;
  const reasonOf = ({ merchant }: DesiredState) =>
    lookReason(merchant, declared.get(merchant) ?? "", records.states.get(merchant), merged);
  const isDue = inputs.command === "due";
  const isCovered = (state: DesiredState): boolean => {
    const reason = reasonOf(state);
    return isDue ? reason !== "unknown" : reason !== null || inputs.scope === "all";
  };
  const isUnapplied = (state: DesiredState): boolean => ["merged", "changed"].includes(reasonOf(state) ?? "");
  const covered = states.filter(isCovered);
  const unapplied = new Set(covered.flatMap((state) => (isDue && isUnapplied(state) ? state.merchant : [])));
  const codes = new Set(covered.map(({ merchant }) => merchant));
  const newIn = ({ pull, merchants }: MergedReview): readonly string[] =>
    [...merchants].filter(
      (merchant) =>
        (codes.has(merchant) || (isBroken && !declared.has(merchant))) &&
        !records.states.get(merchant)?.settled.includes(recordOf(pull.number)),
    );
  const fresh = merged.filter((review) => newIn(review).length > 0);
  // A run that somebody starts by hand does not concern the commit at the tip.
  const ofCommit = event.name === "push" ? mergedHere : [];
  const told = isDue ? [] : [...new Set([...ofCommit, ...fresh.map(({ pull }) => pull.number)])];
  return {
    ...common,
    merged,
    abandoned,
    covered,
    unapplied,
    approved: new Map(),
    waiting: null,
    ofCommit: mergedHere,
    told: told.map((number) => {
      const review = merged.find(({ pull }) => pull.number === number);
      return {
        number,
        comment: review?.run?.comment ?? null,
        merchants: review === undefined ? [] : newIn(review),
      };
    }),
  };
}

const NOT_APPROVED = {
  none: () => new ActionError("not-approved", "No job of this run has changes that wait for approval."),
  // GitHub creates an environment that does not exist, without reviewers.
  unapproved: (environment: string) =>
    new ActionError(
      "not-approved",
      `Nobody has approved this run for the environment ${environment}.`,
      "Add required reviewers to the environment, and run all jobs again.",
    ),
} as const;
