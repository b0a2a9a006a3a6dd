import { describe, expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/create-sandbox.ts";
import { OPERATIONS, type Operation } from "../../src/service/http/problem-details.ts";
import { createClock } from "../support/clock.ts";
import {
  connectTo,
  connectToFetch,
  type Handler,
  json,
  MEMBERS,
  page,
  problem,
  ROLES,
  type Seen,
  wireMember,
  wireRole,
} from "./support.ts";

const ALL: readonly Operation[] = (Object.keys(OPERATIONS) as Operation[]).filter(
  (one) => one !== "list memberships",
);
const EVERY: ReadonlySet<Operation> = new Set(ALL);

/** All subsets of a list. */
const subsets = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: 2 ** items.length }, (_, bits) => items.filter((_, index) => (bits >> index) & 1));

const OF_ROLES = ALL.filter((one) => one.endsWith("role") || one.endsWith("roles"));
const OF_MEMBERS = ALL.filter((one) => !OF_ROLES.includes(one));

type Stage = "permission" | "existence" | "body";

/** A service with one role and one member that checks a request in this order. */
const service =
  (permitted: ReadonlySet<Operation>, order: readonly Stage[]): Handler =>
  ({ method, path, body }) => {
    const kind = path.startsWith(ROLES) ? "role" : "member";
    const id = path.split("/")[5];
    const operation = operationOf(method, kind, id);
    const stages: Record<Stage, () => Response | null> = {
      permission: () => (permitted.has(operation) ? null : problem(403)),
      existence: () => (id === undefined || id === `${kind}_a` ? null : problem(404)),
      body: () => (isValid(method, body) ? null : problem(400)),
    };
    for (const stage of order) {
      const refused = stages[stage]();
      if (refused) return refused;
    }
    const resource = kind === "role" ? wireRole("role_a") : wireMember("member_a");
    return json(id === undefined && method === "GET" ? { items: [resource] } : resource);
  };

const operationOf = (method: string, kind: string, id: string | undefined): Operation => {
  if (id === undefined && method === "GET") return `list ${kind}s` as Operation;
  const verbs: Readonly<Record<string, string>> = { GET: "retrieve", POST: "create", DELETE: "delete" };
  return `${verbs[method] ?? "update"} a ${kind}` as Operation;
};

const isValid = (method: string, body: object | undefined): boolean =>
  method === "POST"
    ? Object(body).name !== undefined || Object(body).email !== undefined
    : Object.values(body ?? {}).every((value) => typeof value !== "string");

const probe = async (handler: Handler, operations: ReadonlySet<Operation> = EVERY) => {
  const { probe: ask, seen } = connectTo(handler);
  const probed = await ask("MC1", operations);
  const verdictOf = new Map(probed.verdicts.map((one) => [one.operation, one]));
  return { ...probed, verdictOf, seen };
};

const isWrite = ({ method }: Seen): boolean => method !== "GET";

describe("a service that checks the permission first", () => {
  test.each([
    ["existence", "body"],
    ["body", "existence"],
  ] as const)("and then %s and %s is judged rightly, or not at all", async (...rest) => {
    let told = 0;
    for (const [kind, others] of [
      [OF_ROLES, OF_MEMBERS],
      [OF_MEMBERS, OF_ROLES],
    ] as const) {
      for (const chosen of subsets(kind)) {
        const permitted = new Set<Operation>([...chosen, ...others]);
        const { verdictOf } = await probe(service(permitted, ["permission", ...rest]));
        for (const operation of ALL) {
          const verdict = verdictOf.get(operation)?.verdict;
          if (verdict === "unknown") continue;
          told += 1;
          expect([[...permitted], operation, verdict]).toEqual([
            [...permitted],
            operation,
            permitted.has(operation) ? "permitted" : "denied",
          ]);
        }
      }
    }
    expect(told).toBeGreaterThan(560);
  });

  test("gives exact verdicts for keys with all, read-only and no permissions", async () => {
    const reads = ALL.filter((one) => /^(?:list|retrieve)/.test(one));
    for (const permitted of [ALL, reads, []] as const) {
      const { verdicts } = await probe(service(new Set(permitted), ["permission", "existence", "body"]));
      expect(
        verdicts.filter(({ verdict }) => verdict === "permitted").map(({ operation }) => operation),
      ).toEqual(
        verdicts
          .map(({ operation }) => operation)
          .filter((one) => (permitted as readonly string[]).includes(one)),
      );
      expect(verdicts.every(({ verdict }) => verdict !== "unknown")).toBe(true);
    }
  });
});

