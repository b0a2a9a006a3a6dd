import { describe, expect, test } from "vitest";
import type { ReviewedState } from "../../src/model/reviewed.ts";
import type { Forge, ForgePull } from "../../src/review/forge.ts";
import {
  lookReason,
  type MerchantState,
  type MergedReview,
  mergedState,
  recordedReviews,
  reviewsOf,
  settledRecords,
} from "../../src/review/merchant-state.ts";
import { overdueLines } from "../../src/review/overdue.ts";
import { desired, member } from "../support/build.ts";

const reviewed = (at: number, roles = 0): ReviewedState => ({
  merchant: "MC1",
  environment: null,
  service: "https://api.example.com",
  at,
  hasBase: false,
  permissionSets: [[]],
  roles: Array.from({ length: roles }, (_, index) => ({
    id: null,
    name: `Role ${index}`,
    before: null,
    after: {},
  })),
  members: [],
  people: [],
  dates: [],
});

const state = (given: Partial<MerchantState> = {}): MerchantState => ({
  commit: "c1",
  at: 100,
  nightly: null,
  declared: "same",
  settled: [],
  open: [],
  refused: [],
  failure: null,
  ...given,
});

const merged = (number: number, merchants: readonly string[] = ["MC1"]): MergedReview => ({
  name: `#${number}`,
  pull: {
    number,
    headSha: "head",
    baseRef: "main",
    status: "merged",
    mergedAt: number,
    mergedAs: "merge",
    reviews: [],
  },
  run: {
    number: 1,
    head: "head",
    base: "main",
    earlier: [],
    comment: null,
    refused: [],
    merchants: new Map(merchants.map((merchant) => [merchant, reviewed(0, 1)])),
  },
  at: number * 10,
  approvals: [],
  merchants: new Set(merchants),
  isReadable: true,
});

describe("an apply looks at a merchant", () => {
  test("of which nothing is known, or nothing that can be believed", () => {
    expect(lookReason("MC1", "same", undefined, [])).toBe("unknown");
    expect(lookReason("MC1", "same", null, [])).toBe("unknown");
  });

  test("that was merged, changed, left or refused since, and at no other", () => {
    expect(lookReason("MC1", "same", state(), [merged(7)])).toBe("merged");
    expect(lookReason("MC1", "same", state({ settled: ["reviews/7"] }), [merged(7)])).toBe(null);
    expect(lookReason("MC1", "same", state(), [merged(7, ["MC2"])])).toBe(null);
    expect(lookReason("MC1", "other", state(), [])).toBe("changed");
    const failure = { commit: "c1", digest: "d", pulls: [], dropped: [] };
    expect(lookReason("MC1", "same", state({ failure }), [])).toBe("failed");
    expect(lookReason("MC1", "same", state({ open: [{ name: "#7", state: reviewed(0, 1) }] }), [])).toBe(
      "open",
    );
    expect(lookReason("MC1", "same", state({ open: [{ name: "#7", state: reviewed(0) }] }), [])).toBe(null);
  });
});

test("what is left of earlier reviews comes first, and reviews have the time of their plans", () => {
  const open = [{ name: "#5", state: reviewed(1, 1) }];
  const reviews = reviewsOf("MC1", state({ open, settled: ["reviews/5"] }), [merged(5), merged(7)]);
  expect(reviews.map(({ name, state: { at } }) => [name, at])).toEqual([
    ["#5", 1],
    ["#7", 0],
  ]);
});

describe("a state that another run has written meanwhile", () => {
  test("loses nothing of either run", () => {
    const left = (name: string) => ({ name, state: reviewed(0, 1) });
    const own = state({ at: 200, settled: ["reviews/7"], open: [left("#7")] });
    const other = state({ at: 150, settled: ["reviews/8"], open: [left("#7"), left("#8")], nightly: 90 });
    const both = mergedState(own, ["#7"], other);
    expect(both).toMatchObject({ at: 200, nightly: 90, settled: ["reviews/8", "reviews/7"] });
    expect(both.open.map(({ name }) => name)).toEqual(["#7", "#8"]);
  });
});

