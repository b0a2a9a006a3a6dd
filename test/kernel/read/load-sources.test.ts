import { describe, expect, test } from "vitest";
import type { FileHeader } from "../../../src/kernel/read/file-header.ts";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import type { ReadSource } from "../../../src/kernel/read/load-sources.ts";
import { judgeDeclared } from "../../../src/rules/judge-rules.ts";

const API = "api: { base_url: https://api.example.com/v, key_env: SHOP_KEY }\n";

function fileOf(merchant: string, members: number): string {
  const entries = Array.from(
    { length: members },
    (_, at) => `  - email: person.${at}@example.com\n    roles: [Cashier]\n`,
  );
  return `version: 1\nmerchant: ${merchant}\n${API}members:\n${entries.join("")}`;
}

/** Loads files, and gives the heads that were told and how often others had their turn. */
async function load(
  files: Readonly<Record<string, string>>,
  roots = Object.keys(files),
): Promise<{ readonly heads: readonly FileHeader[]; readonly log: readonly string[] }> {
  const read: ReadSource = async (file) => ({ ok: true, file, text: files[file] ?? "" });
  const heads: FileHeader[] = [];
  const log: string[] = [];
  await loadMerchants(roots, read, {
    now: 0,
    judge: judgeDeclared,
    hooks: {
      onHeader: async (head) => {
        heads.push(head);
        log.push(head.merchant);
      },
      pause: async () => void log.push("pause"),
    },
  });
  return { heads, log };
}

describe("whose a file is", () => {
  test("is known early, with its connection and an estimate of its members", async () => {
    const { heads } = await load({
      "a.yaml": `${fileOf("MC1", 30)}environment: test\n`,
      "b.yaml": "version: 1\nmerchant: MC2\n",
    });
    expect(heads).toEqual([
      {
        merchant: "MC1",
        environment: "test",
        baseUrl: "https://api.example.com/v",
        keyEnv: "SHOP_KEY",
        members: 30,
        origin: { file: "a.yaml", path: [] },
      },
      { merchant: "MC2", members: 0, origin: { file: "b.yaml", path: [] } },
    ]);
  });

  test("is known before most of the file has been read, without blocking the event loop", async () => {
    const { heads, log } = await load({ "a.yaml": fileOf("MC1", 10_000) });
    expect(log[0]).toBe("MC1");
    // One after each chunk of the file, each thousand members, and each of the steps after that.
    expect(log.length).toBeGreaterThan(25);
    expect(Math.abs((heads[0]?.members ?? 0) - 10_000)).toBeLessThan(500);
  });

  test.each([
    ["the environment", "environment: live\n"],
    ["anything at all", "guards: { max_removals: 3 }\n"],
  ])("is not known early if %s may follow the members", async (_, last) => {
    const text = fileOf("MC1", 2000) + last;
    const { heads } = await load({ "a.yaml": text, "b.yaml": fileOf("MC2", 10) + last });
    // A small file is read whole before it is told.
    expect(heads.map(({ merchant }) => merchant)).toEqual(["MC2"]);
  });

  test.each([
    ["has no merchant", "version: 1\nmembers: []\n"],
    ["has a merchant that is none", "version: 1\nmerchant: MC 1\n"],
    ["has an address that is none", "version: 1\nmerchant: MC1\napi: { base_url: ftp://example.com }\n"],
    ["is no plain YAML", "version: 1\nmerchant: &code MC1\n"],
    ["is no mapping", "- merchant: MC1\n"],
  ])("is not known early for a file that %s", async (_, text) => {
    expect((await load({ "a.yaml": text })).heads).toEqual([]);
  });

  test("is not known for a file that is only included", async () => {
    const main = "version: 1\nmerchant: MC1\ninclude: [b.yaml]\n";
    const { heads } = await load({ "a.yaml": main, "b.yaml": "version: 1\nmerchant: MC2\n" }, ["a.yaml"]);
    expect(heads.map(({ merchant }) => merchant)).toEqual(["MC1"]);
  });
});

test("each valid state is told as soon as it is built, unless another file can still change it", async () => {
  const files: Readonly<Record<string, string>> = {
    "a.yaml": "version: 1\nmerchant: MC1\ninclude: [all.yaml]\nroles: [{ name: Lead, permissions: [] }]\n",
    "b.yaml": "version: 1\nmerchant: MC2\ninclude: [all.yaml]\nroles: []\n",
    "c.yaml": "version: 1\nmerchant: MC3\nnonsense: 1\n",
    "d.yaml": "version: 1\nmerchant: MC1\nmembers: []\n",
    "e.yaml": "version: 1\nmerchant: MC5\nmembers: []\n",
    "all.yaml": "version: 1\npolicies: { require_mfa: [Lead] }\n",
  };
  const told: string[] = [];
  const { merchants } = await loadMerchants(
    ["a.yaml", "b.yaml", "c.yaml", "d.yaml", "e.yaml"],
    async (file) => ({ ok: true, file, text: files[file] ?? "" }),
    {
      now: 0,
      judge: judgeDeclared,
      hooks: {
        onHeader: async () => undefined,
        pause: async () => undefined,
        onState: async ({ roles: _roles, members: _members, ...state }) => {
          told.push(state.origin.file);
          return state;
        },
      },
    },
  );
  // MC2 lacks a role of a shared rule, and d.yaml declares MC1 again.
  expect(told).toEqual(["a.yaml", "e.yaml"]);
  const states = merchants.map(({ file, state }) => [file, state && "roles" in state, state?.rolesElsewhere]);
  expect(states).toEqual([
    ["a.yaml", false, undefined],
    ["b.yaml", true, ["Lead"]],
    ["c.yaml", null, undefined],
    ["d.yaml", null, undefined],
    ["e.yaml", false, undefined],
  ]);
});
