import { expect, test } from "vitest";
import { environmentToken } from "../../../src/cli/github/github-client.ts";

test("a token for github.com is for no other host that a remote names, as for gh", () => {
  const env = { GH_TOKEN: " gho_1\n", GITHUB_TOKEN: "gho_2", GH_ENTERPRISE_TOKEN: "gho_3" };
  expect(environmentToken("github.com", env)).toBe("gho_1");
  expect(environmentToken("acme.ghe.com", env)).toBe("gho_1");
  expect(environmentToken("git.example", env)).toBe("gho_3");
  expect(environmentToken("git.example", { GH_TOKEN: "gho_1" })).toBeNull();
  expect(environmentToken("git.example", { ...env, GITHUB_API_URL: "https://git.example/api/v3" })).toBe(
    "gho_1",
  );
});
