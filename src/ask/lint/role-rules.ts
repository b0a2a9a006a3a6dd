import { isSameDeclaredRole } from "../../kernel/fields/role.ts";
import { counted, quoted, sortedSet } from "../../lib/text.ts";
import type { DesiredRole, DesiredState, Origin } from "../../model/desired.ts";
import type { HeldRole, SnapshotRole } from "../../model/questions.ts";
import { type LintContext, type LintFinding, type LintMerchant, merchantsOf } from "./lint-context.ts";

/** A declared role of known permissions, and the later ones that grant the same. */
interface RoleKind {
  readonly role: SnapshotRole;
  readonly permissions: ReadonlySet<string>;
  readonly equal: SnapshotRole[];
}

/** Finds declared roles with the permissions of an earlier one. */
export function equalRoles({ merchants }: LintContext): readonly LintFinding[] {
  return merchants.flatMap((merchant) =>
    declaredKinds(merchant).flatMap(({ role: first, equal }) =>
      equal.flatMap((role) =>
        findingAt(role.origin, merchant, {
          message: `${quoted(role.name)} grants the same permissions as ${quoted(first.name)}.`,
          hint: "Grant one of them to all holders of the other, and remove the other.",
        }),
      ),
    ),
  );
}

function findingAt(
  origin: Origin | null | undefined,
  { state: { merchant } }: LintMerchant,
  text: Pick<LintFinding, "message" | "hint">,
): readonly LintFinding[] {
  return origin ? [{ ...text, origin, merchants: [merchant] }] : [];
}

// Smaller roles are easy to tell apart.
const FEWEST_PERMISSIONS = 3;

/**
 * Finds declared roles that another one contains, each with the smallest that does: those that lack only one of many
 * permissions, or with `thorough` all of them.
 */
export function containedRoles({ merchants, thorough }: LintContext): readonly LintFinding[] {
  return merchants.flatMap((merchant) => {
    const larger = openContainers<RoleKind>();
    return declaredKinds(merchant)
      .toSorted((a, b) => b.permissions.size - a.permissions.size)
      .flatMap((kind): readonly LintFinding[] => {
        const { role, permissions } = kind;
        const smallest = larger.containing(permissions).at(-1);
        larger.add(kind);
        if (smallest === undefined) return [];
        const more = smallest.permissions.size - permissions.size;
        if (!thorough && (more > 1 || permissions.size < FEWEST_PERMISSIONS)) return [];
        return findingAt(role.origin, merchant, {
          message: `${quoted(smallest.role.name)} grants all that ${quoted(role.name)} does, and ${counted(more, "more permission")}.`,
          hint: "Such similar roles are easily confused: keep only one, unless both are needed.",
        });
      });
  });
}

/** Returns the declared roles that grant something, grouped by their permissions. */
function declaredKinds({ declared }: LintMerchant): readonly RoleKind[] {
  const kinds = new Map<string, RoleKind>();
  for (const role of declared.roles) {
    if (role.origin === null || role.permissions === null || role.permissions.length === 0) continue;
    const key = JSON.stringify(sortedSet(role.permissions));
    const kind = kinds.get(key);
    if (kind) kind.equal.push(role);
    else kinds.set(key, { role, permissions: new Set(role.permissions), equal: [] });
  }
  return [...kinds.values()];
}

/** Items that grant permissions, and the search for those that grant all of a set. */
interface Containers<Item> {
  add(item: Item): void;
  /** Returns the items that have all permissions of a set that is not empty, in the order in which they were added. */
  containing(permissions: ReadonlySet<string>): readonly Item[];
}

/**
 * Searches among the items with the permission that the fewest have, and compares bits for permissions first: a hostile
 * file has thousands of roles.
 */
function openContainers<Item extends { readonly permissions: ReadonlySet<string> }>(): Containers<Item> {
  const byPermission = new Map<
    string,
    { readonly bit: number; readonly found: { item: Item; bits: number }[] }
  >();
  return {
    add(item) {
      const entries = [...item.permissions].map((permission) => {
        const entry = byPermission.get(permission) ?? { bit: 1 << (byPermission.size % 32), found: [] };
        byPermission.set(permission, entry);
        return entry;
      });
      const bits = entries.reduce((sum, { bit }) => sum | bit, 0);
      for (const { found } of entries) found.push({ item, bits });
    },
    containing(permissions) {
      let bits = 0;
      let fewest: readonly { readonly item: Item; readonly bits: number }[] | undefined;
      for (const permission of permissions) {
        const entry = byPermission.get(permission);
        if (entry === undefined) return [];
        bits |= entry.bit;
        if (fewest === undefined || entry.found.length < fewest.length) fewest = entry.found;
      }
      return (fewest ?? []).flatMap((whole) =>
        (bits & ~whole.bits) === 0 && contains(whole.item.permissions, permissions) ? [whole.item] : [],
      );
    },
  };
}

function contains(whole: ReadonlySet<string>, some: ReadonlySet<string>): boolean {
  for (const permission of some) if (!whole.has(permission)) return false;
  return true;
}

