import { expect, test } from "vitest";
import { laterDays } from "../../../src/kernel/plan/later.ts";
import type { UpcomingDate } from "../../../src/kernel/plan/upcoming-dates.ts";

test("a day beyond those that are judged counts as one that may bring anything", () => {
  const days = Array.from(
    { length: 60 },
    (_, at): UpcomingDate => ({
      at,
      text: `${at}`,
      email: `m${at}@example.com`,
      what: "joins",
      roles: ["Helper"],
    }),
  );
  const judged = new Set<number>();
  const later = laterDays(days, (now) => {
    judged.add(now);
    return () => ({ changes: [], refusals: [], impact: { members: [], permissions: [], roles: [] } });
  });
  expect(later.map(({ at, gains }) => [at, gains])).toEqual(
    days.map(({ at, email }) => [at, judged.has(at) ? [] : [{ name: email, gained: ["Helper"] }]]),
  );
  expect(later.filter(({ gains }) => gains.length > 0)).toHaveLength(10);
});
