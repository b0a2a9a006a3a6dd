import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import { compareReviewed, isFailure, remaining } from "../../../src/kernel/approval/compare-reviewed.ts";
import type { Review } from "../../../src/kernel/approval/merged-reviews.ts";
import { type Seal, sealed } from "../../../src/kernel/approval/seal.ts";
import { withBase } from "../../../src/kernel/approval/with-base.ts";
import { parseReviewedState } from "../../../src/kernel/saved/reviewed-file.ts";
import type { DesiredState, Grant } from "../../../src/model/desired.ts";
import type { ApplyEvent } from "../../../src/model/events.ts";
import type { ReviewedState } from "../../../src/model/reviewed.ts";
import { isApplicable } from "../../support/applicable.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import {
  desired,
  from,
  live,
  liveMember,
  liveRole,
  member,
  NOW,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";
import { modelService } from "../../support/model-service.ts";
import { runs } from "../../support/property-runs.ts";
import { freshOf, reviewOf } from "../../support/reviews.ts";

const briefAccount = (comparison: ReturnType<typeof compareReviewed>): readonly string[] =>
  comparison.account.map(({ review, does, name, verdict }) => `${review} ${does} ${name}: ${verdict}`);

const briefRefused = (comparison: ReturnType<typeof compareReviewed>): readonly string[] =>
  comparison.refused.map(({ change, reasons }) => `${change.kind} ${change.name}: ${reasons.join("; ")}`);

test("a role that somebody widens in the dashboard after the review brings nobody more than was reviewed", () => {
  const helper = liveRole("role_2", "Helper", { permissions: ["catalog_view"] });
  const cashier = liveRole("role_1", "Cashier", { permissions: ["a"] });
  const want = desired({
    sync: { ...desired().sync, roles: "additive" },
    roles: [role("Cashier", { permissions: ["a", "b"] })],
    members: [member("h@example.com", { roles: ["Helper"] })],
  });
  const review = reviewOf("plan.json", want, live([cashier, helper]));
  const wider = { ...helper, permissions: ["catalog_view", "payouts_edit", "members_update"] };
  const comparison = compareReviewed([review], freshOf(want, live([cashier, wider])));
  expect(briefRefused(comparison)).toEqual([
    "create h@example.com: h@example.com would get members_update and payouts_edit through Helper, which no review shows; h@example.com could give themselves a and b, which no review shows",
  ]);
  expect(comparison.covered.changes.map(({ name }) => name)).toEqual(["Cashier"]);
  expect(briefAccount(comparison)).toEqual([
    "plan.json update Cashier: covered",
    "plan.json create h@example.com: refused",
  ]);
  expect(isFailure(comparison)).toBe(true);
});

test("a permission that only two reviewed changes together bring is refused by name", () => {
  const is = live([liveRole("role_2", "Helper", { permissions: ["catalog_view"] })]);
  const base = { roles: [role("Helper", { permissions: ["catalog_view"] })], members: [] };
  const first = desired({ ...base, members: [member("h@example.com", { roles: ["Helper"] })] });
  const second = desired({
    ...base,
    roles: [role("Helper", { permissions: ["catalog_view", "payouts_edit"] })],
  });
  const both = desired({ roles: second.roles ?? [], members: first.members ?? [] });
  const comparison = compareReviewed(
    [reviewOf("#1", first, is), reviewOf("#2", second, is)],
    freshOf(both, is),
  );
  expect(briefRefused(comparison)).toEqual([
    "create h@example.com: h@example.com would get payouts_edit through Helper, which no review shows",
  ]);
  expect(briefAccount(comparison)).toEqual(["#1 create h@example.com: refused", "#2 update Helper: covered"]);
});

test("a reviewed removal that another file takes back is dropped, with the place", () => {
  const is = live([], [liveMember("mem_1", "bob@example.com", { roles: [] })]);
  const without = desired({ members: [] });
  const listed = desired({
    members: [{ ...member("bob@example.com"), origin: { file: "shared.yaml", path: ["members", 0] } }],
  });
  const comparison = compareReviewed(
    [reviewOf("#1", without, is), reviewOf("#2", listed, is)],
    freshOf(listed, is),
  );
  expect(comparison.refused).toEqual([]);
  expect(comparison.account).toMatchObject([
    {
      review: "#1",
      does: "remove",
      name: "bob@example.com",
      verdict: "dropped",
      reasons: ["bob@example.com is still there"],
      origins: [{ file: "shared.yaml", path: ["members", 0] }],
    },
  ]);
  expect(isFailure(comparison)).toBe(true);
});

