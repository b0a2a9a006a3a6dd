import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Access, PersonAccess, RoleAccess } from "../../../src/kernel/rules/access.ts";
import { reaching } from "../../../src/kernel/rules/reach.ts";
import { DEFAULT_ESCALATION } from "../../../src/model/desired.ts";
import { runs } from "../../support/property-runs.ts";

const PERMISSIONS = ["refunds_create", "payouts_edit", "members_update", "roles_update", "roles_create"];

function accessOf(roles: Readonly<Record<string, readonly string[]>>): Access {
  return {
    roles: new Map(
      Object.entries(roles).map(([name, permissions]): [string, RoleAccess] => [
        name,
        { id: name, name, permissions, custom: !name.startsWith("role_") },
      ]),
    ),
    removed: new Set(),
    people: [],
  };
}

const holding = (...roles: readonly string[]): PersonAccess => ({
  id: "mem_1",
  name: "bob@x.example",
  email: "bob@x.example",
  status: "accepted",
  roles,
  serviceAccount: false,
  mfa: null,
});

describe("what a member can reach", () => {
  const access = accessOf({
    Refunder: ["refunds_create"],
    Lead: ["members_update"],
    Editor: ["roles_update"],
    Maker: ["roles_create"],
    role_admin: ["payouts_edit", "roles_update"],
    role_viewer: ["members_update"],
  });
  const steps = (permission: string, ...roles: readonly string[]) =>
    reaching(access)(holding(...roles)).stepsTo(permission);

  test("takes no step if it is held, and one by giving himself a role", () => {
    expect(steps("refunds_create", "Refunder")).toEqual([]);
    expect(steps("refunds_create", "Lead")).toEqual([
      { does: "assign", by: "members_update", role: "Refunder" },
    ]);
  });

  test("is everything for who may change a role of his own", () => {
    expect(steps("anything_else", "Editor")).toEqual([{ does: "edit", by: "roles_update", role: "Editor" }]);
    expect(steps("refunds_create", "Maker")).toBeNull();
    expect(steps("anything_else", "Maker", "Lead")).toEqual([
      { does: "create", by: "roles_create", role: null },
      { does: "assign", by: "members_update", role: null },
    ]);
  });

  test("leads through roles that lead further; predefined roles cannot be changed", () => {
    expect(steps("anything_else", "role_admin")).toBeNull();
    expect(steps("payouts_edit", "role_viewer")).toEqual([
      { does: "assign", by: "members_update", role: "role_admin" },
    ]);
    expect(steps("anything_else", "role_viewer")).toEqual([
      { does: "assign", by: "members_update", role: "Editor" },
      { does: "edit", by: "roles_update", role: "Editor" },
    ]);
  });

  test("follows the file's own ways", () => {
    const none = reaching(access, { assign: [], edit: [], create: [] })(holding("Lead", "Editor"));
    expect(none.stepsTo("refunds_create")).toBeNull();
    const own = reaching(access, { assign: ["refunds_create"] })(holding("Refunder"));
    expect(own.stepsTo("payouts_edit")).toEqual([
      { does: "assign", by: "refunds_create", role: "role_admin" },
    ]);
  });
});

const worlds = fc.record({
  roles: fc.dictionary(
    fc.constantFrom("A", "B", "C", "role_d"),
    fc.uniqueArray(fc.constantFrom(...PERMISSIONS), { maxLength: 3 }),
  ),
  held: fc.uniqueArray(fc.constantFrom("A", "B", "C", "role_d")),
  permission: fc.constantFrom(...PERMISSIONS, "elsewhere"),
});

test("agrees with a model that tries every sequence of actions", () => {
  fc.assert(
    fc.property(worlds, ({ roles, held, permission }) => {
      const own = held.filter((role) => role in roles);
      const { stepsTo } = reaching(accessOf(roles))(holding(...own));
      const found = stepsTo(permission);
      expect(found === null).toBe(!canReach({ roles, held: own }, permission));
    }),
    { numRuns: runs(300) },
  );
});

interface World {
  readonly roles: Readonly<Record<string, readonly string[]>>;
  readonly held: readonly string[];
}

/** Plays a member who takes every action that he may, until nothing new happens. */
function canReach({ roles, held }: World, wanted: string): boolean {
  const world = new Map(Object.entries(roles).map(([name, all]) => [name, new Set(all)]));
  const mine = new Set(held);
  const may = (some: readonly string[]): boolean =>
    some.some((one) => [...mine].some((role) => world.get(role)?.has(one)));
  for (let round = 0; round < 6; round += 1) {
    if (may(DEFAULT_ESCALATION.create)) world.set("made", new Set([wanted, ...PERMISSIONS]));
    if (may(DEFAULT_ESCALATION.assign)) for (const role of world.keys()) mine.add(role);
    if (may(DEFAULT_ESCALATION.edit)) {
      for (const [name, permissions] of world) if (!name.startsWith("role_")) permissions.add(wanted);
    }
  }
  return may([wanted]);
}
