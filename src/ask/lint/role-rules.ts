import { isSameDeclaredRole } from "../../kernel/fields/role.ts";
import { counted, quoted } from "../../lib/text.ts";
import type { DesiredRole, DesiredState, Origin } from "../../model/desired.ts";
import type { HeldRole, SnapshotRole } from "../../model/questions.ts";
import { type LintContext, type LintFinding, type LintMerchant, merchantsOf } from "./lint-context.ts";

/** A declared role of known permissions. */
interface KnownRole {
  readonly role: SnapshotRole;
  readonly permissions: ReadonlySet<string>;
}

/** Finds declared roles with the permissions of another one. */
export function equalRoles(context: LintContext): readonly LintFinding[] {
  return context.merchants.flatMap((merchant) =>
    declaredPairs(merchant).flatMap(({ one, other, isEqual }) =>
      isEqual && other.role.origin
        ? [
            {
              message: `${quoted(other.role.name)} grants the same permissions as ${quoted(one.role.name)}.`,
              hint: "Grant one of them to all holders of the other, and remove the other.",
              origin: other.role.origin,
              merchants: [merchant.state.merchant],
            },
          ]
        : [],
    ),
  );
}

// Smaller roles are easily told apart.
const FEWEST_PERMISSIONS = 3;

/** Finds declared roles that another one contains: those that lack one of many permissions, or with `thorough` all. */
export function containedRoles({ merchants, thorough }: LintContext): readonly LintFinding[] {
  return merchants.flatMap((merchant) =>
    declaredPairs(merchant).flatMap(({ one, other, isEqual }) => {
      const isNear =
        one.permissions.size - other.permissions.size === 1 && other.permissions.size >= FEWEST_PERMISSIONS;
      return !isEqual && other.role.origin && (thorough || isNear)
        ? [
            {
              message: `${quoted(one.role.name)} grants all that ${quoted(other.role.name)} does, and ${counted(one.permissions.size - other.permissions.size, "more permission")}.`,
              hint: "Such similar roles are easily confused: keep only one, unless both are needed.",
              origin: other.role.origin,
              merchants: [merchant.state.merchant],
            },
          ]
        : [];
    }),
  );
}

/** Returns the pairs of declared roles of which the first grants all that the other does; equal ones once. */
function declaredPairs({ declared }: LintMerchant): readonly {
  readonly one: KnownRole;
  readonly other: KnownRole;
  readonly isEqual: boolean;
}[] {
  const roles = declared.roles.flatMap((role): readonly KnownRole[] =>
    role.origin === null || role.permissions === null || role.permissions.length === 0
      ? []
      : [{ role, permissions: new Set(role.permissions) }],
  );
  return roles.flatMap((role, index) =>
    roles.flatMap((other, otherIndex) => {
      if (index === otherIndex || !contains(role.permissions, other.permissions)) return [];
      const isEqual = role.permissions.size === other.permissions.size;
      return isEqual && otherIndex < index ? [] : [{ one: role, other, isEqual }];
    }),
  );
}

function contains(whole: ReadonlySet<string>, some: ReadonlySet<string>): boolean {
  return some.size <= whole.size && [...some].every((permission) => whole.has(permission));
}

/** Finds grants that give nothing, because the member holds a role for as long that grants as much. */
export function redundantGrants({ merchants }: LintContext): readonly LintFinding[] {
  return merchants.flatMap((merchant) => {
    const permissions = knownPermissions(merchant);
    const names = new Map(merchant.declared.roles.map(({ key, name }) => [key, name]));
    return merchant.declared.members.flatMap(({ held }) => {
      const effective = held.filter(({ effective: has }) => has);
      return effective.flatMap((grant, index): readonly LintFinding[] => {
        const container = effective.find((candidate, otherIndex) => {
          const [more, less] = [permissions.get(candidate.role), permissions.get(grant.role)];
          if (otherIndex === index || !more || !less || less.size === 0 || !contains(more, less))
            return false;
          if (endOf(candidate) < endOf(grant)) return false;
          // Of two equal grants, the later one is redundant.
          return more.size > less.size || endOf(candidate) > endOf(grant) || otherIndex < index;
        });
        const [origin] = grant.origins;
        if (container === undefined || origin === undefined) return [];
        const [role, other] = [grant, container].map((heldRole) =>
          quoted(names.get(heldRole.role) ?? heldRole.role),
        );
        return [
          {
            message: `This member also holds ${other}, which grants everything that ${role} does.`,
            hint: `Without ${role}, they can do the same.`,
            origin,
            merchants: [merchant.state.merchant],
          },
        ];
      });
    });
  });
}

function endOf({ end }: HeldRole): number {
  return end?.ends ?? Number.POSITIVE_INFINITY;
}

/** Returns the permissions of the declared roles by key, those of predefined ones as they are live. */
export function knownPermissions({ declared, live }: LintMerchant): ReadonlyMap<string, ReadonlySet<string>> {
  const byId = new Map((live?.access.roles ?? []).map((role) => [role.id, role.permissions]));
  return new Map(
    declared.roles.flatMap(({ key, id, permissions }) => {
      const grantedPermissions = permissions ?? (id === null ? null : byId.get(id));
      return grantedPermissions ? [[key, new Set(grantedPermissions)] as const] : [];
    }),
  );
}

/** Finds roles of shared files that nobody holds at any merchant that has them; those of a merchant's own file are validated. */
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
            message: `Nobody holds ${quoted(name)}${merchants.length === 1 ? "" : `, at any of ${counted(merchants.length, "merchant")}`}.`,
            hint: "Grant it, or remove it.",
            origin,
            merchants,
          },
        ],
  );
}

/** Finds roles that several merchants declare equally, each in its own file. */
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
    message: `${counted(codes.length, "file")} declare ${names.length === 1 ? quoted(first.name) : `${quoted(first.name)} and ${counted(names.length - 1, "more role")}`} equally: ${firstFiles(files)}.`,
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
