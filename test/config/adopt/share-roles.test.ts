import { expect, test } from "vitest";
import { shareRoles } from "../../../src/config/adopt/share-roles.ts";
import type { Adoption, RoleEntry } from "../../../src/model/adoption.ts";

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