const IS = live([liveRole("role_1", "Lead")], [liveMember("mem_1", "a@example.com")]);
const WANT = desired({ roles: [role("Lead", { permissions: ["a"] })], members: [member("b@example.com")] });

test("the same plan, written as JSON and read back, is approved", () => {
  const review = reviewOf("plan.json", WANT, IS);
  const state = parseReviewedState(JSON.parse(JSON.stringify(review.state)));
  expect(state).toEqual(review.state);
  const comparison = compareReviewed([review], freshOf(WANT, IS));
  expect(isFailure(comparison)).toBe(false);
  expect([...comparison.leaveOut]).toEqual([]);
});

test("a change that is not in the approved plan is named and refused, and the others are made", () => {
  const more = desired({ ...WANT, members: [member("b@example.com"), member("c@example.com")] });
  const comparison = compareReviewed([reviewOf("plan.json", WANT, IS)], freshOf(more, IS));
  expect(briefRefused(comparison)).toEqual([
    "create c@example.com: c@example.com would be added, which no review shows",
  ]);
  expect(comparison.covered.changes.map(({ name }) => name)).toEqual([
    "Lead",
    "a@example.com",
    "b@example.com",
  ]);
});

test("the removal of a membership that was made after the review of an earlier one says so", () => {
  const bob = (id: string) => live([], [liveMember(id, "bob@example.com", { roles: [] })]);
  const without = desired({ members: [] });
  const comparison = compareReviewed([reviewOf("#1", without, bob("mem_1"))], freshOf(without, bob("mem_2")));
  expect(briefRefused(comparison)).toEqual([
    "delete bob@example.com: the membership that #1 removes is gone, and no review shows this newer one",
  ]);
  expect(comparison.account).toMatchObject([{ does: "remove", verdict: "done" }]);
});

test("what the review leaves alone must stay as it is live", () => {
  const moved = live([liveRole("role_1", "Lead", { permissions: ["z"] })], IS.members);
  const comparison = compareReviewed([reviewOf("plan.json", WANT, IS)], freshOf(WANT, moved));
  expect(briefRefused(comparison)).toEqual([
    "update Lead: the role Lead would no longer grant z, which no review shows",
  ]);
});

test.each(["merchant", "service"] as const)("a review of another %s approves nothing", (field) => {
  const review = reviewOf("plan.json", WANT, IS);
  const elsewhere = { ...review, state: { ...review.state, [field]: "other" } };
  const comparison = compareReviewed([elsewhere], freshOf(WANT, IS));
  expect(comparison.covered.changes).toEqual([]);
  expect(comparison.refused[0]?.reasons).toEqual([expect.stringContaining(`for the ${field} other`)]);
  expect(isFailure(comparison)).toBe(true);
});

test("the last review decides, and says so about the others", () => {
  const first = desired({ ...WANT, roles: [role("Lead", { permissions: ["a"], description: "One" })] });
  const last = desired({ ...WANT, roles: [role("Lead", { permissions: ["a"], description: "Two" })] });
  const reviews = [reviewOf("#1", first, IS), reviewOf("#2", last, IS)];
  expect(briefAccount(compareReviewed(reviews, freshOf(last, IS)))).toContain("#1 update Lead: covered");
  const back = compareReviewed(reviews, freshOf(first, IS));
  expect(briefRefused(back)).toContain(
    "update Lead: the description of the role Lead would change, but #2 shows something else",
  );
});

test("a permission that a role's edit takes away and another role keeps is reported with the grant's place", () => {
  const roles = [role("Lead", { permissions: ["a"] }), role("Payer", { permissions: ["pay"] })];
  const is = live(
    [
      liveRole("role_1", "Lead", { permissions: ["a", "pay"] }),
      liveRole("role_2", "Payer", { permissions: ["pay"] }),
    ],
    [liveMember("mem_1", "bob@example.com", { roles: ["role_1"] })],
  );
  const taken = desired({ roles, members: [member("bob@example.com", { roles: ["Lead"] })] });
  const given = desired({
    roles: [role("Lead", { permissions: ["a", "pay"] }), role("Payer", { permissions: ["pay"] })],
    members: [member("bob@example.com", { roles: ["Lead", "Payer"] })],
  });
  const both = desired({ roles, members: given.members ?? [] });
  const comparison = compareReviewed(
    [reviewOf("#1", taken, is), reviewOf("#2", given, is)],
    freshOf(both, is),
  );
  expect(comparison.account).toContainEqual(
    expect.objectContaining({
      review: "#1",
      does: "permissions",
      verdict: "dropped",
      reasons: ["bob@example.com still holds pay"],
      origins: [{ file: "shop.yaml", path: ["roles", 1] }],
    }),
  );
});

