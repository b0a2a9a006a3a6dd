import { compareReviewed } from "../kernel/approval/compare-reviewed.ts";
import type { Review } from "../kernel/approval/merged-reviews.ts";
import type { Seal } from "../kernel/approval/seal.ts";
import { listText } from "../lib/text.ts";
import type { MerchantOutcome } from "../model/apply.ts";
import type { DesiredState } from "../model/desired.ts";
import type { JudgedMerchant } from "./judge-merchant.ts";
import {
  hasRows,
  isToCome,
  lostReviews,
  type MerchantState,
  type MergedReview,
  pullNumbers,
  type ReviewRecords,
  reviewsOf,
  unsettled,
} from "./merchant-state.ts";
import { INVALID_STATE, undeclaredSentence } from "./open-failures.ts";

export interface ApplyRun {
  readonly sha: string;
  /** True if it makes only changes that dates cause. */
  readonly isDue: boolean;
  /** True if a merge started it, rather than a person. */
  readonly isPush: boolean;
}

/** State and records of the merchants that a run covers. */
export interface ApplyRecords {
  readonly records: ReviewRecords;
  readonly merged: readonly MergedReview[];
  /** Names of the records that pull requests no longer need. */
  readonly abandoned: readonly string[];
  /** Merchants with their declared access, as keyed hashes. */
  readonly declared: ReadonlyMap<string, string>;
  readonly covered: readonly DesiredState[];
  /** Changes that an environment's reviewers approved in an earlier job of this run, by merchant. */
  readonly approved: ReadonlyMap<string, Review>;
  /** Merchants of a nightly run whose merged files are not applied yet: it only takes access that has ended there. */
  readonly unapplied: ReadonlySet<string>;
  /** Name of the record of that; `null` if the run is for what was merged. */
  readonly waiting: string | null;
}

/** Returns the reviews that a run compares a merchant's plan with. */
export function openReviews(
  { records, merged, approved, unapplied, waiting }: ApplyRecords,
  merchant: string,
  { isDue }: ApplyRun,
): readonly Review[] {
  const state = records.states.get(merchant);
  const rest = approved.get(merchant);
  if (waiting !== null) return [...(state?.open ?? []), ...(rest === undefined ? [] : [rest])];
  return reviewsOf(merchant, state, isDue && !unapplied.has(merchant) ? [] : merged);
}

/** Reviewed changes at a merchant that a run does not plan. */
export interface LeftMerchant {
  readonly merchant: string;
  readonly sentence: string;
  readonly pulls: readonly number[];
}

/** A merchant with reviewed changes that no apply has made, and that no file declares any longer. */
export interface UndeclaredMerchant extends LeftMerchant, Report {
  readonly reviews: readonly Review[];
}

/** Returns the merchants with reviewed changes that no apply has made, and that no file declares any longer. */
export function undeclaredMerchants(
  run: ApplyRun,
  applyRecords: ApplyRecords,
  seal: Seal,
): readonly UndeclaredMerchant[] {
  const { records, merged, declared, waiting } = applyRecords;
  if (run.isDue || waiting !== null) return [];
  const known = new Set([...records.states.keys(), ...merged.flatMap(({ merchants }) => [...merchants])]);
  return [...known].flatMap((merchant): readonly UndeclaredMerchant[] => {
    if (declared.has(merchant)) return [];
    const reviews = reviewsOf(merchant, records.states.get(merchant), merged).filter(isToCome);
    const sentence = undeclaredSentence(merchant, reviews);
    if (sentence === null) return [];
    const report = failureReport(run, applyRecords, merchant, [sentence], seal);
    return [{ merchant, sentence, pulls: pullNumbers(reviews.map(({ name }) => name)), reviews, ...report }];
  });
}

/** Returns the merchants that a nightly run leaves to an apply, other than that of a merge. */
export function neverApplied(
  { records, covered, merged, unapplied }: ApplyRecords,
  states: readonly DesiredState[],
): readonly LeftMerchant[] {
  const looked = new Set(covered.flatMap(({ merchant }) => (unapplied.has(merchant) ? [] : merchant)));
  return states.flatMap(({ merchant }): readonly LeftMerchant[] => {
    if (looked.has(merchant)) return [];
    const state = records.states.get(merchant);
    const isNew = state === undefined && unsettled(merchant, state, merged).length > 0;
    const why =
      state === null
        ? INVALID_STATE
        : state === undefined
          ? "no apply of it is recorded: run the apply workflow by hand, with the scope all."
          : state.failure && `the apply of ${state.failure.commit.slice(0, 7)} failed there.`;
    return isNew || why === null ? [] : [{ merchant, sentence: `left alone: ${why}`, pulls: [] }];
  });
}

