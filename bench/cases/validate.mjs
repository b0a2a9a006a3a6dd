import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { figure, inFolder, ratios, repeat } from "../support/measure.mjs";
import { peakOf, rolecall, runNode } from "../support/process.mjs";
import { fileOf } from "../support/shop.mjs";

const MEMBERS = 100_000;
const PATH = "access/shop.yaml";
const atWork = (work) => inFolder({ [PATH]: fileOf("MC0BENCH", MEMBERS) }, work);

/** A script that only parses the same data as JSON. */
const JSON_ONLY = `JSON.parse(require("node:fs").readFileSync("shop.json", "utf8"))`;

/** Validates a very large file, without the network. */
export const cases = [
  figure({
    name: "validate-100k",
    title: "`validate`, 100,000 members (14.8 MB)",
    target: { atMost: 12, unit: "× a process that does `JSON.parse` of the same" },
    noise: 0.1,
    measure: (runs) =>
      atWork((cwd) => {
        writeFileSync(join(cwd, "shop.json"), JSON.stringify(load(readFileSync(join(cwd, PATH), "utf8"))));
        const validated = async () => (await rolecall(["validate"], { cwd })).ms;
        const parsed = async () => (await runNode(["-e", JSON_ONLY], { cwd })).ms;
        return ratios(runs, validated, parsed);
      }),
  }),
  figure({
    name: "validate-100k-memory",
    title: "`validate`, 100,000 members, memory",
    target: { atMost: 400, unit: "MiB" },
    noise: 0.05,
    measure: (runs) => atWork((cwd) => repeat(runs, () => peakOf(["validate"], { cwd }))),
  }),
];
