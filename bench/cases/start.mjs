import { resolve } from "node:path";
import { figure, inFolder, ratios, repeat } from "../support/measure.mjs";
import { cpuOf, rolecall, runNode } from "../support/process.mjs";
import { SMALL_FILE } from "../support/shop.mjs";

const ACTION = resolve(import.meta.dirname, "../../dist/action.mjs");

/** A start is short, and easily disturbed. */
const OFTEN = 4;
const noise = 0.08;
const bare = async () => (await runNode(["-e", "0"])).ms;
const started = (args, options) => async () => (await rolecall(args, options)).ms;

/** The cost of a start. */
export const cases = [
  figure({
    name: "start-validate",
    title: "start: `validate` of a file of 50 lines",
    target: { atMost: 3, unit: "× `node -e 0`" },
    noise,
    measure: (runs) =>
      inFolder({ "access/shop.yaml": SMALL_FILE }, (cwd) =>
        ratios(OFTEN * runs, started(["validate"], { cwd }), bare),
      ),
  }),
  figure({
    name: "start-action",
    title: "start: the action, CPU until it says that it has no inputs",
    target: { atMost: 150, unit: "ms" },
    noise,
    measure: (runs) => repeat(OFTEN * runs, () => cpuOf([ACTION])),
  }),
];
