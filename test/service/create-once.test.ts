import { describe, expect, test } from "vitest";
import { LostResponse } from "../../src/service/http/transport.ts";
import {
  connectTo,
  failureOf,
  type Handler,
  json,
  MEMBERS,
  page,
  pageOf,
  problem,
  ROLES,
  type Seen,
  wireMember,
  wireRole,
} from "./support.ts";

const CASHIER = { name: "Cashier", permissions: ["refunds_create", "catalog_view"] };
const ADA = { email: "ada@example.com", roles: ["role_a", "role_b"], metadata: { a: { x: 1, y: 2 }, b: 1 } };

const reset = (): never => {
  throw new Error("reset");
};
const timeout = (): never => {
  throw new LostResponse("timeout", "no response in time", true);
};

/** Answers that leave it open whether a create was done. */
const LOST: readonly [string, () => Response][] = [
  ["the connection broke", reset],
  ["it never came", timeout],
  ["it was a 500", () => problem(500)],
  ["it was a 503", () => problem(503)],
  ["it was a 424", () => problem(424)],
  ["it was a web page", () => page()],
  ["it was an error page", () => page(502)],
];

interface Shop {
  roles: object[];
  members: object[];
}

/** A service that answers creates by what `create` says, and lists what the shop holds. */
function shopWith(create: (shop: Shop, seen: Seen, count: number) => Response) {
  const shop: Shop = { roles: [], members: [] };
  const handler: Handler = (seen, count) => {
    if (seen.method === "POST") return create(shop, seen, count);
    return seen.path === ROLES ? json({ items: shop.roles }) : json(pageOf(shop.members, seen));
  };
  return handler;
}

const invited = (id: string, email: string, more: object = {}): object =>
  wireMember(id, {
    user: undefined,
    invite: { email, expires_at: "2026-06-08T12:00:00Z" },
    status: "pending",
    roles: ["role_b", "role_a"],
    metadata: { b: 1, a: { y: 2, x: 1 } },
    ...more,
  });

const posts = (seen: readonly Seen[]): number => seen.filter(({ method }) => method === "POST").length;

