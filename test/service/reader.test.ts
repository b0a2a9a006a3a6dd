import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  connectTo,
  failureOf,
  holding,
  json,
  MEMBERS,
  pageOf,
  problem,
  ROLES,
  type Seen,
  wireMember,
  wireMembers,
  wireRole,
} from "./support.ts";

describe("reading a merchant", () => {
  test("returns its roles and members as the model has them", async () => {
    const role = wireRole("role_a", { description: null, metadata: { owner: "ops" }, later_field: [1] });
    const member = wireMember("mem_a", {
      roles: ["role_a"],
      invite: { email: "a@example.com", expires_at: "2026-02-01T00:00:00Z" },
      status: "on-holiday",
      attributes: { x: 1 },
    });
    const { reader } = connectTo(holding([member], [role]));
    expect(await reader.read("MC1", [])).toEqual({
      merchant: "MC1",
      callerId: null,
      roles: [
        {
          id: "role_a",
          name: "Name of role_a",
          permissions: ["catalog_view"],
          predefined: false,
          metadata: { owner: "ops" },
          createdAt: "2026-01-01T00:00:00Z",
          updatedAt: "2026-01-02T00:00:00Z",
        },
      ],
      members: [
        {
          id: "mem_a",
          roles: ["role_a"],
          status: "unknown",
          user: {
            id: "user of mem_a",
            email: "mem_a@example.com",
            mfaOnLogin: true,
            type: "user",
          },
          invite: { email: "a@example.com", expiresAt: "2026-02-01T00:00:00Z" },
          metadata: {},
          createdAt: "2026-01-01T00:00:00Z",
          updatedAt: "2026-01-02T00:00:00Z",
        },
      ],
    });
  });

  test("reports the metadata that it had to round, also nested", async () => {
    const member = JSON.stringify(
      wireMember("mem_a", { metadata: { a: "NUMBER", b: [{ c: "NUMBER" }], d: 7 } }),
    );
    const text = `{"items":[${member},${JSON.stringify(wireMember("mem_b", { metadata: { d: 7 } }))}],"total_count":2}`;
    const answers = connectTo(({ path }) =>
      path === MEMBERS ? new Response(text.replaceAll('"NUMBER"', "9007199254740993")) : json({ items: [] }),
    );
    const { members } = await answers.reader.read("MC1", []);
    expect(members.map(({ metadata, rounded }) => ({ metadata, rounded }))).toEqual([
      {
        metadata: { a: 9007199254740992, b: [{ c: 9007199254740992 }], d: 7 },
        rounded: ["a", "b"],
      },
      { metadata: { d: 7 }, rounded: undefined },
    ]);
  });

  test("takes a user who was disabled for disabled, an empty address for none, and MFA that is not told for unknown", async () => {
    const user = { id: "u", email: " ", mfa_on_login_enabled: true, disabled_at: "2026-01-01T00:00:00Z" };
    const nobody = { id: "v", email: "", disabled_at: null };
    const { reader } = connectTo(
      holding([
        wireMember("mem_a", { user }),
        wireMember("mem_b", { user: nobody, invite: { email: "" } }),
        wireMember("mem_c", { user: { id: "w" }, invite: { email: "c@example.com" } }),
      ]),
    );
    const { members } = await reader.read("MC1", []);
    expect(members.map(({ status, user: one, invite }) => [status, one?.email, invite?.email])).toEqual([
      ["disabled", undefined, undefined],
      ["accepted", undefined, undefined],
      ["accepted", undefined, "c@example.com"],
    ]);
    expect(members.map(({ user: one }) => one?.mfaOnLogin)).toEqual([true, null, null]);
  });

  test("refuses a role list with a role twice", async () => {
    const { reader } = connectTo(holding([], [wireRole("role_a"), wireRole("role_b"), wireRole("role_a")]));
    const failure = await failureOf(reader.read("MC1", []));
    expect(failure.message).toMatch(/returned 200, but with a role listed twice\.$/);
  });

  test("sends the key and what it accepts, and nothing else of note", async () => {
    const { reader, seen } = connectTo(holding([]));
    await reader.read("MC1", []);
    expect(seen.map(({ headers }) => [...headers.keys()].sort())).toEqual(
      seen.map(() => ["accept", "authorization", "user-agent"]),
    );
    expect(seen[0]?.headers.get("accept")).toBe("application/problem+json, application/json");
    expect(seen[0]?.headers.get("user-agent")).toBe("rolecall/1.2.3 node/24.1.0");
  });

  test("requests each page once, and none beyond the end", async () => {
    const pagesOf = async (members: number): Promise<string[]> => {
      const { reader, seen } = connectTo(holding(wireMembers(members)));
      expect((await reader.read("MC1", [])).members).toHaveLength(members);
      return seen.flatMap(({ query }) => query.get("offset") ?? []);
    };
    expect(await pagesOf(100)).toEqual(["0", "25", "50", "75"]);
    expect(await pagesOf(30)).toEqual(["0", "25"]);
    expect(await pagesOf(0)).toEqual(["0"]);
  });

  test("completes the first of many merchants while the last have not begun", async () => {
    const { reader, seen } = connectTo(
      (one) => (one.path.endsWith("/members") ? json(pageOf(wireMembers(60), one)) : json({ items: [] })),
      { concurrency: 2 },
    );
    const begunAt: number[] = [];
    const codes = Array.from({ length: 12 }, (_, index) => `MC${index}`);
    await Promise.all(
      codes.map(async (code) => {
        await reader.read(code, []);
        begunAt.push(new Set(seen.map(({ path }) => /MC\d+/.exec(path)?.[0])).size);
      }),
    );
    expect(begunAt[0]).toBeLessThan(4);
    expect(begunAt[5]).toBeLessThan(9);
  });

  test("adapts if the service returns smaller pages", async () => {
    const members = wireMembers(45);
    const { reader, seen } = connectTo((one) =>
      one.path === MEMBERS ? json(pageOf(members, one, 10)) : json({ items: [] }),
    );
    expect((await reader.read("MC1", [])).members).toHaveLength(45);
    expect(seen.flatMap(({ query }) => query.get("offset") ?? []).sort()).toEqual([
      "0",
      "10",
      "20",
      "30",
      "40",
    ]);
  });

  test("gets the roles that the file names while it reads", async () => {
    const { reader, seen } = connectTo(holding(wireMembers(30)));
    const live = await reader.read("MC1", ["role_a"]);
    expect(live.members).toHaveLength(30);
    expect(seen.map(({ path }) => path)).toContain("/v0.1/merchants/MC1/roles/role_a");
  });

  test("reads 10,000 members with one role list and 400 member pages", async () => {
    const { reader, seen } = connectTo(holding(wireMembers(10_000)));
    const live = await reader.read("MC1", []);
    expect(live.members.map(({ id }) => id)).toEqual(wireMembers(10_000).map((_, index) => `mem_${index}`));
    expect(seen.filter(({ path }) => path === ROLES)).toHaveLength(1);
    expect(seen.filter(({ path }) => path === MEMBERS)).toHaveLength(400);
    expect(seen.every(({ query, path }) => path === ROLES || query.get("limit") === "25")).toBe(true);
  });

  test("never has more requests in flight than allowed", async () => {
    let underWay = 0;
    let most = 0;
    const answer = holding(wireMembers(1000));
    const { reader } = connectTo(
      async (seen, count) => {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise(setImmediate);
        underWay -= 1;
        return answer(seen, count);
      },
      { concurrency: 5 },
    );
    await reader.read("MC1", []);
    expect(most).toBe(5);
  });

  test("reports its progress", async () => {
    const { reader, events } = connectTo(holding(wireMembers(60)));
    await reader.read("MC1", []);
    const read = events.filter((event) => event.type === "read");
    expect(read.map(({ members, total }) => [members, total])).toEqual([
      [25, 60],
      [50, 60],
      [60, 60],
    ]);
  });

  test("retrieves the roles that are held or named but not listed, once each, and reports the missing ones", async () => {
    const members = [
      wireMember("mem_a", { roles: ["role_owner", "role_gone"] }),
      wireMember("mem_b", { roles: ["role_owner"] }),
    ];
    const { reader, seen } = connectTo((one) => {
      if (one.path === `${ROLES}/role_owner`) return json(wireRole("role_owner", { is_predefined: true }));
      return holding(members, [wireRole("role_a")])(one, 1);
    });
    const live = await reader.read("MC1", ["role_a", "role_never", "role_cashier"]);
    expect(live.roles.map(({ id, predefined, idOnly = false }) => [id, predefined, idOnly])).toEqual([
      ["role_a", false, false],
      ["role_owner", true, false],
      ["role_cashier", true, true],
      ["role_gone", true, true],
    ]);
    expect(
      seen
        .filter(({ path }) => path.startsWith(`${ROLES}/`))
        .map(({ path }) => path.slice(ROLES.length + 1))
        .sort(),
    ).toEqual(["role_cashier", "role_gone", "role_never", "role_owner"]);
  });

  describe("of several merchants", () => {
    /** A service at which every merchant has one member, who holds a role that is not listed. */
    const fleet = (role: string, answer: (merchant: string, count: number) => Response) => {
      const count = { of: 0 };
      const { reader } = connectTo((one) => {
        const [, merchant = ""] = /^\/v0\.1\/merchants\/([^/]+)\//.exec(one.path) ?? [];
        const path = one.path.replace(merchant, "MC1");
        if (path === `${ROLES}/${role}`) {
          count.of += 1;
          return answer(merchant, count.of);
        }
        return holding([wireMember("mem_a", { roles: [role] })])({ ...one, path }, 1);
      });
      return { reader, count };
    };
    const CODES = ["MC1", "MC2", "MC3", "MC4"];

    test("retrieves a predefined role once, side by side and later", async () => {
      const predefined = json(wireRole("role_owner", { is_predefined: true }));
      const { reader, count } = fleet("role_owner", () => predefined.clone());
      const lives = await Promise.all(CODES.map((code) => reader.read(code, ["role_owner"])));
      for (const { roles } of [...lives, await reader.read("MC5", [])]) {
        expect(roles).toMatchObject([{ id: "role_owner", name: "Name of role_owner", predefined: true }]);
      }
      expect(count.of).toBe(1);
    });

    test("retrieves any other role for each, and takes nothing of one merchant for another", async () => {
      const { reader, count } = fleet("role_owner", (merchant) =>
        json(wireRole("role_owner", { name: `Own of ${merchant}` })),
      );
      const lives = await Promise.all(CODES.map((code) => reader.read(code, [])));
      expect(lives.map(({ roles }) => roles[0]?.name)).toEqual(CODES.map((code) => `Own of ${code}`));
      expect(count.of).toBe(CODES.length);
    });

    test("retrieves a predefined role again where it was not answered for, or with an error", async () => {
      const { reader, count } = fleet("role_owner", (_, asked) => {
        if (asked === 1) return problem(403);
        if (asked === 2) return problem(404);
        return json(wireRole("role_owner", { is_predefined: true }));
      });
      expect(await failureOf(reader.read("MC1", []))).toMatchObject({ code: "forbidden" });
      expect((await reader.read("MC2", [])).roles).toMatchObject([{ id: "role_owner", idOnly: true }]);
      expect((await reader.read("MC3", [])).roles).toMatchObject([{ name: "Name of role_owner" }]);
      await reader.read("MC4", []);
      expect(count.of).toBe(3);
    });
  });

  test("rejects a response about another role", async () => {
    const { reader } = connectTo((one) =>
      one.path.startsWith(`${ROLES}/`)
        ? json(wireRole("role_x", { name: "Internal", permissions: ["everything"] }))
        : holding([wireMember("mem_a", { roles: ["role_owner"] })])(one, 1),
    );
    const { roles } = await reader.read("MC1", ["role_never"]);
    expect(roles).toMatchObject([{ id: "role_owner", name: "role_owner", permissions: [], idOnly: true }]);
    expect(roles).toHaveLength(1);
  });

  test("retrieves the roles that the file names while the members are still being listed", async () => {
    let askedFor = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      askedFor = resolve;
    });
    const { reader } = connectTo(async (one) => {
      if (one.path === `${ROLES}/role_owner`) {
        askedFor();
        return json(wireRole("role_owner", { is_predefined: true }));
      }
      if (one.path === MEMBERS) await asked;
      return holding([wireMember("mem_a", { roles: ["role_owner"] })])(one, 1);
    });
    const live = await reader.read("MC1", ["role_owner"]);
    expect(live.roles.map(({ id }) => id)).toEqual(["role_owner"]);
  });

  describe.each([25, 10, 1])("from a service that gives pages of %i", (most) => {
    test.each([0, 1, 9, 10, 11, 25, 26, 60])("gets %i members whole, counted or not", async (count) => {
      for (const counted of [true, false]) {
        const { reader } = connectTo((seen) => {
          const { items, total_count } = pageOf(wireMembers(count), seen, most);
          return json(seen.path === MEMBERS ? { items, ...(counted && { total_count }) } : { items: [] });
        });
        expect((await reader.read("MC1", [])).members).toHaveLength(count);
      }
    });
  });

  test("continues after a short page without a count", async () => {
    const pages: Readonly<Record<string, readonly object[]>> = {
      0: wireMembers(60).slice(0, 25),
      25: wireMembers(60).slice(25, 49),
      49: wireMembers(60).slice(49),
    };
    const { reader } = connectTo(({ path, query }) =>
      json({ items: path === MEMBERS ? (pages[query.get("offset") ?? "0"] ?? []) : [] }),
    );
    expect((await reader.read("MC1", [])).members).toHaveLength(60);
  });

  test("encodes path segments, and refuses those that would leave theirs", async () => {
    const { reader, seen } = connectTo(() => json({ items: [], total_count: 0 }));
    await reader.read("M/C?1#", []);
    expect(seen[0]?.path).toMatch(/^\/v0\.1\/merchants\/M%2FC%3F1%23\/(roles|members)$/);
    for (const id of ["..", ".", ""]) {
      expect(await failureOf(connectTo(holding([])).reader.read("MC1", [id]))).toMatchObject({
        code: "bad-response",
        hint: expect.stringContaining("it came from the service"),
      });
    }
    expect(await failureOf(connectTo(holding([])).reader.read("..", []))).toMatchObject({ code: "usage" });
  });

  test("keeps metadata called __proto__ as data", async () => {
    const text = JSON.stringify({
      items: [wireMember("mem_a", { metadata: { here: 1 } })],
      total_count: 1,
    }).replace('"here"', '"__proto__"');
    const { reader } = connectTo(({ path }) =>
      path === MEMBERS
        ? new Response(text, { headers: { "content-type": "application/json" } })
        : json({ items: [] }),
    );
    const { members } = await reader.read("MC1", []);
    expect(Object.keys(members[0]?.metadata ?? {})).toEqual(["__proto__"]);
  });

  test("ends the other reads when one has failed for good", async () => {
    const answer = holding(wireMembers(10_000));
    const { reader, seen } = connectTo((one, count) =>
      one.query.get("offset") === "250" ? problem(403) : answer(one, count),
    );
    expect(await failureOf(reader.read("MC1", []))).toMatchObject({ code: "forbidden" });
    const sent = seen.length;
    for (let quiet = 0, last = sent; quiet < 10; last = seen.length) {
      await nextTurn();
      quiet = seen.length > last ? 0 : quiet + 1;
    }
    expect(sent).toBeLessThan(60);
    expect(seen.length - sent).toBeLessThan(10);
  });
});

