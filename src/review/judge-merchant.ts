import { type Comparison, compareReviewed } from "../kernel/approval/compare-reviewed.ts";
import type { FreshPlan } from "../kernel/approval/fresh-context.ts";
import type { Review } from "../kernel/approval/merged-reviews.ts";
import type { Seal } from "../kernel/approval/seal.ts";
import { refusalSentence } from "../kernel/approval/words.ts";
import { isDueInPart } from "../kernel/plan/due-since.ts";
import type { AccountEntry } from "../model/approval-account.ts";
import type { Change } from "../model/plan.ts";

/** A merchant's fresh plan beside its reviews. */
export interface JudgedMerchant {
  readonly merchant: string;
  readonly reviews: readonly Review[];
  readonly comparison: Comparison;
  readonly fresh: FreshPlan;
  /** One sentence for each change of the fresh plan, or future date, that nobody has reviewed. */
  readonly refusals: readonly string[];
  /** The changes among them that are due, or that a review has shown. */
  readonly dueRefusals: readonly string[];
  /**
   * One sentence for each fact to report that is not a failure: reviewed changes that a later review supersedes, and
   * expired invitations that no review renews.
   */
  readonly remarks: readonly string[];
  /** Reviewed changes that the files no longer declare. */
  readonly dropped: readonly DroppedChange[];
}

/** A reviewed change that the files no longer make. */
export interface DroppedChange {
  readonly entry: AccountEntry;
  readonly review: string;
  /** Such as "remove bob@example.com". */
  readonly change: string;
  readonly why: string;
  readonly sentence: string;
  /** The file that contradicts it; `null` if none does. */
  readonly file: string | null;
  /** True if an earlier run has reported it. */
  readonly isKnown: boolean;
}

/** Returns `file:line` of an entry of a file. */
export type PlaceOfEntry = (origin: Comparison["account"][number]["origins"][number]) => string;

/** Compares a merchant's fresh plan with its reviews. */
export function judgeMerchant(
  fresh: FreshPlan,
  reviews: readonly Review[],
  seal: Seal,
  placeOf: PlaceOfEntry,
): JudgedMerchant {
  const comparison = compareReviewed(reviews, fresh, seal);
  const refused = new Set(comparison.refused.map(({ change }) => `${change.resource} ${change.name}`));
  const dropped = droppedChanges(comparison, reviews, placeOf).filter(
    ({ entry: { resource, name, row } }) =>
      // The refusals already say so.
      row.list === "dates" || !refused.has(`${resource} ${name}`),
  );
  const superseded = comparison.account.flatMap(({ review, verdict, does, name, by }) =>
    verdict === "superseded" && does !== "permissions" && by !== null
      ? [`${review} was to ${VERBS[does]} ${name ?? GONE_PERSON}; ${by} has decided otherwise since.`]
      : [],
  );
  const shown = new Set(
    comparison.account.flatMap(({ verdict, fingerprints }) => (verdict === "refused" ? fingerprints : [])),
  );
  const isLeft = ({ change }: Comparison["refused"][number]): boolean =>
    isRenewal(change) && !shown.has(change.fingerprint);
  const refusals = [
    ...comparison.refused.filter((refused) => !isLeft(refused)).map(refusalSentence),
    ...comparison.unseenDates.map(({ text }) => `not approved: ${text}, which no review shows.`),
  ];
  const expired = comparison.refused
    .filter(isLeft)
    .map(
      ({ change }) =>
        `the invitation of ${change.name} has expired; the next pull request that changes the merchant renews it.`,
    );
  const { at } = fresh.plan.reviewed;
  const due = comparison.refused.filter(
    ({ change }) => shown.has(change.fingerprint) || isDueInPart(change, fresh.desired, at),
  );
  return {
    merchant: fresh.plan.merchant,
    reviews,
    comparison,
    fresh,
    refusals,
    dueRefusals: due.map(refusalSentence),
    remarks: [...new Set(superseded), ...expired],
    dropped,
  };
}

/** Returns the reviewed changes that the files no longer make. */
export function droppedChanges(
  { account }: Comparison,
  reviews: readonly Review[],
  placeOf: PlaceOfEntry,
): readonly DroppedChange[] {
  return account.flatMap((entry): readonly DroppedChange[] => {
    if (entry.verdict !== "dropped") return [];
    const places = entry.origins.map(placeOf).join(", ");
    const reasons = entry.reasons.length === 0 ? "the files no longer declare it" : entry.reasons.join("; ");
    const why = `${reasons}${places === "" ? "" : ` (${places})`}`;
    const change = `${VERBS[entry.does]} ${entry.name ?? GONE_PERSON}`;
    return [
      {
        entry,
        review: entry.review,
        change,
        why,
        sentence: `${entry.review} was to ${change}, and was lost: ${why}.`,
        file: entry.origins[0]?.file ?? null,
        isKnown: reviews[entry.index]?.lostAt !== undefined,
      },
    ];
  });
}

/** Returns whether a change only renews an expired invitation. */
function isRenewal(change: Change): boolean {
  return change.kind === "replace" && change.reason === "invitation-expired" && change.fields.length === 0;
}

const GONE_PERSON = "somebody who is no longer live or listed";

const VERBS = {
  create: "add",
  update: "change",
  remove: "remove",
  permissions: "change the permissions of",
} as const;
