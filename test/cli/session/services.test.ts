import { describe, expect, test } from "vitest";
import { proxyFor } from "../../../src/cli/session/services.ts";

const SERVICE = "https://api.example.com/base";
const choice = (env: Record<string, string>, service = SERVICE) => proxyFor(new URL(service), env);
const originOf = (env: Record<string, string>, service = SERVICE) => choice(env, service)?.proxy?.origin;

describe("the proxy for a service", () => {
  test("is none where no variable names one, or only one for the other scheme", () => {
    expect(choice({})).toBeNull();
    expect(choice({ HTTP_PROXY: "http://p:1", http_proxy: "http://p:1" })).toBeNull();
    expect(choice({ HTTPS_PROXY: "http://p:1" }, "http://127.0.0.1:4010")).toBeNull();
    expect(choice({ HTTPS_PROXY: "", https_proxy: "" })).toBeNull();
  });

  test("is in https_proxy, before HTTPS_PROXY, and an empty one does not count", () => {
    expect(choice({ https_proxy: "http://low:1", HTTPS_PROXY: "http://up:2" })).toEqual({
      proxy: { origin: "http://low:1", authorization: null },
      because: "https_proxy",
    });
    expect(choice({ https_proxy: "", HTTPS_PROXY: "http://up:2" })).toMatchObject({ because: "HTTPS_PROXY" });
  });

  test.each([
    ["proxy.example:3128", "http://proxy.example:3128"],
    ["http://proxy.example:80/", "http://proxy.example:80"],
    ["http://proxy.example", "http://proxy.example:1080"],
    ["https://proxy.example", "https://proxy.example:443"],
    ["http://[::1]:3128", "http://[::1]:3128"],
    ["http://[::1]", "http://[::1]:1080"],
    ["u:3128@proxy.example", "http://proxy.example:1080"],
  ])("may be written as %s", (value, origin) => {
    expect(originOf({ HTTPS_PROXY: value })).toBe(origin);
  });

  test.each([
    ["http://ada:p%40ss@proxy:1", "ada:p@ss"],
    ["ada@proxy:1", "ada:"],
    ["http://ada:a:b@proxy:1", "ada:a:b"],
  ])("has the credentials of %s", (value, credentials) => {
    const { proxy } = choice({ HTTPS_PROXY: value }) ?? {};
    expect(proxy?.origin).toBe("http://proxy:1");
    expect(proxy?.authorization).toBe(`Basic ${Buffer.from(credentials).toString("base64")}`);
  });

  test.each([
    "http://",
    "http://ada:secret@",
    "socks5://ada:secret@proxy:1",
    "http://ada:%zzsecret@proxy:1",
    "a b",
  ])("is an error that does not repeat it where it will not do (%s)", (value) => {
    expect(() => choice({ HTTPS_PROXY: value })).toThrow(/^HTTPS_PROXY (is|holds) (?!.*secret)/);
  });

  test("is not asked for a service on this machine, unless it is there, too", () => {
    const local = "http://127.0.0.1:4010";
    expect(choice({ http_proxy: "http://proxy.example:1" }, local)).toEqual({
      proxy: null,
      because: "the service is on this machine",
    });
    expect(originOf({ HTTP_PROXY: "http://127.0.0.1:1" }, local)).toBe("http://127.0.0.1:1");
    expect(originOf({ HTTP_PROXY: "localhost:1" }, "http://localhost:4010")).toBe("http://localhost:1");
  });
});

describe("no_proxy", () => {
  const env = { https_proxy: "http://p:1" };

  test.each([
    ["*", SERVICE],
    ["api.example.com", SERVICE],
    ["example.com", SERVICE],
    [".example.com", SERVICE],
    ["*.example.com", SERVICE],
    ["API.Example.COM.", SERVICE],
    ["other.example, example.com", SERVICE],
    ["other.example example.com", SERVICE],
    ["example.com:443", SERVICE],
    ["api.example.com:8443", "https://api.example.com:8443"],
    ["example.com", "https://api.example.com."],
    ["10.1.2.3", "https://10.1.2.3"],
    ["10.0.0.0/8", "https://10.1.2.3"],
    ["10.1.2.3:444", "https://10.1.2.3:444"],
    ["[2001:db8::1]", "https://[2001:db8::1]"],
    ["2001:db8::1", "https://[2001:db8::1]"],
    ["2001:db8::/32", "https://[2001:db8::1]"],
    ["[2001:db8::1]:8443", "https://[2001:db8::1]:8443"],
    ["0.0.0.0/0", "https://10.1.2.3"],
  ])("%s covers %s", (list, service) => {
    expect(choice({ ...env, no_proxy: list }, service)).toEqual({ proxy: null, because: "no_proxy" });
    expect(choice({ ...env, NO_PROXY: list }, service)).toEqual({ proxy: null, because: "NO_PROXY" });
  });

  test.each([
    ["", SERVICE],
    [",", SERVICE],
    [".", SERVICE],
    ["ple.com", SERVICE],
    ["www.example.com", SERVICE],
    ["pi.example.com", SERVICE],
    ["example.com:8443", SERVICE],
    ["10.0.0.0/8", "https://11.1.2.3"],
    ["10.0.0.0/33", "https://10.1.2.3"],
    ["10.0.0.0/x", "https://10.1.2.3"],
    ["3", "https://10.1.2.3"],
    ["2001:db8::/32", "https://[2001:db9::1]"],
    ["10.0.0.0/8", "https://[2001:db9::1]"],
  ])("%s does not cover %s", (list, service) => {
    expect(originOf({ ...env, no_proxy: list }, service)).toBe("http://p:1");
  });

  test("in small letters goes before the one in capitals", () => {
    expect(originOf({ ...env, no_proxy: "x.example", NO_PROXY: "*" })).toBe("http://p:1");
    expect(choice({ ...env, no_proxy: "", NO_PROXY: "*" })).toMatchObject({ proxy: null });
  });
});
