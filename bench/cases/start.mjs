import { figure, inFolder, ratios } from "../support/measure.mjs";
import { rolecall, runNode } from "../support/process.mjs";
import { SMALL_FILE } from "../support/shop.mjs";

/** A start is short, and easily disturbed. */
const OFTEN = 4;
const noise = 0.08;
const bare = async () => (await runNode(["-e", "0"])).ms;
const started = (args, options) => async () => (await rolecall(args, options)).ms;

/** What it costs to start, beside a node that does nothing. */
export const cases = [
  figure({
    name: "start-version",
    title: "start: `--version`",
    target: { atMost: 1.3, unit: "× `node -e 0`" },
    noise,
    measure: (runs) => ratios(OFTEN * runs, started(["--version"]), bare),
  }),
  figure({
    name: "start-help",
    title: "start: `--help`",
    target: { atMost: 1.3, unit: "× `node -e 0`" },
    noise,
    measure: (runs) => ratios(OFTEN * runs, started(["--help"]), bare),
  }),
  figure({
    name: "start-validate",
    title: "start: `validate` of a file of 50 lines",
    target: { atMost: 1.7, unit: "× `node -e 0`" },
    noise,
    measure: (runs) =>
      inFolder({ "access/shop.yaml": SMALL_FILE }, (cwd) =>
        ratios(OFTEN * runs, started(["validate"], { cwd }), bare),
      ),
  }),
];
