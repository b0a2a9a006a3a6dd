import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { partsOf } from "../../../src/kernel/yaml/fast-yaml.ts";
import { createLocator, spanFinder } from "../../../src/kernel/yaml/locate.ts";
import { parse } from "../../../src/kernel/yaml/to-value.ts";
import { runs } from "../../support/property-runs.ts";
import { listed } from "../read/support/listed.ts";

const locate = (text: string, path: Parameters<ReturnType<typeof spanFinder>>[0]) => spanFinder(text)(path);

/** The text that a path's span covers. */
function covered(text: string, path: readonly (string | number)[]): string | null {
  const span = locate(text, path);
  if (span === null) {
    return null;
  }
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  const offset = (line: number, column: number) =>
    lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  return lines.join("\n").slice(offset(span.line, span.column), offset(span.endLine, span.endColumn));
}

const BLOCK = `roles:
  - name: Cashier   # the till
    permissions:
      - catalog_view
      - refunds_create

  # between
  - name: "Shift Lead"
    metadata: { a: [x, {b: 1}] }
`;

describe("locate finds", () => {
  test.each([
    [["roles", 0, "name"], "Cashier"],
    [["roles", 0, "permissions", 1], "refunds_create"],
    [["roles", 1, "name"], '"Shift Lead"'],
    [["roles", 1, "metadata", "a", 1, "b"], "1"],
    [["roles", 1, "metadata"], "{ a: [x, {b: 1}] }"],
    [["roles", 0, "permissions"], "- catalog_view\n      - refunds_create"],
    [["roles", 1], 'name: "Shift Lead"\n    metadata: { a: [x, {b: 1}] }'],
  ])("%j in block and flow style", (path, text) => {
    expect(covered(BLOCK, path)).toBe(text);
  });

  test("the same with Windows line ends", () => {
    const text = BLOCK.replaceAll("\n", "\r\n");
    expect(covered(text, ["roles", 1, "name"])).toBe('"Shift Lead"');
    expect(locate(text, ["roles", 0, "permissions", 0])).toEqual(
      locate(BLOCK, ["roles", 0, "permissions", 0]),
    );
  });

  test("columns that do not count a byte order mark", () => {
    expect(locate("\uFEFFa: 1\nb: 2\n", ["a"])).toEqual({ line: 1, column: 4, endLine: 1, endColumn: 5 });
    expect(locate("\uFEFFa: 1\nb: 2\n", ["b"])).toEqual({ line: 2, column: 4, endLine: 2, endColumn: 5 });
  });

  test("columns in UTF-16 units beside wide characters", () => {
    expect(locate("{ 店: 長, 👩: x }", ["👩"])).toEqual({ line: 1, column: 13, endLine: 1, endColumn: 14 });
  });

  test("a value behind an alias where it is written, and the alias itself where it stands", () => {
    const text = "a: &x { deep: [1, 2] }\nb: *x\n";
    expect(covered(text, ["b"])).toBe("*x");
    expect(locate(text, ["b", "deep", 1])).toEqual(locate(text, ["a", "deep", 1]));
  });

  test("numeric and quoted keys by their text", () => {
    expect(covered("{ 007: a, '8': b, true: c }", ["007"])).toBe("a");
    expect(covered("{ 007: a, '8': b, true: c }", ["8"])).toBe("b");
    expect(covered("{ 007: a, '8': b, true: c }", ["true"])).toBe("c");
  });

  test("the key of a value that is not there", () => {
    expect(covered("roles:\nmembers: []\n", ["roles"])).toBe("roles");
  });

  test("the first of two equal keys", () => {
    expect(covered("a: 1\na: 2\n", ["a"])).toBe("1");
  });

  test("whole texts that hold a block, through a text over several lines", () => {
    expect(covered("a: |\n  one\n  two\nb: 1\n", ["b"])).toBe("1");
  });

  test.each([
    [["nothing"]],
    [["roles", 9]],
    [["roles", "name"]],
    [["roles", 0, "name", "deeper"]],
    [["__proto__"]],
    [["roles", 0.5]],
    [["roles", -1]],
  ])("nothing at %j", (path) => {
    expect(locate(BLOCK, path)).toBeNull();
  });

  test.each(["", "# only", "[".repeat(20_000), "a: *b", "&a [*a]", "\u0000", "a: &a\n  b: *a\n"])(
    "nothing, without failing, in %.30j",
    (text) => {
      expect(locate(text.slice(0, 30_000), ["a", "b", "b", "b", "c"])).toBeNull();
    },
  );
});

/** Every path that leads to something in a value, and some that lead to nothing. */
function pathsOf(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  const inside =
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, one]) =>
          pathsOf(one, [...path, Array.isArray(value) ? Number(key) : key]),
        )
      : [];
  return [[...path], [...path, "nothing"], [...path, 99], ...inside];
}

test("locates a path in part of a long text as in the whole text", () => {
  let taken = 0;
  fc.assert(
    fc.property(listed, fc.integer({ min: 1, max: 40 }), (text, size) => {
      if ((partsOf(text, size) ?? []).length < 2) return;
      taken += 1;
      const [inParts, inWhole] = [createLocator(text, size), createLocator(text, text.length)];
      for (const path of pathsOf(parse(text).value)) {
        for (const at of ["value", "key", "first-key"] as const) {
          expect({ path, at, found: inParts({ at, path }) }).toEqual({
            path,
            at,
            found: inWhole({ at, path }),
          });
        }
      }
    }),
    { numRuns: runs(300) },
  );
  expect(taken).toBeGreaterThan(80);
});
