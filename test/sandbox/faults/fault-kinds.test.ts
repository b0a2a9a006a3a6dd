import { describe, expect, test } from "vitest";
import { ConnectionLost } from "../../../src/sandbox/http/response.ts";
import { CONTRACT_OPERATIONS } from "../../../src/sandbox/routes/authorize.ts";
import { type Got, type Harness, MEMBERS, ROLES, start } from "../support.ts";

const SEED = `
merchants:
  - code: MC0DEMO1
    roles:
      - { id: role_held, name: Held, permissions: [a] }
      - { id: role_free, name: Free, permissions: [a] }
    members:
      - { id: mem_owner, email: owner@example.com, roles: [role_owner] }
      - { id: mem_bob, email: bob@example.com, roles: [role_held] }
`;

const BODIES: Readonly<Record<string, object>> = {
  "roles.create": { name: "New", permissions: [] },
  "roles.update": { description: "changed" },
  "members.create": { email: "new@example.com", roles: [], is_managed_user: true, password: "secret-12" },
  "members.update": { roles: ["role_free"] },
};

/** What each operation is called with, so that it succeeds. */
const CALLS = CONTRACT_OPERATIONS.map(({ name, method, path }) => {
  const id = name.startsWith("roles.") ? "role_free" : "mem_bob";
  const body = BODIES[name];
  return {
    name,
    method,
    path: path.replace(":merchant", "MC0DEMO1").replace(":id", id),
    ask: body === undefined ? {} : { body },
  };
});

/** What a client sees of a request: an answer, or a broken connection with what came before it. */
type Seen = { readonly got: Got } | { readonly lost: ConnectionLost };

async function ask({ call }: Harness, { method, path, ask: what }: (typeof CALLS)[number]): Promise<Seen> {
  try {
    return { got: await call(method, path, what) };
  } catch (error) {
    if (error instanceof ConnectionLost) return { lost: error };
    throw error;
  }
}

async function stateOf({ call }: Harness): Promise<unknown> {
  const [roles, members] = await Promise.all(
    [ROLES, MEMBERS].map((path) => call("GET", `/_sandbox${path}`, { key: null })),
  );
  return [roles?.body, members?.body];
}

interface Kind {
  readonly rule: Readonly<Record<string, unknown>>;
  /** Whether the operation is done all the same. */
  readonly done: boolean;
  /** Whether its answer, as `usual` has it without a fault, came in this form. */
  readonly looks: (got: Got, usual: Got) => void;
}

