import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { lintTable } from "../../../src/ask/lint/lint-access.ts";
import { formatFile } from "../../../src/edit/format/format-file.ts";
import { diagnosticTable } from "../../../src/kernel/rules/every-rule.ts";
import { merchantJsonSchema, projectJsonSchema } from "../../../src/kernel/saved/json-schemas.ts";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const reference = read("docs/file.md");

/** The files in the reference, by the path in their first line. */
const files = new Map(
  Array.from(reference.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm), ([, path = "", text = ""]) => [
    path,
    text,
  ]),
);

test("docs/file.md has every key and every diagnostic; run it with -u to update the page", async () => {
  const generator = await import(new URL("../../../scripts/reference.mjs", import.meta.url).href);
  const page = generator.reference(
    read("docs/src/file.md"),
    { merchant: merchantJsonSchema(), project: projectJsonSchema() },
    diagnosticTable(),
    lintTable(),
  );
  await expect(page).toMatchFileSnapshot("../../../docs/file.md");
});

test.each([...files])("the example %s is in canonical order", (path, text) => {
  expect(formatFile(path, text)).toEqual({ text, changed: false });
});
