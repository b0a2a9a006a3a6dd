import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { runSoak } from "./run-soak.ts";

/** `npm run soak -- --minutes M`: writes the measurements as CSV, says what is flat, and exits 1 where something is not. */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    every: { type: "string", default: "15" },
    seed: { type: "string", default: "1" },
    output: { type: "string", default: join(tmpdir(), "rolecall-soak.csv") },
  },
});
const [minutes, every, seed] = [Number(values.minutes), Number(values.every), Number(values.seed)];
if (![minutes, every, seed].every((value) => Number.isFinite(value) && value >= 0)) {
  process.stderr.write("--minutes, --every (seconds) and --seed take numbers.\n");
  process.exit(1);
}
const { broken } = await runSoak({
  minutes,
  every,
  seed,
  output: resolve(values.output),
  tell: (line) => process.stdout.write(`${line}\n`),
});
process.exitCode = broken.length === 0 ? 0 : 1;
