import fc from "fast-check";
import { expect, test } from "vitest";
import { isSameAccess } from "../../../src/ask/lint/same-access.ts";
import type { DesiredState, Grant } from "../../../src/model/desired.ts";
import { desiredStates } from "../../support/arbitrary.ts";
import { desired, from, leaver, matches, member, NOW, role, SYNC, until } from "../../support/build.ts";

const same = (before: DesiredState, after: DesiredState) => isSameAccess(before, after, NOW, matches);
const PAST = until("2026-05-31");
const LATER = until("2026-07-31");
const roles = [role("A", { permissions: ["x"] }), role("B", { permissions: ["y"] })];

test("a state means what it means", () => {
  fc.assert(fc.property(desiredStates, (state) => same(state, state)));
});

test("what has ended does not count; what has not does", () => {
  const having = (...held: readonly (string | Grant)[]) =>
    desired({ roles, members: [member("ada@x", { roles: held })] });
  expect(same(having("A", { role: "B", until: PAST }), having("A"))).toBe(true);
  expect(same(having("A", { role: "B", until: LATER }), having("A"))).toBe(false);
  expect(same(having("A", { role: "B", from: from("2026-07-01") }), having("A"))).toBe(false);
  expect(same(having({ role: "A", until: PAST }), having())).toBe(false);
  expect(same(having({ role: "A", until: PAST }), desired({ roles, members: [] }))).toBe(true);
  expect(same(having("A", "B"), having("A"))).toBe(false);
});

test("an ended member stays where the files do not list all: an apply that has not run yet would no more remove it", () => {
  const additive = { ...SYNC, members: "additive" as const };
  const ended = member("ada@x", { roles: ["A"], until: PAST });
  expect(same(desired({ roles, members: [ended] }), desired({ roles, members: [] }))).toBe(true);
  expect(
    same(
      desired({ roles, members: [ended], sync: additive }),
      desired({ roles, members: [], sync: additive }),
    ),
  ).toBe(false);
});

test("a suspension that has ended does not count", () => {
  const away = (suspended?: { readonly until: typeof PAST }) =>
    desired({ roles, members: [member("ada@x", { roles: ["A"], ...(suspended && { suspended }) })] });
  expect(same(away({ until: PAST }), away())).toBe(true);
  expect(same(away({ until: LATER }), away())).toBe(false);
});

test("rules, leavers and ignored patterns count, whatever they do now", () => {
  const state = desired({ roles, members: [], ignore: { roles: [], members: ["*@a", "*@b"] } });
  expect(same(state, { ...state, ignore: { roles: [], members: ["*@b", "*@a", "*@a"] } })).toBe(true);
  expect(same(state, { ...state, ignore: { roles: [], members: ["*@a"] } })).toBe(false);
  expect(
    same(
      { ...state, leavers: [leaver("ada@x", "2027-01-01")] },
      { ...state, leavers: [leaver("ada@x", "2027-02-01")] },
    ),
  ).toBe(false);
  expect(same({ ...state, guards: { ...state.guards, minHolders: { A: 0 } } }, state)).toBe(false);
});
