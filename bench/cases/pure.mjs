import { buildPlan } from "../../dist/index.mjs";
import { figure, repeat } from "../support/measure.mjs";
import { inputOf } from "../support/plan-input.mjs";

const [SMALL, LARGE] = [1_000, 100_000];

/** Time per member of the large plan by that of the small one, in turn and both warm. */
async function growth(isChanged, runs) {
  const [small, large] = [inputOf(SMALL, isChanged), inputOf(LARGE, isChanged)];
  const perMember = (input, members, times) => {
    const began = performance.now();
    for (let time = 0; time < times; time += 1) buildPlan(input);
    return (performance.now() - began) / times / members;
  };
  // Until the engine has compiled all of it.
  perMember(small, SMALL, 100);
  return repeat(runs, async () => perMember(large, LARGE, 1) / perMember(small, SMALL, 50));
}

const target = { atMost: 1.5, unit: "× the time per member of 1,000" };

/** Planning without any network: linear in the members. */
export const cases = [
  figure({
    name: "build-plan-equal",
    title: "pure `buildPlan`, 100,000 members, all equal",
    target,
    noise: 0.15,
    measure: (runs) => growth(() => false, runs),
  }),
  figure({
    name: "build-plan-different",
    title: "pure `buildPlan`, 100,000 members, all different",
    target,
    noise: 0.15,
    measure: (runs) => growth(() => true, runs),
  }),
];
