import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

/**
 * `npm run fuzz -- --runs N --seed S [PATH…]`: runs the property tests, or those of the paths, N times as often as
 * `npm test` and from a fresh seed. Prints the seed; the same seed and runs repeat it.
 */
const root = resolve(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  options: {
    runs: { type: "string", default: "34" },
    seed: { type: "string", default: `${Date.now() % 1_000_000}` },
  },
  allowPositionals: true,
});
const [runs, seed] = [Number(values.runs), Number(values.seed)];
if (![runs, seed].every((value) => Number.isSafeInteger(value)) || runs < 1 || seed < 0) {
  console.error("--runs and --seed take whole numbers.");
  process.exit(1);
}

const files = readdirSync(join(root, "test"), { recursive: true })
  .map((file) => join("test", file))
  .filter((file) => /\.test\.tsx?$/.test(file) && positionals.every((part) => file.includes(part)))
  .filter((file) => /fc\.assert\(|property-runs/.test(readFileSync(join(root, file), "utf8")))
  .sort();
if (files.length === 0) {
  console.error("No property test has that path.");
  process.exit(1);
}

console.log(`fuzz: ${files.length} files, ${runs} times as many runs as npm test, from seed ${seed}`);
const { status } = spawnSync(
  "npx",
  ["vitest", "run", "--project", "sources", "--project", "program", ...files],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, FUZZ_SEED: `${seed}`, FUZZ_FACTOR: `${runs}` },
  },
);
if (status !== 0) {
  console.log(`NOT everything held; repeat it with: npm run fuzz -- --runs ${runs} --seed ${seed}`);
}
process.exitCode = status ?? 1;
