import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";
import { diagnosticTable } from "../../src/config/diagnostics/rule-table.ts";
import { formatFile } from "../../src/config/format/format-file.ts";
import { loadMerchants } from "../../src/config/load-merchants.ts";
import { merchantJsonSchema } from "../../src/config/schema/json-schema.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const reference = read("docs/file.md");

/** The files in the reference, by the path in their first line. */
const files = new Map(
  Array.from(reference.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm), ([, path = "", text = ""]) => [
    path,
    text,
  ]),
);

test("the reference of the file language has every key and every diagnostic as they are", async () => {
  const generator = await import(new URL("../../scripts/reference.mjs", import.meta.url).href);
  expect(reference).toBe(
    generator.reference(read("docs/file.head.md"), merchantJsonSchema(), diagnosticTable()),
  );
});

test("every example in the reference of the file language is valid, without a warning", async () => {
  const { diagnostics, merchants } = await loadMerchants(
    [...files.keys()].filter((path) => path.startsWith("access/")),
    async (path, from) => {
      const file = from === null ? path : posix.join(posix.dirname(from), path);
      const text = files.get(file);
      return text === undefined ? { ok: false, reason: "missing" } : { ok: true, file, text };
    },
    { now: Date.parse("2026-01-01T00:00:00Z") },
  );
  expect(diagnostics).toEqual([]);
  expect(merchants.length).toBeGreaterThan(7);
  expect(merchants.every(({ state }) => state !== null)).toBe(true);
});

test.each([...files])("the example %s is in canonical order", (path, text) => {
  expect(formatFile(path, text)).toEqual({ text, changed: false });
});
