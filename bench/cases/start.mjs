import { resolve } from "node:path";
import { figure, inFolder, ratios, repeat } from "../support/measure.mjs";
import { cpuOf, rolecall, runNode } from "../support/process.mjs";
import { SMALL_FILE } from "../support/shop.mjs";

const ACTION = resolve(import.meta.dirname, "../../dist/action.mjs");

/** Repeats a start more often, because it is short and easily disturbed. */
const START_RUNS = 4;
const noise = 0.08;
const bare = async () => (await runNode(["-e", "0"])).ms;
const started = (args, options) => async () => (await rolecall(args, options)).ms;

/** Measures the cost of a start. */
export const cases = [
  figure({
    name: "start-validate",
    title: "start: `validate` of a file of 50 lines",
    target: { atMost: 3, unit: "× `node -e 0`" },
    noise,
    measure: (runs) =>
      inFolder({ "access/shop.yaml": SMALL_FILE }, (cwd) =>
        ratios(START_RUNS * runs, started(["validate"], { cwd }), bare),
      ),
  }),
  figure({
    name: "start-action",
    title: "start: the action, CPU until it says that it has no inputs",
    target: { atMost: 150, unit: "ms" },
    noise,
    measure: (runs) => repeat(START_RUNS * runs, () => cpuOf([ACTION])),
  }),
];
