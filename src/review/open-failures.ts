import type { FreshPlan } from "../kernel/approval/fresh-context.ts";
import type { Review } from "../kernel/approval/merged-reviews.ts";
import type { Seal } from "../kernel/approval/seal.ts";
import { listText } from "../lib/text.ts";
import { judgeMerchant, type PlaceOfEntry } from "./judge-merchant.ts";
import type { MerchantState } from "./merchant-state.ts";

/** A merchant that an apply has left in a state other than the reviewed one. */
export interface OpenFailure {
  readonly merchant: string;
  /** The commit whose run reported it; `null` if its record is invalid. */
  readonly commit: string | null;
  /** Numbers of the pull requests that it was told on. */
  readonly pulls: readonly number[];
  /** Sentences about the failures that are still open. */
  readonly reasons: readonly string[];
}

/** An invalid record as a reason. */
export const INVALID_STATE =
  "the record of its last apply is not signed with the current approval secret, so the merchant counts as never applied.";

const UNREAD = "it could not be read, so what was merged since is not applied.";

/**
 * Returns a sentence about the reviewed changes of a merchant that no file declares any longer; `null` if there are
 * none.
 */
export function undeclaredSentence(merchant: string, reviews: readonly Review[]): string | null {
  if (reviews.length === 0) return null;
  const names = [...new Set(reviews.map(({ name }) => name))];
  return `The reviewed changes of ${listText(names)} to ${merchant} were lost: no file declares ${merchant} any longer.`;
}

/** Returns the failures at merchants that no file declares any longer. */
export function undeclaredFailures(
  declared: ReadonlySet<string>,
  states: ReadonlyMap<string, MerchantState | null>,
): readonly OpenFailure[] {
  return [...states].flatMap(([merchant, state]): readonly OpenFailure[] => {
    if (declared.has(merchant) || !state?.failure) return [];
    const sentence = undeclaredSentence(merchant, state.open);
    const { commit, pulls } = state.failure;
    return sentence === null ? [] : [{ merchant, commit, pulls, reasons: [sentence] }];
  });
}

/** Returns the failures of earlier applies that fresh plans still show, and what was lost. */
export function openFailures(
  fresh: readonly FreshPlan[],
  states: ReadonlyMap<string, MerchantState | null>,
  seal: Seal,
  placeOf: PlaceOfEntry,
): readonly OpenFailure[] {
  return fresh.flatMap((freshPlan): readonly OpenFailure[] => {
    const { merchant } = freshPlan.plan;
    const state = states.get(merchant);
    if (state === null) return [{ merchant, commit: null, pulls: [], reasons: [INVALID_STATE] }];
    if (!state?.failure) return [];
    const { commit, pulls, isUnread } = state.failure;
    if (isUnread) return [{ merchant, commit, pulls, reasons: [UNREAD] }];
    const { comparison, refusals, dropped } = judgeMerchant(freshPlan, state.open, seal, placeOf);
    const guarded = comparison.covered.refusals.map(
      ({ rule, code, message }) => `${rule} ${code}: ${message}`,
    );
    const lost = dropped.map(({ sentence }) => sentence);
    const reasons = [...new Set([...guarded, ...refusals, ...lost])];
    return reasons.length === 0 ? [] : [{ merchant, commit, pulls, reasons }];
  });
}
