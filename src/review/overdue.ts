import type { Seal } from "../kernel/approval/seal.ts";
import { type UpcomingDate, upcomingDates } from "../kernel/plan/upcoming-dates.ts";
import { counted } from "../lib/text.ts";
import type { DesiredState } from "../model/desired.ts";
import type { MerchantState } from "./merchant-state.ts";

const DAY = 86_400_000;

/** Time for the nightly run to start after a date has come, in ms. */
const GRACE = 3_600_000;

/** Dates that take access away. */
const ENDS: ReadonlySet<string> = new Set(["ends", "leaves", "leaves-unlisted", "suspended"]);

/**
 * Returns a sentence about the people whose access has ended by the files, and whose removal no run has looked at since, or
 * the last one has refused; `null` without any. The service is not read for it.
 */
export function overdueText(
  states: readonly DesiredState[],
  known: ReadonlyMap<string, MerchantState | null>,
  now: number,
  seal: Seal,
): string | null {
  const people = new Set(
    states.flatMap((state) => {
      const record = known.get(state.merchant);
      if (record === undefined || record === null) return [];
      const refused = new Set(record.refused);
      const isLive = ({ at, email }: UpcomingDate): boolean =>
        at > record.at || (refused.size > 0 && refused.has(seal(email.toLowerCase())));
      const past = upcomingDates(state, refused.size > 0 ? Number.NEGATIVE_INFINITY : record.at);
      const due = past.filter((date) => date.at <= now - GRACE && ENDS.has(date.what) && isLive(date));
      return due.map(({ email }) => `${state.merchant} ${email.toLowerCase()}`);
    }),
  );
  if (people.size === 0) return null;
  const nightly = Math.max(...[...known.values()].map((state) => state?.nightly ?? Number.NEGATIVE_INFINITY));
  const seen = Number.isFinite(nightly)
    ? `the last nightly run was ${agoText(now - nightly)}`
    : "no nightly run was found";
  return `${counted(people.size, "person", "people")} whose access has ended ${people.size === 1 ? "is" : "are"} still live; ${seen}.`;
}

function agoText(ms: number): string {
  const days = Math.floor(ms / DAY);
  return days < 1 ? "less than a day ago" : `${counted(days, "day")} ago`;
}