describe("a list that shifts while it is read", () => {
  test("is read again until it is stable", async () => {
    const { reader, seen } = connectTo((one, count) => {
      if (one.path !== MEMBERS) return json({ items: [] });
      const members = wireMembers(60);
      return json(
        pageOf(
          count <= 2 ? [wireMember("mem_new"), ...members] : count <= 3 ? members.slice(1) : members,
          one,
        ),
      );
    });
    expect((await reader.read("MC1", [])).members).toHaveLength(60);
    expect(seen.filter(({ query }) => query.get("offset") === "0")).toHaveLength(2);
  });

  test.each<[string, (pageNumber: number, body: ReturnType<typeof pageOf>) => object]>([
    ["counts change", (number, body) => ({ ...body, total_count: 60 + (number % 2) })],
    ["counts disappear", (number, body) => (number === 0 ? body : { items: body.items })],
    ["members repeat", (_, body) => ({ ...body, items: body.items.map(() => wireMember("mem_same")) })],
    ["pages are short", (number, body) => (number === 1 ? { ...body, items: body.items.slice(1) } : body)],
    ["members are fewer than counted", (_, body) => ({ ...body, total_count: 200_000 })],
  ])("is given up after three readings if %s", async (_, bend) => {
    const { reader, seen } = connectTo((one) => {
      const number = Number(one.query.get("offset")) / 25;
      return one.path === MEMBERS ? json(bend(number, pageOf(wireMembers(60), one))) : json({ items: [] });
    });
    const failure = await failureOf(reader.read("MC1", []));
    expect(failure).toMatchObject({ code: "listing-unstable" });
    expect(failure.message).toBe(
      "The member list of MC1 contradicts itself: its pages do not match its total_count.",
    );
    expect(seen.filter(({ query }) => query.get("offset") === "0")).toHaveLength(3);
    expect(seen.length).toBeLessThan(250);
  });

  test("is given up after two pages without anything new, whatever the count says", async () => {
    const { reader, seen } = connectTo(
      (one) => json(one.path === MEMBERS ? { items: wireMembers(25), total_count: 200_000 } : { items: [] }),
      { concurrency: 1 },
    );
    expect(await failureOf(reader.read("MC1", []))).toMatchObject({ code: "listing-unstable" });
    expect(seen.filter(({ path }) => path === MEMBERS).length).toBeLessThan(250);
  });

  test("contradicts itself where its count grows with each page, and no page has anything new", async () => {
    let total = 60;
    const { reader } = connectTo((one) => {
      if (one.path !== MEMBERS) return json({ items: [] });
      total += 25;
      return json({ items: wireMembers(25), total_count: total });
    });
    expect((await failureOf(reader.read("MC1", []))).message).toBe(
      "The member list of MC1 contradicts itself: its pages do not match its total_count.",
    );
  });

  test("without a count contradicts itself where its pages repeat entries", async () => {
    const { reader } = connectTo((one) => json({ items: one.path === MEMBERS ? wireMembers(25) : [] }));
    expect((await failureOf(reader.read("MC1", []))).message).toBe(
      "The member list of MC1 contradicts itself: its pages repeat entries.",
    );
  });

  test("is reported as unstable if it differs each time", async () => {
    let read = 0;
    const { reader } = connectTo((one) => {
      if (one.path !== MEMBERS) return json({ items: [] });
      return json({ items: wireMembers(999).slice(20 * read, 20 * read + 20), total_count: 60 + read++ });
    });
    expect((await failureOf(reader.read("MC1", []))).message).toBe(
      "The member list of MC1 changed each of the 3 times it was read.",
    );
  });

  test("nested deeper than a hundred levels is a bad response, and not retried", async () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const { reader, seen } = connectTo((one) =>
      one.path === MEMBERS
        ? new Response(`{"items":[{"id":"mem_1","roles":[],"metadata":{"a":${deep}}}],"total_count":1}`)
        : json({ items: [] }),
    );
    expect(await failureOf(reader.read("MC1", []))).toMatchObject({ code: "bad-response" });
    expect(seen.filter(({ path }) => path === MEMBERS)).toHaveLength(1);
  });

  test("is given up without a count, too, if the service returns the same page forever", async () => {
    const { reader, seen } = connectTo((one) => json({ items: one.path === MEMBERS ? wireMembers(25) : [] }));
    expect(await failureOf(reader.read("MC1", []))).toMatchObject({ code: "listing-unstable" });
    expect(seen.filter(({ path }) => path === MEMBERS)).toHaveLength(6);
  });

  test("is given up if members are counted but none is returned", async () => {
    const { reader, seen } = connectTo(() => json({ items: [], total_count: 5000 }));
    expect(await failureOf(reader.read("MC1", []))).toMatchObject({ code: "listing-unstable" });
    expect(seen).toHaveLength(4);
  });

  test.each([
    ["members without end", MEMBERS, "The member list of MC1"],
    ["roles without end", ROLES, "The role list of MC1"],
  ])("is given up at a bound, and says so: %s", async (_, path, what) => {
    const endless = ({ query }: Seen): readonly object[] => {
      const offset = Number(query.get("offset"));
      const count = path === ROLES ? 101 : 25;
      const make = path === ROLES ? wireRole : wireMember;
      return Array.from({ length: count }, (_, index) => make(`id_${offset + index}`));
    };
    const { reader, seen } = connectTo((one) => json({ items: one.path === path ? endless(one) : [] }), {
      maxItems: 100,
    });
    expect(await failureOf(reader.read("MC1", []))).toMatchObject({
      code: "too-many-items",
      message: `${what} has more than 100 entries, so it was not read completely.`,
      hint: expect.stringContaining("--max-items"),
    });
    expect(seen.length).toBeLessThan(10);
  });

  test("is not read at all where its count is above the bound", async () => {
    const { reader, seen } = connectTo(
      (one) => json(one.path === MEMBERS ? pageOf(wireMembers(101), one) : { items: [] }),
      { maxItems: 100 },
    );
    expect(await failureOf(reader.read("MC1", []))).toMatchObject({ code: "too-many-items" });
    expect(seen.filter(({ path }) => path === MEMBERS)).toHaveLength(1);
    const { reader: other } = connectTo(holding(wireMembers(100)), { maxItems: 100 });
    expect((await other.read("MC1", [])).members).toHaveLength(100);
  });

  test("is noticed without a count, too, if members are repeated", async () => {
    const { reader } = connectTo((one) =>
      one.path === MEMBERS
        ? json({ items: pageOf(wireMembers(30), one).items.map(() => wireMember("mem_x")) })
        : json({ items: [] }),
    );
    expect(await failureOf(reader.read("MC1", []))).toMatchObject({ code: "listing-unstable" });
  });
});

