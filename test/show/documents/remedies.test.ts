import { expect, test } from "vitest";
import { blockLines } from "../../../src/show/blocks/text-blocks.ts";
import { refusalBlocks } from "../../../src/show/documents/remedies.ts";
import { PLAIN } from "../../../src/show/style.ts";
import type { RefusalView } from "../../../src/show/view/plan-view.ts";

function refusal(message: string, place: string | null): RefusalView {
  return {
    rule: "check",
    code: "check-only",
    resource: "member",
    name: null,
    message,
    hint: "Change the roles.",
    overrideOf: null,
    override: null,
    inFile: false,
    place,
  };
}

const linesOf = (...refusals: readonly RefusalView[]): readonly string[] =>
  blockLines(refusalBlocks(refusals), PLAIN);

test("what refusals by one rule share is said below the last of them", () => {
  expect(linesOf(refusal("Ada can.", "a.yaml:1"), refusal("Bob can.", "a.yaml:1"))).toEqual([
    "check check-only: Ada can.",
    "check check-only: Bob can.",
    "  written at a.yaml:1",
    "  → Change the roles.",
  ]);
});

test("refusals by different rules, or by unknown ones, each say what to do", () => {
  for (const places of [
    ["a.yaml:1", "a.yaml:2"],
    [null, null],
  ]) {
    const lines = linesOf(...places.map((place) => refusal("Ada can.", place)));
    expect(lines.filter((line) => line === "  → Change the roles.")).toHaveLength(2);
  }
});
