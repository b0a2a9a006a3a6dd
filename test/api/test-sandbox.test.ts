import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { z } from "zod";
import type { SandboxSeed } from "../../src/api/sandbox-seed.ts";
import type { seedSchema } from "../../src/sandbox/seed/parse-seed.ts";
import { createSandbox, type Sandbox } from "../../src/sandbox.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const MEMBERS = "/v0.1/merchants/MC0DEMO1/members";

const sandboxes: Sandbox[] = [];

afterEach(async () => {
  for (const sandbox of sandboxes.splice(0)) await sandbox.close();
});

function create(...options: Parameters<typeof createSandbox>): Sandbox {
  const sandbox = createSandbox(...options);
  sandboxes.push(sandbox);
  return sandbox;
}

const authorization = { authorization: "Bearer sk_test_sandbox" };
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every form.
const json = async (response: Promise<Response>): Promise<any> => (await response).json();

function invite(fetch: Sandbox["fetch"], base = ""): Promise<Response> {
  const headers = { ...authorization, "content-type": "application/json" };
  const body = JSON.stringify({ email: "ann@example.com", roles: [] });
  return fetch(`${base}${MEMBERS}`, { method: "POST", headers, body });
}

test("many sandboxes run side by side, each on a port and with a state of its own", async () => {
  const bases = await Promise.all(Array.from({ length: 8 }, () => create().listen()));
  expect(new Set(bases).size).toBe(8);
  expect((await invite(fetch, bases[0])).status).toBe(201);
  const counts = await Promise.all(
    bases.map(async (base) => (await json(fetch(base + MEMBERS, { headers: authorization }))).total_count),
  );
  expect(counts).toEqual([2, 1, 1, 1, 1, 1, 1, 1]);
});

test("it answers without a socket, by path, URL and Request, and on its port at the same time", async () => {
  const sandbox = create();
  const base = await sandbox.listen();
  expect((await invite(sandbox.fetch)).status).toBe(201);
  const init = { headers: authorization };
  for (const input of [MEMBERS, new URL(base + MEMBERS), new Request(base + MEMBERS)]) {
    expect((await json(sandbox.fetch(input, init))).total_count).toBe(2);
  }
  expect((await json(fetch(base + MEMBERS, init))).total_count).toBe(2);
});

test("merchants, restricted keys and seeds are added at run time", async () => {
  const sandbox = create({ seed: { merchants: [{ code: "MC1" }] } });
  await sandbox.addMerchant({ code: "MC2", members: [{ email: "ann@example.com", status: "pending" }] });
  await sandbox.addKey({ key: "restricted", merchants: ["MC2"], permissions: ["merchant_read"] });
  const list = (code: string) =>
    sandbox.fetch(`/v0.1/merchants/${code}/members`, { headers: { authorization: "Bearer restricted" } });
  expect((await json(list("MC2"))).items).toMatchObject([{ status: "pending" }]);
  expect((await list("MC1")).status).toBe(404);
  await sandbox.accept("MC2", "ann@example.com");
  expect((await json(list("MC2"))).items).toMatchObject([{ status: "accepted" }]);
  await sandbox.plant({ merchants: [{ code: "MC3" }] });
  expect((await list("MC2")).status).toBe(401);
  await expect(sandbox.addKey({ key: "k", merchants: ["MC2"] })).rejects.toThrow("there is no merchant MC2");
});

test("its clock begins where the test wants it, and moves when the test moves it", async () => {
  const sandbox = create({ now: "2030-01-01T00:00:00Z" });
  const { id, created_at } = await json(invite(sandbox.fetch));
  expect(created_at).toMatch(/^2030-01-01T00:0/);
  await sandbox.advance("8d");
  const member = await json(sandbox.fetch(`${MEMBERS}/${id}`, { headers: authorization }));
  expect(member.status).toBe("expired");
  const { items } = (await sandbox.control("GET", "/requests")) as { items: { ms: number }[] };
  expect(items).toHaveLength(3);
  for (const { ms } of items) expect(ms).toBeLessThan(60_000);
});

test("it takes strict mode, limits and faults, which a reset restores", async () => {
  const rules = [{ kind: "status", status: 503, operation: "roles.list" }];
  const sandbox = create({ strict: true, faults: { rules } });
  const get = async (path: string) => (await sandbox.fetch(path, { headers: authorization })).status;
  expect(await get(`${MEMBERS}?colour=red`)).toBe(400);
  expect(await get("/v0.1/merchants/MC0DEMO1/roles")).toBe(503);
  await sandbox.control("PUT", "/settings", { strict: false });
  await sandbox.control("DELETE", "/faults");
  expect(await get(`${MEMBERS}?colour=red`)).toBe(200);
  await sandbox.reset();
  expect(await get("/v0.1/merchants/MC0DEMO1/roles")).toBe(503);
});