/** Finds grants that add nothing, because the member holds a role that grants as much for as long. */
export function redundantGrants({ merchants }: LintContext): readonly LintFinding[] {
  return merchants.flatMap((merchant) => {
    const permissionsOf = knownPermissions(merchant);
    const names = new Map(merchant.declared.roles.map(({ key, name }) => [key, name]));
    const nameOf = ({ role }: HeldRole): string => quoted(names.get(role) ?? role);
    return merchant.declared.members.flatMap(({ held }) => {
      const needed = openContainers<KnownGrant>();
      const grants = held.flatMap((grant): readonly KnownGrant[] => {
        const permissions = permissionsOf.get(grant.role);
        return grant.effective && permissions && permissions.size > 0 ? [{ grant, permissions }] : [];
      });
      // Of two equal grants, the later one is redundant.
      const redundant = grants
        .toSorted((a, b) => b.permissions.size - a.permissions.size || endOf(b.grant) - endOf(a.grant))
        .flatMap((known) => {
          const container = needed
            .containing(known.permissions)
            .find(({ grant }) => endOf(grant) >= endOf(known.grant));
          if (container) return [[known, container] as const];
          needed.add(known);
          return [];
        });
      const containers = new Map(redundant);
      return grants.flatMap((known): readonly LintFinding[] => {
        const container = containers.get(known);
        if (container === undefined) return [];
        const [role, other] = [nameOf(known.grant), nameOf(container.grant)];
        return findingAt(known.grant.origins[0], merchant, {
          message: `This member also holds ${other}, which grants everything that ${role} does.`,
          hint: `Without ${role}, they can do the same.`,
        });
      });
    });
  });
}

/** A grant of known permissions. */
interface KnownGrant {
  readonly grant: HeldRole;
  readonly permissions: ReadonlySet<string>;
}

function endOf({ end }: HeldRole): number {
  return end?.ends ?? Number.MAX_VALUE;
}

/** Returns the permissions of the declared roles by key, and the live ones of predefined roles. */
export function knownPermissions({ declared, live }: LintMerchant): ReadonlyMap<string, ReadonlySet<string>> {
  const byId = new Map((live?.access.roles ?? []).map((role) => [role.id, role.permissions]));
  return new Map(
    declared.roles.flatMap(({ key, id, permissions }) => {
      const grantedPermissions = permissions ?? (id === null ? null : byId.get(id));
      return grantedPermissions ? [[key, new Set(grantedPermissions)] as const] : [];
    }),
  );
}

/**
 * Finds roles of shared files that nobody holds at any merchant that has them; validation finds those of a merchant's
 * own file.
 */
export function unheldSharedRoles(context: LintContext): readonly LintFinding[] {
  const unheld = new Map<
    string,
    { readonly name: string; readonly origin: Origin; readonly merchants: string[] }
  >();
  for (const { state, declared } of context.merchants) {
    const held = new Set(declared.members.flatMap((member) => member.held.map(({ role }) => role)));
    const isKnown = declared.complete && declared.members.every(({ rolesKnown }) => rolesKnown);
    for (const { key, name, origin } of declared.roles) {
      if (origin === null || origin.file === state.origin.file || !isKnown || held.has(key)) continue;
      const entry = unheld.get(JSON.stringify(origin)) ?? { name, origin, merchants: [] };
      entry.merchants.push(state.merchant);
      unheld.set(JSON.stringify(origin), entry);
    }
  }
  return [...unheld.values()].flatMap(({ name, origin, merchants }): readonly LintFinding[] =>
    merchants.length < merchantsOf(context, origin.file).length
      ? []
      : [
          {
            message: `Nobody holds ${quoted(name)}${merchants.length === 1 ? "" : ` at any of the ${counted(merchants.length, "merchant")}`}.`,
            hint: "Grant it, or remove it.",
            origin,
            merchants,
          },
        ],
  );
}

/** Finds roles that several merchants declare identically, each in its own file. */
export function shareableRoles({ merchants }: LintContext): readonly LintFinding[] {
  const variants = new Map<string, { readonly role: DesiredRole; readonly state: DesiredState }[][]>();
  for (const { state } of merchants) {
    for (const role of state.roles ?? []) {
      if (role.origin.file !== state.origin.file || role.id !== undefined || role.adjusted) continue;
      const variantsOfName = variants.get(role.name) ?? [];
      const equal = variantsOfName.find(
        ([first]) => first !== undefined && isSameDeclaredRole(first.role, role),
      );
      if (equal) equal.push({ role, state });
      else variantsOfName.push([{ role, state }]);
      variants.set(role.name, variantsOfName);
    }
  }
  const groups = new Map<
    string,
    {
      readonly names: string[];
      readonly first: DesiredRole;
      codes: string[];
      readonly files: readonly string[];
    }
  >();
  for (const equalRoles of [...variants.values()].flat()) {
    const [first] = equalRoles;
    if (first === undefined || equalRoles.length < 2) continue;
    const codes = equalRoles.map(({ state }) => state.merchant);
    const key = codes.join(" ");
    const files = equalRoles.map(({ state }) => state.origin.file);
    const group = groups.get(key) ?? { names: [], first: first.role, codes, files };
    group.names.push(first.role.name);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ names, first, codes, files }) => ({
    message: `${counted(codes.length, "file")} declare ${names.length === 1 ? quoted(first.name) : `${quoted(first.name)} and ${counted(names.length - 1, "more role")}`} identically: ${firstFiles(files)}.`,
    hint: `Declare ${names.length === 1 ? "it" : "these"} once, in a file that all of them include, so that a change takes one line.`,
    origin: first.origin,
    merchants: codes,
  }));
}

const MOST_FILES = 3;

function firstFiles(files: readonly string[]): string {
  const more = files.length - MOST_FILES;
  return `${files.slice(0, MOST_FILES).join(", ")}${more > 0 ? ` and ${counted(more, "more file")}` : ""}`;
}
