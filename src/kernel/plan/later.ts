import { groupByKey } from "../../lib/text.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import type { UpcomingDate } from "./upcoming-dates.ts";

/** Effects of the dates in a merchant's files at one upcoming moment, and why an apply would be refused then. */
export interface LaterDay {
  /** In ms since the epoch. */
  readonly at: number;
  /** At least one. */
  readonly dates: readonly UpcomingDate[];
  readonly refusals: readonly Refusal[];
}

/** Plans the same states as of another time, without the changes of these fingerprints. */
export type PlanAt = (now: number, leaveOut?: ReadonlySet<string>) => Plan;

/** Number of moments that are judged; each takes up to three plans. */
const MAX_JUDGED = 10;

/**
 * Returns the days on which dates bring something, the earliest first, and judges the first of them as if everything due
 * until then were done.
 */
export function laterDays(dates: readonly UpcomingDate[], planAt: PlanAt): readonly LaterDay[] {
  return daysOf(dates).map((day, index) =>
    index < MAX_JUDGED ? { ...day, refusals: refusalsOn(day.at, planAt) } : day,
  );
}

/** Groups dates by their moments, the earliest first, without judging them. */
export function daysOf(dates: readonly UpcomingDate[]): readonly LaterDay[] {
  const days = groupByKey(dates, ({ at }) => String(at));
  return days
    .map((datesOfDay) => ({ at: datesOfDay[0].at, dates: datesOfDay, refusals: [] }))
    .sort((a, b) => a.at - b.at);
}

/**
 * Returns the refusals that a day brings. Limits of how much changes at once count what this day adds; other rules judge
 * the state that it leads to.
 */
function refusalsOn(time: number, planAt: PlanAt): readonly Refusal[] {
  const before = planAt(time - 1);
  const whole = planAt(time);
  const earlier = new Set(before.changes.map(({ fingerprint }) => fingerprint));
  const added = earlier.size === 0 ? whole : planAt(time, earlier);
  const refusedBefore = new Set(before.refusals.map(keyOf));
  return [
    ...added.refusals.filter(isLimit),
    ...whole.refusals.filter((refusal) => !isLimit(refusal) && !refusedBefore.has(keyOf(refusal))),
  ];
}

function isLimit({ rule, code }: Refusal): boolean {
  return rule === "guard" && code.startsWith("max-");
}

function keyOf({ rule, code, name, check }: Refusal): string {
  return JSON.stringify([rule, code, name, check]);
}
