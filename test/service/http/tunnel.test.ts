import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createTunnel, LIMITS, undiciTransport } from "../../../src/service/http/transport.ts";
import { checkBaseUrl } from "../../../src/service/paths.ts";
import { type ConnectProxy, type Route, startConnectProxy } from "../../support/connect-proxy.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const get = { method: "GET", path: "/x", headers: {} } as const;
const authorization = `Basic ${Buffer.from("ada:s3cret").toString("base64")}`;

async function through(
  route?: Route,
  target = "",
): Promise<{ proxy: ConnectProxy; send: () => Promise<unknown> }> {
  const server = createServer((request, response) => response.end(`${request.method} ${request.url}`));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy = await startConnectProxy(route);
  const url = checkBaseUrl(target || `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`);
  const tunnel = createTunnel(url, { origin: `http://${proxy.host}`, authorization }, 2000);
  const transport = undiciTransport(url, 4, () => () => undefined, LIMITS, tunnel);
  open.push(transport, proxy, server);
  return { proxy, send: () => transport.send(get).then(({ status, body }) => [status, body]) };
}

test("requests go through tunnels, with credentials, and a tunnel is used again", async () => {
  const { proxy, send } = await through();
  expect(await send()).toEqual([200, "GET /base/x"]);
  expect(await send()).toEqual([200, "GET /base/x"]);
  for (let round = 0; round < 5; round += 1) await Promise.all([send(), send(), send()]);
  expect(proxy.asked.length).toBeLessThanOrEqual(4);
  expect(proxy.asked[0]).toEqual({
    to: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    credentials: "ada:s3cret",
  });
});

test.each([
  [407, "refused", "requires other credentials (407)"],
  [403, "refused", "refuses a tunnel to api.example.com:443 (403)"],
  [502, "network", "cannot reach api.example.com:443 (502)"],
])("a proxy that returns %i is reported as such, and nothing was sent", async (status, kind, words) => {
  const { proxy, send } = await through(() => status, "https://api.example.com");
  const failure = await send().catch((error: unknown) => error);
  expect(failure).toMatchObject({
    name: "LostResponse",
    kind,
    sent: false,
    message: `the proxy ${proxy.host} ${words}`,
  });
  expect(String(failure)).not.toContain("s3cret");
});

test("a proxy that does not exist is reported as such", async () => {
  const { proxy, send } = await through();
  await proxy.close();
  open.splice(open.indexOf(proxy), 1);
  expect(await send().catch((error: unknown) => error)).toMatchObject({
    kind: "network",
    sent: false,
    message: `nothing is listening at ${proxy.host} (the proxy)`,
  });
});

test("a server without TLS behind the proxy is not spoken to, and nothing was sent", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(server);
  const { port } = server.address() as AddressInfo;
  const { send } = await through(() => ({ port }), "https://api.example.com");
  expect(await send().catch((error: unknown) => error)).toMatchObject({ kind: "refused", sent: false });
});
