import { realpathSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openIndex } from "../../../src/app/project/project-index.ts";
import { filesDeclaring } from "../../../src/app/project/select-files.ts";
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

async function isDeclaring(text: string, ...codes: readonly string[]): Promise<boolean> {
  const file = await put("access/one.yaml", text);
  return (await filesDeclaring([file], codes, openIndex(folder))).length === 1;
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
    expect(await isDeclaring(text, "MC1")).toBe(true);
  });

  test("that cannot be read is left to the reader, which says so", async () => {
    const missing = await filesDeclaring([join(folder, "missing.yaml")], ["MC1"], openIndex(folder));
    expect(missing).toHaveLength(1);
    expect(await isDeclaring("merchant: [\n", "MC1")).toBe(true);
  });

  test("is known by the head of a large file, and by all of it", async () => {
    const members = Array.from({ length: 3000 }, (_, at) => `  - email: p${at}@example.com\n`).join("");
    const begins = `version: 1\nmerchant: MC1\nmembers:\n${members}`;
    const ends = `version: 1\nmembers:\n${members}merchant: MC1\n`;
    for (const text of [begins, ends]) {
      expect(await isDeclaring(text, "MC1")).toBe(true);
      expect(await isDeclaring(text, "MC2")).toBe(false);
    }
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
        if (contentOf(text)["merchant"] === "MC1") expect(await isDeclaring(text, "MC1")).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });

  test("and what it includes is not either", async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const file = await put("access/two.yaml", text);
        const found = await openIndex(folder).closure(file);
        const { include } = contentOf(text);
        const written = Array.isArray(include) ? include.filter((path) => typeof path === "string") : [];
        for (const path of written) expect(found).toContain(join(folder, "access", path));
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("the files that a file includes", () => {
  const closureOf = async (text: string): Promise<readonly string[]> => {
    const file = await put("access/main.yaml", text);
    const found = await openIndex(folder).closure(file);
    return [...found].map((path) => relative(folder, path)).filter((path) => path !== "access/main.yaml");
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
    expect(await closureOf("merchant: A\ninclude: &i [../all.yaml]\n")).toEqual(all);
    expect(await closureOf('merchant: A\n"incl\\x75de": [../all.yaml]\n')).toEqual(all);
    expect(await closureOf("merchant: A\ninclude: [../gone.yaml]\n")).toEqual(["gone.yaml"]);
    expect(await closureOf("merchant: A\nroles: [{ name: include, permissions: [] }]\n")).toEqual([]);
  });
});

test("a file is read once, and kept without its entries", async () => {
  const file = await put(
    "access/one.yaml",
    "merchant: MC1\nroles: [{ name: A }]\nmembers: [{ email: a@b.example }]\n",
  );
  const index = openIndex(folder);
  const first = await index.file(file);
  expect(first).toMatchObject({
    path: file,
    fields: { merchant: "MC1", roles: [], members: [] },
    problems: [],
  });
  await put("access/one.yaml", "merchant: MC2\n");
  expect(await index.file(file)).toBe(first);
  expect(await index.merchantIn(file)).toBe("MC1");
});
