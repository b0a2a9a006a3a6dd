import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type Listening, listen } from "../../src/sandbox/listen.ts";
import { type Harness, MEMBERS, ROLES, start } from "./support.ts";

let open: Listening | null = null;

afterEach(async () => {
  await open?.close();
  open = null;
});

async function listening(): Promise<Harness & { url: string }> {
  const harness = start();
  open = await listen(harness.sandbox, { host: "127.0.0.1", port: 0 });
  return { ...harness, url: open.url };
}

const authorization = { authorization: "Bearer sk_test_sandbox" };

test("the sandbox answers on a socket", async () => {
  const { url } = await listening();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const got = await fetch(url + MEMBERS, { headers: authorization });
  expect(got.status).toBe(200);
  expect(await got.json()).toMatchObject({ total_count: 1 });
  const created = await fetch(url + ROLES, {
    method: "POST",
    headers: { ...authorization, "content-type": "application/json" },
    body: JSON.stringify({ name: "A", permissions: [] }),
  });
  const role = (await created.json()) as { id: string };
  const deleted = await fetch(`${url}${ROLES}/${role.id}`, { method: "DELETE", headers: authorization });
  expect([deleted.status, await deleted.text(), deleted.headers.get("content-length")]).toEqual([
    200,
    "",
    "0",
  ]);
});

test("a reset destroys the connection without a response", async () => {
  const { url, call } = await listening();
  await call("POST", "/_sandbox/faults", { key: null, body: { kind: "reset-after", times: 1 } });
  await expect(fetch(url + ROLES, { headers: authorization })).rejects.toThrow();
  expect((await fetch(url + ROLES, { headers: authorization })).status).toBe(200);
});

test("a truncated response is shorter than its content length", async () => {
  const { url, call } = await listening();
  await call("POST", "/_sandbox/faults", { key: null, body: { kind: "truncate" } });
  const got = await fetch(url + MEMBERS, { headers: authorization });
  expect(got.status).toBe(200);
  expect(Number(got.headers.get("content-length"))).toBeGreaterThan(100);
  await expect(got.text()).rejects.toThrow();
});

test("a body that is too large is refused on the socket too", async () => {
  const { url } = await listening();
  const headers = { ...authorization, "content-type": "application/json", "transfer-encoding": "chunked" };
  const status = await new Promise((resolve, reject) => {
    const sent = request(url + ROLES, { method: "POST", headers }, (answer) => resolve(answer.statusCode));
    sent.on("error", reject);
    for (let i = 0; i < 20; i += 1) sent.write("x".repeat(100_000));
    sent.end();
  });
  expect(status).toBe(413);
});

test("a foreign Host cannot reach the control routes through a socket", async () => {
  const { url } = await listening();
  const status = await new Promise((resolve, reject) => {
    request(`${url}/_sandbox/requests`, { headers: { host: "evil.example" } }, (answer) =>
      resolve(answer.statusCode),
    )
      .on("error", reject)
      .end();
  });
  expect(status).toBe(403);
});

test("a request without a usable Host is a 400", async () => {
  const { url } = await listening();
  const text = await new Promise<string>((resolve, reject) => {
    let got = "";
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => {
      socket.write("GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n");
    });
    socket.on("data", (chunk) => {
      got += chunk;
    });
    socket.on("end", () => resolve(got));
    socket.on("error", reject);
  });
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
});

test("closing does not wait for connections that are kept alive", async () => {
  const { url } = await listening();
  await fetch(url + ROLES, { headers: authorization });
  await open?.close();
  await expect(fetch(url + ROLES, { headers: authorization })).rejects.toThrow();
  open = null;
});

test("closing breaks off requests that would never end", async () => {
  const { sandbox } = start({ latency: 1, sleep: () => new Promise(() => undefined) });
  const { url, close } = await listen(sandbox, { host: "127.0.0.1", port: 0 });
  const pending = fetch(url + ROLES, { headers: authorization });
  const other = fetch(`${url}/_sandbox`);
  const broken = expect(pending).rejects.toThrow();
  // Once this one is answered, the first has arrived as well.
  await other;
  await close();
  await broken;
});

test("two cannot listen on one port", async () => {
  const { url, sandbox } = await listening();
  const port = Number(new URL(url).port);
  await expect(listen(sandbox, { host: "127.0.0.1", port })).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test("a response without a content type has none on the socket either", async () => {
  const { url, call } = await listening();
  await call("POST", "/_sandbox/faults", { key: null, body: { kind: "content-type", type: null } });
  const got = await fetch(url + MEMBERS, { headers: authorization });
  expect([got.status, got.headers.get("content-type")]).toEqual([200, null]);
  expect(JSON.parse(await got.text())).toMatchObject({ total_count: 1 });
  // The connection goes on as usual.
  expect((await fetch(`${url}/_sandbox`)).status).toBe(200);
});

test("a concurrent edit can send the body of a creation first, on a socket as well", async () => {
  const { url, call } = await listening();
  await call("POST", "/_sandbox/faults", { key: null, body: { kind: "concurrent-edit", edit: "create" } });
  const got = await fetch(url + ROLES, {
    method: "POST",
    headers: { ...authorization, "content-type": "application/json" },
    body: JSON.stringify({ name: "A", permissions: [] }),
  });
  expect(got.status).toBe(409);
});
