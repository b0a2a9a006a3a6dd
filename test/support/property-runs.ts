import fc from "fast-check";

/** `npm test` is the same run every time; `npm run fuzz` gives a fresh seed, and more runs. */
const seed = Number(process.env["FUZZ_SEED"] ?? 1);
const factor = Number(process.env["FUZZ_FACTOR"] ?? 1);

/** Returns how often to run a property that `npm test` runs `count` times. */
export function runs(count: number): number {
  return count * factor;
}

// A setup file of every project (vitest.config.ts), so that no property is without the seed.
fc.configureGlobal({ seed, numRuns: runs(100) });