describe("a create whose response is lost", () => {
  test.each(LOST)("is adopted if a lookup finds it as requested (%s)", async (_, lost) => {
    const handler = shopWith((shop, { path }) => {
      if (path === ROLES)
        shop.roles.push(
          wireRole("role_1", { name: "Cashier", permissions: ["catalog_view", "refunds_create"] }),
        );
      else
        shop.members.push(
          invited("mem_0", "ada@example.com.au"),
          invited("mem_1", "Ada@Example.com"),
          invited("mem_2", "ada@example.com", { status: "expired" }),
        );
      return lost();
    });
    const { writer, seen } = connectTo(handler);
    expect(await writer("MC1").createRole(CASHIER)).toEqual({ id: "role_1", adopted: true });
    expect(await writer("MC1").createMember(ADA)).toEqual({ id: "mem_1", adopted: true });
    expect(posts(seen)).toBe(2);
    expect(seen.at(-1)?.query.get("email")).toBe("ada@example.com");
  });

  test.each(LOST)("is sent again if a lookup does not find it (%s)", async (_, lost) => {
    const { writer, seen } = connectTo(
      shopWith((_shop, _seen, count) => (count < 3 ? lost() : json({ id: `new_${count}` }, 201))),
    );
    expect(await writer("MC1").createRole(CASHIER)).toEqual({ id: "new_3", adopted: false });
    expect(await writer("MC1").createMember(ADA)).toEqual({ id: "new_3", adopted: false });
    expect(posts(seen)).toBe(6);
  });

  test.each([
    ["the connection broke", reset],
    ["it timed out", timeout],
    ["a gateway had no answer either", () => problem(504)],
    ["a gateway lost its connection", () => page(502)],
  ])("is looked up twice before it is sent again where %s", async (_, lost) => {
    let lookedUp = 0;
    const { writer, seen, clock } = connectTo((one) => {
      if (one.method === "POST") return lost();
      lookedUp += 1;
      // It was still on its way at the first look.
      return json({
        items: lookedUp === 1 ? [] : [wireRole("role_late", CASHIER)],
      });
    });
    const began = clock.now();
    expect(await writer("MC1").createRole(CASHIER)).toEqual({ id: "role_late", adopted: true });
    expect(posts(seen)).toBe(1);
    expect(clock.now() - began).toBeGreaterThanOrEqual(2000);
  });

  test.each<[string, object]>([
    ["other permissions", { permissions: ["catalog_view"] }],
    ["another description", { description: "Another" }],
    ["other metadata", { metadata: { owner: "them" } }],
  ])("is a conflict where a role with %s is there", async (_, differs) => {
    const { writer, seen } = connectTo(
      shopWith((shop) => {
        shop.roles.push(wireRole("role_1", { ...CASHIER, ...differs }));
        return reset();
      }),
    );
    const failure = await failureOf(writer("MC1").createRole(CASHIER));
    expect(failure.code).toBe("conflict");
    expect(failure.message).toBe(
      'The role "Cashier" exists, but not as requested: somebody else has created or changed it.',
    );
    // Ours may have been done, and changed since.
    expect(failure.request).toMatchObject({ method: "POST", path: ROLES, uncertain: true });
    expect(posts(seen)).toBe(1);
  });

  test.each<[string, object]>([
    ["other roles", { roles: ["role_a"] }],
    ["other metadata", { metadata: {} }],
    ["a password of its own", { user: { id: "u", email: "ada@example.com", virtual_user: true } }],
  ])("is a conflict where a member with %s is there", async (_, differs) => {
    const { writer } = connectTo(
      shopWith((shop) => {
        shop.members.push(invited("mem_1", "ada@example.com", differs));
        return timeout();
      }),
    );
    const failure = await failureOf(writer("MC1").createMember(ADA));
    expect(failure.code).toBe("conflict");
    expect(failure.message).toMatch(/^The member ada@example\.com exists, but not as/);
    expect(failure.request).toMatchObject({ uncertain: true });
  });

  test("is looked up if the retry is a conflict, and adopted or a conflict", async () => {
    const found = (more: object) => (shop: Shop, _seen: Seen, count: number) => {
      if (count === 1) return problem(503);
      shop.roles = [wireRole("role_1", { ...CASHIER, ...more })];
      shop.members = [invited("mem_1", "ada@example.com", more)];
      return problem(409, { detail: "It is taken." });
    };
    const ours = connectTo(shopWith(found({})));
    expect(await ours.writer("MC1").createRole(CASHIER)).toEqual({ id: "role_1", adopted: true });
    expect(await ours.writer("MC1").createMember(ADA)).toEqual({ id: "mem_1", adopted: true });
    const theirs = () => connectTo(shopWith(found({ metadata: { owner: "them" } }))).writer("MC1");
    for (const failure of [
      await failureOf(theirs().createRole(CASHIER)),
      await failureOf(theirs().createMember(ADA)),
    ]) {
      expect(failure.message).toMatch(/exists, but not as requested/);
      expect(failure.request).toMatchObject({ status: 409, attempts: 2, uncertain: true });
    }
  });

  test("has an unknown outcome if the retry is a conflict and the lookup finds nothing, as lists may lag", async () => {
    const { writer } = connectTo(
      shopWith((_shop, _seen, count) => (count === 1 ? problem(503) : problem(409, { detail: "No." }))),
    );
    const failure = await failureOf(writer("MC1").createRole(CASHIER));
    expect(failure).toMatchObject({
      code: "conflict",
      message: expect.stringContaining("an earlier attempt of this request created: its response was lost"),
      request: { status: 409, attempts: 2, uncertain: true },
    });
  });

  test("is looked up if a retry after a 429 is a conflict, which stays one if nothing is found", async () => {
    const limited = (finds: boolean) =>
      connectTo(
        shopWith((shop, _seen, count) => {
          if (count === 1) return problem(429, {}, { "retry-after": "1" });
          if (finds) shop.roles = [wireRole("role_1", CASHIER)];
          return problem(409);
        }),
      ).writer("MC1");
    expect(await limited(true).createRole(CASHIER)).toEqual({ id: "role_1", adopted: true });
    const failure = await failureOf(limited(false).createRole(CASHIER));
    expect(failure).toMatchObject({ code: "conflict", request: { attempts: 2 } });
    expect(failure.request).not.toHaveProperty("uncertain");
  });

  test("is not looked up if the first response is a conflict", async () => {
    const { writer, seen } = connectTo(shopWith(() => problem(409)));
    expect(await failureOf(writer("MC1").createRole(CASHIER))).toMatchObject({ code: "conflict" });
    expect(seen).toHaveLength(1);
  });

  test.each<[string, Handler]>([
    ["is not allowed", () => problem(403)],
    ["fails", () => problem(503)],
    ["gets no answer", reset],
    ["shifts", () => json({ items: [], total_count: 7 })],
  ])("stays unknown where looking it up %s, and says how to find out", async (_, lookedUp) => {
    const { writer, seen } = connectTo((one, count) =>
      one.method === "POST" ? reset() : lookedUp(one, count),
    );
    const failure = await failureOf(writer("MC1").createMember(ADA));
    expect(failure).toMatchObject({
      code: "network",
      hint: 'The change may have taken effect. Run "rolecall plan" to see whether it has.',
      request: { method: "POST", path: MEMBERS, attempts: 1, uncertain: true },
    });
    expect(failure.message).toMatch(
      /^POST \S+ got no response: .*\. A lookup of its outcome failed: .*member/,
    );
    expect(posts(seen)).toBe(1);
  });

  test("is given up after ten attempts: as not applied if the service said so, else as unknown", async () => {
    const failing = connectTo(shopWith(() => problem(503)));
    const failed = await failureOf(failing.writer("MC1").createRole(CASHIER));
    expect(failed).toMatchObject({
      code: "service-failed",
      hint: "A lookup shows that it was not created. Try again later.",
      request: { attempts: 10 },
    });
    expect(failed.request).not.toHaveProperty("uncertain");
    const silent = connectTo(shopWith(timeout));
    expect(await failureOf(silent.writer("MC1").createRole(CASHIER))).toMatchObject({
      code: "timeout",
      request: { attempts: 10, uncertain: true },
    });
  });

  test("does not wait once the run is stopped", async () => {
    const stop = new AbortController();
    const { writer, seen, clock } = connectTo(
      shopWith(() => {
        stop.abort();
        return reset();
      }),
      { signal: stop.signal },
    );
    const began = clock.now();
    expect(await failureOf(writer("MC1").createRole(CASHIER))).toMatchObject({
      request: { attempts: 1, uncertain: true },
    });
    expect(posts(seen)).toBe(1);
    expect(clock.now()).toBe(began);
  });

  test("is still adopted once the run is stopped, if one lookup suffices", async () => {
    const stop = new AbortController();
    const { writer } = connectTo(
      shopWith((shop) => {
        stop.abort();
        shop.roles.push(wireRole("role_1", CASHIER));
        return reset();
      }),
      { signal: stop.signal },
    );
    expect(await writer("MC1").createRole(CASHIER)).toEqual({ id: "role_1", adopted: true });
  });
});

