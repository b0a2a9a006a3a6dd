import { expect, test } from "vitest";
import { processorTime } from "../../support/processor-time.ts";
import { MEMBERS, type MemberBody, start } from "../support.ts";

test("generated members come after the seeded ones, always the same", async () => {
  const lists = await Promise.all(
    [start({ generate: 60 }), start({ generate: 60 })].map(async ({ call }) => {
      const pages = await Promise.all(
        [0, 25, 50].map((offset) => call("GET", `${MEMBERS}?limit=25&offset=${offset}`)),
      );
      return pages.flatMap(({ body }) => body.items);
    }),
  );
  expect(lists[0]).toEqual(lists[1]);
  const members: MemberBody[] = lists[0] ?? [];
  expect(members).toHaveLength(61);
  expect(members[0]?.user?.["email"]).toBe("owner@example.com");
  expect(members[1]?.user?.["email"]).toBe("member-000001@example.com");
  expect(new Set(members.map((member) => member.id)).size).toBe(61);
  expect(members.filter((member) => member.status === "pending")).toHaveLength(2);
});

test("a seed gets them in its first merchant, with its own roles among theirs", async () => {
  const seed = "merchants: [{ code: MC1, roles: [{ name: A, id: role_a }] }, { code: MC2 }]";
  const { call } = start({ seed, generate: 10 });
  expect((await call("GET", "/v0.1/merchants/MC1/members")).body.total_count).toBe(10);
  expect((await call("GET", "/v0.1/merchants/MC1/members?roles=role_a")).body.total_count).toBe(5);
  expect((await call("GET", "/v0.1/merchants/MC2/members")).body.total_count).toBe(0);
});

test("pages through 100,000 members without scanning all of them", async () => {
  const { call } = start({ generate: 100_000 });
  const { body } = await call("GET", `${MEMBERS}?limit=25&offset=99990`);
  expect(body.items).toHaveLength(11);
  expect(body.total_count).toBe(100_001);
  const began = processorTime();
  for (let i = 0; i < 400; i += 1) await call("GET", `${MEMBERS}?limit=25&offset=${i * 250}`);
  // Generous: going through all members for each page takes ten times as long.
  expect(processorTime() - began).toBeLessThan(5000);
});
