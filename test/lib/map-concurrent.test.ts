import { expect, test } from "vitest";
import { mapConcurrent } from "../../src/lib/map-concurrent.ts";

test("maps in the order of the items, at most so many at once", async () => {
  let running = 0;
  let most = 0;
  const doubled = await mapConcurrent([5, 1, 4, 2, 3], 2, async (item) => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = 0; turn < item; turn += 1) await null;
    running -= 1;
    return 2 * item;
  });
  expect(doubled).toEqual([10, 2, 8, 4, 6]);
  expect(most).toBe(2);
});

test("starts an item only when a slot is free, and none after an error", async () => {
  const taken: number[] = [];
  const items = function* (): Generator<number> {
    for (let item = 1; item <= 9; item += 1) {
      taken.push(item);
      yield item;
    }
  };
  const mapped = mapConcurrent(items(), 2, async (item) => {
    await null;
    if (item === 2) throw new Error("the second one");
    return item;
  });
  await expect(mapped).rejects.toThrow("the second one");
  await null;
  expect(taken).toEqual([1, 2, 3]);
});