const END = until("2026-07-01");

describe("dates", () => {
  const clerk = liveRole("role_1", "Clerk", { permissions: ["sales"] });
  const other = liveRole("role_x", "Other");
  const listed = (roles: readonly (string | Grant)[]) =>
    desired({ sync: { ...SYNC, roles: "additive" }, members: [member("a@e.x", { roles })] });
  const held = live([clerk, other], [liveMember("mem_1", "a@e.x", { roles: ["role_1", "role_x"] })]);
  const none = live([clerk, other], [liveMember("mem_1", "a@e.x", { roles: ["role_x"] })]);
  const until1 = listed([{ role: "Clerk", until: END }, "role_x"]);

  test("that were reviewed need no other review", () => {
    const review = reviewOf("#1", until1, held);
    const comparison = compareReviewed([review], freshOf(until1, held, END.ends));
    expect(comparison.refused).toEqual([]);
    expect(comparison.covered.changes).toHaveLength(1);
  });

  test("that nobody reviewed bring nothing", () => {
    const review = reviewOf("#1", listed(["Clerk", "role_x"]), held);
    const comparison = compareReviewed([review], freshOf(until1, held, END.ends));
    expect(briefRefused(comparison)).toEqual([
      "update a@e.x: a@e.x would lose the role Clerk, which no review shows; a@e.x would lose sales, which no review shows",
    ]);
  });

  test("that ended what was given meanwhile are no failure", () => {
    const review = reviewOf("#1", until1, none);
    const comparison = compareReviewed([review], freshOf(until1, none, END.ends));
    expect(briefAccount(comparison)).toEqual(["#1 update a@e.x: ended"]);
    expect(isFailure(comparison)).toBe(false);
  });

  test("bring no more than the role granted when they were reviewed", () => {
    const start = from("2026-07-01");
    const want = listed([{ role: "Clerk", from: start }, "role_x"]);
    const has = live([clerk, other], [liveMember("mem_1", "a@e.x", { roles: ["role_x"] })]);
    const review = reviewOf("#1", want, has);
    expect(compareReviewed([review], freshOf(want, has, start.starts)).refused).toEqual([]);
    const wider = { ...has, roles: [other, { ...clerk, permissions: ["sales", "payouts_edit"] }] };
    const comparison = compareReviewed([review], freshOf(want, wider, start.starts));
    expect(briefRefused(comparison)).toEqual([
      "update a@e.x: a@e.x would get payouts_edit through Clerk, which no review shows",
    ]);
  });

  describe("that a later review removed, and that a push brings back", () => {
    const without = listed(["Clerk", "role_x"]);
    const state = withBase(reviewOf("#2", without, held).state, reviewOf("#2", until1, held).state);
    const reviews = [reviewOf("#1", until1, held), { name: "#2", state }];

    test("wait for an approval", () => {
      const texts = compareReviewed(reviews, freshOf(until1, held)).unseenDates.map(({ text }) => text);
      expect(texts).toEqual(["after 2026-07-01, a@e.x loses Clerk"]);
    });

    test("bring nothing on their day", () => {
      const comparison = compareReviewed(reviews, freshOf(until1, held, END.ends));
      expect(briefRefused(comparison)).toEqual([
        "update a@e.x: a@e.x would lose the role Clerk, which no review shows; a@e.x would lose sales, which no review shows",
      ]);
    });
  });

  describe("that the files have lost, of a role whose membership ends by then", () => {
    const ending = desired({
      sync: { ...SYNC, roles: "additive" },
      members: [member("a@e.x", { roles: ["Clerk", "role_x"], until: END })],
    });
    const first = reviewOf("#1", until1, held);

    test("are told while nobody has reviewed the end of the membership", () => {
      expect(briefAccount(compareReviewed([first], freshOf(ending, held)))).toEqual([
        "#1 update a@e.x: dropped",
      ]);
    });

    test("are nobody's loss once it is reviewed", () => {
      const reviews = [first, reviewOf("#2", ending, held)];
      expect(briefAccount(compareReviewed(reviews, freshOf(ending, held)))).toEqual([]);
    });
  });

  test("of the base are not remembered as removed where only a lost one is", () => {
    const both = (end: typeof END | undefined) =>
      desired({
        sync: { ...SYNC, roles: "additive" },
        members: [
          member("a@e.x", { roles: ["Clerk"], until: END }),
          member("b@e.x", { roles: ["Clerk"], ...(end && { until: end }) }),
        ],
      });
    const is = live([clerk], [liveMember("mem_1", "a@e.x"), liveMember("mem_2", "b@e.x")]);
    const before = both(undefined);
    const state = withBase(reviewOf("#1", both(END), is).state, reviewOf("#1", before, is).state);
    const kept = remaining(compareReviewed([{ name: "#1", state }], freshOf(before, is)), new Set());
    const names = (dates: ReviewedState["dates"] = []) => dates.map(({ name }) => name);
    expect(kept.map(({ state: { dates, baseDates } }) => [names(dates), names(baseDates)])).toEqual([
      [["b@e.x"], []],
      [["a@e.x"], ["a@e.x"]],
    ]);
  });

  test("of many people on one day are compared once for the day", () => {
    const hashes = (count: number): number => {
      const emails = Array.from({ length: count }, (_, index) => `p${index}@e.x`);
      const members = emails.map((email) => member(email, { roles: ["Clerk"], from: from("2026-07-01") }));
      const want = desired({ sync: { ...SYNC, roles: "additive" }, members });
      const wider = live([{ ...clerk, permissions: ["sales", "payouts_edit"] }], []);
      let calls = 0;
      const seal: Seal = (text) => {
        calls++;
        return `sealed ${text}`;
      };
      const { state } = reviewOf("#1", want, live([clerk], []));
      const { unseenDates } = compareReviewed(
        [{ name: "#1", state: sealed(state, seal) }],
        freshOf(want, wider),
        seal,
      );
      expect(unseenDates).toHaveLength(count);
      return calls;
    };
    expect(hashes(80)).toBeLessThan(3 * hashes(40));
  });

  test("are remembered for later applies, once everything else is done", () => {
    const first = compareReviewed([reviewOf("#1", until1, none)], freshOf(until1, none));
    const done = new Set(first.covered.changes.map(({ fingerprint }) => fingerprint));
    const kept = remaining(first, done);
    expect(kept).toMatchObject([{ name: "#1", state: { roles: [], members: [], people: [] } }]);
    const has = live([clerk, other], [liveMember("mem_1", "a@e.x", { roles: ["role_1", "role_x"] })]);
    const night = compareReviewed(kept, freshOf(until1, has, END.ends));
    expect(night.covered.changes).toHaveLength(1);
    expect(night.refused).toEqual([]);
    expect(remaining(night, new Set(night.covered.changes.map(({ fingerprint }) => fingerprint)))).toEqual(
      [],
    );
    expect(remaining(night, new Set())).toMatchObject([{ state: { dates: [{ name: "a@e.x" }] } }]);
  });
});

