import { groupByKey } from "../../lib/text.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import { overrideKind } from "../rules/settings/every-setting.ts";
import type { UpcomingDate } from "./upcoming-dates.ts";

/** Effects of the dates in a merchant's files at one upcoming moment, and why an apply would be refused then. */
export interface LaterDay {
  /** In ms since the epoch. */
  readonly at: number;
  /** At least one. */
  readonly dates: readonly UpcomingDate[];
  readonly refusals: readonly Refusal[];
}

/** Judges the same states as of another time, without the changes of these fingerprints. */
export type JudgeAt = (now: number) => (without?: ReadonlySet<string>) => Pick<Plan, "changes" | "refusals">;

/** Number of moments that are judged; each takes up to three judgements. */
const MAX_JUDGED = 10;

/**
 * Returns the days on which dates bring something, the earliest first, and judges the first of them as if everything due
 * until then were done.
 */
export function laterDays(dates: readonly UpcomingDate[], judgeAt: JudgeAt): readonly LaterDay[] {
  return daysOf(dates).map((day, index) =>
    index < MAX_JUDGED ? { ...day, refusals: refusalsOn(day.at, judgeAt) } : day,
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
function refusalsOn(time: number, judgeAt: JudgeAt): readonly Refusal[] {
  const before = judgeAt(time - 1)();
  const judge = judgeAt(time);
  const whole = judge();
  const earlier = new Set(before.changes.map(({ fingerprint }) => fingerprint));
  const added = earlier.size === 0 ? whole : judge(earlier);
  const refusedBefore = new Set(before.refusals.map(keyOf));
  return [
    ...added.refusals.filter(isLimit),
    ...whole.refusals.filter((refusal) => !isLimit(refusal) && !refusedBefore.has(keyOf(refusal))),
  ];
}

function isLimit({ rule, code }: Refusal): boolean {
  return rule === "guard" && overrideKind(code)?.limit !== undefined;
}

function keyOf({ rule, code, name, check }: Refusal): string {
  return JSON.stringify([rule, code, name, check]);
}
