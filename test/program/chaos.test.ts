import { expect, test } from "vitest";
import { runChaos } from "../chaos/run-chaos.ts";

// Other seeds each hour, so that CI tries something new; npm run chaos -- --seed repeats one that failed.
const SEED = Number(process.env["CHAOS_SEED"] ?? (Math.floor(Date.now() / 3_600_000) % 1_000_000) * 1000);
const RUNS = Number(process.env["CHAOS_RUNS"] ?? 24);

test(`through faults, signals and a second apply everything ends well (seed ${SEED})`, {
  timeout: 300_000,
}, async () => {
  const told: string[] = [];
  const { reports, broken } = await runChaos({
    runs: RUNS,
    seed: SEED,
    lanes: 2,
    tell: (line) => void told.push(line),
  });
  expect(broken, told.join("\n")).toEqual([]);
  expect(reports).toHaveLength(RUNS);
});
