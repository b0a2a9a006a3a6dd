import { describe, expect, test } from "vitest";
import { proxyFor, resolveConnection } from "../../../src/app/session/connection.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import { desired } from "../../support/build.ts";

const URL_ENV = { ROLECALL_BASE_URL: "https://env.example" };

/** The error that a call throws. */
function errorOf(call: () => unknown): RolecallError {
  try {
    call();
  } catch (error) {
    if (error instanceof RolecallError) return error;
  }
  throw new Error("no RolecallError was thrown");
}

test("the base URL comes from the option, else from the file, else from the environment", () => {
  const env = { ...URL_ENV, ROLECALL_API_KEY: "sk_test_abc" };
  const state = desired({ baseUrl: "https://file.example" });
  expect(resolveConnection(state, "https://option.example", env).baseUrl).toBe("https://option.example");
  expect(resolveConnection(state, undefined, env).baseUrl).toBe("https://file.example");
  expect(resolveConnection(desired(), undefined, env).baseUrl).toBe("https://env.example");
  expect(errorOf(() => resolveConnection(desired(), undefined, {})).code).toBe("base-url-missing");
});

test("an address has one form, however it is spelled", () => {
  const env = { ROLECALL_API_KEY: "sk_test_abc" };
  const baseUrl = (option: string) => resolveConnection(desired(), option, env).baseUrl;
  expect(baseUrl("https://API.example.com:443/v1//")).toBe("https://api.example.com/v1");
  expect(baseUrl("https://api.example.com/v1")).toBe("https://api.example.com/v1");
  expect(baseUrl("http://127.0.0.1:8080/")).toBe("http://127.0.0.1:8080");
});

test("the source of the base URL is known", () => {
  const env = { ...URL_ENV, ROLECALL_API_KEY: "sk_test_abc" };
  const state = desired({ baseUrl: "https://file.example" });
  expect(resolveConnection(state, "https://option.example", env).baseUrlSource).toBe("--base-url");
  expect(resolveConnection(state, undefined, env).baseUrlSource).toBe("api.base_url in shop.yaml");
  expect(resolveConnection(desired(), undefined, env).baseUrlSource).toBe("ROLECALL_BASE_URL");
});

test("the key comes from the variable that the file names, and from no other", () => {
  const env = { ...URL_ENV, RETAIL_API_KEY: "sk_test_retail", ROLECALL_API_KEY: "sk_test_other" };
  expect(resolveConnection(desired({ keyEnv: "RETAIL_API_KEY" }), undefined, env)).toMatchObject({
    key: "sk_test_retail",
    keySource: "RETAIL_API_KEY",
  });
  const error = errorOf(() => resolveConnection(desired({ keyEnv: "MISSING_KEY" }), undefined, env));
  expect(error.code).toBe("key-missing");
  expect(error.hint).toContain("MISSING_KEY");
});

test("the merchant's own variable takes precedence over the common one", () => {
  const env = { ...URL_ENV, ROLECALL_API_KEY_MC_1: "sk_test_own", ROLECALL_API_KEY: "sk_test_common" };
  expect(resolveConnection(desired({ merchant: "MC-1" }), undefined, env).key).toBe("sk_test_own");
  expect(resolveConnection(desired({ merchant: "MC2" }), undefined, env).key).toBe("sk_test_common");
});

test("a file's environment has to agree with the key, and an error about it does not print the key", () => {
  const env = { ...URL_ENV, ROLECALL_API_KEY: "sk_test_abcdef" };
  const error = errorOf(() => resolveConnection(desired({ environment: "live" }), undefined, env));
  expect(error.code).toBe("key-environment");
  expect(JSON.stringify(error.failure)).not.toContain("abcdef");
});

test("without an environment in the file the key's prefix tells it, where it has one", () => {
  const environmentOf = (key: string) =>
    resolveConnection(desired(), undefined, { ...URL_ENV, ROLECALL_API_KEY: key }).environment;
  expect(environmentOf("sk_live_x")).toBe("live");
  expect(environmentOf("sk_test_x")).toBe("test");
  expect(environmentOf("restricted_x")).toBeNull();
});

test("a key with a line break or a quote in it is refused without being printed", () => {
  const error = errorOf(() =>
    resolveConnection(desired(), undefined, { ...URL_ENV, ROLECALL_API_KEY: "sk_test_a\nb c" }),
  );
  expect(error.code).toBe("key-malformed");
  expect(JSON.stringify(error.failure)).not.toContain("sk_test_a");
});

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
  ])("is an error that does not repeat the value if invalid (%s)", (value) => {
    expect(() => choice({ HTTPS_PROXY: value })).toThrow(/^HTTPS_PROXY (is|contains) (?!.*secret)/);
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

  test("in lower case takes precedence over upper case", () => {
    expect(originOf({ ...env, no_proxy: "x.example", NO_PROXY: "*" })).toBe("http://p:1");
    expect(choice({ ...env, no_proxy: "", NO_PROXY: "*" })).toMatchObject({ proxy: null });
  });
});
