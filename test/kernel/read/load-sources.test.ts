import { expect, test } from "vitest";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";

test("a merchant has a state unless its file has an error or another declares it too", async () => {
  const files: Readonly<Record<string, string>> = {
    "a.yaml": "version: 1\nmerchant: MC1\ninclude: [all.yaml]\nroles: [{ name: Lead, permissions: [] }]\n",
    "b.yaml": "version: 1\nmerchant: MC2\ninclude: [all.yaml]\nroles: []\n",
    "c.yaml": "version: 1\nmerchant: MC3\nnonsense: 1\n",
    "d.yaml": "version: 1\nmerchant: MC1\nmembers: []\n",
    "e.yaml": "version: 1\nmerchant: MC5\nmembers: []\n",
    "all.yaml": "version: 1\npolicies: { require_mfa: [Lead] }\n",
  };
  const { merchants } = await loadMerchants(
    ["a.yaml", "b.yaml", "c.yaml", "d.yaml", "e.yaml"],
    async (file) => ({ ok: true, file, text: files[file] ?? "" }),
    { now: 0, judge: judgeDeclared },
  );
  // MC2 lacks a role of a shared rule, and d.yaml declares MC1 again.
  const states = merchants.map(({ file, state }) => [file, state !== null, state?.rolesElsewhere]);
  expect(states).toEqual([
    ["a.yaml", true, undefined],
    ["b.yaml", true, ["Lead"]],
    ["c.yaml", false, undefined],
    ["d.yaml", false, undefined],
    ["e.yaml", true, undefined],
  ]);
});
