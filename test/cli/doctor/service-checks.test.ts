import { describe, expect, test } from "vitest";
import { checkService, type Network } from "../../../src/cli/doctor/service-checks.ts";
import { LostResponse } from "../../../src/service/http/transport.ts";

const NOW = Date.parse("2026-06-01T12:00:00Z");

const answer = (status: number, headers: Readonly<Record<string, string>> = {}, body = "{}") => ({
  status,
  body,
  header: (name: string) => headers[name],
});

const NETWORK: Network = {
  lookup: async () => ["192.0.2.1", "192.0.2.2"],
  reach: async () => ({ tls: { version: "TLSv1.3", validUntil: "Jan  2 03:04:05 2027 GMT" } }),
  ask: async () => answer(401, { date: new Date(NOW).toUTCString() }),
};

const check = async (network: Partial<Network> = {}, env: Readonly<Record<string, string>> = {}) => {
  const checks = await checkService(
    { baseUrl: "https://api.example.com", source: "--base-url" },
    { ...NETWORK, ...network },
    { env, now: () => NOW, monotonic: () => 0 },
  );
  return checks.map(({ name, status, detail }) => [name, status, detail]);
};

test("the way to a service is shown step by step", async () => {
  expect(await check()).toEqual([
    ["Base URL", "ok", "from --base-url"],
    ["Proxy", "ok", "none"],
    ["DNS", "ok", "api.example.com is 192.0.2.1 and 1 more"],
    ["Connection", "ok", "TLSv1.3, certificate valid until 2027-01-02; 0 ms"],
    ["Response", "ok", "asks for a key (401); 0 ms"],
    ["Clock", "ok", "the same as the service's"],
  ]);
});

describe("a name", () => {
  test.each([
    ["ENOTFOUND", "api.example.com does not exist"],
    ["EAI_AGAIN", "api.example.com cannot be looked up now: no name server responds"],
    ["ETIMEDOUT", "api.example.com was not resolved by the name server in time"],
    ["EODD", "api.example.com cannot be looked up (EODD)"],
  ])("that fails with %s ends the checks", async (code, detail) => {
    const lookup = () => Promise.reject(Object.assign(new Error(code), { code }));
    expect((await check({ lookup })).at(-1)).toEqual(["DNS", "failed", detail]);
  });

  test("is the proxy's where there is one: the service's is the proxy's to look up", async () => {
    const asked: string[] = [];
    const network = {
      lookup: async (host: string) => {
        asked.push(host);
        return ["192.0.2.7"];
      },
    };
    const checks = await check(network, { HTTPS_PROXY: "http://ada:s3cret@proxy.example.com:3128" });
    expect(asked).toEqual(["proxy.example.com"]);
    expect(checks[1]).toEqual(["Proxy", "ok", "http://proxy.example.com:3128, from HTTPS_PROXY"]);
    const exempt = await check({}, { HTTPS_PROXY: "http://proxy.example.com", NO_PROXY: "example.com" });
    expect(exempt[1]).toEqual(["Proxy", "ok", "not used: NO_PROXY"]);
    const wrong = await check({}, { HTTPS_PROXY: "socks5://proxy.example.com" });
    expect(wrong.at(-1)).toEqual([
      "Proxy",
      "failed",
      "HTTPS_PROXY is a socks5 proxy, which is not supported.",
    ]);
  });
});

test.each([
  [answer(200, { "content-type": "text/html" }, "<p>"), "failed", "a web page (200), not the service"],
  [answer(302), "failed", "a redirect (302)"],
  [answer(503), "failed", "the service responded with an error (503)"],
  [answer(403), "ok", "asks for a key (403); 0 ms"],
  [answer(429), "ok", "busy (429); 0 ms"],
  [answer(404), "unknown", "404 to a request without a key"],
  [answer(200), "unknown", "200 to a request without a key"],
])("a response is judged: %#", async (given, status, detail) => {
  expect((await check({ ask: async () => given }))[4]).toEqual(["Response", status, detail]);
});

test("a lost response ends the checks", async () => {
  const ask = () =>
    Promise.reject(new LostResponse("timeout", "api.example.com did not answer in time", true));
  expect((await check({ ask })).at(-1)).toEqual([
    "Response",
    "failed",
    "api.example.com did not answer in time",
  ]);
});

test.each([
  [1, "ok", "the same as the service's"],
  [-30, "ok", "30 s behind the service's"],
  [61, "failed", "61 s ahead of the service's: end dates take effect at the wrong time"],
  [-86_400 * 3, "failed", "3 days behind the service's: end dates take effect at the wrong time"],
])("a clock %i s off is %s", async (seconds, status, detail) => {
  const date = new Date(NOW - seconds * 1000).toUTCString();
  expect((await check({ ask: async () => answer(401, { date }) })).at(-1)).toEqual(["Clock", status, detail]);
});

test("a service without a Date header leaves the clock unknown", async () => {
  expect((await check({ ask: async () => answer(401) })).at(-1)).toEqual([
    "Clock",
    "unknown",
    "the response has no Date header",
  ]);
});
