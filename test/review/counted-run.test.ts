import { describe, expect, test } from "vitest";
import { countedRun } from "../../src/review/counted-run.ts";
import type { ForgePull, ForgeReview } from "../../src/review/forge.ts";
import type { RecordedStates } from "../../src/store/open-records.ts";

const review = (id: number, given: Partial<ForgeReview> = {}): ForgeReview => ({
  id,
  author: "rita",
  opinion: "approved",
  submittedAt: id * 10,
  dismissedAt: null,
  commit: "head",
  mayPush: true,
  ...given,
});

const run = (number: number, given: Partial<RecordedStates<string>> = {}): RecordedStates<string> => ({
  number,
  head: "head",
  base: "main",
  earlier: [],
  comment: null,
  refused: [],
  merchants: new Map(),
  ...given,
});

const pull = (reviews: readonly ForgeReview[], given: Partial<ForgePull> = {}): ForgePull => ({
  number: 7,
  headSha: "head",
  baseRef: "main",
  status: "merged",
  mergedAt: 1000,
  mergedAs: "merge",
  reviews,
  ...given,
});

const counted = (one: ForgePull, runs: readonly RecordedStates<string>[]): number | null =>
  countedRun(one, runs, 2000).run?.number ?? null;

describe("the plan that counts", () => {
  test("is the newest that was recorded before the review", () => {
    const runs = [run(1), run(2, { earlier: [3] }), run(3, { earlier: [3, 5] })];
    expect(counted(pull([review(3)]), runs)).toBe(1);
    expect(counted(pull([review(3), review(5)]), runs)).toBe(2);
    expect(counted(pull([review(3), review(9)]), runs)).toBe(3);
  });

  test("is none where every review came first", () => {
    expect(counted(pull([review(3)]), [run(1, { earlier: [3] })])).toBe(null);
  });

  test("is of the commit that was reviewed, and for the base branch of the pull request", () => {
    const runs = [run(1, { head: "old" }), run(2), run(3, { base: "release" })];
    expect(counted(pull([review(3, { commit: "old" })]), runs)).toBe(1);
    expect(counted(pull([review(3)]), runs)).toBe(2);
    expect(counted(pull([review(3)], { baseRef: "release" }), runs)).toBe(3);
  });

  test("is of the last approval that stands and saw one", () => {
    const runs = [run(1), run(2, { earlier: [3] })];
    const later = (given: Partial<ForgeReview>) => pull([review(3), review(5, { author: "otto", ...given })]);
    expect(counted(later({}), runs)).toBe(2);
    expect(counted(later({ mayPush: false }), runs)).toBe(1);
    expect(counted(later({ dismissedAt: 60 }), runs)).toBe(1);
    expect(counted(later({ dismissedAt: Number.NaN }), runs)).toBe(1);
    expect(counted(later({ dismissedAt: 1001 }), runs)).toBe(2);
    expect(counted(later({ submittedAt: 1001 }), runs)).toBe(1);
    expect(counted(later({ commit: "unplanned" }), runs)).toBe(1);
    expect(counted(pull([review(3), review(5, { opinion: "rejected" })]), runs)).toBe(2);
  });

  test("without an approval is the newest of the head, once it is merged", () => {
    const runs = [run(1), run(2, { head: "old" })];
    expect(counted(pull([]), runs)).toBe(1);
    expect(counted(pull([], { status: "open" }), runs)).toBe(null);
    expect(counted(pull([review(3, { mayPush: false })]), runs)).toBe(1);
  });
});
