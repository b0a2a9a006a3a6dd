import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { driftOf } from "../../../src/ask/report/detect-drift.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { renderReview } from "../../../src/show/markdown/render-review.ts";
import { PLAIN } from "../../../src/show/style.ts";
import { renderDrifts } from "../../../src/show/text/drift-text.ts";
import { renderPlans } from "../../../src/show/text/plans-text.ts";
import type { RowView } from "../../../src/show/view/change-view.ts";
import { driftView } from "../../../src/show/view/drift-view.ts";
import { cutRows, hiddenRowsText } from "../../../src/show/view/equal-changes.ts";
import { equalText } from "../../../src/show/view/equal-text.ts";
import { type FleetView, fleetView } from "../../../src/show/view/fleet-view.ts";
import { merchantsText, namesText } from "../../../src/show/view/names-text.ts";
import { type PlanView, planView } from "../../../src/show/view/plan-view.ts";
import { riskTitle } from "../../../src/show/view/risk-view.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import { desired, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";
import { HOSTILE_TEXTS } from "../../support/hostile.ts";
import { hostilePlan } from "../../support/hostile-plan.ts";
import { runs } from "../../support/property-runs.ts";

/** A shop of a chain, whose nine cashiers get a permission, and whose deputy may leave. */
function shop(
  code: string,
  { gains = ["payouts_edit"] as readonly string[], leaves = false, own = [] as readonly string[] } = {},
): Plan {
  const tills = Array.from({ length: 9 }, (_, index) => `till${index}.${code.toLowerCase()}@example.com`);
  const people = [...tills, ...(leaves ? ["deputy@example.com"] : [])];
  const is = live(
    [liveRole("role_1", "Cashier", { permissions: ["sell"] })],
    people.map((email, index) => liveMember(`mem_${index}`, email, { roles: ["role_1"] })),
  );
  const want = desired({
    merchant: code,
    roles: [role("Cashier", { permissions: ["sell", ...gains] })],
    members: [...tills, ...own].map((email) => member(email, { roles: ["Cashier"] })),
  });
  return planOf(want, is);
}

const code = (index: number): string => `MC${index + 1}`;
const chain = (
  count: number,
  of: (index: number) => Parameters<typeof shop>[1] = () => ({}),
): readonly PlanView[] => Array.from({ length: count }, (_, index) => planView(shop(code(index), of(index))));

const rowsOf = (fleet: FleetView): readonly RowView[] => fleet.groups.flatMap(({ rows }) => rows);
const words = (row: RowView | undefined): string => {
  if (row?.equal === undefined) throw new Error("it stands for one change");
  const { subject, where, effect } = equalText(row, row.equal);
  return [subject, where, effect].join(" | ");
};

test("somebody at several merchants is one person", () => {
  const views = chain(75, () => ({ own: ["manager@example.com"], gains: ["payouts_edit"] })).map((view) => ({
    ...view,
    impact: {
      ...view.impact,
      members: view.impact.members.filter(({ name }) => name === "manager@example.com"),
    },
  }));
  const { impact } = fleetView(views);
  expect(impact.members).toBe(1);
  expect(impact.permissions).toContainEqual({
    permission: "payouts_edit",
    gained: 1,
    lost: 0,
    merchants: 75,
  });
  const item = { name: "manager@example.com", what: "payouts_edit", resource: "member" } as const;
  expect(riskTitle("sensitive", [item, { ...item, name: "Manager@example.com" }])).toBe(
    "1 member gains sensitive permissions",
  );
});

