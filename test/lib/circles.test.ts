import fc from "fast-check";
import { expect, test } from "vitest";
import { onCircles } from "../../src/lib/circles.ts";
import { runs } from "../support/property-runs.ts";

/** Follows every path from a node, one node after another. */
function returns(node: string, edges: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set<string>();
  const open = [...(edges.get(node) ?? [])];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === node) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...(edges.get(at) ?? []));
  }
  return false;
}

test("the nodes on circles are those from which a path leads back", () => {
  const node = fc.constantFrom(..."abcdefgh");
  fc.assert(
    fc.property(fc.array(fc.tuple(node, fc.array(node, { maxLength: 3 })), { maxLength: 8 }), (pairs) => {
      const edges = new Map(pairs);
      const expected = [..."abcdefgh"].filter((one) => returns(one, edges));
      expect([...onCircles("abcdefgh", (one) => edges.get(one) ?? [])].sort()).toEqual(expected);
    }),
    { numRuns: runs(500) },
  );
});

test("each edge is followed once, also in a chain as long as a file", () => {
  let followed = 0;
  const next = (node: string): readonly string[] => {
    followed += 1;
    return Number(node) < 30_000 ? [`${Number(node) + 1}`] : [];
  };
  expect(
    onCircles(
      Array.from({ length: 30_000 }, (_, index) => `${index}`),
      next,
    ).size,
  ).toBe(0);
  expect(followed).toBeLessThanOrEqual(60_002);
});