describe("a managed member whose response is lost", () => {
  const till = (password: string) => ({
    email: "till@example.com",
    roles: [],
    managed: { nickname: "Till 7", password },
  });
  const user = { id: "u", email: "till@example.com", virtual_user: true, nickname: "Till 7" };
  const wire = { id: "mem_1", user: { ...user, mfa_on_login_enabled: false, service_account_user: false } };

  test("is adopted where it is a managed one with that nickname", async () => {
    const { writer } = connectTo(
      shopWith((shop) => {
        shop.members.push(wireMember("mem_1", wire));
        return reset();
      }),
    );
    expect(await writer("MC1").createMember(till("correct horse"))).toEqual({ id: "mem_1", adopted: true });
  });

  test("keeps its password to itself for good, whatever is asked for afterwards", async () => {
    const { writer, lookup } = connectTo(({ method }) =>
      method === "POST" ? json({ id: "mem_1" }, 201) : problem(400, { detail: "not correct horse" }),
    );
    await writer("MC1").createMember(till("correct horse"));
    const failure = await failureOf(lookup("MC1").getMember("mem_1"));
    expect(failure.message).toContain("not [secret]");
  });

  test("keeps its password to itself, at its create as at its update", async () => {
    const password = 'correct "horse" battery';
    const echo = (seen: Seen): Response =>
      problem(422, { detail: `not ${JSON.stringify(seen.body)} with ${password}` });
    const { writer, events } = connectTo((seen, count) =>
      count === 1 && seen.method !== "GET" ? problem(503, { detail: password }) : echo(seen),
    );
    const write = writer("MC1");
    const failures = [
      await failureOf(write.createMember(till(password))),
      await failureOf(write.updateMember("mem_1", { roles: [], metadata: {}, password })),
    ];
    const all = JSON.stringify([failures.map(({ failure }) => failure), events]);
    expect(all).not.toMatch(/horse|battery/);
    expect(all).toContain("[secret]");
  });
});