describe("a response that violates the contract", () => {
  test.each<[string, string, object]>([
    ["a list without items", ROLES, {}],
    ["a role without id", ROLES, { items: [{ ...wireRole("x"), id: undefined }] }],
    ["a role without permissions", ROLES, { items: [{ ...wireRole("x"), permissions: null }] }],
    [
      "a member without roles",
      MEMBERS,
      { items: [{ ...wireMember("x"), roles: undefined }], total_count: 1 },
    ],
    ["metadata that is a list", MEMBERS, { items: [wireMember("x", { metadata: [] })], total_count: 1 }],
  ])("fails for %s, with the location", async (_, path, body) => {
    const { reader } = connectTo((one) =>
      one.path === path ? json(body) : json({ items: [], total_count: 0 }),
    );
    const failure = await failureOf(reader.read("MC1", []));
    expect(failure).toMatchObject({ code: "bad-response", request: { status: 200, method: "GET" } });
    expect(failure.message).toMatch(/with something other than the contract specifies at items/);
  });

  test("may omit optional fields", async () => {
    const bare = [
      { id: "mem_a", roles: [] },
      { id: "mem_b", roles: [], status: null, user: null, invite: null, metadata: null },
    ];
    const { reader } = connectTo(holding(bare, [{ id: "role_a", name: "A", permissions: [] }]));
    const { members, roles } = await reader.read("MC1", []);
    expect(members.map(({ status, metadata }) => [status, metadata])).toEqual([
      ["unknown", {}],
      ["unknown", {}],
    ]);
    expect(roles[0]).toMatchObject({ predefined: false, metadata: {} });
  });
});

test("merchants take turns in the order of their first requests, whatever was named before", async () => {
  const { reader, writer, seen } = connectTo((one) => {
    const isMembers = one.path.endsWith("/members");
    return json(isMembers ? { items: wireMembers(1), total_count: 1 } : { items: [] });
  });
  for (const merchant of ["MC1", "MC10", "MC2"]) writer(merchant);
  const codes = ["MC1", "MC2", "MC3", "MC10"];
  await Promise.all(codes.map((merchant) => reader.read(merchant, [])));
  const begun = seen.map(({ path }) => path.split("/")[3]);
  expect([...new Set(begun)]).toEqual(codes);
});
