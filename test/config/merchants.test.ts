import { expect, test } from "vitest";
import { checkMerchants, type MerchantSource } from "../../src/config/merchants.ts";
import { parseMerchantFile } from "../../src/config/parse-file.ts";

function source(file: string, text: string): MerchantSource {
  const { state } = parseMerchantFile(file, text);
  if (state === null) {
    throw new Error(`${file} has errors`);
  }
  return { file, text, state };
}

test("two files for one merchant are an error in the second that names the place in the first", () => {
  const diagnostics = checkMerchants([
    source("access/a.yaml", "version: 1\nmerchant: MC1\n"),
    source("access/b.yaml", "version: 1\nmerchant: MC2\n"),
    source("access/c.yaml", "# again\nversion: 1\nmerchant: MC1\n"),
  ]);
  expect(diagnostics).toEqual([
    {
      code: "duplicate-merchant",
      severity: "error",
      message: 'The merchant "MC1" has a file already: access/a.yaml:2.',
      hint: "Keep one merchant to a file: join the two, or correct the merchant code.",
      file: "access/c.yaml",
      span: { line: 3, column: 11, endLine: 3, endColumn: 14 },
      frame: ["  1 | # again", "  2 | version: 1", "> 3 | merchant: MC1", "    |           ^^^"].join("\n"),
    },
  ]);
});

test("a file for each merchant is no problem", () => {
  expect(
    checkMerchants([
      source("a.yaml", "version: 1\nmerchant: A\n"),
      source("b.yaml", "version: 1\nmerchant: a\n"),
    ]),
  ).toEqual([]);
});
