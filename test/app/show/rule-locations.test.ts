import { expect, test } from "vitest";
import { listedRulePlaces, ruleLocations } from "../../../src/app/show/rule-locations.ts";
import { declaredRuleResults } from "../../../src/ask/report/rule-results.ts";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { PLAIN } from "../../../src/show/style.ts";
import { renderPlans } from "../../../src/show/text/plans-text.ts";
import { planView } from "../../../src/show/view/plan-view.ts";
import { live, liveMember, liveRole, NOW, planOf } from "../../support/build.ts";

/** Plans the merchants of some paths: the first file, unless told otherwise. */
async function plansOf(
  files: Readonly<Record<string, string>>,
  is: LiveState,
  paths: readonly string[] = Object.keys(files).slice(0, 1),
) {
  const read = async (path: string) => ({ ok: true as const, file: path, text: files[path] ?? "" });
  const { merchants, sources } = await loadMerchants(paths, read, { now: NOW, judge: judgeDeclared });
  const states = merchants.flatMap(({ state }) => state ?? []);
  const plans = states.map((desired) => planOf(desired, is));
  const [plan] = plans;
  if (!plan) throw new Error("the file is not valid");
  return { states, sources, plans, plan, placeOf: ruleLocations(states, sources) };
}

const FILES: Readonly<Record<string, string>> = {
  "shop.yaml": `version: 1
merchant: MC1
include: [rules.yaml]
roles: [{ name: Cashier, permissions: [sell] }]
members: [{ email: ada@example.com, roles: [Cashier] }]
checks:
  - { can: sell, only: [bob@example.com] }
  - { can: sell, at_most: 0 }
`,
  "rules.yaml": `version: 1
guards: { protect: { roles: [Old] }, max_gains: { sell: 0 } }
policies:
  forbid_permissions: [sell]
`,
};

test("each refusal has the location of its rule, also in an included file", async () => {
  const is = live([liveRole("role_1", "Old")]);
  const { plan, placeOf } = await plansOf(FILES, is);
  expect(plan.refusals.map((refusal) => [refusal.code, placeOf(plan, refusal)])).toEqual([
    ["max-gains", "rules.yaml:2:49"],
    ["protect", "rules.yaml:2:20"],
    ["forbid-permissions", "rules.yaml:4:23"],
    ["check-at-most", "shop.yaml:8:5"],
    ["check-only", "shop.yaml:7:5"],
  ]);
});

test("a grant that lasts too long has the location of its limit", async () => {
  const { plan, placeOf } = await plansOf(
    {
      "shop.yaml": `version: 1
merchant: MC1
policies: { require_until: { Cashier: 30d } }
roles: [{ name: Cashier, permissions: [sell] }]
members: [{ email: ada@example.com, roles: [{ role: Cashier, until: 2027-01-31 }] }]
`,
    },
    live(),
  );
  expect(plan.refusals.map((refusal) => [refusal.code, placeOf(plan, refusal)])).toEqual([
    ["until-limit", "shop.yaml:3:28"],
  ]);
});

test("a default has no location", async () => {
  const files: Readonly<Record<string, string>> = {
    "defaults.yaml": "version: 1\nmerchant: MC1\nguards: { min_holders: { Boss: 1 } }\nmembers: []\n",
    "own.yaml": `version: 1
merchant: MC2
guards: { max_removals: 1, min_holders: { role_owner: 1 } }
members: []
`,
    "including.yaml": "version: 1\nmerchant: MC3\ninclude: [area.yaml]\nmembers: []\n",
    "area.yaml": "version: 1\ninclude: [guards.yaml]\nguards: { max_removals: 3 }\n",
    "guards.yaml": "version: 1\nguards: { max_removals: 2 }\n",
  };
  const is = live(
    [liveRole("role_owner", "Owner", { predefined: true })],
    [1, 2, 3, 4].map((number) =>
      liveMember(`mem_${number}`, `m${number}@example.com`, { roles: ["role_owner"] }),
    ),
  );
  const { plans, placeOf } = await plansOf(files, is, Object.keys(files));
  const places = plans.map((plan) => {
    const those = plan.refusals.filter(({ code }) => code === "max-removals" || code === "min-holders");
    return [plan.merchant, ...those.map((refusal) => placeOf(plan, refusal))];
  });
  expect(places).toEqual([
    ["MC1", null, null],
    ["MC2", "own.yaml:3:25", "own.yaml:3:41"],
    ["MC3", "guards.yaml:2:25", null],
  ]);
});

test("a rule that names an unknown role or a misspelt permission is reported with its location, too", async () => {
  const files: Readonly<Record<string, string>> = {
    "shop.yaml": `version: 1
merchant: MC1
include: [rules.yaml]
sync: { roles: additive }
roles: [{ name: Cashier, permissions: [catalog_view] }]
checks:
  - { can: catalog_vew, only: ["role:Cashier", "role:Boss"] }
`,
    "rules.yaml": "version: 1\npolicies:\n  max_holders: { Cleark: 2 }\n  require_mfa: [Boss]\n",
  };
  const is = live([liveRole("role_1", "Clerk")]);
  const { plan, placeOf } = await plansOf(files, is);
  const view = planView(plan, placeOf);
  const placed = [...view.errors, ...view.warnings].map(({ name, place }) => [name, place]);
  expect(placed).toEqual([
    ["Boss", "shop.yaml:7:48"],
    ["Cleark", "rules.yaml:3:26"],
    ["catalog_vew", "shop.yaml:7:12"],
  ]);
  expect(renderPlans([view], PLAIN)).toContain("    written at shop.yaml:7:48\n");
});

