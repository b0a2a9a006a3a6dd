import { expect, test } from "vitest";
import type { MembershipFilter } from "../../src/service/memberships.ts";
import { connectTo, failureOf, json, problem, type Seen } from "./support.ts";

const membership = (id: string, more: object = {}): object => ({
  id: `mem_${id}`,
  resource_id: id,
  type: "merchant",
  roles: ["role_owner"],
  status: "accepted",
  resource: { id, type: "merchant", name: `Shop ${id}`, attributes: { sandbox: true } },
  ...more,
});

const listed = async (filter: MembershipFilter, memberships: readonly object[] = []) => {
  const { seen, ...service } = connectTo(() => problem(404), {
    memberships: () => json({ items: memberships, total_count: memberships.length }),
  });
  const found = await service.memberships(filter);
  return { found, query: seen[0]?.query.toString() };
};

test.each<[MembershipFilter, string]>([
  [{}, ""],
  [{ type: "organization" }, "&resource.type=organization"],
  [{ status: "expired" }, "&status=expired"],
  [{ sandbox: false }, "&resource.attributes.sandbox=false"],
  [{ name: "A & B" }, "&resource.name=A+%26+B"],
  [
    { parent: { type: "organization", id: "org_1" } },
    "&resource.parent.type=organization&resource.parent.id=org_1",
  ],
  [{ parent: null }, "&resource.parent.type=&resource.parent.id="],
  [{ roles: ["role_a", "role_b"] }, "&roles=role_a&roles=role_b"],
  [{ roles: [] }, ""],
])("the filter %j is sent as %s", async (filter, query) => {
  expect((await listed(filter)).query).toBe(`offset=0&limit=25${query}`);
});

test("memberships without end are given up at a bound", async () => {
  const endless = ({ query }: Seen): Response => {
    const offset = Number(query.get("offset"));
    return json({ items: Array.from({ length: 25 }, (_, index) => membership(`MC${offset + index}`)) });
  };
  const { memberships } = connectTo(() => problem(404), { memberships: endless, maxItems: 100 });
  expect(await failureOf(memberships())).toMatchObject({
    code: "too-many-items",
    message: "The list of the caller's memberships has more than 100 entries, so it was not read completely.",
  });
});

test("memberships that do not match the filter are dropped if the service ignores it", async () => {
  const all = [
    membership("MC1"),
    membership("MC2", {
      status: "pending",
      invite: { email: "a@example.com", expires_at: "2027-01-01T00:00:00Z" },
    }),
    membership("MC3", { roles: ["role_admin"] }),
    membership("org_1", { type: "organization" }),
    { id: "mem_bare", resource_id: "MC4" },
  ];
  const ids = async (filter: MembershipFilter): Promise<readonly string[]> =>
    (await listed(filter, all)).found.map(({ resource }) => resource.id);
  expect(await ids({ type: "merchant" })).toEqual(["MC1", "MC2", "MC3", "MC4"]);
  expect(await ids({ status: "pending" })).toEqual(["MC2"]);
  expect(await ids({ roles: ["role_admin"] })).toEqual(["MC3"]);
  const [, pending, , , bare] = (await listed({}, all)).found;
  expect(pending).toEqual({
    id: "mem_MC2",
    resource: { id: "MC2", type: "merchant", name: "Shop MC2", sandbox: true },
    roles: ["role_owner"],
    status: "pending",
    expiresAt: "2027-01-01T00:00:00Z",
  });
  expect(bare).toEqual({
    id: "mem_bare",
    resource: { id: "MC4", type: "unknown", name: "", sandbox: null },
    roles: [],
    status: "unknown",
  });
});
