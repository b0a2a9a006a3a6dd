import fc from "fast-check";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { describe, expect, test } from "vitest";
import { driftOf } from "../../../src/ask/report/detect-drift.ts";
import { MIN_REVIEW_SIZE } from "../../../src/show/markdown/markdown-blocks.ts";
import { renderReview } from "../../../src/show/markdown/render-review.ts";
import type { ReviewInput } from "../../../src/show/markdown/review-sections.ts";
import { driftView } from "../../../src/show/view/drift-view.ts";
import { MIN_FLEET } from "../../../src/show/view/fleet-view.ts";
import { planView } from "../../../src/show/view/plan-view.ts";
import { groupRuleNotes, type RuleNote } from "../../../src/show/view/rules-view.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import {
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  member,
  planOf,
  role,
  until,
} from "../../support/build.ts";
import { HOSTILE, HOSTILE_TEXTS } from "../../support/hostile.ts";
import { hostilePlan } from "../../support/hostile-plan.ts";
import { runs } from "../../support/property-runs.ts";
import { richPlan } from "../../support/rich-plan.ts";

function review(rest: Partial<ReviewInput>): ReviewInput {
  return { command: "plan", views: [], unplanned: [], fileErrors: 0, ...rest };
}

/** What a parser makes of it, as a code host would show it. */
function html(markdown: string): string {
  return micromark(markdown, {
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
    allowDangerousHtml: true,
    allowDangerousProtocol: true,
  });
}

/** The elements of a page, in order. */
function structure(shown: string): readonly string[] {
  return [...shown.matchAll(/<\/?([a-z0-9]+)[^>]*>/g)].map(([tag]) => tag);
}

const TAGS =
  /^<\/?(h2|h3|p|strong|code|pre|table|thead|tbody|tr|details|summary|blockquote)>$|^<details open>$|^<code class="language-(diff|text)">$|^<\/?t[hd]( align="(left|right)")?>$/;

/** Every fence is closed, every fold is closed, and nothing else opened anything; gives what is shown. */
function expectWellFormed(markdown: string): string {
  const shown = html(markdown);
  const tags = structure(shown);
  expect(tags.filter((tag) => !TAGS.test(tag))).toEqual([]);
  const open: string[] = [];
  for (const tag of tags) {
    const name = /[a-z0-9]+/.exec(tag)?.[0] ?? "";
    if (!tag.startsWith("</")) open.push(name);
    else expect(open.pop()).toBe(name);
  }
  expect(open).toEqual([]);
  return shown;
}

test("a review begins with the verdict and the risks, and ends with the changes", async () => {
  const markdown = renderReview(review({ views: [planView(richPlan())] }));
  await expect(markdown).toMatchFileSnapshot("../golden/rich-plan.md");
  expectWellFormed(markdown);
});

test("merchants that are no longer managed are listed, many of them counted", () => {
  const unmanaged = Array.from({ length: 12 }, (_, index) => ({
    merchant: `MC${index}`,
    reason: `access/${HOSTILE}.yaml was removed`,
  }));
  const markdown = renderReview(review({ unmanaged }));
  expect(markdown).toContain("### ⚠️ 12 merchants no longer managed");
  expect(markdown).toContain("- and 2 more merchants");
  expect(structure(html(markdown)).filter((tag) => !/^<\/?(h2|h3|p|code|ul|li)>$/.test(tag))).toEqual([]);
});

