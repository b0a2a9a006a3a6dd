import type { Seal } from "../kernel/approval/seal.ts";
import { type UpcomingDate, upcomingDates } from "../kernel/plan/upcoming-dates.ts";
import { counted, firstOf } from "../lib/text.ts";
import type { DesiredState } from "../model/desired.ts";
import type { MerchantState } from "./merchant-state.ts";

const DAY = 86_400_000;

/** Time within which the nightly run has to start after a date, in ms. */
const GRACE = 3_600_000;

const MAX_NAMED = 3;

/** Dates that remove access. */
const ENDS: ReadonlySet<string> = new Set(["ends", "leaves", "leaves-unlisted", "suspended"]);

/**
 * Returns a sentence about the people whose access has ended according to the files, and whose removal no run has
 * looked at since, or the last one has refused; and one about those at merchants without a valid record. Does not read
 * the service.
 */
export function overdueLines(
  states: readonly DesiredState[],
  known: ReadonlyMap<string, MerchantState | null>,
  now: number,
  seal: Seal,
): readonly string[] {
  const ended = states.flatMap((state) => {
    const { merchant } = state;
    const record = known.get(merchant) ?? null;
    const dates = upcomingDates(state, Number.NEGATIVE_INFINITY).filter(
      (date) => date.at <= now - GRACE && ENDS.has(date.what) && isOverdue(date, record, seal),
    );
    const people = new Set(dates.map(({ email }) => email.toLowerCase()));
    return [...people].map(() => ({ merchant, isRecorded: record !== null }));
  });
  const live = ended.filter(({ isRecorded }) => isRecorded);
  const unknown = ended.filter(({ isRecorded }) => !isRecorded);
  const nightly = Math.max(...[...known.values()].map((state) => state?.nightly ?? Number.NEGATIVE_INFINITY));
  const seen = Number.isFinite(nightly)
    ? `the last nightly run was ${agoText(now - nightly)}`
    : "no nightly run was found";
  const merchants = [...new Set(unknown.map(({ merchant }) => merchant))];
  const named = firstOf(merchants, MAX_NAMED, "merchant").join(", ");
  return [
    ...(live.length === 0
      ? []
      : [`${peopleText(live)} ${live.length === 1 ? "is" : "are"} still live; ${seen}.`]),
    ...(unknown.length === 0
      ? []
      : [`${peopleText(unknown)} may still be live: there is no valid record of an apply of ${named}.`]),
  ];
}

function isOverdue(
  { at, email, what, roles }: UpcomingDate,
  record: MerchantState | null,
  seal: Seal,
): boolean {
  // Without a record, only those who have no access at all according to the files.
  if (record === null) return what !== "suspended" && roles.length === 0;
  return (
    at > Math.max(record.at, record.nightly ?? 0) ||
    (record.refused.length > 0 && record.refused.includes(seal(email.toLowerCase())))
  );
}

function peopleText({ length }: readonly unknown[]): string {
  return `${counted(length, "person", "people")} whose access has ended`;
}

function agoText(ms: number): string {
  const days = Math.floor(ms / DAY);
  return days < 1 ? "less than a day ago" : `${counted(days, "day")} ago`;
}
