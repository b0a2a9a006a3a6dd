import { expect, test } from "vitest";
import { connectTo, failureOf, json, MEMBERS, problem, ROLES, wireMember, wireRole } from "./support.ts";

test("a role and a member are read by their ids", async () => {
  const { lookup, seen } = connectTo(({ path }) =>
    json(path.startsWith(ROLES) ? wireRole("role_a") : wireMember("mem_a")),
  );
  expect(await lookup("MC1").getRole("role_a")).toMatchObject({
    id: "role_a",
    permissions: ["catalog_view"],
  });
  expect(await lookup("MC1").getMember("mem_a")).toMatchObject({
    id: "mem_a",
    status: "accepted",
    user: { email: "mem_a@example.com" },
  });
  expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `GET ${ROLES}/role_a`,
    `GET ${MEMBERS}/mem_a`,
  ]);
});

test("a missing resource is null, and an unknown one a failure", async () => {
  const gone = connectTo(() => problem(404)).lookup("MC1");
  expect([await gone.getRole("role_a"), await gone.getMember("mem_a")]).toEqual([null, null]);
  const forbidden = connectTo(() => problem(403)).lookup("MC1");
  expect(await failureOf(forbidden.getMember("mem_a"))).toMatchObject({ code: "forbidden" });
  expect((await failureOf(forbidden.getMember("mem_a"))).hint).toMatch(
    /the permission members_view to retrieve a member/,
  );
  const other = connectTo(() => json({ id: 1 })).lookup("MC1");
  expect(await failureOf(other.getRole("role_a"))).toMatchObject({ code: "bad-response" });
});

test("a response about another resource is a failure", async () => {
  const { lookup } = connectTo(({ path }) =>
    json(path.startsWith(ROLES) ? wireRole("role_b") : wireMember("mem_b")),
  );
  const failure = await failureOf(lookup("MC1").getRole("role_a"));
  expect(failure).toMatchObject({ code: "bad-response" });
  expect(failure.message).toContain("about role_b instead of role_a");
  expect(await failureOf(lookup("MC1").getMember("mem_a"))).toMatchObject({ code: "bad-response" });
});

test("a 408 is retried for a read, not for a write", async () => {
  const late = connectTo((_, count) => (count === 1 ? problem(408) : json(wireRole("role_a"))));
  expect(await late.lookup("MC1").getRole("role_a")).toMatchObject({ id: "role_a" });
  const write = connectTo(() => problem(408));
  const failure = await write
    .writer("MC1")
    .deleteRole("role_a")
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "timeout", request: { status: 408, attempts: 1 } });
});

test("a lost response is retried", async () => {
  const { lookup, seen } = connectTo((_, count) => (count === 1 ? problem(503) : json(wireRole("role_a"))));
  expect(await lookup("MC1").getRole("role_a")).not.toBeNull();
  expect(seen).toHaveLength(2);
});
