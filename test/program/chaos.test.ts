import { expect, test } from "vitest";
import { runChaos } from "../chaos/run-chaos.ts";

const RUNS = 10;

test("through faults, signals and a second apply, every run ends in a correct state", async () => {
  const told: string[] = [];
  const { reports, broken } = await runChaos({
    runs: RUNS,
    seed: 1,
    lanes: 2,
    tell: (line) => void told.push(line),
  });
  expect(broken, told.join("\n")).toEqual([]);
  expect(reports).toHaveLength(RUNS);
});
