import { expect, test } from "vitest";
import { ruleLocations } from "../../../src/cli/show/show-plans.ts";
import { loadMerchants } from "../../../src/config/load-merchants.ts";
import { buildPlan } from "../../../src/plan/build-plan.ts";
import { live, liveRole, matches, NOW } from "../../support/build.ts";

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

test("each refusal tells where its rule is written, also in an included file", async () => {
  const read = async (path: string) => ({ ok: true as const, file: path, text: FILES[path] ?? "" });
  const { merchants, sources } = await loadMerchants(["shop.yaml"], read, { now: NOW });
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
