import fc from "fast-check";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { oneLine } from "../../../src/lib/escape.ts";
import type { Block, Document, GridRow, Mark, Text } from "../../../src/show/blocks/block.ts";
import { blockLines, documentText } from "../../../src/show/blocks/text-blocks.ts";
import type { Tone } from "../../../src/show/style.ts";
import { PLAIN, type Style } from "../../../src/show/style.ts";
import { HOSTILE_TEXTS } from "../../support/hostile.ts";
import { runs } from "../../support/property-runs.ts";

const TONES: readonly Tone[] = ["bold", "dim", "red", "green", "yellow", "cyan"];
const MARKS: readonly Mark[] = ["ok", "failed", "unknown", "warning", "risk", "next", "idle"];

const word = fc.oneof(
  fc.stringMatching(/^[a-z]{1,9}$/),
  fc.constantFrom("Filialleiter", "支店長", "ada@example.com", ...HOSTILE_TEXTS),
);
const words = fc.array(word, { minLength: 1, maxLength: 12 }).map((some) => some.join(" "));
const text: fc.Arbitrary<Text> = fc.oneof(
  words,
  fc.array(
    fc.oneof(
      words,
      fc.record(
        { text: words, tone: fc.constantFrom(...TONES), isWhole: fc.constant(true as const) },
        { requiredKeys: ["text"] },
      ),
    ),
    { minLength: 1, maxLength: 4 },
  ),
);
const cells = (count: number): fc.Arbitrary<readonly string[]> =>
  fc.array(words, { minLength: count, maxLength: count });
const fact = fc.record(
  { label: words, text, mark: fc.constantFrom(...MARKS) },
  { requiredKeys: ["label", "text"] },
);
const row = (count: number): fc.Arbitrary<GridRow> =>
  fc.record({ cells: cells(count), tone: fc.constantFrom(...TONES) }, { requiredKeys: ["cells"] });

const { block } = fc.letrec<{ block: Block }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 2, depthSize: "xsmall" },
    fc.record(
      {
        kind: fc.constant("sentence" as const),
        text,
        mark: fc.constantFrom(...MARKS),
        tone: fc.constantFrom(...TONES),
        isProse: fc.constant(true as const),
        isLogged: fc.constant(true as const),
        below: fc.array(tie("block"), { maxLength: 3 }),
      },
      { requiredKeys: ["kind", "text"] },
    ),
    fc.record({
      kind: fc.constant("list" as const),
      items: fc.array(text, { maxLength: 8 }),
      most: fc.integer({ min: 1, max: 8 }),
    }),
    fc.record({ kind: fc.constant("facts" as const), rows: fc.array(fact, { maxLength: 3 }) }),
    fc.integer({ min: 1, max: 4 }).chain((count) =>
      fc.record({
        kind: fc.constant("grid" as const),
        heads: fc.oneof(fc.constant([]), cells(count)),
        rows: fc.array(row(count), { minLength: 1, maxLength: 4 }),
        isGrouped: fc.boolean(),
        flexible: fc.subarray(Array.from({ length: count }, (_, column) => column)),
      }),
    ),
    fc.record({
      kind: fc.constant("fold" as const),
      title: text,
      blocks: fc.array(tie("block"), { maxLength: 3 }),
    }),
  ),
}));
const anyDocument: fc.Arbitrary<Document> = fc.array(fc.array(block, { minLength: 1, maxLength: 3 }), {
  maxLength: 3,
});

const TERMINAL: Style = { ...PLAIN, onTerminal: true };
const columnsOf = fc.integer({ min: 20, max: 120 });

/** Returns every text of blocks, as it is said. */
function textsOf(blocks: readonly Block[]): readonly string[] {
  const plain = (said: Text): string =>
    typeof said === "string"
      ? oneLine(said)
      : said.map((part) => oneLine(typeof part === "string" ? part : part.text)).join("");
  return blocks.flatMap((each): readonly string[] => {
    switch (each.kind) {
      case "sentence":
        return [plain(each.text), ...textsOf(each.below ?? [])];
      case "list":
        return each.items.slice(0, each.items.length > each.most + 1 ? each.most : undefined).map(plain);
      case "facts":
        return each.rows.flatMap((one) => [plain(one.label), plain(one.text)]);
      case "grid":
        return each.rows.flatMap((one, index) =>
          one.cells
            .slice(each.isGrouped && one.cells[0] === each.rows[index - 1]?.cells[0] ? 1 : 0)
            .map(oneLine),
        );
      case "fold":
        return [plain(each.title), ...textsOf(each.blocks)];
      default:
        return each satisfies never;
    }
  });
}

const IGNORED = /[\s,✓✗?!→·…]/g;

/** Returns whether a text has every letter of another, as often. */
function hasLettersOf(printed: string, said: string): boolean {
  const counts = new Map<string, number>();
  for (const letter of printed.replaceAll(IGNORED, "")) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  for (const letter of said.replaceAll(IGNORED, "")) counts.set(letter, (counts.get(letter) ?? 0) - 1);
  return [...counts.values()].every((count) => count >= 0);
}

test("only a single word is wider than the terminal", () => {
  fc.assert(
    fc.property(anyDocument, columnsOf, (document, columns) => {
      for (const line of documentText(document, { ...TERMINAL, columns }).split("\n")) {
        if (stringWidth(line) <= columns) continue;
        // A mark and a label may precede it, in their own columns.
        const [, ...more] = line.trim().split(/ +/);
        expect(more.filter((part) => stringWidth(part) > 2).length, line).toBeLessThan(2);
      }
    }),
    { numRuns: runs(50) },
  );
});

test("a document loses nothing at any width, in a file or on a terminal", () => {
  fc.assert(
    fc.property(anyDocument, columnsOf, fc.boolean(), (document, columns, onTerminal) => {
      for (const blocks of document) {
        const printed = blockLines(blocks, { ...PLAIN, columns, onTerminal }).join("\n");
        expect(hasLettersOf(printed, textsOf(blocks).join("")), printed).toBe(true);
      }
    }),
    { numRuns: runs(50) },
  );
});

test("no text of a document acts on a terminal or a CI log", () => {
  fc.assert(
    fc.property(anyDocument, columnsOf, (document, columns) => {
      const printed = documentText(document, { ...TERMINAL, columns });
      expect(printed).not.toMatch(/(?!\n)[\p{Cc}\p{Co}\u200e\u200f\u2028-\u202e\u2066-\u2069]/u);
      expect(printed).not.toMatch(/^\s*(?:::|##\[)/m);
    }),
    { numRuns: runs(50) },
  );
});

test("a cut list counts what it leaves out, and never leaves out a single item", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 20 }), (length, most) => {
      const items = Array.from({ length }, (_, index) => `item${index}`);
      const lines = blockLines([{ kind: "list", items, most }], PLAIN);
      const [, more = "0"] = / and (\d+) more$/.exec(lines.at(-1) ?? "") ?? [];
      expect(more).not.toBe("1");
      expect(lines.filter((line) => line.includes("item")).length + Number(more)).toBe(length);
    }),
  );
});