test("an existing violation and an unknown member are reported with the location of the rule", async () => {
  const files: Readonly<Record<string, string>> = {
    "shop.yaml": `version: 1
merchant: MC1
sync: { members: additive }
guards: { protect: { members: [zoe@example.com] } }
policies: { max_holders: { role_1: 0 } }
checks:
  - { can: sell, at_most: 0 }
members: []
`,
  };
  const is = live(
    [liveRole("role_1", "Cashier", { permissions: ["sell"] })],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })],
  );
  const { plan, placeOf } = await plansOf(files, is);
  expect(plan.findings.map((finding) => [finding.code, placeOf(plan, finding)])).toEqual([
    ["check-at-most", "shop.yaml:7:5"],
    ["rule-member-unknown", "shop.yaml:4:32"],
    ["max-holders", "shop.yaml:5:26"],
  ]);
});

test("each rule of a report has its line, whichever of the files it is in; a default has none", async () => {
  const files: Readonly<Record<string, string>> = {
    "shop.yaml": `version: 1
merchant: MC1
include: [rules.yaml]
guards:
  protect:
    members:
      - ada@example.com
      - bob@example.com
roles: [{ name: A, permissions: [sell] }, { name: B, permissions: [sell] }]
policies:
  max_holders: { A: 2 }
  require_until:
    A: 30d
  separate:
    - [A, role_owner]
    - [A, B]
members: [{ email: ada@example.com, roles: [{ role: A, until: 2026-06-30 }] }]
checks:
  - { can: sell, at_most: 5 }
`,
    "rules.yaml": `version: 1
guards: { max_removals: 3 }
policies:
  require_mfa: [role_admin,
    role_owner]
  forbid_permissions: [pay]
`,
  };
  const { states, sources } = await plansOf(files, live());
  const [state] = states;
  if (!state) throw new Error("the file is not valid");
  const placeOf = listedRulePlaces([state], sources);
  const enforced = { ...state, enforced: [{ ...state, files: ["rules.yaml"] as const }] };
  const placeOfEnforced = listedRulePlaces([enforced], sources);
  const rules = declaredRuleResults(state, NOW).map(({ rule }) => rule);
  const owners = { section: "guards", text: "", origin: null, enforcedBy: null, entry: null } as const;
  const fewest = { ...owners, keys: ["guards", "min_holders", "role_owner"] };
  expect(rules.map((rule) => [rule.text, placeOf("MC1", rule)])).toEqual([
    ["can sell: at most 5", "shop.yaml:19"],
    ["separate: A, role_owner", "shop.yaml:15"],
    ["separate: A, B", "shop.yaml:16"],
    ["max_holders A: 2", "shop.yaml:11"],
    ["require_until: A", "shop.yaml:13"],
    ["require_mfa: role_admin", "rules.yaml:4"],
    ["require_mfa: role_owner", "rules.yaml:5"],
    ["forbid_permissions: pay", "rules.yaml:6"],
    ["max_removals: 3", "rules.yaml:2"],
    ["protect ada@example.com", "shop.yaml:7"],
    ["protect bob@example.com", "shop.yaml:8"],
  ]);
  expect([placeOf("MC1", fewest), placeOf("MC2", fewest)]).toEqual([null, null]);
  const removals = { ...owners, keys: ["guards", "max_removals"], enforcedBy: "rules.yaml" };
  expect(placeOfEnforced("MC1", removals)).toBe("rules.yaml:2");
});

test("an error about a member has the location of the grant, or of the entry", async () => {
  const files: Readonly<Record<string, string>> = {
    "shop.yaml": `version: 1
merchant: MC1
include: [people.yaml]
ignore: { roles: [role_2] }
members:
  - email: ada@example.com
    roles: [Clerk, { role: Ghost, from: 2099-06-01 }]
  - { email: bob@example.com, id: mem_gone, roles: [Clerk] }
  - { email: eve@example.com, roles: [ignore.roles, Till 7] }
`,
    "people.yaml": "version: 1\nmembers:\n  - { email: ADA@example.com, roles: [Phantom] }\n",
  };
  const is = live([liveRole("role_1", "Clerk"), liveRole("role_2", "Till 7")]);
  const { plan, placeOf } = await plansOf(files, is);
  const view = planView(plan, placeOf);
  expect(view.errors.map(({ code, place }) => [code, place])).toEqual([
    ["member-role-unknown", "shop.yaml:7:20"],
    ["member-role-unknown", "people.yaml:3:39"],
    ["member-pin-missing", "shop.yaml:8:5"],
    ["member-role-ignored", "shop.yaml:9:53"],
    ["member-role-unknown", "shop.yaml:9:39"],
  ]);
});
