import { roleDiffs, roleImage } from "../../kernel/fields/role.ts";
import type { Adoption, EntryEdit, RoleEntry } from "../../model/adoption.ts";
import type { RoleImage } from "../../model/field-values.ts";

/** The change of a shared role's permissions for one merchant. */
export interface RoleAdjustment {
  readonly name: string;
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** The rest of a merchant's adoption when its file includes the shared roles. */
export interface SharingMerchant {
  readonly adoption: Adoption;
  readonly adjustments: readonly RoleAdjustment[];
}

/** Roles that several merchants have, and these merchants by code. */
export interface SharedRoles {
  readonly roles: readonly RoleEntry[];
  readonly merchants: ReadonlyMap<string, SharingMerchant>;
}

/**
 * Finds the roles that several merchants have, equal or with a few other permissions: as many roles at as many merchants
 * as possible. Every one of these merchants has all of the roles, since including a file creates what is missing, and
 * at least half of them have each role as it is.
 * `null` if no two merchants share a role.
 */
export function shareRoles(adoptions: readonly Adoption[]): SharedRoles | null {
  const bases = [...commonVariants(adoptions).values()];
  const users = new Map(
    bases.map((base) => [base.name, new Set(adoptions.filter((adoption) => fits(adoption, base)))] as const),
  );
  let best: { roles: readonly RoleEntry[]; merchants: readonly Adoption[] } | null = null;
  for (const merchants of sharingGroups([...users.values()])) {
    const roles = bases.filter((base) => {
      const baseUsers = users.get(base.name);
      return (
        baseUsers !== undefined &&
        merchants.every((adoption) => baseUsers.has(adoption)) &&
        isMostlyAsIs(merchants, base)
      );
    });
    const saved = (merchants.length - 1) * roles.length;
    if (best === null || saved > (best.merchants.length - 1) * best.roles.length) best = { roles, merchants };
  }
  if (best === null || best.roles.length === 0) return null;
  const { roles, merchants } = best;
  return {
    roles,
    merchants: new Map(merchants.map((adoption) => [adoption.merchant, withoutShared(adoption, roles)])),
  };
}

/** Returns groups of merchants that may share roles: those that have a role, and those that have all of the most common. */
function sharingGroups(users: readonly ReadonlySet<Adoption>[]): readonly (readonly Adoption[])[] {
  const byCount = users.filter(({ size }) => size > 1).toSorted((a, b) => b.size - a.size);
  let together = [...(byCount[0] ?? [])];
  const groups = byCount.flatMap((merchants) => {
    together = together.filter((adoption) => merchants.has(adoption));
    return [[...merchants], together];
  });
  return groups.filter(({ length }) => length > 1);
}

type RoleAddition = Extract<EntryEdit, { readonly kind: "add-role" }>;

function additionsOf({ edits }: Adoption): readonly RoleAddition[] {
  return edits.flatMap((edit) => (edit.kind === "add-role" ? [edit] : []));
}

/** Returns by name the entry that most merchants have; an entry with an id cannot be shared. */
function commonVariants(adoptions: readonly Adoption[]): ReadonlyMap<string, RoleEntry> {
  const variants = new Map<string, { readonly entry: RoleEntry; count: number }[]>();
  for (const { entry, left } of adoptions.flatMap(additionsOf)) {
    if (entry.id !== undefined || left.length > 0) continue;
    const entryVariants = variants.get(entry.name) ?? [];
    const same = entryVariants.find((variant) => isSameRole(variant.entry, entry));
    if (same === undefined) variants.set(entry.name, [...entryVariants, { entry, count: 1 }]);
    else same.count += 1;
  }
  return new Map(
    [...variants].flatMap(([name, entryVariants]) => {
      const [most] = entryVariants.toSorted((a, b) => b.count - a.count);
      return most === undefined ? [] : [[name, most.entry] as const];
    }),
  );
}

function isSameRole(a: RoleEntry, b: RoleEntry): boolean {
  const { add, remove } = adjustmentOf(a, b);
  return isSameElsewhere(a, b) && add.length + remove.length === 0;
}

function isSameElsewhere(a: RoleEntry, b: RoleEntry): boolean {
  const imageOf = (role: RoleEntry): RoleImage =>
    roleImage({ ...role, name: "", description: role.description ?? "" });
  return roleDiffs(imageOf(a), imageOf(b)).every(({ field }) => field === "permissions");
}

function adjustmentOf(
  { name, permissions: base = [] }: RoleEntry,
  { permissions = [] }: RoleEntry,
): RoleAdjustment {
  return {
    name,
    add: permissions.filter((permission) => !base.includes(permission)),
    remove: base.filter((permission) => !permissions.includes(permission)),
  };
}

/** Returns true if a merchant has a role, with a difference of at most a third of its permissions. */
function fits(adoption: Adoption, base: RoleEntry): boolean {
  const addition = additionsOf(adoption).find(({ entry }) => entry.name === base.name);
  if (addition === undefined || addition.entry.id !== undefined || addition.left.length > 0) return false;
  const { add, remove } = adjustmentOf(base, addition.entry);
  return (
    isSameElsewhere(base, addition.entry) &&
    (add.length + remove.length) * 3 <= (base.permissions ?? []).length
  );
}

/**
 * Returns true if at least half of the merchants have a role without an adjustment: otherwise, it is not a common role.
 */
function isMostlyAsIs(merchants: readonly Adoption[], base: RoleEntry): boolean {
  const asIs = merchants.filter((adoption) =>
    additionsOf(adoption).some(({ entry }) => entry.name === base.name && isSameRole(base, entry)),
  );
  return asIs.length * 2 >= merchants.length;
}

function withoutShared(adoption: Adoption, roles: readonly RoleEntry[]): SharingMerchant {
  const shared = new Map(roles.map((role) => [role.name, role]));
  const adjustments = additionsOf(adoption).flatMap(({ entry }) => {
    const base = shared.get(entry.name);
    const adjustment = base && adjustmentOf(base, entry);
    return adjustment && adjustment.add.length + adjustment.remove.length > 0 ? [adjustment] : [];
  });
  const edits = adoption.edits.filter((edit) => edit.kind !== "add-role" || !shared.has(edit.entry.name));
  return { adoption: { ...adoption, edits }, adjustments };
}