describe("equal changes of many merchants", () => {
  test("are one row, with the number of people that they concern", () => {
    const fleet = fleetView(chain(300));
    expect(rowsOf(fleet).map(words)).toEqual([
      "role Cashier: + payouts_edit | all 300 merchants | 2,700 members gain it",
    ]);
    expect(fleet.own).toEqual([]);
    expect(fleet.risks.map(({ items, merchants }) => [items.length, merchants])).toEqual([[2700, 300]]);
  });

  test("are one row where they are deferred, too, in text and Markdown", () => {
    const owner = liveMember("mem_1", "old@example.com", { roles: ["role_owner"] });
    const plans = Array.from({ length: 30 }, (_, index) => {
      const next = index === 4 ? "other@example.com" : "next@example.com";
      const want = desired({ merchant: code(index), members: [member(next, { roles: ["role_owner"] })] });
      return planView(planOf(want, live([liveRole("role_owner", "Owner", { predefined: true })], [owner])));
    });
    const fleet = fleetView(plans);
    expect(fleet.deferred.map(words)).toEqual([
      "old@example.com (not in the file) | 29 merchants (all but MC5) | ",
    ]);
    expect(fleet.own.map(({ view }) => [view.merchant, view.deferred.length])).toEqual([["MC5", 1]]);
    expect(renderPlans(plans, PLAIN)).toContain(`
  Deferred
    - delete old@example.com (not in the file) in 29 merchants (all but MC5)
             waits until next@example.com has accepted: "Owner" would have too
             few holders
`);
    expect(renderPlans(plans, PLAIN)).toContain("30 removals deferred.");
    const review = renderReview({ command: "plan", views: plans, unplanned: [], fileErrors: 0 }, 60_000);
    expect(review).toContain(`### 29 removals deferred

\`\`\`diff
- delete old@example.com (not in the file) in 29 merchants (all but MC5)
    waits until next@example.com has accepted: "Owner" would have too few holders
`);
  });

  test("name the few merchants without them, else the first that have them", () => {
    const few = fleetView(chain(40, (index) => ({ gains: [3, 17].includes(index) ? [] : ["payouts_edit"] })));
    expect(rowsOf(few).map(words)).toEqual([
      "role Cashier: + payouts_edit | 38 merchants (all but MC4, MC18) | 342 members gain it",
    ]);
    const many = fleetView(
      chain(40, (index) => ({ gains: index % 2 ? ["payouts_edit"] : [], leaves: index > 30 })),
    );
    expect(rowsOf(many).map(words)).toEqual(
      [
        "role Cashier: + payouts_edit | 20 merchants (MC2, MC4, MC6, MC8, MC10 and 15 more) | 180 members gain it",
      ].concat([
        "deputy@example.com (not in the file) | 9 merchants (MC32, MC33, MC34, MC35, MC36 and 4 more) | ",
      ]),
    );
  });

  test("are about fifteen lines, whatever the number of merchants", () => {
    const text = renderPlans(chain(300), PLAIN);
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
    expect(text).toContain(
      "\n    ~ role Cashier: + payouts_edit in all 300 merchants; 2,700 members gain it\n",
    );
    expect(text).toContain("\n300 merchants: 300 to update; 2,700 unchanged.\nLists are cut: ");
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("are told in a comment first, by name, also in the smallest one", () => {
    const views = chain(300);
    for (const size of [60_000, 1500]) {
      const markdown = renderReview({ command: "plan", views, unplanned: [], fileErrors: 0 }, size);
      expect(markdown.length).toBeLessThanOrEqual(size);
      expect(markdown).toContain(
        "### 300 changes that are the same at several merchants\n\n```diff\n! role Cashier: + payouts_edit in all 300 merchants; 2,700 members gain it\n```",
      );
      expect(markdown).toContain("### ⚠️ 2,700 members gain sensitive permissions, at 300 merchants");
    }
  });

  test("leave to a merchant what only it has", () => {
    const views = chain(30, (index) => (index === 4 ? { own: ["new@example.com"] } : {}));
    const text = renderPlans(views, PLAIN);
    expect(text).toMatch(
      /\nMC5 · [\s\S]*\+ create new@example.com[\s\S]*Plan: 1 to create, 1 to update; 9 unchanged\. 1 of these is above\.\n/,
    );
    expect(text.match(/Plan:/g)).toHaveLength(1);
  });

  test("of a few merchants stay with each of them", () => {
    const views = chain(3);
    expect(renderPlans(views, PLAIN).match(/~ update Cashier/g)).toHaveLength(3);
    expect(fleetView(views).groups).toEqual([]);
  });

  test("are refused at each merchant where the run is not known, so that each has its override", () => {
    const guards = { protect: { roles: ["*"], members: [] } };
    const views = Array.from({ length: 5 }, (_, index) =>
      planView(
        planOf(desired({ merchant: code(index), roles: [], guards }), live([liveRole("role_1", "Old")])),
      ),
    );
    expect(new Set(renderPlans(views, PLAIN).match(/protect=Old@[0-9a-f]{12}/g)).size).toBe(5);
    expect(
      new Set(
        renderPlans(views, PLAIN, "normal", { run: "a".repeat(32) }).match(/protect=Old@[0-9a-f]{12}/g),
      ),
    ).toEqual(new Set([`protect=Old@${"a".repeat(12)}`]));
  });

  test("are refused for one reason, with one override for the run", () => {
    const plans = Array.from({ length: 50 }, (_, index) => {
      const is = live(
        [],
        Array.from({ length: 8 + (index % 3) }, (_, at) => liveMember(`mem_${at}`, `p${at}@example.com`)),
      );
      return planOf(desired({ merchant: code(index), members: [] }), is);
    });
    const views = plans.map((plan) => planView(plan));
    const text = renderPlans(views, PLAIN, "normal", { run: "0123456789abcdef" });
    expect(text.match(/guard max-removals/g)).toHaveLength(1);
    expect(text.replaceAll(/\s+/g, " ")).toContain(
      "In all 50 merchants: 8–10 of 8–10 members would be removed or lose something; the limit is 3.",
    );
    expect(text).toContain("apply --allow max-removals=10@0123456789ab\n");
    expect(text).toContain("An apply would be refused for all 50 merchants.\n");
  });
});

describe("a long plan", () => {
  const many = (count: number, of: (index: number) => readonly string[]): PlanView => {
    const roles = ["A", "B", "C", "D", "E"].map((name) => role(name, { permissions: [name.toLowerCase()] }));
    const members = Array.from({ length: count }, (_, index) =>
      member(`person${index}@example.com`, { roles: of(index) }),
    );
    return planView(planOf(desired({ roles, members }), live()));
  };

  test("of equal changes says how many, and names the first", () => {
    const text = renderPlans([many(941, () => ["A"])], PLAIN);
    expect(text).toContain("    + 941 members: + A (invitation)\n");
    expect(text.split("\n").length).toBeLessThan(60);
  });

  test("of changes that differ in a value from person to person says which property it is, and lists the values", () => {
    const people = Array.from({ length: 200 }, (_, index) => `person${index}@example.com`);
    const want = desired({
      members: people.map((email, index) =>
        member(email, { metadata: { desk: { floor: index, side: "a" } } }),
      ),
    });
    const is = live(
      [],
      people.map((email) =>
        liveMember(`mem_${email}`, email, { metadata: { desk: { floor: -1, side: "a" } } }),
      ),
    );
    const text = renderPlans([planView(planOf(want, is))], PLAIN);
    expect(text).toContain(
      "    ~ update 200 members\n             metadata     desk.floor: not the same for all\n",
    );
    expect(text).toMatch(/\n {13}(\S+@\S+): - desk\.floor: -1, \+ desk\.floor: \d+\n/);
    expect(text).toContain("\n             … and 194 more\n");
    expect(text.split("\n").length).toBeLessThan(20);
  });

  test("of 2,000 different changes stays under 200 lines, and counts the others", () => {
    const subset = (index: number): readonly string[] =>
      ["A", "B", "C", "D", "E"].filter((_, bit) => (index >> bit) & 1);
    const differs = planView({
      ...planOf(desired({ members: [] }), live()),
      changes:
        many(2000, subset).groups.length > 0
          ? planOf(
              desired({
                roles: Array.from({ length: 2000 }, (_, index) =>
                  role(`Role ${index}`, { permissions: [`p${index}`] }),
                ),
              }),
              live(),
            ).changes
          : [],
    });
    for (const view of [many(2000, subset), differs]) {
      for (const columns of [80, 40]) {
        expect(renderPlans([view], { ...PLAIN, columns }).split("\n").length).toBeLessThan(200);
      }
    }
    const text = renderPlans([differs], PLAIN);
    expect(text).toContain("    … and 1,970 more to create\n");
    expect(text.trimEnd().split("\n").at(-1)).toBe("Lists are cut: --verbose shows all.");
  });

  test("of many merchants with changes of their own stays under 200 lines, too", () => {
    const views = (gains: readonly string[]) =>
      chain(300, (index) => ({
        gains,
        own: Array.from({ length: 6 }, (_, at) => `n${at}.${index}@example.com`),
      }));
    expect(renderPlans(views(["catalog_edit"]), PLAIN).split("\n").length).toBeLessThan(60);
    // Fifteen people gain a sensitive permission, so that each merchant is refused with an override of its own.
    expect(renderPlans(views(["payouts_edit"]), PLAIN).split("\n").length).toBeLessThan(120);
    const roles = Array.from({ length: 300 }, (_, index) =>
      planView(
        planOf(
          desired({
            merchant: code(index),
            roles: Array.from({ length: 7 }, (_, at) => role(`R${at}`, { permissions: [`p${index}.${at}`] })),
          }),
          live(),
        ),
      ),
    );
    const text = renderPlans(roles, PLAIN);
    expect(text.split("\n").length).toBeLessThan(200);
    expect(text.replaceAll(/\s+/g, " ")).toMatch(
      /… and \d+ more merchants with [\d,]+ changes of their own Merchant/,
    );
  });
});

test("a drift of many merchants says once what happened at several, by its cause", () => {
  const drifts = Array.from({ length: 20 }, (_, index) => {
    const is = live([
      liveRole("role_1", "Cashier", { permissions: ["sell", ...(index === 7 ? [] : ["payouts_edit"])] }),
    ]);
    const want = desired({ merchant: code(index), roles: [role("Cashier", { permissions: ["sell"] })] });
    const times = { file: () => null, live: () => null };
    return driftView(driftOf({ desired: want, live: is }, planOf(want, is), times));
  });
  const text = renderDrifts(drifts, PLAIN);
  expect(text).toContain("\n  Different; which side changed is unknown\n");
  expect(text.replaceAll(/\s+/g, " ")).toContain(
    "~ changed role Cashier: + payouts_edit in 19 merchants (all but MC8); no member gained it",
  );
  expect(text).toMatch(/\n {2}MC1 and 18 more +1\n {2}1 merchant without changes\n/);
  expect(text).toContain("\n20 merchants: 19 differences (19 unknown).\n19 of 20 merchants drifted.\n");
});

const anyFleet = fc
  .array(fc.tuple(desiredStates, liveStates), { minLength: 1, maxLength: 9 })
  .map((pairs) => pairs.map(([want, is], index) => planView({ ...planOf(want, is), merchant: code(index) })));

/** Every change as its merchant, its kind and its name. */
const changesOf = (views: readonly PlanView[]): readonly string[] =>
  views
    .flatMap(({ merchant, groups }) =>
      groups.flatMap(({ rows }) =>
        rows.map(({ kind, resource, name }) => `${merchant} ${kind} ${resource} ${name}`),
      ),
    )
    .sort();

test("every change is in exactly one row, and the sums are those of the plans", () => {
  fc.assert(
    fc.property(anyFleet, (views) => {
      const fleet = fleetView(views);
      const shared = rowsOf(fleet).flatMap(({ kind, resource, equal }) =>
        (equal?.merchants ?? []).flatMap((merchant) =>
          (equal?.names ?? []).map((name) => `${merchant} ${kind} ${resource} ${name}`),
        ),
      );
      const own = changesOf(fleet.own.map(({ view }) => view));
      expect([...shared, ...own].sort()).toEqual(changesOf(views));
      const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
      expect(sum(rowsOf(fleet).map(({ equal }) => equal?.changes ?? 0))).toBe(shared.length);
      const members = views.flatMap(({ impact }) => impact.members);
      expect(fleet.impact.members).toBe(new Set(members.map(({ name }) => name.toLowerCase())).size);
      const risks = views.flatMap((view) => view.risks.map(({ items }) => items.length));
      expect(sum(fleet.risks.map(({ items }) => items.length))).toBe(sum(risks));
      expect(sum(fleet.risks.flatMap(({ equal }) => equal.map(({ all }) => all.length)))).toBe(sum(risks));
      const people = fleet.people.flatMap(({ all }) => all).length;
      expect(people + sum(fleet.own.map(({ view }) => view.impact.members.length))).toBe(members.length);
      const refusals = fleet.refusals.flatMap(({ all }) => all).length;
      expect(refusals + sum(fleet.own.map(({ view }) => view.refusals.length))).toBe(
        sum(views.map((view) => view.refusals.length)),
      );
      const rows = fleet.rows.map((row) => row.merchants.length * (row.create + row.update + row.delete));
      expect(sum(rows)).toBe(changesOf(views).length);
      const { groups, hidden } = cutRows(views[0]?.groups ?? [], 2);
      expect(sum(groups.map((group) => group.rows.length)) + hidden.length).toBe(
        changesOf(views.slice(0, 1)).length,
      );
    }),
    { numRuns: runs(100) },
  );
});

test("the order of merchants changes nothing", () => {
  fc.assert(
    fc.property(
      anyFleet.chain((views) =>
        fc.tuple(fc.constant(views), fc.shuffledSubarray(views, { minLength: views.length })),
      ),
      ([views, shuffled]) => {
        expect(fleetView(shuffled)).toEqual(fleetView(views));
        expect(renderPlans(shuffled, PLAIN)).toBe(renderPlans(views, PLAIN));
      },
    ),
    { numRuns: runs(60) },
  );
});

test("names mean nothing to a terminal, also in what is shared", () => {
  for (const text of HOSTILE_TEXTS) {
    const views = Array.from({ length: 5 }, () => planView(hostilePlan(text)));
    const shown = renderPlans(views, PLAIN);
    expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/u);
    expect(shown.split("\n").filter((line) => /^\s*(::|##\[)/.test(line))).toEqual([]);
  }
});

test("nobody is only counted who could be named in the same place", () => {
  expect(namesText(["a", "b", "c", "d", "e", "f"])).toBe("a, b, c, d, e, f");
  expect(namesText(["a", "b", "c", "d", "e", "f", "g"])).toBe("a, b, c, d, e and 2 more");
  expect(merchantsText(["MC1"], ["MC2"])).toBe("MC1");
});

test("a list that is cut says what the others do, and never hides a single one", () => {
  const view = (removed: number, added: number) =>
    planView(
      planOf(
        desired({ roles: Array.from({ length: added }, (_, at) => role(`New ${at}`, { permissions: [] })) }),
        live(Array.from({ length: removed }, (_, at) => liveRole(`role_${at}`, `Old ${at}`))),
      ),
    );
  const cut = cutRows(view(3, 20).groups, 10);
  expect(hiddenRowsText(cut.hidden)).toBe("… and 13 more to create");
  expect(hiddenRowsText(view(3, 1200).groups.flatMap(({ rows }) => rows))).toBe(
    "… and 1,203 more: 3 to delete, 1,200 to create",
  );
  expect(cutRows(view(3, 8).groups, 10).hidden).toEqual([]);
});

test("the access that people gained at many merchants is of an unknown side if it is at one of them", () => {
  const drifts = Array.from({ length: 4 }, (_, index) => {
    const roles = [liveRole("role_1", "Cashier", { permissions: ["sell"] })];
    const extra = liveMember("mem_1", "ada@example.com", { roles: ["role_1"] });
    const is = live(roles, index === 0 ? [] : [extra]);
    const want = desired({
      merchant: code(index),
      roles: [role("Cashier", { permissions: ["sell"] })],
      members: [],
    });
    const times = { file: () => null, live: () => null };
    return driftView(driftOf({ desired: want, live: is }, planOf(want, is), times));
  });
  expect(renderDrifts(drifts, PLAIN)).toContain(
    "Access: 1 member gained or lost permissions (outside git, or not applied yet)",
  );
});
