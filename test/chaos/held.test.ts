import { describe, expect, test } from "vitest";
import { heldNoMore, type Standing } from "./held.ts";
import { type Scenario, scenarioOf } from "./scenario.ts";
import type { Sent } from "./service.ts";

const ELI = "eli@example.com";

const SCENARIO: Scenario = {
  ...scenarioOf(1),
  world: {
    roles: [],
    members: [{ id: "mem_1", email: ELI, roles: ["role_a"], metadata: { team: "a" }, status: "expired" }],
  },
  want: { sync: {}, members: [{ email: ELI, roles: ["role_b"] }] },
  faults: [],
};

const EMPTIED: Standing = { id: "mem_1", email: ELI, roles: ["role_b"] };

const PUT: Sent = {
  number: 1,
  method: "PUT",
  path: "/v0.1/merchants/MC0CHAOS/members/mem_1",
  status: 200,
  key: null,
  somebody_else: false,
  committed: true,
  state: 1,
  resource: "mem_1",
  name: null,
  faults: ["replacing-put"],
};

const LOST = [`what the expired invitation of ${ELI} held is lost`];

describe("what an expired invitation held", () => {
  test("is kept where the member in its place holds it", () => {
    const renewed = { ...EMPTIED, id: "mem_2", metadata: { team: "a" } };
    expect(heldNoMore(SCENARIO, [renewed], [])).toEqual([]);
  });

  test("is lost where a new invitation, or nobody, stands in its place", () => {
    expect(heldNoMore(SCENARIO, [{ ...EMPTIED, id: "mem_2" }], [PUT])).toEqual(LOST);
    expect(heldNoMore(SCENARIO, [], [PUT])).toEqual(LOST);
  });

  test("is not lost by a renewal where an apply was cut short after an update that emptied it", () => {
    expect(heldNoMore(SCENARIO, [EMPTIED], [PUT])).toEqual([]);
  });

  test("is lost where the update did nothing, or the service kept what it left out", () => {
    expect(heldNoMore(SCENARIO, [EMPTIED], [])).toEqual(LOST);
    expect(heldNoMore(SCENARIO, [EMPTIED], [{ ...PUT, committed: false }])).toEqual(LOST);
    expect(heldNoMore(SCENARIO, [EMPTIED], [{ ...PUT, faults: [] }])).toEqual(LOST);
  });
});
