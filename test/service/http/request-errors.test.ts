import { describe, expect, test } from "vitest";
import { LostResponse } from "../../../src/service/http/transport.ts";
import { connectTo, connectToFetch, failureOf, json, KEY, page, problem } from "../support.ts";

const read = async (answer: () => Response) => {
  const harness = connectTo(answer);
  const failure = await failureOf(harness.reader.read("MC1", []));
  return { ...harness, failure };
};

const update = async (answer: () => Response) => {
  const harness = connectTo(answer);
  const failure = await failureOf(harness.writer("MC1").updateRole("role_a", { name: "A" }));
  return { ...harness, failure };
};

const LINE = "PATCH /v0.1/merchants/MC1/roles/role_a";

test("a response that is too large is a bad one, and not none", async () => {
  const { failure } = await read(() => {
    throw new LostResponse("too-large", "headers that are too large", true);
  });
  expect(failure.code).toBe("bad-response");
  expect(failure.message).toMatch(/^GET \S+ returned headers that are too large\.$/);
  expect(failure.hint).toContain("does not match the API contract");
});

describe("an error response", () => {
  test.each<[number, string, string, RegExp]>([
    [400, "bad-request", "Bad Request", /report this as a bug/],
    [401, "unauthorized", "Unauthorized", /the API key in RETAIL_API_KEY/],
    [402, "request-failed", "Request Failed", /could not complete it/],
    [403, "forbidden", "Forbidden", /^Fix what the detail describes/],
    [404, "not-found", "Not Found", /may have been removed in the meantime/],
    [409, "conflict", "Conflict", /rolecall plan/],
    [422, "unprocessable", "Unprocessable Entity", /Correct the file/],
    [418, "unexpected-status", "", /not part of the API contract/],
  ])("with %i is reported at once, with its whole Problem", async (status, code, title, hint) => {
    const told = {
      type: "https://example.com/problem/x",
      title: "X",
      status,
      detail: "Because of y.",
      instance: "urn:42",
    };
    const { failure, seen, clock } = await update(() => problem(status, told));
    expect(failure).toMatchObject({
      code,
      request: { method: "PATCH", path: LINE.slice(6), status, attempts: 1, problem: told },
    });
    expect(failure.message).toBe(`${LINE} returned ${status}${title && ` ${title}`}: Because of y.`);
    expect(failure.hint).toMatch(hint);
    expect(failure.request).not.toHaveProperty("uncertain");
    expect(seen).toHaveLength(1);
    expect(clock.slept).toEqual([]);
  });

  test("with 403 and no detail names the permission that the key may lack", async () => {
    const { failure } = await read(() => problem(403, { title: "P403" }));
    expect(failure.hint).toMatch(/^The key in RETAIL_API_KEY may lack the /);
  });

  test("with 404 for a merchant names its code, and is not reported as removed", async () => {
    const { failure } = await read(() => problem(404));
    expect(failure.hint).toMatch(/^Check the merchant code, the base URL/);
    const { writer } = connectTo(() => problem(404));
    const created = await failureOf(writer("MC1").createRole({ name: "A", permissions: [] }));
    expect(created.hint).toMatch(/^Check the merchant code, the base URL/);
  });

  test("names the permission that the Problem names", async () => {
    const { failure } = await update(() => problem(403, { detail: "missing permission roles_write" }));
    expect(failure.message).toBe(`${LINE} returned 403 Forbidden: missing permission roles_write`);
    expect(failure.hint).toContain("may lack the permission roles_write to");
  });

  test.each([
    {},
    { title: "Forbidden" },
    { detail: "Access denied" },
    { detail: "The key lacks roles_update." },
  ])("with 403 and no other reason names the permission that may be missing (%j)", async (told) => {
    const { failure } = await update(() => problem(403, told));
    expect(failure.hint).toBe(
      "The key in RETAIL_API_KEY may lack the permission roles_update to update a role.",
    );
  });

  test.each(["The last accepted owner cannot be removed.", "This password was used before."])(
    "with 403 for another reason says that, and nothing of permissions (%s)",
    async (detail) => {
      const { failure } = await update(() => problem(403, { title: "Forbidden", detail }));
      expect(failure.message).toBe(`${LINE} returned 403 Forbidden: ${detail}`);
      expect(failure.hint).not.toMatch(/permission|key/);
    },
  );

  test("with members that the standard does not name shows these, shortened and made harmless", async () => {
    const errors = [{ field: "roles", code: "TOO_MANY" }];
    const more = {
      errors,
      trace_id: "4bf92f",
      retryable: false,
      note: null,
      "x\u001b[2J": "\u202e\n::error::y",
    };
    const { failure } = await update(() =>
      problem(422, { detail: "No.", ...more, long: "x".repeat(3000), key: KEY }),
    );
    expect(failure.request?.problem?.extensions).toEqual([
      { name: "errors", value: '[{"field":"roles","code":"TOO_MANY"}]' },
      { name: "trace_id", value: "4bf92f" },
      { name: "retryable", value: "false" },
      { name: "x [2J", value: "::error::y" },
      { name: "long", value: `${"x".repeat(300)}…` },
      { name: "key", value: "[secret]" },
    ]);
  });

  test("with a deeply nested body shows the text of its status", async () => {
    const deep = `{"detail":"No.","errors":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const { failure } = await update(() => new Response(deep, { status: 422 }));
    expect(failure.code).toBe("unprocessable");
    expect(failure.request).not.toHaveProperty("problem");
  });

  test("with hundreds of members shows the first ones", async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`m${index}`, index]));
    const { failure } = await update(() => problem(422, many));
    expect(failure.request?.problem?.extensions).toHaveLength(10);
  });

  test.each<[number, string]>([
    [500, "service-failed"],
    [503, "service-failed"],
    [424, "dependency-failed"],
  ])("with %i is retried ten times, and then reported with the count", async (status, code) => {
    const { failure, seen } = await update(() => problem(status));
    expect(failure).toMatchObject({ code, request: { status, attempts: 10, uncertain: true } });
    expect(seen).toHaveLength(10);
  });

  test("with endless 429 is reported with the wait that it asked for", async () => {
    const { failure, events } = await update(() => problem(429, {}, { "retry-after": "3600" }));
    expect(failure).toMatchObject({ code: "rate-limited", request: { attempts: 1 } });
    expect(failure.hint).toMatch(/^The service asks for a wait of 60 min; /);
    expect(failure.request?.uncertain).toBeUndefined();
    expect(events.map(({ type }) => type)).toEqual(["request", "response"]);
  });

  test("by a redirect is not followed", async () => {
    const { failure, seen } = await read(
      () => new Response(null, { status: 302, headers: { location: "https://evil.example/x" } }),
    );
    expect(failure).toMatchObject({ code: "unexpected-status", request: { status: 302 } });
    expect(failure.message).toMatch(/returned 302 Redirect: to https:\/\/evil\.example\/x$/);
    expect(failure.hint).toMatch(/not followed/);
    expect(new Set(seen.map(({ path }) => path)).size).toBe(2);
  });

  test("with 304 is not reported as a redirect", async () => {
    const { failure } = await read(() => new Response(null, { status: 304 }));
    expect(failure.message).toMatch(/returned 304 Not Modified\.$/);
    expect(failure.hint).not.toMatch(/[Rr]edirect/);
  });

  test.each<[string, () => Response, string]>([
    ["a Problem as plain JSON", () => json({ type: "t", title: "T" }, 400), "T"],
    ["another form of JSON", () => json({ error_code: "X", message: "Say why" }, 400), "Say why"],
    ["a list of errors", () => json([{ message: "The first" }], 400), "The first"],
    ["text", () => new Response("no \u001b[31mway\u202e\r\n out", { status: 400 }), "no [31mway out"],
    ["nothing", () => new Response(null, { status: 400 }), ""],
    ["a web page", () => page(400), "Sign in Please sign in."],
  ])("in the form of %s reads well", async (_, answer, said) => {
    const { failure } = await update(answer);
    expect(failure.message).toBe(`${LINE} returned 400 Bad Request${said ? `: ${said}` : "."}`);
  });

  test("at great length is cut short in the message, and shown whole in the Problem", async () => {
    const { failure } = await update(() => problem(422, { detail: "x".repeat(3000) }));
    expect(failure.message.length).toBeLessThan(400);
    expect(failure.request?.problem?.detail).toHaveLength(3000);
  });
});

describe("a response from something other than the service", () => {
  test("is assumed for an HTML page, and not retried", async () => {
    const { failure, seen } = await read(() => page());
    expect(failure).toMatchObject({ code: "bad-response", request: { status: 200, attempts: 1 } });
    expect(failure.message).toMatch(/returned 200, but with an HTML page instead of JSON\.$/);
    expect(failure.hint).toMatch(/Check that the base URL is the service/);
    expect(seen).toHaveLength(2);
    expect((await read(() => page(404))).failure.hint).toMatch(/Check that the base URL is the service/);
  });

  test("is not a successful write", async () => {
    const { failure } = await update(() => page());
    expect(failure).toMatchObject({ code: "bad-response", request: { uncertain: true } });
  });
});

describe("broken JSON", () => {
  const broken = () =>
    new Response('{"items": [{"id": "secret text"', { headers: { "content-type": "application/json" } });

  test("is retried", async () => {
    const { reader } = connectTo((_, count) =>
      count === 1 ? broken() : json({ items: [], total_count: 0 }),
    );
    expect((await reader.read("MC1", [])).members).toEqual([]);
  });

  test("is reported in the end, without being repeated", async () => {
    const { failure } = await read(broken);
    expect(failure).toMatchObject({ code: "bad-response", request: { attempts: 10 } });
    expect(failure.message).toMatch(/returned 200, but with broken JSON\.$/);
  });
});

describe("secrets", () => {
  test("are not in a failure, whatever the service repeats", async () => {
    const password = 'correct "horse" \\ battery';
    const echo = `you sent ${KEY} and ${password}`;
    for (const answer of [
      () => problem(422, { type: echo, title: echo, detail: echo, instance: echo }),
      () => problem(422, { detail: `${"x".repeat(3990)}${password}` }),
      () => json({ unheard_of: echo }, 400),
      () => new Response(echo, { status: 400 }),
      () => new Response(null, { status: 302, headers: { location: `/login?token=${KEY}` } }),
      () => problem(429, { detail: echo }, { "retry-after": KEY }),
    ]) {
      const { writer } = connectTo(answer);
      const managed = { email: "a@example.com", roles: [], managed: { nickname: "A", password } };
      const failure = await failureOf(writer("MC1").createMember(managed));
      const all = JSON.stringify([failure.message, failure.hint, failure.request]);
      expect(all).toContain("[secret]");
      expect(all).not.toContain(KEY);
      expect(all).not.toMatch(/horse|battery|correct/);
    }
  });

  test.each([
    ["base64", (text: string) => Buffer.from(text).toString("base64")],
    ["base64 for URLs", (text: string) => Buffer.from(text).toString("base64url")],
    ["base64 of what is around it", (text: string) => Buffer.from(`Bearer ${text}; x`).toString("base64")],
    ["base64 of a user and password", (text: string) => Buffer.from(`me:${text}:`).toString("base64")],
    [
      "base64 of several lines",
      (text: string) => Buffer.from(text).toString("base64").replaceAll(/.{9}/g, "$&\r\n"),
    ],
    ["hex", (text: string) => Buffer.from(text).toString("hex")],
    ["hex in capitals", (text: string) => Buffer.from(text).toString("hex").toUpperCase()],
    ["percent escapes", (text: string) => encodeURIComponent(text)],
    [
      "an escape of each byte",
      (text: string) => Buffer.from(text).toString("hex").replaceAll(/../g, "%$&").toUpperCase(),
    ],
  ])("are not in a failure if the service repeats them in %s", async (_, encode) => {
    const password = 'correct "horse" \\ battery';
    for (const secret of [KEY, password]) {
      const { writer } = connectTo(() => problem(422, { detail: `you sent <${encode(secret)}>` }));
      const managed = { email: "a@example.com", roles: [], managed: { nickname: "A", password } };
      const failure = await failureOf(writer("MC1").createMember(managed));
      const all = JSON.stringify([failure.message, failure.hint, failure.request]);
      expect(all).toContain("[secret]");
      // What is left belongs to what was encoded around the secret.
      const shown = /<(.*?)>/.exec(all)?.[1] ?? "";
      expect(shown.replace("[secret]", "").length).toBeLessThanOrEqual(16);
      expect(all).not.toContain(encode(secret).slice(12, 24));
    }
  });

  test("are refused before they are sent where they cannot be a key", () => {
    for (const key of ["'sk_test_a'", '"sk_test_a"', "", "sk_test_a b", "sk_test_a\n", "sk_test_ä"]) {
      expect(() => connectToFetch(async () => json({}), { key })).toThrow("The key in RETAIL_API_KEY");
    }
  });
});
