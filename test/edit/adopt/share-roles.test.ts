import fc from "fast-check";
import { expect, test } from "vitest";
import { shareRoles } from "../../../src/edit/adopt/share-roles.ts";
import type { Adoption, RoleEntry } from "../../../src/model/adoption.ts";
import { runs } from "../../support/property-runs.ts";

function merchant(code: string, ...roles: readonly RoleEntry[]): Adoption {
  return {
    merchant: code,
    edits: roles.map((entry) => ({ kind: "add-role", id: `role_${entry.name}`, entry, left: [] })),
    mentions: [],
    heldRoles: new Map(),
  };
}

const role = (name: string, ...permissions: readonly string[]): RoleEntry => ({ name, permissions });

/** Returns the names of the shared roles, and by merchant those that stay its own, with its adjustments. */
function shared(...adoptions: readonly Adoption[]): unknown {
  const found = shareRoles(adoptions);
  return (
    found && {
      roles: found.roles.map(({ name }) => name),
      merchants: Object.fromEntries(
        [...found.merchants].map(([code, { adoption, adjustments }]) => [
          code,
          {
            own: adoption.edits.flatMap((edit) => (edit.kind === "add-role" ? [edit.entry.name] : [])),
            adjustments,
          },
        ]),
      ),
    }
  );
}

test("equal roles of several merchants are shared, whatever the order of their permissions", () => {
  expect(
    shared(
      merchant("A", role("Cashier", "a", "b"), role("Lead", "c"), role("Own", "x")),
      merchant("B", role("Lead", "c"), role("Cashier", "b", "a")),
    ),
  ).toEqual({
    roles: ["Cashier", "Lead"],
    merchants: { A: { own: ["Own"], adjustments: [] }, B: { own: [], adjustments: [] } },
  });
});

test("a role with a few other permissions is adjusted", () => {
  expect(
    shared(
      merchant("A", role("Cashier", "a", "b", "c", "d", "e", "f")),
      merchant("B", role("Cashier", "a", "b", "c", "d", "e", "f")),
      merchant("C", role("Cashier", "a", "b", "c", "d", "e", "x")),
    ),
  ).toEqual({
    roles: ["Cashier"],
    merchants: {
      A: { own: [], adjustments: [] },
      B: { own: [], adjustments: [] },
      C: { own: [], adjustments: [{ name: "Cashier", add: ["x"], remove: ["f"] }] },
    },
  });
});

test("a merchant without one of the roles does not include them", () => {
  expect(
    shared(
      merchant("A", role("Cashier", "a"), role("Lead", "c"), role("Cook", "d")),
      merchant("B", role("Cashier", "a"), role("Lead", "c"), role("Cook", "d")),
      merchant("C", role("Cashier", "a")),
      merchant("D"),
    ),
  ).toEqual({
    roles: ["Cashier", "Lead", "Cook"],
    merchants: { A: { own: [], adjustments: [] }, B: { own: [], adjustments: [] } },
  });
});

test("merchants that lack one role each do not keep the others from sharing all of them", () => {
  const [a, b, c] = [role("Cashier", "a"), role("Lead", "b"), role("Cook", "c")];
  const all = ["A", "B", "C", "D"].map((code) => merchant(code, a, b, c));
  const found = shareRoles([...all, merchant("E", a, b), merchant("F", b, c), merchant("G", a, c)]);
  expect(found?.roles.map(({ name }) => name)).toEqual(["Cashier", "Lead", "Cook"]);
  expect([...(found?.merchants.keys() ?? [])]).toEqual(["A", "B", "C", "D"]);
});

test.each([
  ["no role of the same name", role("Lead", "a")],
  ["other permissions", role("Cashier", "x", "y")],
  ["another description", { ...role("Cashier", "a"), description: "Sells" }],
  ["other metadata", { ...role("Cashier", "a"), metadata: { team: "x" } }],
  ["a pinned role", { ...role("Cashier", "a"), id: "role_1" }],
])("merchants share nothing where one has %s", (_, other) => {
  expect(shared(merchant("A", role("Cashier", "a")), merchant("B", other))).toBeNull();
});

test("a role that every merchant has in its own way is nobody's to share", () => {
  const base = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
  const own = (code: string) => merchant(code, role("Cashier", ...base, `only-${code}`));
  expect(shared(own("A"), own("B"), own("C"))).toBeNull();
  expect(shared(own("A"), own("B"))).toMatchObject({ roles: ["Cashier"] });
});

const PERMISSIONS = ["a", "b", "c", "d", "e", "f", "g"];
const someRoles = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("Cashier", "Lead", "Cook", "Night"),
    permissions: fc.constantFrom(
      PERMISSIONS,
      PERMISSIONS.slice(1),
      PERMISSIONS.slice(0, 4),
      [...PERMISSIONS, "x"],
      [],
    ),
    description: fc.constantFrom(...["", "", "", "Sells"]),
  }),
  { selector: ({ name }) => name },
);

/** Returns the most (merchant, role) pairs that need no text of their own, over all groups of merchants. */
function mostSaved(adoptions: readonly Adoption[]): number {
  let most = 0;
  for (let mask = 0; mask < 2 ** adoptions.length; mask++) {
    const group = adoptions.filter((_, index) => mask & (2 ** index));
    if (group.length < 2) continue;
    const names = ["Cashier", "Lead", "Cook", "Night"].filter((name) => {
      const all = group.map(({ edits }) =>
        edits.flatMap((edit) => (edit.kind === "add-role" && edit.entry.name === name ? [edit.entry] : [])),
      );
      return all.every(([own]) => own && JSON.stringify(own) === JSON.stringify(all[0]?.[0]));
    });
    most = Math.max(most, (group.length - 1) * names.length);
  }
  return most;
}

test("sharing keeps every role as it is, and saves nearly as much as the best choice of merchants", () => {
  let [saved, possible] = [0, 0];
  fc.assert(
    fc.property(fc.array(someRoles, { minLength: 2, maxLength: 6 }), (lists) => {
      const adoptions = lists.map((roles, index) => merchant(`MC${index}`, ...roles));
      const most = mostSaved(adoptions);
      possible += most;
      const found = shareRoles(adoptions);
      if (found === null) return;
      expect(found.merchants.size).toBeGreaterThan(1);
      saved += Math.min(most, (found.merchants.size - 1) * found.roles.length);
      for (const [code, { adoption, adjustments }] of found.merchants) {
        const before = lists[Number(code.slice(2))] ?? [];
        const included = found.roles.map((entry) => {
          const { add = [], remove = [] } = adjustments.find(({ name }) => name === entry.name) ?? {};
          const kept = (entry.permissions ?? []).filter((permission) => !remove.includes(permission));
          return { ...entry, permissions: [...kept, ...add] };
        });
        const own = adoption.edits.flatMap((edit) => (edit.kind === "add-role" ? [edit.entry] : []));
        const after = [...included, ...own].map(({ name, permissions = [], description }) => ({
          name,
          description,
          permissions: permissions.toSorted(),
        }));
        const order = (all: typeof after) => all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
        expect(order(after)).toEqual(
          order(before.map((one) => ({ ...one, permissions: one.permissions.toSorted() }))),
        );
      }
    }),
    { numRuns: runs(300) },
  );
  expect(saved / possible).toBeGreaterThan(0.9);
});