const isHtml = (got: Got): void => {
  expect(got.status).toBe(200);
  expect(got.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(got.text).toContain("<html>");
};
const isProblem =
  (status: number) =>
  (got: Got): void => {
    expect(got.status).toBe(status);
    expect(got.headers.get("content-type")).toBe("application/problem+json");
    expect(got.body.status).toBe(status);
  };
const isUsual = (got: Got, usual: Got): void => {
  expect([got.status, got.text]).toEqual([usual.status, usual.text]);
};

const ANSWERED: readonly Kind[] = [
  { rule: { kind: "status", status: 424 }, done: false, looks: isProblem(424) },
  { rule: { kind: "status", status: 503, effect: "after" }, done: true, looks: isProblem(503) },
  { rule: { kind: "html" }, done: false, looks: isHtml },
  { rule: { kind: "html", effect: "after" }, done: true, looks: isHtml },
  { rule: { kind: "latency", ms: 20, jitter_ms: 10 }, done: true, looks: isUsual },
  {
    rule: { kind: "content-type" },
    done: true,
    looks: (got, usual) => {
      isUsual(got, usual);
      expect(got.headers.get("content-type")).toBe("text/plain");
    },
  },
  {
    rule: { kind: "content-type", type: null },
    done: true,
    looks: (got, usual) => {
      isUsual(got, usual);
      expect(got.headers.get("content-type")).toBe(null);
    },
  },
  {
    rule: { kind: "unknown-fields" },
    done: true,
    looks: (got, usual) => {
      expect(got.status).toBe(usual.status);
      // A deletion is answered without a body, where there is no place for fields.
      if (usual.text === "") expect(got.text).toBe("");
      else expect(got.body).toMatchObject({ x_flag: true });
    },
  },
  {
    rule: { kind: "without-fields", fields: ["id", "user.type", "invite.email"] },
    done: true,
    looks: (got, usual) => {
      expect(got.status).toBe(usual.status);
      expect(got.text).not.toMatch(/"type":"(?:managed_)?user"|^.{1,40}"id":/);
    },
  },
  {
    rule: { kind: "large-numbers" },
    done: true,
    looks: (got, usual) => {
      expect(got.status).toBe(usual.status);
      if (usual.text === "") expect(got.text).toBe("");
      else expect(got.text).toContain('"large_number":9007199254740993}');
    },
  },
  {
    rule: { kind: "partial-json" },
    done: true,
    looks: (got, usual) => {
      expect(got.status).toBe(usual.status);
      expect(got.text.length).toBeGreaterThan(0);
      expect(() => JSON.parse(got.text)).toThrow(SyntaxError);
    },
  },
];

const BROKEN: readonly { readonly rule: object; readonly done: boolean; readonly partial: boolean }[] = [
  { rule: { kind: "reset-before" }, done: false, partial: false },
  { rule: { kind: "not-http", answer: "bad-chunk" }, done: false, partial: true },
  { rule: { kind: "not-http", effect: "after" }, done: true, partial: true },
  { rule: { kind: "reset-after" }, done: true, partial: false },
  { rule: { kind: "stall" }, done: false, partial: false },
  { rule: { kind: "stall", effect: "after", ms: 5 }, done: true, partial: false },
  { rule: { kind: "truncate" }, done: true, partial: true },
];

async function faulty(rule: object): Promise<Harness> {
  const harness = start({ seed: SEED });
  await harness.call("POST", "/_sandbox/faults", { key: null, body: rule });
  return harness;
}

describe.each(CALLS)("$name", (called) => {
  const writes = called.method !== "GET";

  async function usually(): Promise<{ readonly got: Got; readonly after: unknown }> {
    const harness = start({ seed: SEED });
    const got = await harness.call(called.method, called.path, called.ask);
    expect(got.status).toBeLessThan(300);
    return { got, after: await stateOf(harness) };
  }

  test.each(ANSWERED)(
    "with $rule has the expected response, and takes effect: $done",
    async ({ rule, done, looks }) => {
      const usual = await usually();
      const harness = await faulty(rule);
      const before = await stateOf(harness);
      const seen = await ask(harness, called);
      if ("lost" in seen) throw seen.lost;
      looks(seen.got, usual.got);
      expect(await stateOf(harness)).toEqual(done ? usual.after : before);
      await logged(harness, { faults: [rule["kind"]], status: seen.got.status, committed: writes && done });
    },
  );

  test.each(BROKEN)(
    "with $rule has no response, and takes effect: $done",
    async ({ rule, done, partial }) => {
      const usual = await usually();
      const harness = await faulty(rule);
      const before = await stateOf(harness);
      const seen = await ask(harness, called);
      if ("got" in seen) throw new Error(`answered with ${seen.got.status}`);
      expect(await stateOf(harness)).toEqual(done ? usual.after : before);
      expect(seen.lost.partial === null).toBe(!partial);
      if (seen.lost.partial !== null && typeof seen.lost.partial !== "string") {
        const { text, length, status } = seen.lost.partial;
        expect(status).toBe(usual.got.status);
        expect(Buffer.byteLength(text)).toBeLessThan(length);
      }
      await logged(harness, { status: null, committed: writes && done });
    },
  );

  async function logged(harness: Harness, expected: object): Promise<void> {
    const { body } = await harness.call("GET", "/_sandbox/requests", { key: null });
    const entry = body.items.find((one: { operation: string; somebody_else: boolean }) => {
      return one.operation === called.name && !one.somebody_else;
    });
    expect(entry).toMatchObject(expected);
    expect(JSON.stringify(body)).not.toContain("secret-12");
  }
});

test("a replacing PUT empties what it does not hold, and only for members", async () => {
  const till = {
    email: "till@example.com",
    roles: ["role_held"],
    is_managed_user: true,
    password: "secret-12",
  };
  const harness = await faulty({ kind: "replacing-put" });
  const { call } = harness;
  const { body: made } = await call("POST", MEMBERS, {
    body: { ...till, nickname: "Till", metadata: { a: 1 } },
  });
  const put = async (body: object) => (await call("PUT", `${MEMBERS}/${made["id"]}`, { body })).body;
  const whole = { roles: ["role_held"], metadata: { a: 1 }, user: { nickname: "Till" } };
  expect(await put(whole)).toMatchObject(whole);
  const emptied = await put({ user: { password: "secret-34" } });
  expect(emptied).toMatchObject({ roles: [] });
  expect([emptied["metadata"], (emptied["user"] as { nickname?: string }).nickname]).toEqual([
    undefined,
    undefined,
  ]);
  expect(await put({ metadata: { a: 2 } })).toMatchObject({ roles: [], metadata: { a: 2 } });
  const role = await call("PATCH", `${ROLES}/role_free`, { body: { name: "Renamed" } });
  expect(role.body).toMatchObject({ name: "Renamed", permissions: ["a"] });
});

describe("faults that meet in one request", () => {
  test("combine: a Problem with the wrong content type, or truncated", async () => {
    const rules = (kind: object) => ({ rules: [{ kind: "status", status: 502 }, kind] });
    const harness = start();
    const put = (body: object) => harness.call("PUT", "/_sandbox/faults", { key: null, body });
    await put(rules({ kind: "content-type", type: "text/html" }));
    const got = await harness.call("GET", ROLES);
    expect([got.status, got.headers.get("content-type")]).toEqual([502, "text/html"]);
    expect(JSON.parse(got.text)).toMatchObject({ status: 502 });
    await put(rules({ kind: "partial-json" }));
    const half = await harness.call("GET", ROLES);
    expect([half.status, half.headers.get("content-type")]).toEqual([502, "application/problem+json"]);
    expect(half.body).toBe(undefined);
    await put(rules({ kind: "truncate" }));
    await expect(harness.call("GET", ROLES)).rejects.toThrow(ConnectionLost);
  });
});

describe("jitter", () => {
  const waitsOf = async (seed: number): Promise<readonly number[]> => {
    const { call, waits } = start({ faults: { seed, rules: [] }, latency: 100, jitter: 50 });
    for (let i = 0; i < 20; i += 1) await call("GET", ROLES);
    return waits;
  };

  test("delays every response within its bounds, and repeats with the seed", async () => {
    const waits = await waitsOf(3);
    expect(waits).toHaveLength(20);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...waits)).toBeLessThanOrEqual(150);
    expect(new Set(waits).size).toBeGreaterThan(5);
    expect(await waitsOf(3)).toEqual(waits);
    expect(await waitsOf(4)).not.toEqual(waits);
  });

  test("of a rule is drawn anew for each request", async () => {
    const harness = await faulty({ kind: "latency", ms: 10, jitter_ms: 1000 });
    for (let i = 0; i < 20; i += 1) await harness.call("GET", ROLES);
    expect(new Set(harness.waits).size).toBeGreaterThan(5);
    expect(Math.min(...harness.waits)).toBeGreaterThanOrEqual(10);
    expect(Math.max(...harness.waits)).toBeLessThanOrEqual(1010);
  });
});

test("an additional rule does not change the random numbers of the others", async () => {
  const marks = async (...more: object[]): Promise<string> => {
    const { call } = start();
    const rules = [{ kind: "status", status: 500, probability: 0.5 }, ...more];
    await call("PUT", "/_sandbox/faults", { key: null, body: { seed: 5, rules } });
    let text = "";
    for (let i = 0; i < 40; i += 1) text += (await call("GET", ROLES)).status === 500 ? "x" : ".";
    return text;
  };
  expect(await marks({ kind: "latency", ms: 1, probability: 0.5 })).toBe(await marks());
});
