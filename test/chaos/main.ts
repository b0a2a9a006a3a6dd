import { parseArgs } from "node:util";
import { runChaos } from "./run-chaos.ts";

/** `npm run chaos -- --runs N --seed S`: prints what came of it, and exits 1 where something did not hold. */
const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "200" },
    seed: { type: "string", default: `${Date.now() % 1_000_000}` },
    lanes: { type: "string", default: "4" },
  },
});
const [runs, seed, lanes] = [Number(values.runs), Number(values.seed), Number(values.lanes)];
if (![runs, seed, lanes].every((value) => Number.isSafeInteger(value) && value >= 0)) {
  process.stderr.write("--runs, --seed and --lanes take whole numbers.\n");
  process.exit(1);
}
const summary = await runChaos({ runs, seed, lanes, tell: (line) => process.stdout.write(`${line}\n`) });
process.exitCode = summary.broken.length === 0 ? 0 : 1;
