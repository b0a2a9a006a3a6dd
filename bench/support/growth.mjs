import { buildPlan } from "../../dist/index.js";
import { repeat } from "./measure.mjs";
import { inputOf } from "./plan-input.mjs";

/**
 * `node growth.mjs <equal|different> <runs>` prints the ratio of the time per member of plans of 100,000 and of 1,000
 * members, for each run, as JSON. Both are warm and run in turn, in a process of their own.
 */
const [SMALL, LARGE] = [1_000, 100_000];
const [, , what, runs] = process.argv;

const [small, large] = [SMALL, LARGE].map((members) => inputOf(members, () => what === "different"));
const perMember = (input, members, times) => {
  const began = performance.now();
  for (let time = 0; time < times; time += 1) buildPlan(input);
  return (performance.now() - began) / times / members;
};
// Warm up until everything is compiled.
perMember(small, SMALL, 100);
const values = await repeat(Number(runs), () => perMember(large, LARGE, 1) / perMember(small, SMALL, 50));
process.stdout.write(JSON.stringify(values));
