import { type DateEffect, effectOfDate, whenText } from "../kernel/findings/date-words.ts";
import type { ReviewedDate } from "../model/reviewed.ts";

const DAY = 86_400_000;

/** Says what a reviewed date does to somebody, and when. */
export function reviewedDateText({ at, what, roles }: ReviewedDate, who: string): string {
  const kind = what === "begins" && roles.length === 0 ? "joins" : what;
  const when = whenText({ text: dayText(at, kind), what: kind });
  return `${when}, ${effectOfDate({ what: kind, roles }, who, String)}`;
}

/** Returns the day or time of a date as written in a file. */
function dayText(at: number, what: DateEffect["what"]): string {
  if (at % DAY !== 0) return new Date(at).toISOString();
  const isLastDay = what === "ends" || what === "back";
  return new Date(isLastDay ? at - DAY : at).toISOString().slice(0, 10);
}
