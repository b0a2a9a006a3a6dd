import { buildPlan } from "../../dist/index.js";
import { repeat } from "./measure.mjs";
import { inputOf } from "./plan-input.mjs";

/**
 * `node growth.mjs <equal|different> <runs>` prints the time per member of a plan of 100,000 members by that of one of
 * 1,000, so many times, as JSON: in turn, both warm, and in a process that has nothing else in its memory.
 */
const [SMALL, LARGE] = [1_000, 100_000];
const [, , what, runs] = process.argv;

const [small, large] = [SMALL, LARGE].map((members) => inputOf(members, () => what === "different"));
const perMember = (input, members, times) => {
  const began = performance.now();
  for (let time = 0; time < times; time += 1) buildPlan(input);
  return (performance.now() - began) / times / members;
};
// Until the engine has compiled all of it.
perMember(small, SMALL, 100);
const values = await repeat(Number(runs), () => perMember(large, LARGE, 1) / perMember(small, SMALL, 50));
process.stdout.write(JSON.stringify(values));
