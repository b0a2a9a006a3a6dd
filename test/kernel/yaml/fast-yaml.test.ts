import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { parseFast, yamlChunks } from "../../../src/kernel/yaml/fast-yaml.ts";
import { parse } from "../../../src/kernel/yaml/to-value.ts";
import { processorTime } from "../../support/processor-time.ts";
import { runs } from "../../support/property-runs.ts";
import { listed } from "../read/support/listed.ts";

/** Scalars as people write them, with every form that two readers of YAML could take for different things. */
const scalar = fc.oneof(
  fc.constantFrom(
    ..."4711|-1|+1|0|-0|007|0x1F|0o17|1.5|1.50|1e3|.5|5.|.inf|-.INF|.nan|1_000|0b11|12:30|2027-01-31|190:20:30".split(
      "|",
    ),
    ..."true|True|TRUE|false|null|Null|NULL|~|yes|No|on|OFF|y|n|undefined|NaN".split("|"),
    ..."'a'|'it''s'|\"a\\tb\"|\"\\u00e9\"|a b|a: b|a #b|a#b|#a|- a|-a|a,b|[a]|{a: 1}|[]|{}|a]|é|店長|👩‍💻|@a|`a`|%a|a%|<<|=".split(
      "|",
    ),
  ),
  fc.string({ maxLength: 6 }),
  fc.string({ maxLength: 6, unit: "grapheme" }),
);

const line = fc
  .record({
    indent: fc.constantFrom("", "  ", "    ", " "),
    dash: fc.constantFrom("", "- ", "- - "),
    key: fc.constantFrom("", "a: ", "b: ", "a : ", "'a': ", "4711: ", "1.0: ", "true: ", "a:", "metadata: "),
    value: scalar,
    end: fc.constantFrom("", " ", " # note", "\n", "\r"),
  })
  .map(({ indent, dash, key, value, end }) => `${indent}${dash}${key}${value}${end}`);

const written = fc.array(line, { maxLength: 6 }).map((lines) => lines.join("\n"));

const printed = fc
  .tuple(
    fc.jsonValue({ maxDepth: 3 }),
    fc.record({
      indent: fc.constantFrom(2, 4),
      lineWidth: fc.constantFrom(0, 20, 80),
      defaultStringType: fc.constantFrom(
        "PLAIN" as const,
        "QUOTE_DOUBLE" as const,
        "QUOTE_SINGLE" as const,
        "BLOCK_LITERAL" as const,
        "BLOCK_FOLDED" as const,
      ),
      indentSeq: fc.boolean(),
    }),
    fc.boolean(),
  )
  .map(([value, options, crlf]) => {
    const text = stringify(value, options);
    return crlf ? text.replaceAll("\n", "\r\n") : text;
  });

/** Texts of the characters that structure YAML, in any order, mostly within brackets. */
const structure = fc
  .record({
    key: fc.constantFrom("", "a: "),
    open: fc.constantFrom("", "[", "[", "{"),
    tokens: fc.array(
      fc.constantFrom(
        ..."[|]|{|}|:|,|\"|'|a|b|é|-|+|=|#|1|.1|>|@|`|%|.|~|^|!|\\|_".split("|"),
        ...[
          "|",
          " ",
          "\n",
          "\n  ",
          "\r\n",
          "- ",
          "\n- ",
          ": ",
          "a: ",
          '"a"',
          "'b'",
          "null",
          "|-\n  ",
          "[a]",
          "{a: 1}",
        ],
      ),
      { minLength: 1, maxLength: 8 },
    ),
    close: fc.constantFrom("", "]", "]", "}"),
  })
  .map(({ key, open, tokens, close }) => `${key}${open}${tokens.join("")}${close}`);

test("the fast reader agrees with the full one on everything that it accepts", () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.oneof(written, printed, structure, structure), (text) => {
      const plain = parseFast(text);
      if (plain === null) return;
      taken += 1;
      const thorough = parse(text);
      expect(thorough.problems).toEqual([]);
      expect(thorough.readable).toBe(true);
      expect(plain.value).toStrictEqual(thorough.value);
    }),
    { numRuns: runs(3000) },
  );
  expect(taken).toBeGreaterThan(100);
});

test("the fast reader accepts plain files, and rejects all that needs a diagnostic", () => {
  const member = (index: number) => `  - { email: m${index}@example.com, metadata: { badge: "${index}" } }\n`;
  const text = `version: 1\nmembers:\n${Array.from({ length: 3000 }, (_, index) => member(index)).join("")}`;
  expect(parseFast(text)?.value).toEqual(parse(text).value);
  for (const special of [
    "a: *b\n",
    "a: &b c\n",
    "a: !c d\n",
    "a: 0012\n",
    "a: no\n",
    "a: 1\na: 2\n",
    "a: [\n",
    "a:\tb\n",
    "[a]: 1\n",
    '"\\x5f_proto__": { a: 1 }\n',
    "- a\n",
    'a: [:, "a"]\n',
    "a: [.1: b]\n",
    "a: { ~ }\n",
    "a:\n- {a: 1}b: c\n",
  ]) {
    expect(parseFast(text + special)).toBeNull();
  }
});

test("reading in chunks of any size agrees with reading the whole file", () => {
  let taken = 0;
  fc.assert(
    fc.property(listed, fc.integer({ min: 1, max: 40 }), (text, size) => {
      if (parseFast(text, size) === null || [...yamlChunks(text, size)].length < 2) return;
      taken += 1;
      const thorough = parse(text);
      expect(thorough.problems).toEqual([]);
      expect(parseFast(text, size)?.value).toStrictEqual(thorough.value);
    }),
    { numRuns: runs(500) },
  );
  expect(taken).toBeGreaterThan(100);
});

test("a list of members is read in chunks, with the sections around it", () => {
  const text = "version: 1\nmembers:\n- a\n- b: |\n\n   c\n\n- d\nroles: [e]\n";
  expect([...yamlChunks(text, 1)]).toEqual([
    "version: 1\nmembers:\n- a\n",
    "members:\n- b: |\n\n   c\n\n",
    "members:\n- d\nroles: [e]\n",
  ]);
  expect(parseFast(text, 1)?.value).toEqual({
    version: 1,
    members: ["a", { b: "\nc\n" }, "d"],
    roles: ["e"],
  });
  expect(parseFast(`${text}version: 2\n`, 1)).toBeNull();
});

test("a file of the size of a chunk is read at once", () => {
  const text = `version: 1\nmembers:\n${"  - email: somebody@example.com\n".repeat(300)}`;
  expect([...yamlChunks(text, text.length)]).toEqual([text]);
  expect([...yamlChunks(text, text.length / 2)]).toHaveLength(2);
});

test("a line of spaces takes no time in proportion to its square", () => {
  const before = processorTime();
  expect(parseFast(`version: 1\n${" ".repeat(500_000)}\nroles: []\n`)).toBeNull();
  expect(processorTime() - before).toBeLessThan(2000);
});