export interface LookedMerchant extends JudgedMerchant {
  readonly state: MerchantState | null | undefined;
  /** Reviewed changes that the files no longer declare, and that no earlier run has reported, as sentences. */
  readonly lost: readonly string[];
  /** Why the merchant is not as reviewed: refusals, then what was lost. */
  readonly objections: readonly string[];
  /** Pull requests whose changes were lost, or that made others lose theirs. */
  readonly blamed: readonly number[];
  /** Pull requests whose lost changes are no longer lost. */
  readonly settled: readonly number[];
  /** Sentences about the future dates that count since this run's approval. */
  readonly approvedDates: readonly string[];
}

/** Returns the pull request that changed a file last; `null` if unknown. */
export type PullOf = (file: string) => Promise<number | null>;

/** Adds the facts about judged merchants, and the pull request that caused the loss of a reviewed change. */
export async function lookedAt(
  { isDue }: ApplyRun,
  { records, merged, unapplied, waiting }: ApplyRecords,
  judged: readonly JudgedMerchant[],
  pullOf: PullOf,
  seal: Seal,
): Promise<readonly LookedMerchant[]> {
  const looked: LookedMerchant[] = [];
  for (const one of judged) {
    const state = records.states.get(one.merchant);
    if (isDue) {
      // Lost changes are left to applies, and those that are not due to the check for drift.
      const dueRefusals = unapplied.has(one.merchant) ? [] : one.dueRefusals;
      const due = { dropped: [], lost: [], refusals: dueRefusals, objections: dueRefusals };
      looked.push({ ...one, ...due, state, blamed: [], settled: [], approvedDates: [] });
      continue;
    }
    // The first job of the run has already reported these.
    const news = waiting === null ? one.dropped : one.dropped.filter(({ isKnown }) => !isKnown);
    const { lost, blamed } = await lostChanges(news, pullOf);
    const refusals = [...(state === null ? [INVALID_STATE] : []), ...one.refusals];
    const why = one.refusals.length === 0 ? [] : refusedByBase(one.merchant, state, merged);
    const approvedDates = waiting === null ? [] : approvedIn(one, state, seal);
    const settled = settledLosses(one, state, waiting === null ? merged : null);
    looked.push({
      ...one,
      state,
      blamed,
      refusals,
      lost,
      objections: [...refusals, ...why, ...lost],
      settled: pullNumbers(settled.keys()),
      approvedDates,
      remarks: [...one.remarks, ...approvedDates.map((text) => `approved: ${text}.`), ...settled.values()],
    });
  }
  return looked;
}

/** Says which merged pull requests are not approved because a rule of their base branch refused them. */
function refusedByBase(
  merchant: string,
  state: MerchantState | null | undefined,
  merged: readonly MergedReview[],
): readonly string[] {
  return unsettled(merchant, state, merged).flatMap(({ name, run }) =>
    run?.refused.includes(merchant)
      ? [`A rule of the base branch refused the plan of ${name}, so nothing in it is approved.`]
      : [],
  );
}

/** Returns the effects of future dates that only the approval of this run has shown. */
function approvedIn(
  { comparison, fresh }: JudgedMerchant,
  state: MerchantState | null | undefined,
  seal: Seal,
): readonly string[] {
  const unseen = new Set(comparison.unseenDates.map(({ text }) => text));
  const before = compareReviewed(state?.open ?? [], fresh, seal).unseenDates.map(({ text }) => text);
  return before.filter((text) => !unseen.has(text));
}

/**
 * Returns why lost changes are no longer lost, by the names of their reviews: `merged` are the pull requests that the
 * run follows; `null` for an approval.
 */
