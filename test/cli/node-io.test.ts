import { expect, test } from "vitest";
import { nodeIo } from "../../src/cli/node-io.ts";

test("whoever pauses gets a turn of the event loop of their own, in the order in which they came", async () => {
  const { pause } = nodeIo();
  let turn = 0;
  let running = true;
  const count = (): void => {
    turn += 1;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  const went: string[] = [];
  const turns: number[] = [];
  const go = async (name: string): Promise<void> => {
    await pause();
    went.push(name);
    turns.push(turn);
  };
  await Promise.all([go("a").then(() => go("c")), go("b")]);
  running = false;
  expect(went).toEqual(["a", "b", "c"]);
  expect(new Set(turns).size).toBe(3);
});
