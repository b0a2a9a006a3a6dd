import { contradictedNames } from "../kernel/approval/contradicted.ts";
import type { FreshPlan } from "../kernel/approval/fresh-context.ts";
import type { Seal } from "../kernel/approval/seal.ts";
import { listText } from "../lib/text.ts";
import type { ApplyRecords } from "./apply-run.ts";
import type { Forge } from "./forge.ts";
import { type MergedReview, type RecordedReviews, reviewOf, reviewsOf, unsettled } from "./merchant-state.ts";

/** A commit of an open pull request whose plan no longer shows what merging it would do. */
export interface ContradictedPlan {
  readonly headSha: string;
  readonly sentence: string;
}

/** Returns the open pull requests whose plans contradict those that were merged after them and are not applied yet. */
export async function contradictedPlans(
  looks: readonly FreshPlan[],
  { records, merged }: Pick<ApplyRecords, "records" | "merged">,
  open: RecordedReviews["open"],
  forge: Pick<Forge, "now">,
  seal: Seal,
): Promise<readonly ContradictedPlan[]> {
  const found: ContradictedPlan[] = [];
  for (const pull of open) {
    // Without an approval, a merge would approve the newest plan.
    const review = await reviewOf({ ...pull, status: "merged", mergedAt: forge.now() }, records, forge);
    const sentences = looks.flatMap((fresh) => contradictionsAt(fresh, review, { records, merged }, seal));
    if (sentences.length > 0) found.push({ headSha: pull.headSha, sentence: sentences.join(" ") });
  }
  return found;
}

function contradictionsAt(
  fresh: FreshPlan,
  review: MergedReview,
  { records, merged }: Pick<ApplyRecords, "records" | "merged">,
  seal: Seal,
): readonly string[] {
  const { merchant } = fresh.plan;
  const [own] = reviewsOf(merchant, undefined, [review]);
  const plannedAt = review.run?.merchants.get(merchant)?.at;
  if (own === undefined || plannedAt === undefined) return [];
  const later = unsettled(merchant, records.states.get(merchant), merged).filter(
    ({ pull }) => pull.mergedAt > plannedAt,
  );
  const others = reviewsOf(merchant, undefined, later);
  const names = others.length === 0 ? [] : contradictedNames(own, others, fresh, seal);
  if (names.length === 0) return [];
  const pulls = listText(others.map(({ name }) => name));
  return [`${merchant}: ${pulls}, merged since, decides otherwise about ${listText([...new Set(names)])}.`];
}
