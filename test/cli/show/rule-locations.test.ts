import { expect, test } from "vitest";
import { ruleLocations } from "../../../src/cli/show/rule-locations.ts";
import { loadMerchants } from "../../../src/config/load-merchants.ts";
import { buildPlan } from "../../../src/plan/build-plan.ts";
import { judgeDeclared } from "../../../src/plan/judge/judge-rules.ts";
import { PLAIN } from "../../../src/render/style.ts";
import { renderPlans } from "../../../src/render/text/plans-text.ts";
import { planView } from "../../../src/render/view/plan-view.ts";
import { live, liveMember, liveRole, matches, NOW } from "../../support/build.ts";

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
guards: { protect: { roles: [Old] } }
policies:
  forbid_permissions: [sell]
`,
};

test("each refusal has the location of its rule, also in an included file", async () => {
  const read = async (path: string) => ({ ok: true as const, file: path, text: FILES[path] ?? "" });
  const { merchants, sources } = await loadMerchants(["shop.yaml"], read, { now: NOW, judge: judgeDeclared });
  const states = merchants.flatMap(({ state }) => state ?? []);
  const [desired] = states;
  if (!desired) throw new Error("the file is not valid");
  const is = live([liveRole("role_1", "Old")]);
  const plan = buildPlan({ desired, live: is, service: "https://one.example", now: NOW, matches });
  const placeOf = ruleLocations(states, sources);
  expect(plan.refusals.map((refusal) => [refusal.code, placeOf(plan, refusal)])).toEqual([
    ["protect", "rules.yaml:2:20"],
    ["forbid-permissions", "rules.yaml:4:23"],
    ["check-at-most", "shop.yaml:8:5"],
    ["check-only", "shop.yaml:7:5"],
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
  const read = async (path: string) => ({ ok: true as const, file: path, text: files[path] ?? "" });
  const { merchants, sources } = await loadMerchants(Object.keys(files), read, {
    now: NOW,
    judge: judgeDeclared,
  });
  const states = merchants.flatMap(({ state }) => state ?? []);
  const is = live(
    [liveRole("role_owner", "Owner", { predefined: true })],
    [1, 2, 3, 4].map((number) =>
      liveMember(`mem_${number}`, `m${number}@example.com`, { roles: ["role_owner"] }),
    ),
  );
  const placeOf = ruleLocations(states, sources);
  const places = states.map((desired) => {
    const plan = buildPlan({ desired, live: is, service: "https://one.example", now: NOW, matches });
    const those = plan.refusals.filter(({ code }) => code === "max-removals" || code === "min-holders");
    return [desired.merchant, ...those.map((refusal) => placeOf(plan, refusal))];
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
  const read = async (path: string) => ({ ok: true as const, file: path, text: files[path] ?? "" });
  const { merchants, sources } = await loadMerchants(["shop.yaml"], read, { now: NOW, judge: judgeDeclared });
  const states = merchants.flatMap(({ state }) => state ?? []);
  const [desired] = states;
  if (!desired) throw new Error("the file is not valid");
  const is = live([liveRole("role_1", "Clerk")]);
  const plan = buildPlan({ desired, live: is, service: "https://one.example", now: NOW, matches });
  const view = planView(plan, ruleLocations(states, sources));
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
  const read = async (path: string) => ({ ok: true as const, file: path, text: files[path] ?? "" });
  const { merchants, sources } = await loadMerchants(["shop.yaml"], read, { now: NOW, judge: judgeDeclared });
  const states = merchants.flatMap(({ state }) => state ?? []);
  const [desired] = states;
  if (!desired) throw new Error("the file is not valid");
  const is = live(
    [liveRole("role_1", "Cashier", { permissions: ["sell"] })],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })],
  );
  const plan = buildPlan({ desired, live: is, service: "https://one.example", now: NOW, matches });
  const placeOf = ruleLocations(states, sources);
  expect(plan.findings.map((finding) => [finding.code, placeOf(plan, finding)])).toEqual([
    ["check-at-most", "shop.yaml:7:5"],
    ["rule-member-unknown", "shop.yaml:4:32"],
    ["max-holders", "shop.yaml:5:26"],
  ]);
});
