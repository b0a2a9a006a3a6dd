import { buildPlan, parseMerchantFile } from "../../dist/index.js";
import { figure, repeat } from "../support/measure.mjs";
import { EMPLOYEE, fileOf, rolesOf, wireMember } from "../support/shop.mjs";

const NOW = Date.UTC(2026, 0, 1);
const [SMALL, LARGE] = [1_000, 100_000];

function inputOf(members, isChanged) {
  const { state } = parseMerchantFile("shop.yaml", fileOf("MC0BENCH", members, isChanged), { now: NOW });
  return {
    desired: state,
    live: {
      merchant: "MC0BENCH",
      roles: [...rolesOf(), EMPLOYEE].map((role) => ({
        ...role,
        predefined: role === EMPLOYEE,
        metadata: {},
        updatedAt: "",
      })),
      members: Array.from({ length: members }, (_, at) => memberOf(at)),
      callerId: null,
    },
    service: "https://api.example.com",
    now: NOW,
    matches: (glob, text) => glob === text,
  };
}

function memberOf(at) {
  const { id, roles, metadata, user, updated_at } = wireMember(at);
  return {
    id,
    roles,
    status: "accepted",
    user: { id: user.id, email: user.email, mfaOnLogin: true, virtual: false, serviceAccount: false },
    metadata,
    updatedAt: updated_at,
  };
}

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