function settledLosses(
  { merchant, reviews, comparison }: JudgedMerchant,
  state: MerchantState | null | undefined,
  merged: readonly MergedReview[] | null,
): ReadonlyMap<string, string> {
  const isLeft = new Set([
    ...comparison.account.flatMap(({ verdict, review }) =>
      verdict === "dropped" || verdict === "refused" ? review : [],
    ),
    ...comparison.lostDates.map(({ index }) => reviews[index]?.name),
  ]);
  const whyOf = (name: string): string => {
    if (merged === null) return "an approval has accepted it";
    if (reviews.some((review) => review.name === name && review.lostAt !== undefined))
      return "the files make the change again";
    const since = unsettled(merchant, state, merged).map((one) => one.name);
    return `${listText(since)} showed the merchant without it`;
  };
  return new Map(
    lostReviews(state).flatMap(({ name }) =>
      isLeft.has(name)
        ? []
        : [[name, `the loss of what ${name} changed is settled: ${whyOf(name)}.`] as const],
    ),
  );
}

async function lostChanges(
  dropped: JudgedMerchant["dropped"],
  pullOf: PullOf,
): Promise<Pick<LookedMerchant, "lost" | "blamed">> {
  const lost: string[] = [];
  const names = new Set<string>();
  for (const { review, sentence, file, isKnown } of dropped) {
    const pull = file === null || isKnown ? null : await pullOf(file);
    const other = pull === null ? review : `#${pull}`;
    names.add(review).add(other);
    lost.push(other === review ? sentence : sentence.replace(/\.$/, `; ${other} changed that file last.`));
  }
  return { lost, blamed: pullNumbers(names) };
}

/**
 * Returns a function that names the run with which a merchant is judged by the limits of a run. Merchants with a common
 * pull request are judged together, as in its plan; so are those with nothing but dates. So the remaining changes of
 * one pull request do not count against others.
 */
export function reviewedRuns(judged: readonly JudgedMerchant[]): (merchant: string) => string {
  const joined = new Map<string, string>();
  const runOf = (name: string): string => {
    const other = joined.get(name);
    return other === undefined ? name : runOf(other);
  };
  const firsts = new Map<string, string>();
  for (const { merchant, reviews } of judged) {
    const [first = "", ...others] = reviews.filter(hasRows).map(({ name }) => name);
    firsts.set(merchant, first);
    for (const other of others) if (runOf(other) !== runOf(first)) joined.set(runOf(other), runOf(first));
  }
  return (merchant) => runOf(firsts.get(merchant) ?? "");
}

/** A run's report about a merchant. */
export interface Report {
  /** Keyed hash of the reasons why the merchant differs from its files; empty if it does not. */
  readonly digest: string;
  /** The commit whose run has reported the same, if nothing was merged there since; else `null`. */
  readonly since: string | null;
}

/** A merchant with a run's report about it. */
export type ReportedMerchant = LookedMerchant & Report;

/**
 * Returns whether the reasons why a merchant differs from its files are new: a later merge elsewhere did not cause
 * them.
 */
export function failureReport(
  { sha, isPush }: ApplyRun,
  { declared, merged, records }: Pick<ApplyRecords, "declared" | "merged" | "records">,
  merchant: string,
  reasons: readonly string[],
  seal: Seal,
): Report {
  if (reasons.length === 0) return { digest: "", since: null };
  const state = records.states.get(merchant);
  const digest = seal([declared.get(merchant) ?? "", ...reasons].join("\n"));
  const failure = state?.failure;
  const isKnown =
    isPush &&
    failure?.digest === digest &&
    failure.commit !== sha &&
    unsettled(merchant, state, merged).every(({ pull }) => failure.pulls.includes(pull.number));
  return { digest, since: isKnown ? failure.commit : null };
}

/** Adds a run's report about merchants: the objections to their changes, and why they cannot be applied. */
export function withReports(
  run: ApplyRun,
  records: ApplyRecords,
  looked: readonly LookedMerchant[],
  skipped: readonly MerchantOutcome[],
  seal: Seal,
): readonly ReportedMerchant[] {
  return looked.map((one) => {
    const outcome = skipped.find(({ merchant }) => merchant === one.merchant);
    // Without their locations, which other commits may move.
    const lost = one.dropped.map(({ review, change }) => `${review} ${change}`);
    const reasons = [...one.refusals, ...lost, ...(outcome?.reasons ?? [])];
    return { ...one, ...failureReport(run, records, one.merchant, reasons, seal) };
  });
}