test.each([
  ["existence", "permission", "body"],
  ["existence", "body", "permission"],
  ["body", "permission", "existence"],
  ["body", "existence", "permission"],
] as const)(
  "a service that checks %s, then %s, then %s is never taken to permit what it denies, once it denies something alike",
  async (...order) => {
    for (const [kind, permitted] of [OF_ROLES, OF_MEMBERS].flatMap((of) =>
      subsets(of).map((chosen) => [of, chosen] as const),
    )) {
      const answered: [Seen, number][] = [];
      const handler = service(new Set(permitted), order);
      const { verdictOf } = await probe(async (seen, count) => {
        const response = await handler(seen, count);
        answered.push([seen, response.status]);
        return response;
      });
      const path = kind === OF_ROLES ? ROLES : MEMBERS;
      const denied = answered.filter(([seen, status]) => status === 403 && seen.path.startsWith(path));
      // Of an empty body nothing can be told unless a request with a body is denied.
      const isTold = (operation: string): boolean =>
        operation.startsWith("create") ? denied.some(([{ body }]) => body !== undefined) : denied.length > 0;
      const judged = (verdict: string): readonly Operation[] =>
        kind.filter((operation) => verdictOf.get(operation)?.verdict === verdict);
      expect(judged("denied").filter((one) => permitted.includes(one))).toEqual([]);
      expect(judged("permitted").filter((one) => isTold(one) && !permitted.includes(one))).toEqual([]);
    }
  },
);

describe("what is sent", () => {
  test("can change nothing: empty bodies, and ids that cannot exist", async () => {
    const { seen } = await probe(service(EVERY, ["permission", "existence", "body"]));
    expect(seen.filter(isWrite).map(({ method, path, body }) => [method, path, body])).toEqual([
      ["PATCH", `${ROLES}/role_rolecallNoSuch`, {}],
      ["DELETE", `${ROLES}/role_rolecallNoSuch`, undefined],
      ["POST", ROLES, {}],
      ["PUT", `${MEMBERS}/mem_rolecallNoSuch`, {}],
      ["DELETE", `${MEMBERS}/mem_rolecallNoSuch`, undefined],
      ["POST", MEMBERS, {}],
    ]);
  });

  test("is reads only, where only reads are asked about", async () => {
    const reads: ReadonlySet<Operation> = new Set(["list roles", "list members", "retrieve a role"]);
    const { seen, verdicts } = await probe(service(EVERY, ["permission", "existence", "body"]), reads);
    expect(seen.filter(isWrite)).toEqual([]);
    expect(verdicts.map(({ operation }) => operation).sort()).toEqual([...reads].sort());
  });

  test.each<[string, Handler]>([
    ["does not know the merchant", () => problem(404)],
    ["rejects the key", () => problem(401)],
    ["is a web page", () => page()],
    ["is a proxy's web page", () => page(403)],
    ["fails", () => problem(503)],
    [
      "returns something for whatever id",
      (seen) =>
        seen.method === "GET"
          ? json(seen.path === ROLES || seen.path === MEMBERS ? { items: [] } : {})
          : problem(404),
    ],
  ])(
    "is no write to a service that %s, and nothing is taken as permitted or denied by it",
    async (what, handler) => {
      const { seen, verdicts, missing } = await probe(handler);
      expect(seen.filter(isWrite)).toEqual([]);
      const writes = verdicts.filter(({ operation }) => !/^(?:list|retrieve)/.test(operation));
      expect(writes.map(({ verdict }) => verdict)).toEqual(writes.map(() => "unknown"));
      expect(missing).toBe(what === "does not know the merchant");
    },
  );
});

