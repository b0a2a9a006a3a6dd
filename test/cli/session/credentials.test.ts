import { expect, test } from "vitest";
import { resolveConnection } from "../../../src/cli/session/credentials.ts";
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

test("it is known what gave the base URL", () => {
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

test("else the merchant's own variable goes before the common one", () => {
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
