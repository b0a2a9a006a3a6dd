import { describe, expect, test } from "vitest";
import { cellWidth } from "../../../src/lib/text.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { withRestoredViolations } from "../../../src/runs/restored-violations.ts";
import { PLAIN } from "../../../src/show/style.ts";
import { renderPlans } from "../../../src/show/text/plans-text.ts";
import { planView } from "../../../src/show/view/plan-view.ts";
import { desired, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";

const ROLES = ["Cashier", "Auditor", "Shift Lead", "Stock Keeper"] as const;

/** A plan where each of these people gets another role and other metadata, which no two have in common. */
function different(merchant: string, people: number, edited = true): Plan {
  const emails = Array.from({ length: people }, (_, at) => `p${at}@${merchant.toLowerCase()}.example.com`);
  return planOf(
    desired({
      merchant,
      guards: { protect: { roles: [], members: [] }, maxGains: {} },
      roles: ROLES.map((name) =>
        role(name, { permissions: edited ? ["catalog_view", "payouts_edit"] : ["catalog_view"] }),
      ),
      members: emails.map((email, at) =>
        member(email, {
          roles: [ROLES[(at + 1) % ROLES.length] ?? "Cashier"],
          metadata: { desk: `${merchant} ${at}`, floor: "first", since: "2026-01-01" },
        }),
      ),
    }),
    live(
      ROLES.map((name, at) => liveRole(`role_${at}`, name, { permissions: ["catalog_view"] })),
      [
        ...emails.map((email, at) =>
          liveMember(`mem_${at}`, email, { roles: [`role_${at % ROLES.length}`], metadata: { desk: "?" } }),
        ),
        ...(merchant.endsWith("0") ? [liveMember("mem_x", `gone@${merchant}.example.com`)] : []),
      ],
    ),
  );
}

const CODES = Array.from({ length: 60 }, (_, at) => `MC${at + 1}SHOP`);
const HUGE: Readonly<Record<string, readonly Plan[]>> = {
  "one merchant": [different("MC1SHOP", 2000)],
  "three merchants": ["MC1SHOP", "MC2SHOP", "MC3SHOP"].map((code) => different(code, 700)),
  "sixty merchants": CODES.map((code) => different(code, 35)),
};

const textAt = (plans: readonly Plan[], columns: number, verbosity?: "verbose"): string =>
  renderPlans(
    plans.map((plan) => planView(plan)),
    { ...PLAIN, columns },
    verbosity,
  );

/** Lines that are wider, but for a word that has a line of its own. */
function wide(text: string, columns: number): readonly string[] {
  return text.split("\n").filter((line) => cellWidth(line) > columns && line.trim().includes(" "));
}

describe.each([120, 80, 60, 40])("at %i columns", (columns) => {
  test.each(Object.keys(HUGE))(
    "2,000 different changes at %s are under 200 lines, with a count of the rest",
    (where) => {
      const text = textAt(HUGE[where] ?? [], columns);
      expect(text.split("\n").length).toBeLessThan(200);
      expect(text).toMatch(/… and [\d,]+ more/);
      expect(wide(text, columns)).toEqual([]);
    },
  );

  test("the plans of many merchants end with a table of them", async () => {
    const plans = CODES.slice(0, 14).map((code, at) => different(code, at + 1, at % 3 === 0));
    const lines = textAt(plans, columns).split("\n");
    const table = lines.slice(lines.findIndex((line) => line.startsWith("  Merchant")));
    expect(wide(table.join("\n"), columns)).toEqual([]);
    await expect(table.join("\n")).toMatchFileSnapshot(`../golden/fleet-table-${columns}.txt`);
  });
});

test("says once at its end how to see all of what is cut, and nothing if nothing is", () => {
  const text = textAt(HUGE["sixty merchants"] ?? [], 80);
  expect(text.match(/and [\d,]+ (\w+ )?more/g)?.length).toBeGreaterThan(2);
  expect(text.match(/--verbose/g)).toHaveLength(1);
  expect(text.trimEnd().split("\n").at(-1)).toBe("Lists are cut: -m CODE shows one merchant, --verbose all.");
  expect(textAt([different("MC1SHOP", 2)], 80)).not.toContain("--verbose");
});

test("a list of permissions that is cut begins with the sensitive ones, then those of most people", () => {
  const granted = (people: number, permissions: readonly string[]): Plan => {
    const emails = Array.from({ length: people }, (_, at) => `p${at}@example.com`);
    return planOf(
      desired({
        roles: permissions.map((one, at) => role(`R${at}`, { permissions: [one] })),
        members: emails.map((email, at) =>
          member(email, { roles: permissions.flatMap((_, index) => (at <= index ? [`R${index}`] : [])) }),
        ),
      }),
      live(),
    );
  };
  const namesIn = (plan: Plan): readonly string[] =>
    (/By permission\n((?: {6}.*\n)*)/.exec(textAt([plan], 80))?.[1] ?? "")
      .trimEnd()
      .split("\n")
      .map((line) => line.trim().split(" ")[0] ?? "");
  const few = ["zebra_a", "payouts_edit", "apple"];
  expect(namesIn(granted(3, few))).toEqual(["apple", "payouts_edit", "zebra_a"]);
  const many = [...Array.from({ length: 43 }, (_, at) => `a${String(at).padStart(2, "0")}`), "payouts_edit"];
  expect(namesIn(granted(50, many)).slice(0, 3)).toEqual(["payouts_edit", "a42", "a41"]);
});

test("with --verbose the table has every merchant", () => {
  const plans = CODES.slice(0, 14).map((code, at) => different(code, at + 1));
  const rows = (text: string): number => (text.match(/^ {2}MC\d+SHOP +\S+ +\d+/gm) ?? []).length;
  expect(rows(textAt(plans, 80))).toBe(10);
  expect(textAt(plans, 80)).toMatch(/… and 4 more merchants: \d+ to update\n/);
  expect(rows(textAt(plans, 80, "verbose"))).toBe(14);
});

test("a long plan cuts what waits, too, and says how much is left out", () => {
  const names = Array.from({ length: 112 }, (_, at) => `p${at}`);
  const former = names.map((name, at) =>
    member(`${name}@new.example`, {
      roles: ["Cashier"],
      previously: [`${name}@old.example`],
      metadata: { at },
    }),
  );
  const is = live(
    [liveRole("role_1", "Cashier")],
    names.map((name, at) =>
      liveMember(`mem_${at}`, `${name}@old.example`, { roles: ["role_1"], metadata: { at } }),
    ),
  );
  const text = renderPlans([planView(planOf(desired({ members: former }), is))], PLAIN);
  expect(text.match(/waits until/g)).toHaveLength(10);
  expect(text).toContain("    … and 102 more\n");
  expect(text).toContain("112 removals deferred.");
});

test("the rules that an undo breaks again are shown even if quiet, with their merchants and as whole sentences", () => {
  const wanted = desired({
    roles: [role("Till")],
    members: ["ada", "bob"].map((name) => member(`${name}@example.com`, { roles: ["Till"] })),
    policies: { ...desired().policies, maxHolders: { Till: 1 } },
  });
  const { merchant: _, ...plan } = withRestoredViolations(planOf(wanted, live()));
  const text = (count: number): string =>
    renderPlans(
      Array.from({ length: count }, (_, index) =>
        planView({ ...plan, merchant: `MC${index + 1}` }, () => null, [], "undo"),
      ),
      PLAIN,
      "quiet",
    ).replaceAll(/\s+/g, " ");
  const rule =
    'policy max-holders: The role "Till" would have 2 holders (ada@example.com, bob@example.com); the limit is 1.';
  expect(text(1)).toContain(`Risks ! 1 rule is broken again ${rule} `);
  expect(text(4)).toContain(`Risks ! Rules are broken again, at 4 merchants in all 4 merchants: ${rule} `);
});