test("a service that accepts what it must refuse raises an alarm, and gets no other write", async () => {
  const accepting =
    (method: string): Handler =>
    (seen) => {
      if (seen.method === method) return json(wireRole("role_made"), 201);
      if (seen.method === "POST") return problem(400);
      return seen.path === ROLES || seen.path === MEMBERS ? json({ items: [] }) : problem(404);
    };
  const created = await probe(accepting("POST"));
  expect(created.verdictOf.get("create a role")).toEqual({
    operation: "create a role",
    verdict: "unknown",
    reason: "accepted without the required fields",
    alarm:
      "The service accepted a role without its required fields. It may have created the role role_made: remove it.",
  });
  expect(created.seen.filter(isWrite).map(({ method }) => method)).toEqual(["PATCH", "DELETE", "POST"]);
  const updated = await probe(accepting("PATCH"));
  expect(updated.verdictOf.get("update a role")).toMatchObject({
    verdict: "unknown",
    alarm: expect.stringContaining("accepted an update of a role that cannot exist"),
  });
  expect(updated.seen.filter(isWrite).map(({ method }) => method)).toEqual(["PATCH"]);
  // Many services delete what is not there without a word; nothing was there.
  const removed = await probe(accepting("DELETE"));
  expect(removed.verdictOf.get("delete a role")).toEqual({
    operation: "delete a role",
    verdict: "unknown",
    reason: "accepted for an id that cannot exist",
  });
});

test("a service that hides what a key may not see is not taken to permit it", async () => {
  const { verdictOf } = await probe((seen) => {
    if (seen.method === "POST") return problem(400);
    return seen.path === ROLES ? json({ items: [wireRole("role_a")] }) : problem(404);
  });
  for (const operation of ["retrieve a role", "update a role", "delete a role"] as const) {
    expect(verdictOf.get(operation)?.verdict).toBe("unknown");
  }
});

describe("the sandbox", () => {
  const PERMISSIONS = ALL.map((operation) => OPERATIONS[operation]);
  const keys = [
    { key: "sk_test_all" },
    { key: "sk_test_none", permissions: [] },
    ...PERMISSIONS.flatMap((one) => [
      { key: `sk_test_only_${one}`, permissions: [one] },
      { key: `sk_test_without_${one}`, permissions: PERMISSIONS.filter((other) => other !== one) },
    ]),
  ];
  const seed = JSON.stringify({
    merchants: [
      {
        code: "MC1",
        roles: [{ name: "Cashier", permissions: ["catalog_view"] }],
        members: [{ email: "owner@example.com", roles: ["role_owner"] }],
      },
    ],
    keys,
  });

  test("gives correct verdicts for keys with one permission, and all but one, and is unchanged", async () => {
    const { now, sleep } = createClock();
    const sandbox = createSandbox({ now, sleep, seed });
    const state = async (): Promise<string> =>
      (await sandbox.fetch(new Request("http://127.0.0.1/_sandbox/v0.1/merchants/MC1/members"))).text();
    const before = await state();
    for (const { key, permissions = PERMISSIONS } of keys as readonly {
      key: string;
      permissions?: string[];
    }[]) {
      const { probe: ask } = connectToFetch(sandbox.fetch, { key });
      const { verdicts, missing } = await ask("MC1", EVERY);
      expect(missing).toBe(false);
      for (const { operation, verdict, reason } of verdicts) {
        const truth = permissions.includes(OPERATIONS[operation]) ? "permitted" : "denied";
        expect([key, operation, verdict === "unknown" ? truth : verdict, reason]).toEqual([
          key,
          operation,
          truth,
          reason,
        ]);
      }
      const unknown = verdicts.filter(({ verdict }) => verdict === "unknown").length;
      // Where nothing but a list or a create is denied, the order in which the service checks is not told.
      expect(unknown).toBeLessThanOrEqual(
        /without_(?:roles_list|roles_create|merchant_read|members_create)$/.test(key) ? 4 : 0,
      );
    }
    expect(await state()).toBe(before);
    const log = await (await sandbox.fetch(new Request("http://127.0.0.1/_sandbox/requests"))).json();
    const written = (log as { items: { committed: boolean }[] }).items.filter(({ committed }) => committed);
    expect(written).toEqual([]);
  });
});