test("records are kept until every declared merchant has settled them", () => {
  const both = merged(7, ["MC1", "MC2"]);
  const done = state({ settled: ["reviews/7"] });
  expect(settledRecords([both], new Map([["MC1", done]]), new Set(["MC1", "MC2"]))).toEqual([]);
  expect(settledRecords([both], new Map([["MC1", done]]), new Set(["MC1"]))).toEqual(["reviews/7"]);
  expect(settledRecords([both], new Map([["MC1", done]]), null)).toEqual([]);
});

describe("overdue", () => {
  const DAY = 86_400_000;
  const ends = Date.parse("2026-11-04T00:00:00Z");
  const until = { text: "2026-11-03", ends };
  const states = [
    desired({ members: [{ ...member("bob@example.com", { roles: ["role_employee"] }), until }] }),
  ];
  const seal = (text: string): string => `sealed ${text}`;
  const merchant = states[0]?.merchant ?? "";
  const text = (at: number, now: number, more: Partial<MerchantState> = {}): string =>
    overdueLines(states, new Map([[merchant, state({ at, ...more })]]), now, seal).join();

  test("are people whose access has ended since a run has looked last", () => {
    expect(text(ends - DAY, ends + DAY)).toBe(
      "1 person whose access has ended is still live; no nightly run was found.",
    );
    expect(text(ends - DAY, ends + 3 * DAY, { nightly: ends - 1 })).toContain(
      "the last nightly run was 3 days ago.",
    );
  });

  test("are people whose removal the last run refused", () => {
    const refused = [seal("bob@example.com")];
    expect(text(ends + 1, ends + DAY, { refused })).toContain("1 person whose access has ended");
    expect(text(ends - 2 * DAY, ends - DAY, { refused })).toBe("");
    expect(text(ends + 1, ends + DAY, { refused: [seal("eve@example.com")] })).toBe("");
  });

  test("are not those of tomorrow, of a moment ago, or of a merchant that was looked at", () => {
    expect(text(ends - DAY, ends - 1)).toBe("");
    expect(text(ends - DAY, ends + 60_000)).toBe("");
    expect(text(ends - DAY, ends + DAY, { nightly: ends })).toBe("");
    expect(text(ends + 1, ends + DAY)).toBe("");
  });

  test("may be those of a merchant whose record is missing or invalid", () => {
    for (const known of [new Map(), new Map([[merchant, null]])]) {
      expect(overdueLines(states, known, ends - 1, seal)).toEqual([]);
      expect(overdueLines(states, known, ends + DAY, seal)).toEqual([
        `1 person whose access has ended may still be live: there is no valid record of an apply of ${merchant}.`,
      ]);
    }
  });
});

test("records of pull requests that were closed, or merged into another branch a week ago, are abandoned", async () => {
  const day = 86_400_000;
  const pullOf = (number: number, given: Partial<ForgePull>): ForgePull => ({
    ...merged(number).pull,
    ...given,
  });
  const pulls = [
    pullOf(1, { status: "closed" }),
    pullOf(2, { status: "open", baseRef: "topic" }),
    pullOf(8, { status: "open" }),
    pullOf(3, { baseRef: "topic", mergedAt: 20 * day }),
    pullOf(4, { baseRef: "release", mergedAt: 28 * day }),
    pullOf(5, { mergedAt: 20 * day }),
    pullOf(6, { mergedAt: 20 * day }),
  ];
  const signed = { number: 1, head: "head", base: "main", earlier: [], comment: null, refused: [] };
  const records = {
    names: [...pulls.map(({ number }) => `reviews/${number}`), "waiting/7-1"],
    // This key has signed none of the sixth.
    runsOf: async (name: string) => (name === "reviews/5" ? [{ ...signed, merchants: new Map() }] : []),
    states: new Map(),
  };
  const forge: Forge = {
    pulls: async (numbers) => pulls.filter(({ number }) => numbers.includes(number)),
    branchTip: async () => "",
    approvals: async () => [],
    now: () => 30 * day,
  };
  const reviews = await recordedReviews(records, forge, "main");
  expect(reviews.abandoned).toEqual(["reviews/1", "reviews/3", "reviews/6"]);
  expect(reviews.merged.map(({ name }) => name)).toEqual(["#5", "#6"]);
  expect(settledRecords(reviews.merged, new Map(), null)).toEqual(["reviews/5"]);
  expect(reviews.hasOpen).toBe(true);
});
