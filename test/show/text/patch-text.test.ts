import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PLAIN } from "../../../src/show/style.ts";
import { patchText, renderPatch } from "../../../src/show/text/patch-text.ts";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "rolecall-patch-"));
  mkdirSync(join(folder, "access"));
});

afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  "shop.yaml",
  "my shop.yaml",
  "ümlaut.yaml",
  'a"b\\c.yaml',
  "tab\there.yaml",
  "two\n+++ b/lines.yaml",
])("git applies the patch of access/%j, and makes no other file", (name) => {
  const file = name.includes("/") ? name.replace("/", "-") : name;
  const path = join(folder, "access", file);
  writeFileSync(path, "a: 1\r\nb: 2\r\n");
  const patch = patchText([
    { file: `access/${file}`, before: "a: 1\r\nb: 2\r\n", after: "a: 1\r\nb: 3\r\n" },
  ]);
  execFileSync("git", ["apply", "-"], { cwd: folder, input: patch });
  expect(readFileSync(path, "utf8")).toBe("a: 1\r\nb: 3\r\n");
});

test("a patch has the text of the files, but for a line that a CI log would take for a command", () => {
  const after = "a:\n- crate::module ::x\n::error::gone\n";
  expect(renderPatch([{ file: "a", before: "a:\n::error::gone\n", after }], PLAIN)).toBe(
    "--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n a:\n+- crate::module ::x\n :\\:error::gone\n",
  );
});

test("a reader sees tabs as they are, and line breaks only if there are different ones", () => {
  const crlf = renderPatch([{ file: "a", before: "x:\t1\r\n", after: "x:\t2 \u001b[31m\r\n" }], PLAIN);
  expect(crlf).toBe("--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x:\t1\n+x:\t2 \\x1b[31m\n");
  const mixed = renderPatch([{ file: "a", before: "x: 1\r\n", after: "x: 1\n" }], PLAIN);
  expect(mixed).toContain("-x: 1\\x0d\n+x: 1\n");
});
