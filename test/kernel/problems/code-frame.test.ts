import { describe, expect, test } from "vitest";
import { renderFrame } from "../../../src/kernel/messages/to-diagnostics.ts";
import { indexPositions } from "../../../src/kernel/yaml/locate.ts";

/** The frame of the first place where the marked text stands. */
function frame(text: string, marked: string): string {
  const start = text.indexOf(marked);
  const positions = indexPositions(text);
  return renderFrame(positions, positions.span(start, start + marked.length));
}

describe("a code frame", () => {
  test("shows two lines before and one after, and underlines the place", () => {
    expect(frame("one\ntwo\nthree\nfour\nfive\nsix\n", "ou")).toBe(
      ["  2 | two", "  3 | three", "> 4 | four", "    |  ^^", "  5 | five"].join("\n"),
    );
  });

  test("aligns line numbers of different length", () => {
    const text = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join("\n");
    expect(frame(text, "9")).toBe(
      ["   7 | line 7", "   8 | line 8", ">  9 | line 9", "     |      ^", "  10 | line 10"].join("\n"),
    );
  });

  test("keeps carets under wide and combining characters and after tabs", () => {
    expect(frame("店長: x", "x")).toBe(["> 1 | 店長: x", "    |       ^"].join("\n"));
    expect(frame("x: 店長", "店長")).toBe(["> 1 | x: 店長", "    |    ^^^^"].join("\n"));
    expect(frame("👩: e\u0301x", "x")).toBe(["> 1 | 👩: e\u0301x", "    |      ^"].join("\n"));
    expect(frame("\tx", "x")).toBe(["> 1 |     x", "    |     ^"].join("\n"));
  });

  test("underlines the first line of a place that has several", () => {
    expect(frame("a:\n  b: 1\n  c: 2\n", "b: 1\n  c: 2")).toBe(
      ["  1 | a:", "> 2 |   b: 1", "    |   ^^^^", "  3 |   c: 2"].join("\n"),
    );
  });

  test("marks a place without width by one caret", () => {
    const positions = indexPositions("ab");
    expect(renderFrame(positions, positions.span(2, 2))).toBe(["> 1 | ab", "    |   ^"].join("\n"));
  });

  test("cuts long lines around the place, all by the same columns", () => {
    const lines = frame(`${"a".repeat(300)}\n${"b".repeat(300)}HERE${"c".repeat(300)}\n`, "HERE").split("\n");
    expect(lines[1]).toContain("HERE");
    expect(lines[1]?.indexOf("HERE")).toBe(lines[2]?.indexOf("^^^^"));
    for (const line of lines) {
      expect(line.length).toBeLessThan(120);
    }
  });

  test("stays fast and true on a line of ten million characters", () => {
    const lines = frame(`${"a".repeat(5_000_000)}HERE${"b".repeat(5_000_000)}`, "HERE").split("\n");
    expect(lines[0]?.indexOf("HERE")).toBe(lines[1]?.indexOf("^^^^"));
  });

  test("escapes what a terminal would act on, and keeps the caret in place", () => {
    expect(frame("\u001b[31m\u202e\u009b\u2028\ud800: x", "x")).toBe(
      ["> 1 | \\x1b[31m\\u202e\\x9b\\u2028\\ud800: x", `    | ${" ".repeat(32)}^`].join("\n"),
    );
  });

  test("shows Windows line ends as nothing", () => {
    expect(frame("one\r\ntwo\r\n", "two")).toBe(["  1 | one", "> 2 | two", "    | ^^^"].join("\n"));
  });
});
