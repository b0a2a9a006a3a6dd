import fc from "fast-check";
import picomatch from "picomatch";
import { expect, test } from "vitest";
import { compileGlob, compilePathGlob, matchesSimpleGlob } from "../../src/lib/glob.ts";
import { processorTime } from "../support/processor-time.ts";

const NAMES = { bash: true, dot: true, nonegate: true };
const PATHS = { dot: true, nocase: true, nonegate: true };

const textOf = (...letters: string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 6 }).map((all) => all.join(""));

test("a glob over names agrees with shells", () => {
  const glob = textOf("a", "b", "-", "@", "*", "?", "[ab]", "[a-c]", "{a,b}", "{a*,b?,}", "\\*", "\\a");
  fc.assert(
    fc.property(glob, textOf("a", "b", "c", "-", "@", "*"), (pattern, text) => {
      expect([pattern, text, compileGlob(pattern)(text)]).toEqual([
        pattern,
        text,
        picomatch(pattern, NAMES)(text),
      ]);
    }),
    { numRuns: 5000 },
  );
});

test("a glob over paths agrees with shells, whatever the case", () => {
  const part = textOf("a", "B", ".", "*", "?", "[ab]", "{a,b}");
  const glob = fc.array(fc.oneof(part, fc.constant("**")), { minLength: 1, maxLength: 4 });
  const path = fc.array(textOf("a", "b", "A", "."), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(glob, path, (parts, folders) => {
      const [pattern, text] = [parts.join("/"), folders.join("/")];
      // A part with more than these two stars is what no shell agrees on.
      fc.pre(!/\*\*/.test(pattern.replaceAll(/(?<=^|\/)\*\*(?=\/|$)/g, "")));
      fc.pre(!/(?:^|\/)\.{1,2}(?:\/|$)/.test(`${pattern} ${text}`.replace(" ", "/")));
      expect([pattern, text, compilePathGlob(pattern)(text)]).toEqual([
        pattern,
        text,
        // What is below a folder is not the folder.
        picomatch(pattern.replace(/\/\*\*$/, "/**/*"), PATHS)(text),
      ]);
    }),
    { numRuns: 5000 },
  );
});

test.each([
  ["Shift (Night)", "Shift (Night)"],
  ["Shift (*)", "Shift (Night)"],
  ["[x] *", "x marks"],
  ["[x]", "[x]"],
  ["[!x]", "y"],
  ["[]x]", "]"],
  ["{a}*", "{a}b"],
  ["*[", "a["],
  ["?", "👩"],
  ["*@*.example", "till-5@harbour.example"],
  ["{till-{1,2},*@agency.example}", "till-2"],
])("%s matches %s", (glob, text) => {
  expect(compileGlob(glob)(text)).toBe(true);
});

test.each([
  ["access/{hq,franchise/**}", "access/Franchise/nord/a.yaml"],
  ["{**/a,b}.yaml", "x/y/a.yaml"],
  ["access**", "access/a/b.yaml"],
])("%s matches the path %s", (glob, path) => {
  expect(compilePathGlob(glob)(path)).toBe(true);
});

test.each([
  "*a".repeat(20),
  "(a+)+b",
  "((a|aa)+)+b",
  "+(*a)b",
  "*(a*)b",
  "{a,aa,aaa}".repeat(30),
  `${"{a,".repeat(300)}b${"}".repeat(300)}`,
  "{*a,*aa,*aaa}*".repeat(30),
  "[a".repeat(400),
  "*".repeat(900),
])("the time for %.40s is bounded", (glob) => {
  const started = processorTime();
  for (const text of ["a".repeat(254), `${"a".repeat(253)}c`]) {
    compileGlob(`${glob}x`)(text);
    compilePathGlob(`${glob}x`)(text.replaceAll("aaaa", "aaa/"));
  }
  expect(processorTime() - started).toBeLessThan(2_000);
});

test("a simple glob agrees with the plan's globs, and any other is not handled", () => {
  const part = fc.constantFrom("a", "b", "A", " ", ".", "_", "@", "-", "*");
  const text = fc.array(fc.constantFrom("a", "b", "B", " ", ".", "_", "@", "-"), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), text, (parts, letters) => {
      const [glob, word] = [parts.join(""), letters.join("")];
      const matches = picomatch(glob.toLowerCase(), NAMES)(word.toLowerCase());
      expect(matchesSimpleGlob(glob, word)).toBe(matches && !glob.includes("**") && !word.startsWith("."));
    }),
    { numRuns: 5000 },
  );
  expect(matchesSimpleGlob("Legacy *", "legacy boss")).toBe(true);
  expect(
    ["a?", "[ab]", "{a,b}", "!a", "a/*", "a\\b"].filter((glob) => matchesSimpleGlob(glob, "ab")),
  ).toEqual([]);
});
