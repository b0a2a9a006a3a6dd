import { expect, test } from "vitest";
import type { Access, PersonAccess, RoleAccess } from "../../../src/kernel/rules/access.ts";
import { impactOf } from "../../../src/kernel/rules/impact.ts";
import { reaching } from "../../../src/kernel/rules/reach.ts";
import { NO_POLICIES } from "../../support/build.ts";
import { processorTime } from "../../support/processor-time.ts";

/** Roles whose permissions are counted when they are read, each held by one member. */
function world(
  count: number,
  power: readonly string[] = ["members_update"],
): { access: Access; reads: () => number } {
  let reads = 0;
  const role = (index: number): RoleAccess => ({
    id: `role_${index}`,
    name: `Role ${index}`,
    custom: true,
    get permissions() {
      reads += 1;
      return [`p${index}`, ...power];
    },
  });
  const person = (index: number): PersonAccess => ({
    ...{ id: `mem_${index}`, name: `m${index}`, email: null, status: "accepted", roles: [`role_${index}`] },
    ...{ serviceAccount: false, mfa: null },
  });
  const indexes = Array.from({ length: count }, (_, index) => index);
  return {
    access: {
      roles: new Map(indexes.map((index) => [`role_${index}`, role(index)])),
      removed: new Set(),
      people: indexes.map(person),
    },
    reads: () => reads,
  };
}

test("what each member can reach reads each role a few times, however many members there are", () => {
  for (const count of [100, 400]) {
    const { access, reads } = world(count);
    const reach = reaching(access);
    for (const person of access.people) {
      expect(reach(person).includes(`p${count - 1}`)).toBe(true);
      expect(reach(person).stepsTo("p0")).toHaveLength(person.roles.includes("role_0") ? 0 : 1);
      expect(reach(person).includes("elsewhere")).toBe(false);
    }
    expect(reads()).toBeLessThanOrEqual(3 * count);
  }
});

test("the steps do not depend on the order of the roles", () => {
  const { access } = world(20);
  const backwards = { ...access, roles: new Map([...access.roles].reverse()) };
  const [person] = access.people;
  if (person === undefined) throw new Error("nobody");
  const shared = { ...person, roles: ["role_3", "role_4"] };
  for (const one of [person, shared, { ...shared, roles: ["role_4", "role_3"] }]) {
    expect(reaching(backwards)(one).stepsTo("p7")).toEqual(reaching(access)(one).stepsTo("p7"));
  }
});

test("those who can assign roles share the list of what they reach, and others reach what they hold", () => {
  const { people, ...roles } = world(3).access;
  const [first, second] = people.map(reaching({ people, ...roles }));
  expect(first?.permissions).toEqual(["members_update", "p0", "p1", "p2"]);
  expect(second?.permissions).toBe(first?.permissions);
  const powerless = world(3, []).access;
  expect(powerless.people.map((person) => reaching(powerless)(person).permissions)).toEqual([
    ["p0"],
    ["p1"],
    ["p2"],
  ]);
});

test("what thousands of members with a role of their own gain and reach is found soon", () => {
  const { access } = world(6000, []);
  const nobody = { ...access, people: [], roles: new Map() };
  const before = processorTime();
  const impact = impactOf(nobody, access, { policies: NO_POLICIES });
  expect(processorTime() - before).toBeLessThan(5000);
  expect(impact.members).toHaveLength(6000);
  expect(impact.reach).toBeUndefined();
});