describe("an end that passes while a change of a role waits", () => {
  const cashier = liveRole("role_1", "Cashier", { permissions: ["a", "wider"] });
  const helper = liveRole("role_2", "Helper", { permissions: ["b"] });
  const listed = (...roles: readonly (string | Grant)[]) =>
    desired({
      roles: [role("Cashier", { permissions: ["a"] }), role("Helper", { permissions: ["b"] })],
      members: [member("h@example.com", { roles })],
    });
  const end = until("2026-06-30");
  const ending = { role: "Cashier", until: end };
  const reviewed = live([{ ...cashier, permissions: ["a"] }, helper]);

  test("settles what was reviewed of somebody who has no access", () => {
    const want = listed(ending);
    const first = compareReviewed([reviewOf("#1", want, reviewed)], freshOf(want, live([cashier, helper])));
    expect(briefRefused(first).join()).toContain("h@example.com would get wider through Cashier");
    const kept = remaining(first, new Set());
    const second = compareReviewed(kept, freshOf(want, live([cashier, helper]), end.ends));
    expect(briefAccount(second)).toContain("#1 create h@example.com: ended");
    expect(remaining(second, new Set())).toEqual([]);
  });

  test("is remembered for somebody who keeps another role", () => {
    const want = listed(ending, "Helper");
    const first = compareReviewed([reviewOf("#1", want, reviewed)], freshOf(want, live([cashier, helper])));
    const is = live([cashier, helper], [liveMember("mem_1", "h@example.com", { roles: ["role_2"] })]);
    const second = compareReviewed(remaining(first, new Set()), freshOf(want, is, end.ends));
    const third = compareReviewed(remaining(second, new Set()), freshOf(want, is, end.ends + 1));
    expect(briefAccount(second)).toContain("#1 create h@example.com: ended");
    expect(briefAccount(third)).toContain("#1 permissions h@example.com: ended");
  });
});

