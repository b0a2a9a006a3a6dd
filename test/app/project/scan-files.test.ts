import { realpathSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesNaming, includeClosures } from "../../../src/app/project/scan-files.ts";
import { parse } from "../../../src/kernel/yaml/to-value.ts";
import { runs } from "../../support/property-runs.ts";

let folder = "";

beforeAll(async () => {
  folder = realpathSync(await mkdtemp(join(tmpdir(), "rolecall-scan-")));
  await mkdir(join(folder, "access"));
});

afterAll(() => rm(folder, { recursive: true }));

async function put(file: string, text: string): Promise<string> {
  await writeFile(join(folder, file), text);
  return join(folder, file);
}

async function isNaming(text: string, ...codes: readonly string[]): Promise<boolean> {
  return filesNaming([await put("access/one.yaml", text)], codes).length === 1;
}

describe("a file that may declare a merchant", () => {
  test.each([
    "version: 1\nmerchant: MC1\n",
    "merchant: 'MC1' # the shop\n",
    "{ version: 1, merchant: MC1 }",
    "x: &code MC1\nmerchant: *code\n",
    "merchant: >-\n  MC1\n",
    'merchant: "\\x4dC1"\n',
    '"merchant": "\\u004dC1"\nversion: 1\n',
    'a: "x\nmerchant: OTHER\n"\nmerchant: "\\x4dC1"\n',
    'a: {\nmerchant: OTHER\n}\nmerchant: "\\x4dC1"\n',
    'a: {b"c: "d}\nmerchant: OTHER\n"}\nmerchant: "\\x4dC1"\n',
    'a: |\n merchant: x\nb: "\n\\\nmerchant: OTHER\n"\nmerchant: "\\x4dC1"\n',
  ])("is read: %j", async (text) => {
    expect(await isNaming(text, "MC1")).toBe(true);
  });

  test.each([
    "version: 1\nmerchant: MC10\n",
    "version: 1\nmerchant: XMC1\nroles: [{ name: MC1_, permissions: [] }]\n",
    'version: 1\n# Ada\'s "shop"\napi: { base_url: "https://api.example.com" }\nsync: { roles: additive }\nmerchant: MC2\nmembers: [{ email: a@example.com, metadata: { note: "a\\tb" } }]\n',
    "version: 1\n",
  ])("is not if its text has no such code: %j", async (text) => {
    expect(await isNaming(text, "MC1", "MC-3")).toBe(false);
  });

  test("that cannot be read is left to the reader, which says so", () => {
    expect(filesNaming([join(folder, "missing.yaml")], ["MC1"])).toHaveLength(1);
  });

  const line = fc.constantFrom(
    "version: 1",
    "merchant: MC1",
    "merchant: MC2",
    'merchant: "\\x4dC1"',
    '"merchant": MC1',
    '"m\\x65rchant": "MC\\x31"',
    "a: {",
    "}",
    'b: "x',
    '"',
    "c: 'y",
    "'",
    "d: |",
    "  text",
    "? e",
    ": f",
    "g: &h MC1",
    "merchant: *h",
    "# it's",
    'i: { j: "k" }',
    'l: {m"n: "o}',
    "---",
    "- p",
    " merchant: MC1",
    "%YAML 1.2",
    "q: [r, s]",
    "t: # u",
    "include: [shared.yaml]",
    "include:",
    "  - shared.yaml",
    "- other.yaml # v",
    '"incl\\x75de": [shared.yaml]',
    "{ include: [shared.yaml] }",
    "",
  );
  const texts = fc.array(line, { maxLength: 8 }).map((lines) => `${lines.join("\n")}\n`);
  const contentOf = (text: string): Readonly<Record<string, unknown>> => {
    const { value, readable, problems } = parse(text);
    const valid = readable && problems.length === 0 && typeof value === "object" && value !== null;
    return valid && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  };

  test("is never overlooked, whatever its text", async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        if (contentOf(text)["merchant"] === "MC1") expect(await isNaming(text, "MC1")).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });

  test("and what it includes is not either", async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const file = await put("access/two.yaml", text);
        const found = includeClosures([file]).get(file);
        if (found === null) return;
        const { include } = contentOf(text);
        const written = Array.isArray(include) ? include.filter((path) => typeof path === "string") : [];
        for (const path of written) expect(found).toContain(join(folder, "access", path));
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("the files that a file includes", () => {
  const closureOf = async (text: string): Promise<readonly string[] | null> => {
    const file = await put("access/main.yaml", text);
    const found = includeClosures([file]).get(file) ?? null;
    return (
      found && [...found].map((path) => relative(folder, path)).filter((path) => path !== "access/main.yaml")
    );
  };

  test("are found in their plain forms and by the parser, through others, cycles and links", async () => {
    await put(
      "all.yaml",
      "version: 1\ninclude:\n  - roles.yaml\n\n  - people.yaml # of everybody\nsync: {}\n",
    );
    await put("people.yaml", "include: [all.yaml]\n");
    await put("roles.yaml", "roles: []\n");
    await symlink(join(folder, "all.yaml"), join(folder, "link.yaml"));
    const all = ["all.yaml", "roles.yaml", "people.yaml"];
    expect(await closureOf("version: 1\nmerchant: A\ninclude: [../all.yaml]\n")).toEqual(all);
    expect(await closureOf("version: 1\nmerchant: A\ninclude:\n- ../all.yaml\nroles: []\n")).toEqual(all);
    expect(await closureOf("include: ['../link.yaml']\nmerchant: A\n")).toEqual(all);
    expect(await closureOf("{ merchant: A, include: [../all.yaml] }")).toEqual(all);
    expect(await closureOf("merchant: A\ninclude: [../gone.yaml]\n")).toEqual(["gone.yaml"]);
    expect(await closureOf("merchant: A\nroles: [{ name: include, permissions: [] }]\n")).toEqual([]);
  });

  test("are unknown if only the full parser can tell", async () => {
    expect(await closureOf("merchant: A\ninclude: &i [../all.yaml]\n")).toBe(null);
  });
});