describe("before an apply", () => {
  const WRITES: readonly Operation[] = ALL.filter((one) => !one.startsWith("list"));
  const denials = async (handler: Handler, operations: readonly Operation[] = WRITES) => {
    const { findDenied, seen } = connectTo(handler);
    return { denied: await findDenied("MC1", operations), seen };
  };
  const nothing = (): Response => problem(404);

  test("the denied operations are found, with the permission that the service names or the documented one", async () => {
    const permitted = new Set<Operation>(["create a role", "retrieve a role", "retrieve a member"]);
    const { denied } = await denials(service(permitted, ["permission", "existence", "body"]));
    expect(denied.map(({ operation }) => operation)).toEqual(WRITES.filter((one) => !permitted.has(one)));
    expect(denied[0]).toEqual({ operation: "update a role", permission: "roles_update" });
    const named = await denials(
      ({ method }) =>
        method === "GET" ? nothing() : problem(403, { detail: "Scope roles.write is missing." }),
      ["delete a role"],
    );
    expect(named.denied).toEqual([{ operation: "delete a role", permission: "roles.write" }]);
  });

  test.each<[string, Handler]>([
    [
      "403 for whatever does not exist",
      ({ path }) => (path.includes("NoSuch") ? problem(403) : problem(400)),
    ],
    ["404", () => nothing()],
    ["401", () => problem(401)],
    ["429", () => problem(429)],
    ["500", () => problem(500)],
    ["a web page", () => page(403)],
    ["nothing", () => Promise.reject(new TypeError("fetch failed"))],
  ])("an answer of %s denies nothing", async (_, handler) => {
    expect((await denials(handler)).denied).toEqual([]);
  });

  test("a retrieval is denied if the service does not name the permission, and denies what it lists", async () => {
    const listed = (canView: boolean) =>
      denials(
        ({ path }) =>
          path.includes("NoSuch") || (path.includes("/mem_1") && !canView)
            ? problem(403)
            : json({ items: [{ id: "mem_1" }], total_count: 1 }),
        ["retrieve a member"],
      );
    expect((await listed(false)).denied).toEqual([
      { operation: "retrieve a member", permission: "members_view" },
    ]);
    expect((await listed(true)).denied).toEqual([]);
  });

  test("a service is asked once for all merchants, and for each merchant after a denial", async () => {
    const isMine = ({ path }: Seen): boolean => path.includes("/MC2/");
    const { findDenied, seen } = connectTo((one) =>
      isMine(one) ? problem(404) : problem(403, { detail: "no permission members_delete" }),
    );
    const found = await Promise.all(
      ["MC1", "MC2", "MC3"].map((merchant) => findDenied(merchant, ["delete a member"])),
    );
    expect(found.map(({ length }) => length)).toEqual([1, 0, 1]);
    const { findDenied: again, seen: once } = connectTo(nothing);
    await Promise.all(["MC1", "MC2"].map((merchant) => again(merchant, ["delete a member"])));
    expect([seen.length, once.length]).toEqual([3, 1]);
  });

  test("a service that accepts a role without a name stops the apply with an alarm", async () => {
    const found = denials(() => json(wireRole("role_made"), 201), ["create a role"]);
    await expect(found).rejects.toThrow("It may have created the role role_made: remove it.");
  });
});