describe("what is looser than on the base branch", () => {
  const notes = (texts: readonly string[], merchants: number): readonly RuleNote[] =>
    texts.flatMap((text) =>
      Array.from({ length: merchants }, (_, index) => ({
        merchant: `MC${index}`,
        kind: "loosened" as const,
        topic: "guards",
        text,
      })),
    );

  test("stands below the verdict, one line for equal ones, and nothing in it means anything to Markdown", () => {
    const rules = groupRuleNotes([
      ...notes(["at most 25 % → 100 % may be removed", ...HOSTILE_TEXTS], 12),
      {
        merchant: "MC1",
        kind: "overridden",
        topic: "overrides",
        text: "overrides max-removals for this plan",
      },
    ]);
    const markdown = renderReview(review({ views: [planView(richPlan())], rules }), 1_000_000);
    const title = `### ⚠️ Rules: ${rules.length - 1} looser than on the base branch, 1 overridden for this plan`;
    expect(markdown.replaceAll(/`{3,}/g, "```")).toContain(
      `\n\n${title}\n\n\`\`\`diff\n! 12 merchants (MC0, MC1, MC2, MC3, MC4 and 7 more): at most 25 % → 100 % may be removed\n`,
    );
    expect(markdown.indexOf(title)).toBeLessThan(markdown.indexOf("### ⛔"));
    expectWellFormed(markdown);
  });

  test("is never left out: where there is no room, a line tells how many there are of each topic", () => {
    const texts = Array.from(
      { length: 400 },
      (_, index) => `the role "Role ${index}" is no longer protected`,
    );
    const rules = groupRuleNotes([
      ...notes(texts, 3),
      {
        merchant: "MC9",
        kind: "loosened",
        topic: "ignore",
        text: `members that match "${"x".repeat(2000)}"`,
      },
    ]);
    const views = [planView(richPlan())];
    const small = renderReview(review({ views, rules }), MIN_REVIEW_SIZE);
    expect(small).toContain("! guards: 400 loosened at 3 merchants");
    expect(small).toContain("! ignore: 1 loosened at 1 merchant");
    expect(small.length).toBeLessThanOrEqual(MIN_REVIEW_SIZE);
    const large = renderReview(review({ views, rules }), 1_000_000);
    for (const text of texts) expect(large).toContain(text);
  });

  test("makes a plan without changes one to look at", () => {
    const rules = groupRuleNotes(notes(["at most 25 % → 100 % may be removed"], 1));
    expect(renderReview(review({ rules }))).toContain("## ⚠️ rolecall plan: no changes, with looser rules");
  });
});

test("a drift with problems is not reported as none, neither in total nor for a merchant", () => {
  const want = desired({ roles: [role("Till", { id: "role_9" })] });
  const is = live();
  const times = { file: () => null, live: () => null };
  const view = driftView(driftOf({ desired: want, live: is }, planOf(want, is), times));
  const markdown = renderReview({ command: "drift", views: [view], unplanned: [], fileErrors: 0 });
  expect(markdown).toContain("1 merchant: unknown, because of the problems; 0 unchanged.");
  expect(markdown).not.toContain("no drift");
});

test("a merchant with nothing but a warning has no empty block of changes", () => {
  const { roles: _, ...bare } = member("bob@example.com");
  const markdown = renderReview(review({ views: [planView(planOf(desired({ members: [bare] }), live()))] }));
  expect(markdown).toContain("warning: bob@example.com is not a member, and cannot be created");
  expect(markdown).not.toContain("```diff");
  expectWellFormed(markdown);
});

describe("the verdict", () => {
  const cashier = live([liveRole("role_1", "Cashier")]);
  test.each([
    ["✅ rolecall plan: no changes", planOf(desired({ roles: [role("Cashier")] }), cashier)],
    [
      "✅ rolecall plan: changes without risks",
      planOf(desired({ roles: [role("Cashier"), role("New")] }), cashier),
    ],
    ["⚠️ rolecall plan: changes with risks", planOf(desired({ roles: [] }), cashier)],
    [
      "⛔ rolecall plan: an apply would be refused, for 1 reason",
      planOf(desired({ roles: [], guards: { protect: { roles: ["*"], members: [] } } }), cashier),
    ],
    [
      "❌ rolecall plan: 1 problem to fix first",
      planOf(desired({ members: [member("ada@example.com", { roles: ["Nobody"] })] }), cashier),
    ],
  ])("is %s", (verdict, plan) => {
    expect(renderReview(review({ views: [planView(plan)] }))).toMatch(new RegExp(`^## ${verdict}\n`));
  });

  test("is that of the worst merchant, and of the files", () => {
    const views = [planView(planOf(desired({ roles: [role("Cashier")] }), cashier))];
    const unplanned = [
      { merchant: "MC2", failure: { code: "network" as const, message: "No answer came." } },
    ];
    const markdown = renderReview(review({ views, unplanned, fileErrors: 2 }));
    expect(markdown).toMatch(/^## ❌ rolecall plan: 3 problems to fix first\n/);
    expect(markdown).toContain("The files have 2 errors: `rolecall validate` lists them.");
    expect(markdown.indexOf("MC2</code> | **could not be read**")).toBeLessThan(
      markdown.indexOf("MC1</code>"),
    );
    expect(markdown).toContain("error: No answer came.");
  });

  test("counts only merchants that could be read", () => {
    const plan = planOf(desired({ roles: [role("Cashier")] }), cashier);
    const unplanned = ["MC2", "MC3"].map((merchant) => ({
      merchant,
      failure: { code: "network" as const, message: "No answer came." },
    }));
    expect(renderReview(review({ views: [planView(plan)], unplanned }))).toContain(
      "1 merchant: no changes; 1 unchanged. 2 merchants could not be read.\n",
    );
    expect(renderReview(review({ unplanned }))).toContain("\n\n2 merchants could not be read.\n");
  });
});

test("warnings are listed once for all merchants, and those about what is unchanged counted by kind", () => {
  const { roles: _, ...bare } = member("bob@example.com");
  const wanted = desired({
    members: [
      bare,
      ...["cy", "di"].map((name) => member(`${name}@example.com`, { reinvite: false })),
      member("off@example.com"),
    ],
  });
  const is = live(
    [],
    [
      ...["cy", "di"].map((name) => liveMember(`mem_${name}`, `${name}@example.com`, { status: "expired" })),
      liveMember("mem_off", "off@example.com", { status: "disabled" }),
    ],
  );
  const plan = planOf(wanted, is);
  const views = ["MC1", "MC2", "MC3", "MC4"].map((merchant) => planView({ ...plan, merchant }));
  const markdown = renderReview(review({ views }));
  expect(markdown).toContain(
    "12 warnings about what is unchanged: 8 expired invitations, 4 disabled members (--verbose)\n",
  );
  expect(markdown.split("bob@example.com")).toHaveLength(2);
  expect(markdown).toContain("! In all 4 merchants: bob@example.com is not a member");
  expectWellFormed(markdown);
});

describe("a review that would be too large leaves out", () => {
  const merchants = (count: number, of: (index: number) => ReturnType<typeof planOf>) =>
    Array.from({ length: count }, (_, index) => planView({ ...of(index), merchant: `MC${index}` }));
  const same = planOf(desired({ roles: [role("Cashier")] }), live([liveRole("role_1", "Cashier")]));
  const rich = richPlan();
  const gone = Array.from({ length: 60 }, (_, index) => liveRole(`role_${index}`, `Role ${index}`));
  const cleared = planOf(desired({ roles: [] }), live(gone));
  const edited = planOf(
    desired({
      merchant: "MC90",
      roles: [role("Solo", { permissions: ["sell", "count"] })],
      members: Array.from({ length: 30 }, (_, index) =>
        member(`solo${index}@example.com`, { roles: ["Solo"] }),
      ),
    }),
    live([liveRole("role_1", "Solo", { permissions: ["sell"] })]),
  );
  const views = [
    ...merchants(3, () => rich),
    planView(cleared),
    planView(edited),
    ...merchants(20, () => same),
  ];
  const whole = renderReview(review({ views }), 1_000_000);

  test("nothing where it fits", () => {
    expect(whole).not.toContain("Left out");
    expect(renderReview(review({ views }), whole.length)).toBe(whole);
    expect(renderReview(review({ views }), whole.length - 1)).toContain("names behind equal changes");
  });

  test("names, then merchants without changes, changes, field diffs, and parts", () => {
    const steps = new Set<string>();
    for (let size = whole.length - 1; size >= MIN_REVIEW_SIZE; size -= 151) {
      const markdown = renderReview(review({ views }), size);
      expect(markdown.length).toBeLessThanOrEqual(size);
      expectWellFormed(markdown);
      const notice = /Left out to keep this short:\*\* (.*?)\. `/.exec(markdown)?.[1] ?? "";
      steps.add(notice.replaceAll(/\d+/g, "n"));
      if (!/ends of \d+ list/.test(notice)) expect(markdown).toContain("Role 59");
      expect(markdown).toMatch(/### \d+ changes that are the same at several merchants\n/);
      expect(markdown).toContain("are removed");
    }
    const order = [...steps];
    const first = (what: RegExp) => order.findIndex((notice) => what.test(notice));
    const firsts = [
      /names behind/,
      /ends of n lists?,/,
      /without changes/,
      /ends of lists of/,
      /field diffs/,
      /all changes/,
      /the table/,
      /of risks/,
    ].map(first);
    expect(firsts).toEqual([...firsts].sort((a, b) => a - b));
    expect(firsts[0]).toBe(0);
    expect(firsts).not.toContain(-1);
  });

  test("the ends of lists, and their numbers stay", () => {
    const roles = Array.from({ length: 3000 }, (_, index) => liveRole(`role_${index}`, `Role ${index}`));
    const many = planView(planOf(desired({ roles: [] }), live(roles)));
    const markdown = renderReview(review({ views: [many] }), 5000);
    expect(markdown).toContain("### ⚠️ 3,000 roles are removed");
    expect(markdown).toContain("- MC1: roles Role 0, Role 1, Role 2, Role 3, Role 4,");
    expect(markdown).toMatch(/and 2,988 more\s+\(not in the file\)\n/);
    expect(markdown).toContain("the ends of 1 list, whose totals are above");
    expect(markdown).toContain("guard max-removals");
    expect(markdown.length).toBeLessThanOrEqual(5000);
  });

  test("no more than it has to: of 2,000 different changes, what fits, and what people gain and lose", () => {
    const roles = [
      role("Cashier", { permissions: ["sell"] }),
      role("Payer", { permissions: ["payouts_edit"] }),
    ];
    const people = Array.from({ length: 2000 }, (_, index) => `person-${index}@example.com`);
    const plan = planOf(
      desired({
        roles,
        members: people.map((email, index) =>
          member(email, {
            roles: [index % 4 === 0 ? "Payer" : "Cashier"],
            metadata: { [`desk-${index}`]: true },
          }),
        ),
      }),
      live(
        [liveRole("role_1", "Cashier", { permissions: ["sell"] })],
        people.map((email, index) =>
          liveMember(`mem_${index}`, email, { roles: index % 2 === 0 ? ["role_1"] : [] }),
        ),
      ),
    );
    const markdown = renderReview(review({ views: [planView(plan)] }));
    expect(markdown.length).toBeLessThanOrEqual(60_000);
    expect(markdown.length).toBeGreaterThan(40_000);
    const shown = expectWellFormed(markdown);
    const [above = "", below = ""] = markdown.split("<details>");
    expect(above).toContain("### ⚠️ 500 members gain sensitive permissions");
    expect(above).toMatch(/payouts_edit/);
    expect(above).toMatch(/\| <code>payouts&#95;edit<\/code> \| \*\*500\*\*: .* and 495 more \| {2}\|\n/);
    expect(above).toMatch(
      /\| <code>sell<\/code> \| \*\*1,000\*\*: .* and 995 more \| \*\*500\*\*: .* and 495 more \|\n/,
    );
    expect(below).toContain("# Access: 1,500 members gain or lose permissions");
    expect(below).toMatch(/ {2}… and 1,\d\d\d more to update/);
    expect(shown).toContain("+     roles: Payer");
  });
});

test("few changes are not folded", () => {
  const of = (count: number): string =>
    renderReview(
      review({
        views: [
          planView(
            planOf(
              desired({ roles: Array.from({ length: count }, (_, index) => role(`Role ${index}`)) }),
              live(),
            ),
          ),
        ],
      }),
    );
  expect(of(12)).toContain("<details open>");
  expect(of(13)).toContain("<details>");
});

test("what is removed at a merchant is one line, by reason", () => {
  const plan = planOf(
    desired({
      roles: [],
      members: [member("temp@example.com", { roles: ["role_x"], until: until("2026-06-01") })],
    }),
    live(
      [
        liveRole("role_x", "Till", { predefined: true }),
        liveRole("role_1", "Old"),
        liveRole("role_2", "Older"),
      ],
      [
        liveMember("mem_1", "temp@example.com", { roles: ["role_x"] }),
        liveMember("mem_2", "bob@example.com", { roles: ["role_x"] }),
      ],
    ),
  );
  expect(renderReview(review({ views: [planView(plan)] }))).toContain(
    "\n- MC1: roles Old, Older, member bob@example.com (not in the file); member temp@example.com (its end\n-   date has passed)\n",
  );
});

const WORDS = {
  administrators: /administrator/,
  sensitive: /sensitive/,
  reach: /reach/,
  violations: /broken again/,
  removals: /removed/,
  dates: /later date/,
};
const anyPlans = fc.array(fc.tuple(desiredStates, liveStates), { maxLength: 5 });

test("whatever the plans and the size, a review fits, is well-formed, and tells every risk or their number", () => {
  fc.assert(
    fc.property(anyPlans, fc.integer({ min: MIN_REVIEW_SIZE, max: 20_000 }), (pairs, size) => {
      const views = pairs.map(([want, is], index) =>
        planView({ ...planOf(want, is), merchant: `MC${index}` }),
      );
      const markdown = renderReview(review({ views }), size);
      expect(markdown.length).toBeLessThanOrEqual(size);
      expectWellFormed(markdown);
      const counted = markdown.includes("whose totals are above");
      const risks = views.flatMap((view) => view.risks.map((risk) => ({ ...risk, merchant: view.merchant })));
      for (const { merchant, kind, items } of risks) {
        if (counted) expect(markdown).toMatch(WORDS[kind]);
        else
          for (const { name } of items) {
            expect(markdown).toContain(name);
            // What several have in common is one line, which names the merchants or counts them.
            if (views.length < MIN_FLEET) expect(markdown).toContain(`${merchant}: `);
          }
      }
    }),
    { numRuns: runs(80) },
  );
});

describe("a name means nothing to Markdown", () => {
  const plain = structure(html(renderReview(review({ views: [planView(hostilePlan("plain"))] }), 1_000_000)));

  test.each(Object.entries(HOSTILE))("that %s", (_, text) => {
    const markdown = renderReview(review({ views: [planView(hostilePlan(text))] }), 1_000_000);
    const shown = expectWellFormed(markdown);
    if (text.trim() !== "") {
      // Wrapping changes lines, and a name its place in the order, never elements.
      expect(structure(shown).toSorted()).toEqual(plain.toSorted());
    }
    const outsideCode = shown.replaceAll(/<code[^>]*>.*?<\/code>/gs, "");
    expect(outsideCode).not.toMatch(/@|evil|owned|gone|big|everyone/);
    expect(markdown.replaceAll("\n", "")).not.toMatch(
      /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/u,
    );
    expect(markdown.split("\n").filter((line) => /^\s*(::|##\[)/.test(line))).toEqual([]);
  });

  test("whatever it is", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, minLength: 1 }),
        fc.constantFrom(...HOSTILE_TEXTS),
        (some, nasty) => {
          const markdown = renderReview(
            review({ views: [planView(hostilePlan(`x${some}${nasty.slice(0, 200)}`))] }),
            1_000_000,
          );
          expectWellFormed(markdown);
        },
      ),
      { numRuns: runs(20) },
    );
  });
});

test("a merchant with only deferred removals is distinguished from one with changes and one without", () => {
  const owner = liveRole("role_owner", "Owner", { predefined: true });
  const is = live(
    [owner],
    [
      liveMember("mem_1", "old@example.com", { roles: ["role_owner"] }),
      invited("mem_2", "new@example.com", { roles: ["role_owner"] }),
    ],
  );
  const want = desired({ members: [member("new@example.com", { roles: ["role_owner"] })] });
  const markdown = renderReview(review({ views: [planView(planOf(want, is))] }));
  expect(markdown).toContain("✅ rolecall plan: no changes");
  expect(markdown).toContain("| deferred only | 0 | 0 | 0 | 0 |");
});