test("a lost removal still keeps what was not made from giving the person more", () => {
  const holders = ["ann@example.com", "zoe@example.com"];
  const is = live(
    [liveRole("role_1", "Night", { permissions: ["a"] })],
    holders.map((email, index) => liveMember(`mem_${index}`, email, { roles: ["role_1"] })),
  );
  const want = (permissions: readonly string[], ...emails: readonly string[]) =>
    desired({
      roles: [role("Night", { permissions })],
      members: emails.map((email) => member(email, { roles: ["Night"] })),
    });
  const grown = reviewOf("#1", want(["a", "b"], ...holders), is);
  const removal = reviewOf("#9", want(["a"], "ann@example.com"), is);
  const all = want(["a", "b"], ...holders);
  const first = compareReviewed([grown, removal], freshOf(all, is));
  expect(first.account.map(({ review, verdict }) => `${review} ${verdict}`)).toContain("#9 dropped");
  expect(briefRefused(first).join()).toContain("zoe@example.com would get b");
  const kept = remaining(first, new Set());
  expect(kept.map(({ name, lostAt }) => [name, lostAt])).toContainEqual(["#9", NOW]);
  const second = compareReviewed(kept, freshOf(all, is));
  expect(second.account.map(({ review, verdict }) => `${review} ${verdict}`)).toContain("#9 dropped");
  expect(briefRefused(second)).toEqual(briefRefused(first));
  expect(remaining(second, new Set())).toEqual(kept);
});

test("a change of a role that was not made is made later, for all who were seen to hold it", () => {
  const holder = liveMember("mem_1", "h@example.com", { roles: ["role_1"] });
  const is = live([liveRole("role_1", "Cashier", { permissions: ["a"] })], [holder]);
  const want = desired({
    roles: [role("Cashier", { permissions: ["b"] })],
    members: [member("h@example.com", { roles: ["Cashier"] }), member("new@example.com")],
  });
  const first = compareReviewed([reviewOf("#1", want, is)], freshOf(want, is));
  const done = first.covered.changes.flatMap((one) => (one.resource === "member" ? one.fingerprint : []));
  const second = compareReviewed(remaining(first, new Set(done)), freshOf(want, is));
  expect(briefRefused(second)).toEqual([
    "create new@example.com: new@example.com would be added, which no review shows",
  ]);
  expect(second.covered.changes.map(({ name }) => name)).toEqual(["Cashier"]);
});

