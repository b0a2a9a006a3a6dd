import { expect, test } from "vitest";
import { sealed } from "../../src/kernel/approval/seal.ts";
import type { ReviewedResource, ReviewedState } from "../../src/model/reviewed.ts";
import { openRecords } from "../../src/store/open-records.ts";
import { keyedHash } from "../../src/store/sealed-json.ts";
import { bareRepository } from "./support/bare-repository.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const MERCHANTS = 1_000;
const PEOPLE = 10;

/** The reviewed state of a plan that adds ten people with a role to a merchant. */
const reviewedOf = (merchant: string): ReviewedState => {
  const names = Array.from(
    { length: PEOPLE },
    (_, index) => `person${index}@${merchant.toLowerCase()}.example.com`,
  );
  const member = (name: string): ReviewedResource => ({
    id: null,
    name,
    before: null,
    base: null,
    after: { roles: ["role_employee"], metadata: { employee_id: "4711" }, nickname: "", managed: false },
  });
  return {
    merchant,
    environment: "live",
    service: "https://api.example.com",
    at: 1_800_000_000_000,
    hasBase: true,
    permissionSets: [[], ["catalog_view", "checkouts_create", "refunds_create", "transactions_view"]],
    roles: [],
    members: names.map(member),
    people: names.map((name) => ({
      name,
      held: { before: 0, after: 1, base: 0 },
      reach: { before: 0, after: 1, base: 0 },
    })),
    dates: [],
  };
};

test("a review of 1,000 merchants with ten people each is stored, read back and removed", {
  timeout: 120_000,
}, async () => {
  const repository = bareRepository();
  try {
    const codes = Array.from({ length: MERCHANTS }, (_, index) => `MC${index}`);
    const seal = (text: string): string => keyedHash(text, KEY);
    const merchants = new Map(codes.map((code) => [code, sealed(reviewedOf(code), seal)]));
    const store = () =>
      openRecords<ReviewedState, object>(
        repository.refs(),
        { family: "f00", key: KEY },
        async () => undefined,
      );
    const run = { head: "a1", base: "main", earlier: [], comment: null, refused: [] };
    await store().editRuns("reviews/7", { ...run, merchants }, () => true);
    const other = store();
    const [read] = await (await other.read()).runsOf("reviews/7");
    expect(read?.merchants).toEqual(merchants);
    await other.updateStates(
      () => new Map(codes.map((code) => [code, { commit: "a1", settled: ["reviews/7"] }])),
    );
    await other.remove(["reviews/7"]);
    expect((await store().read()).states.size).toBe(MERCHANTS);
  } finally {
    repository.remove();
  }
});
