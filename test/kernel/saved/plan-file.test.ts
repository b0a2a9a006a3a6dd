import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonSchema } from "../../../src/kernel/saved/json-schemas.ts";
import { parsePlanFile } from "../../../src/kernel/saved/plan-file.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { plansJson } from "../../../src/show/machine/machine-formats.ts";
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
  SYNC,
} from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";
import { richPlan } from "../../support/rich-plan.ts";

const stored = new URL("../../../schemas/plan.schema.json", import.meta.url);
const validate = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true }).compile(
  jsonSchema("plan"),
);

/** A plan with what the rich one does not have: something deferred, replaced and refused. */
function refusedPlan(): Plan {
  const roles = [
    liveRole("role_owner", "Owner", { predefined: true, permissions: ["members_update"] }),
    liveRole("role_1", "Cashier", { permissions: ["catalog_view"], metadata: { owner: "a" } }),
  ];
  const members = [
    liveMember("mem_1", "ada@example.com", { roles: ["role_owner"] }),
    invited("mem_2", "bob@example.com", { roles: ["role_owner"] }),
    liveMember("mem_3", "cy@example.com", { roles: ["role_1"] }),
  ];
  const want = desired({
    sync: { ...SYNC, replaceRoles: true },
    guards: { protect: { roles: [], members: ["cy@*"] } },
    roles: [role("Cashier", { permissions: ["catalog_view"], metadata: { owner: "b" } })],
    members: [
      member("bob@example.com", { roles: ["role_owner"] }),
      member("cy@example.com", { roles: [] }),
      member("new@example.com", { roles: ["role_owner"] }),
    ],
    checks: [{ kind: "at-most", can: "members_update", atMost: 0, origin: { file: "shop.yaml", path: [] } }],
  });
  return planOf(want, live(roles, members));
}

describe("the JSON Schema of a plan", () => {
  test("is the one that the program reads plans with", () => {
    expect(readFileSync(stored, "utf8")).toBe(`${JSON.stringify(jsonSchema("plan"), null, 2)}\n`);
  });

  test("accepts a plan with something of everything", () => {
    const refused = refusedPlan();
    expect(refused.deferred).toHaveLength(1);
    expect(refused.refusals.map(({ rule }) => rule)).toEqual(["guard", "check"]);
    expect(refused.changes.map(({ kind }) => kind)).toContain("replace");
    for (const plan of [richPlan(), refused]) {
      validate(JSON.parse(plansJson([plan])));
      expect(validate.errors).toBeNull();
    }
  });

  test("accepts every plan that there can be", () => {
    fc.assert(
      fc.property(desiredStates, liveStates, (want, is) => {
        validate(JSON.parse(plansJson([planOf(want, is)])));
        expect(validate.errors).toBeNull();
      }),
      { numRuns: runs(60) },
    );
  });

  test.each([
    ["a key that it does not know", (plan: Plan) => ({ ...plan, extra: 1 })],
    [
      "a change of an unknown kind",
      (plan: Plan) => ({ ...plan, changes: [{ ...plan.changes[0], kind: "x" }] }),
    ],
    ["a plan without its fingerprint", ({ fingerprint: _, ...plan }: Plan) => plan],
  ])("rejects %s, and so does the program", (_, spoil) => {
    const text = JSON.stringify({ format: 1, plans: [spoil(richPlan())] });
    expect(validate(JSON.parse(text))).toBe(false);
    expect(parsePlanFile(text).ok).toBe(false);
  });
});

describe("a saved plan", () => {
  test("is read back as it was written, byte for byte", () => {
    fc.assert(
      fc.property(desiredStates, liveStates, (want, is) => {
        const text = plansJson([
          planOf(want, is),
          { ...richPlan(), merchant: "MC2" },
          { ...refusedPlan(), merchant: "MC3" },
        ]);
        const read = parsePlanFile(text);
        expect(read.ok && plansJson(read.plans)).toBe(text);
      }),
      { numRuns: runs(60) },
    );
  });

  test.each([
    ["what is not JSON", "plan", "it is not JSON"],
    [
      "a newer format",
      '{ "format": 2, "plans": [] }',
      "its format is 2, and this version of rolecall knows format 1",
    ],
    ["two plans for one merchant", plansJson([richPlan(), richPlan()]), "it has two plans for one merchant"],
    [
      "something else",
      '{ "format": 1 }',
      "it is not a plan file of this version of rolecall: plans: expected array",
    ],
  ])("that is %s is rejected with a reason", (_, text, reason) => {
    expect(parsePlanFile(text)).toEqual({ ok: false, reason });
  });

  test("names the variable with a password, and never holds what is in it", () => {
    const text = plansJson([richPlan()]);
    expect(text).toContain('"passwordEnv": "TILL_7_PASSWORD"');
    expect(text).not.toMatch(/sk_(live|test)_|"password"/);
  });
});