describe("with the base branch", () => {
  const bob = live([], [liveMember("mem_1", "bob@example.com")]);
  const without = desired({ members: [] });
  const listed = desired({ members: [member("bob@example.com")] });
  const against = (name: string, head: DesiredState, base: DesiredState): Review => ({
    name,
    state: withBase(reviewOf(name, head, bob).state, reviewOf(name, base, bob).state),
  });

  test("a change that the base makes as well is made later, though its person loses and gains nothing", () => {
    const is = live(
      [
        liveRole("role_1", "Cashier", { permissions: ["a"] }),
        liveRole("role_2", "Helper", { permissions: ["b"] }),
      ],
      [liveMember("mem_1", "bob@example.com", { roles: ["role_1", "role_2"] })],
    );
    const want = (...permissions: readonly string[]) =>
      desired({
        roles: [role("Cashier", { permissions }), role("Helper", { permissions: ["b"] })],
        members: [member("bob@example.com", { roles: ["Cashier"] })],
      });
    const head = want("a", "b");
    const review = {
      name: "#1",
      state: withBase(reviewOf("#1", head, is).state, reviewOf("#1", want("a"), is).state),
    };
    const first = compareReviewed([review], freshOf(head, is));
    const second = compareReviewed(remaining(first, new Set()), freshOf(head, is));
    expect(briefRefused(second)).toEqual([]);
  });

  test("a pull request that takes a merged removal back supersedes it", () => {
    const reviews = [against("#1", without, listed), against("#2", listed, without)];
    const comparison = compareReviewed(reviews, freshOf(listed, bob));
    expect(comparison.account).toMatchObject([
      { review: "#1", verdict: "superseded", by: "#2" },
      { review: "#2", verdict: "done" },
    ]);
    expect(isFailure(comparison)).toBe(false);
  });

  test("a removal of what is only live is lost if a pull request that was merged before adopts it", () => {
    const [adopts, removes] = [against("#1", listed, without), against("#2", without, without)];
    const later = compareReviewed([removes, adopts], freshOf(listed, bob));
    expect(briefAccount(later)).toEqual([
      "#2 remove bob@example.com: superseded",
      "#1 update bob@example.com: done",
    ]);
    const first = compareReviewed([adopts, removes], freshOf(listed, bob));
    expect(briefAccount(first)).toContain("#2 remove bob@example.com: dropped");
    const second = compareReviewed(remaining(first, new Set()), freshOf(listed, bob));
    expect(briefAccount(second)).toEqual(["#2 remove bob@example.com: dropped"]);
  });

  test("what a new plan takes away besides the changes of its files is covered, and lost if the files give it", () => {
    const reviews = [{ ...against("#2", without, without), isNew: true as const }];
    const made = compareReviewed(reviews, freshOf(without, bob));
    expect(made.refused).toEqual([]);
    expect(briefAccount(made)).toEqual(["#2 remove bob@example.com: covered"]);
    expect(briefAccount(compareReviewed(reviews, freshOf(listed, bob)))).toEqual([
      "#2 remove bob@example.com: dropped",
    ]);
  });
});

test("a sealed review names nobody, and approves the same", () => {
  const seal: Seal = (text) => createHmac("sha256", "secret").update(text).digest("hex");
  const { name, state } = reviewOf("#1", WANT, IS);
  const review = { name, state: sealed(state, seal) };
  expect(JSON.stringify(review)).not.toMatch(/@|mem_1/);
  const plain = compareReviewed([{ name, state }], freshOf(WANT, IS));
  const comparison = compareReviewed([review], freshOf(WANT, IS), seal);
  expect(comparison.refused).toEqual([]);
  expect(comparison.account).toEqual(plain.account);
});

test("a shared role of 40 people and 100 permissions takes little room", () => {
  const permissions = Array.from({ length: 100 }, (_, index) => `permission_number_${index}`);
  const members = Array.from({ length: 40 }, (_, index) =>
    liveMember(`mem_${index}`, `person.${index}@example.com`, { roles: ["role_1"] }),
  );
  const is = live([liveRole("role_1", "Shared", { permissions: permissions.slice(0, 99) })], members);
  const want = desired({ roles: [role("Shared", { permissions })] });
  const { state } = reviewOf("#1", want, is);
  expect(state.people).toHaveLength(40);
  expect(JSON.stringify(state).length).toBeLessThan(20_000);
});

test("after any part of an apply, what is left is still approved, and everything is done in the end", async () => {
  const input = fc.record({ want: desiredStates, is: liveStates, writes: fc.nat(8) });
  await fc.assert(
    fc.asyncProperty(input, async ({ want, is, writes }) => {
      const plan = planOf(want, is);
      fc.pre(isApplicable(plan));
      const service = modelService(is);
      const stop = new AbortController();
      let ended = 0;
      if (writes === 0) stop.abort();
      const emit = ({ type }: ApplyEvent): void => {
        if (type === "change-ended" && ++ended >= writes) stop.abort();
      };
      await applyPlan(plan, applyPorts(service, { emit, stop: stop.signal }));
      const comparison = compareReviewed([reviewOf("#1", want, is)], freshOf(want, service.state()));
      expect(briefRefused(comparison)).toEqual([]);
      expect(comparison.account.filter(({ verdict }) => verdict === "dropped")).toEqual([]);
    }),
    { numRuns: runs(120) },
  );
});