test("what is not valid is refused with every problem", () => {
  const seed = { merchants: [{ code: "M C" }], keys: [{ key: "a", permissions: ["fly"] }] };
  expect(() => create({ seed })).toThrow(/merchants\.0\.code: .*; keys\.0\.permissions\.0: must be one of/);
  expect(() => create({ seed: "merchants: [{ code: M C }]" })).toThrow(/^1:21: code: /);
  expect(() => create({ faults: { rules: [{ kind: "none" }] } })).toThrow(/rules\.0\.kind/);
});

test("the types of a seed are those that are checked", () => {
  type Input = z.input<typeof seedSchema>;
  const toSchema = (seed: SandboxSeed): DeepReadonly<Input> => seed;
  const fromSchema = (seed: Input): SandboxSeed => seed;
  expect([toSchema, fromSchema]).toHaveLength(2);
});

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

test("the page begins with the examples, and names every function", async () => {
  const page = await readFile(resolve(ROOT, "docs/sandbox.md"), "utf8");
  for (const name of ["invitation.test.mjs", "test_invitation.py"]) {
    expect(page).toContain((await readFile(resolve(ROOT, "examples/sandbox", name), "utf8")).trim());
  }
  for (const name of Object.keys(create())) expect(page).toContain(`| \`${name}(`);
});

test("a seed can be planted as text", async () => {
  const sandbox = create();
  await sandbox.plant(
    "merchants:\n  - { code: MC2, members: [{ email: ann@example.com, roles: [role_owner] }] }\n",
  );
  const members = await json(sandbox.fetch("/v0.1/merchants/MC2/members", { headers: authorization }));
  expect(members.total_count).toBe(1);
  await expect(sandbox.plant("merchants: [{ cod: MC3 }]")).rejects.toThrow(/unknown field "cod"/);
});

test("an option that does not exist is an error with a suggestion", () => {
  expect(() => create({ ratelimit: 5 } as never)).toThrow(
    "The sandbox has no option ratelimit. Did you mean rateLimit?",
  );
  expect(() => create({ port: 4010 } as never)).toThrow("The options are seed, faults, now, strict,");
});

test.each([
  [{ rateLimit: -1 }, "rateLimit must be a whole number from 1 to 1000000."],
  [{ rateLimit: 0.5 }, "rateLimit must be a whole number from 1 to 1000000."],
  [{ latency: "x" }, "latency must be a whole number from 0 to 3600000."],
  [{ strict: "yes" }, "strict must be true or false."],
  [{ now: "tomorrow" }, "now must be a time such as 2026-01-05T09:00:00Z."],
  [{ now: 5 }, "now must be a time such as 2026-01-05T09:00:00Z."],
  [{ log: true }, "log must be a function."],
  [{ seed: 5 }, "seed must be an object or text."],
])("a wrong value of an option is an error: %o", (options, message) => {
  expect(() => create(options as never)).toThrow(new TypeError(message));
});

test.each([
  ["now", { now: "2020-01-01T00:00:00Z" }],
  ["advance", {}],
])("dates in Retry-After follow the clock of responses, which %s does not move", async (_, options) => {
  const rules = [{ kind: "status", status: 429, wait: 2, retry_after: "date" } as const];
  const sandbox = create({ ...options, faults: { rules } });
  await sandbox.advance("8d");
  const before = Date.now();
  const { headers } = await sandbox.fetch(MEMBERS, { headers: authorization });
  const date = Date.parse(headers.get("retry-after") ?? "");
  expect(date).toBeGreaterThanOrEqual(before + 2000);
  expect(date).toBeLessThanOrEqual(Date.now() + 3000);
});

test("an aborted request rejects with the reason, as the global fetch does", async () => {
  const sandbox = create({ latency: 60_000 });
  const early = sandbox.fetch(MEMBERS, { headers: authorization, signal: AbortSignal.abort("early") });
  await expect(early).rejects.toBe("early");
  const stop = new AbortController();
  const late = sandbox.fetch(MEMBERS, { headers: authorization, signal: stop.signal });
  stop.abort("late");
  await expect(late).rejects.toBe("late");
});
