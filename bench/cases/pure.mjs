import { resolve } from "node:path";
import { figure } from "../support/measure.mjs";
import { runNode } from "../support/process.mjs";

const GROWTH = resolve(import.meta.dirname, "../support/growth.mjs");

async function growth(what, runs) {
  const { stdout, stderr } = await runNode([GROWTH, what, String(runs)]);
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout);
}

const target = { atMost: 1.5, unit: "× the time per member of 1,000" };

/** Checks that planning is linear in the members. */
export const cases = [
  figure({
    name: "build-plan-equal",
    title: "pure `buildPlan`, 100,000 members, all equal",
    target,
    noise: 0.15,
    measure: (runs) => growth("equal", runs),
  }),
  figure({
    name: "build-plan-different",
    title: "pure `buildPlan`, 100,000 members, all different",
    target,
    noise: 0.15,
    measure: (runs) => growth("different", runs),
  }),
];
