import { describe, expect, test } from "vitest";
// @ts-expect-error The scripts are plain JavaScript, without types.
import { mutantsOf, mutated, shuffled } from "../../scripts/mutants.mjs";

const mutants = (text: string): readonly string[] =>
  mutantsOf("src/a.ts", text).map((mutant: object) => mutated(text, mutant));

describe("a source is mutated", () => {
  test.each([
    ["a condition", "if (a) b();", ["if (!(a)) b();", "if (a) ;"]],
    ["a boundary", "a < b", ["a <= b", ";"]],
    ["an operator of a chain", "x = a && b || c", ["x = a && b && c", "x = a || b || c", ";"]],
    ["a default", "x = a ?? b", ["x = b", ";"]],
    ["a negation", "x = !a", ["x = !!a", ";"]],
    [
      "literals",
      'f(true, 0, "id", [a])',
      [";", 'f(false, 0, "id", [a])', 'f(true, 1, "id", [a])', 'f(true, 0, "", [a])', 'f(true, 0, "id", [])'],
    ],
    ["a method of a list", "x = a.some(f)", [";", "x = a.every(f)"]],
    ["a step of a chain of methods", "x = a.filter(f)", [";", "x = a"]],
    ["a jump", "for (const a of b) continue;", ["for (const a of b) ;"]],
    [
      "an expression behind a type",
      "x = (a as number) + 1;",
      [";", "x = (a as number) - 1;", "x = (a as number) + 2;"],
    ],
  ])("%s", (_name, text, expected) => {
    expect([...mutants(text)].sort()).toEqual([...expected].sort());
  });

  test("but not in its types, imports, names of properties and texts that people read", () => {
    expect(
      mutants('import a from "a"; type B = "b" | 1; const c = { "d": `e` }; throw new Error("An error.");'),
    ).toEqual([]);
  });
});

test("a seed decides on the order of mutants, whatever else is mutated", () => {
  const order = (text: string, seed: string): readonly string[] =>
    shuffled(mutantsOf("src/a.ts", text), seed).map((mutant: { original: string }) => mutant.original);
  const text = "x = [a < b, c > d, e === f, g && h];";
  expect(order(text, "1")).toEqual(order(text, "1"));
  expect(order(text, "1")).not.toEqual(order(text, "2"));
  const more = order(`${text} y = 7;`, "1");
  expect(more.filter((original) => order(text, "1").includes(original))).toEqual(order(text, "1"));
});
