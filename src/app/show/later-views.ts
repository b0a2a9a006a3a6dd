import { laterDays } from "../../kernel/plan/later.ts";
import type { UpcomingDate } from "../../kernel/plan/upcoming-dates.ts";
import { withReviewedEnds } from "../../kernel/read/reviewed-ends.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { LaterView } from "../../show/view/date-lines.ts";
import type { PlanResult } from "../session/session.ts";

/**
 * Returns what dates bring at the merchants of a run, for printing; `declared` are all merchants that rules across merchants
 * count.
 */
export function laterViews(
  run: readonly { readonly state: DesiredState; readonly planned: PlanResult | undefined }[],
  declared: readonly DesiredState[],
  datesOf: (state: DesiredState) => readonly UpcomingDate[],
): readonly LaterView[] {
  const merchants = run.map(({ state, planned }) => ({
    dates: datesOf(state),
    planned,
    // By then the dates are reviewed.
    files: withReviewedEnds(state, state.reviewedEnds && state),
  }));
  return laterDays(merchants, declared).flatMap((days, index) =>
    days.map((day) => ({
      ...day,
      merchant: run[index]?.state.merchant ?? "",
      moment: new Date(day.at).toISOString(),
    })),
  );
}
