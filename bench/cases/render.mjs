import { buildPlan } from "../../dist/index.js";
import { figure, repeat } from "../support/measure.mjs";
import { inputOf } from "../support/plan-input.mjs";
import { loadSource } from "../support/source.mjs";

const CHANGES = 10_000;
const target = { atMost: 300, unit: "ms" };

async function textTimes(runs) {
  const plan = buildPlan(inputOf(CHANGES, () => true));
  const [{ planView }, { renderPlans }, { PLAIN }] = await Promise.all(
    ["plan-view", "plan-text", "style"].map((name) => loadSource(`src/render/${name}.ts`)),
  );
  return repeat(runs, async () => {
    const began = performance.now();
    renderPlans([planView(plan)], PLAIN);
    return performance.now() - began;
  });
}

/** Showing a very large plan. */
export const cases = [
  figure({
    name: "render-text",
    title: "10,000 changes as text",
    target,
    noise: 0.15,
    measure: textTimes,
  }),
];
