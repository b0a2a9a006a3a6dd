import { type FreshPlan, freshContext } from "./fresh-context.ts";
import { mergeReviews, type Review } from "./merged-reviews.ts";
import { EXISTS, touchedItems } from "./rows.ts";
import type { Seal } from "./seal.ts";

/** Returns the roles and people for which a review shows something other than the files of later reviews. */
export function contradictedNames(
  review: Review,
  others: readonly Review[],
  fresh: FreshPlan,
  seal: Seal,
): readonly string[] {
  const reviews = [review, ...others];
  const context = freshContext(fresh, reviews, seal);
  const merged = mergeReviews(reviews, context.identitiesFor);
  const contradicted = merged.rows.filter(
    (one) =>
      one.review === 0 &&
      (one.row.subject.kind === "role" || one.row.subject.kind === "member") &&
      touchedItems(one.row).some((item) => merged.isContradicted(one, item)),
  );
  return contradicted.flatMap(({ row }) => context.named(row.subject, EXISTS).name ?? []);
}
