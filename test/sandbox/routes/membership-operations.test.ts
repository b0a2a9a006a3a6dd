import { describe, expect, test } from "vitest";
import { kindOf, start } from "../support.ts";

const SEED = `
merchants:
  - code: MC1
    name: Harbour Street
    sandbox: false
    parent: { type: organization, id: org_1 }
    members: [{ email: ada@example.com, roles: [role_owner] }]
  - code: MC2
    members: [{ email: ADA@example.com, roles: [role_employee], status: pending, metadata: { a: 1 } }]
  - code: MC3
    members: [{ email: bob@example.com, roles: [role_owner] }]
  - code: MC4
    parent: { type: franchise, id: org_1 }
    members: [{ email: ada@example.com, roles: [role_manager], status: expired }]
organizations:
  - { id: org_1, name: Retail Group, members: [{ email: ada@example.com, roles: [role_admin] }] }
keys:
  - { key: sk_test_sandbox, owner: Ada@Example.com }
  - { key: sk_live_nobody }
`;

const { call } = start({ seed: SEED });

async function held(query: string): Promise<string> {
  const { status, body } = await call("GET", `/v0.1/memberships${query}`);
  expect(status).toBe(200);
  return body.items.map((one: { resource_id: string }) => one.resource_id).join(" ");
}

describe("the memberships of the key's owner", () => {
  test.each([
    ["", "MC1 MC2 MC4 org_1"],
    ["?limit=1", "MC1"],
    ["?limit=2&offset=1", "MC2 MC4"],
    ["?kind=merchant", "MC1 MC2 MC4"],
    ["?kind=organization", "org_1"],
    ["?resource.type=organization", "org_1"],
    ["?kind=merchant&resource.type=merchant", "MC1 MC2 MC4"],
    ["?kind=planet", ""],
    ["?status=accepted", "MC1 org_1"],
    ["?status=pending", "MC2"],
    ["?status=expired", "MC4"],
    ["?resource.attributes.sandbox=false", "MC1"],
    ["?resource.attributes.sandbox=true", "MC2 MC4 org_1"],
    ["?resource.id=MC2", "MC2"],
    ["?resource.id=MC3", ""],
    ["?resource.type=merchant&resource.id=org_1", ""],
    ["?resource.name=Harbour%20Street", "MC1"],
    ["?resource.name=Harbour", ""],
    ["?roles=role_owner&roles=role_admin", "MC1 org_1"],
    ["?resource.parent.id=org_1&resource.parent.type=organization", "MC1"],
    ["?resource.parent.id=org_1&resource.parent.type=franchise", "MC4"],
    ["?resource.parent.id=org_2&resource.parent.type=organization", ""],
    ["?resource.parent.id=null&resource.parent.type=null", "MC2 org_1"],
    ["?resource.parent.id=&resource.parent.type=", "MC2 org_1"],
  ])("with %s are: %s", async (query, expected) => {
    expect(await held(query)).toBe(expected);
  });

  test("are counted whole", async () => {
    const { body } = await call("GET", "/v0.1/memberships?limit=1&kind=merchant");
    expect(body.total_count).toBe(3);
  });

  test("have their resource and pending invitation", async () => {
    const { body } = await call("GET", "/v0.1/memberships?status=pending");
    expect(body.items[0]).toEqual({
      id: expect.stringMatching(/^mem_/),
      resource_id: "MC2",
      type: "merchant",
      roles: ["role_employee"],
      permissions: [],
      created_at: "2026-01-05T09:00:00.000Z",
      updated_at: "2026-01-05T09:00:00.000Z",
      invite: { email: "ADA@example.com", expires_at: "2026-06-08T12:00:00.000Z" },
      status: "pending",
      metadata: { a: 1 },
      resource: {
        id: "MC2",
        type: "merchant",
        name: "MC2",
        created_at: "2026-01-05T09:00:00.000Z",
        updated_at: "2026-01-05T09:00:00.000Z",
        attributes: { sandbox: true },
      },
    });
  });

  test.each([
    "resource.parent.id=org_1",
    "resource.parent.type=organization",
    "resource.parent.id=null",
    "resource.parent.id=null&resource.parent.type=organization",
    "resource.parent.id=org_1&resource.parent.type=null",
    "kind=merchant&resource.type=organization",
    "status=gone",
    "limit=26",
    "offset=-1",
    "resource.attributes.sandbox=1",
  ])("with %s are a 400 Problem", async (query) => {
    const got = await call("GET", `/v0.1/memberships?${query}`);
    expect([got.status, kindOf(got)]).toEqual([400, "bad-request"]);
    expect(got.headers.get("content-type")).toBe("application/problem+json");
  });

  test("are a 403 for a key without a user", async () => {
    const got = await call("GET", "/v0.1/memberships", { key: "sk_live_nobody" });
    expect([got.status, kindOf(got)]).toEqual([403, "forbidden"]);
  });
});
