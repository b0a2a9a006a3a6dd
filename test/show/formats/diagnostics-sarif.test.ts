import { createRequire } from "node:module";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { diagnosticTable } from "../../../src/kernel/rules/every-rule.ts";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";
import { diagnosticsSarif } from "../../../src/show/machine/diagnostic-formats.ts";

// The schema of SARIF 2.1.0 as its authors publish it.
const {
  $schema: _draft,
  id: _id,
  ...schema
} = createRequire(import.meta.url)("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
const ajv = addFormats.default(new Ajv({ strict: false, allErrors: true, unicodeRegExp: false }));
// Of draft 4 it uses only what later drafts mean by the same words.
const valid = ajv.compile(schema);

const span = { line: 3, column: 5, endLine: 4, endColumn: 9 };
const base: Diagnostic = {
  code: "bad-email",
  severity: "error",
  message: "Wrong.",
  file: "access/a.yaml",
  span,
};
const tool = { version: "1.2.3", rules: diagnosticTable() };

function log(...diagnostics: readonly Diagnostic[]) {
  const read = JSON.parse(diagnosticsSarif(diagnostics, tool));
  valid(read);
  expect(valid.errors ?? []).toEqual([]);
  return read.runs[0];
}

describe("a SARIF log", () => {
  test("names the program and every rule with its summary and severity", () => {
    const { tool: written, columnKind } = log();
    expect(columnKind).toBe("utf16CodeUnits");
    expect(written.driver).toMatchObject({ name: "rolecall", version: "1.2.3" });
    expect(written.driver.rules).toHaveLength(tool.rules.length);
    const rule = tool.rules.findIndex(({ code }) => code === "bad-base-url");
    expect(written.driver.rules[rule]).toMatchObject({
      id: "bad-base-url",
      shortDescription: {
        text: "`base_url` must be an http or https URL without credentials, query or fragment.",
      },
      defaultConfiguration: { level: "error" },
    });
  });

  test("has a result for each problem, with its rule, place and what to do", () => {
    const { results, tool: written } = log({ ...base, hint: "Write it right." });
    expect(results).toEqual([
      {
        ruleId: "bad-email",
        ruleIndex: expect.any(Number),
        level: "error",
        message: { text: "Wrong.\nWrite it right." },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: "access/a.yaml" },
              region: { startLine: 3, startColumn: 5, endLine: 4, endColumn: 9 },
            },
          },
        ],
      },
    ]);
    expect(written.driver.rules[results[0].ruleIndex].id).toBe("bad-email");
  });

  test("is written without problems too, so that earlier ones are closed", () => {
    expect(log().results).toEqual([]);
  });

  test("has no region where the problem has no line, and no index where the rule is not known", () => {
    const { span: _, ...whole } = base;
    const [result] = log({ ...whole, code: "new-rule", severity: "warning" }).results;
    expect(result).toMatchObject({ ruleId: "new-rule", level: "warning" });
    expect(result).not.toHaveProperty("ruleIndex");
    expect(result.locations[0].physicalLocation).not.toHaveProperty("region");
  });

  test("is the same for the same problems", () => {
    expect(diagnosticsSarif([base], tool)).toBe(diagnosticsSarif([base], tool));
  });

  test.each([
    ["access/Harbour Street #1.yaml", "access/Harbour%20Street%20%231.yaml"],
    ["c:x%20?.yaml", "c%3Ax%2520%3F.yaml"],
    ["../shared/店.yaml", "../shared/%E5%BA%97.yaml"],
    ["/srv/a b.yaml", "file:///srv/a%20b.yaml"],
    ["a\ud800\n.yaml", "a%EF%BF%BD%0A.yaml"],
  ])("writes the file %j as %s", (file, uri) => {
    expect(log({ ...base, file }).results[0].locations[0].physicalLocation.artifactLocation.uri).toBe(uri);
  });

  test.each([
    "x\n::error::fake",
    "\u001b[31mred\u0007\u0000",
    "[click](https://bad.example)",
    "\u202eetirw",
    "%0A",
    "</script>",
    '"}]}',
    "\ud800",
    "x".repeat(100_000),
  ])("is valid and plain with hostile text: %j", (text) => {
    const { results } = log({ ...base, message: text, hint: text, file: text });
    expect(results[0].message.text.replace("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]|[^\\]\]\(/u);
  });
});
