import { byCodeUnit } from "../../lib/text.ts";
import type { DesiredRole, DesiredState } from "../../model/desired.ts";
import type { LiveMember } from "../../model/live.ts";
import { addressesOf, addressOf, type GlobMatch, matchesAny, type Scope } from "../diff/scope.ts";
import type { FindingData } from "../findings/findings.ts";

/** Reports the ignored live roles and members, with the roles of those members. */
export function ignoredAccess({ roles, ignoredLiveRoles, ignoredMembers }: Scope): readonly FindingData[] {
  const names = new Map(
    [...ignoredLiveRoles, ...roles].map(({ id, name }) => [id, name.trim() === "" ? id : name]),
  );
  const holders = new Map<string, string[]>();
  for (const member of ignoredMembers) {
    const held = [...new Set(member.roles)].map((id) => names.get(id) ?? id).sort(byCodeUnit);
    const key = held.join(", ") || "no role";
    const same = holders.get(key) ?? [];
    same.push(addressOf(member) ?? member.id);
    holders.set(key, same);
  }
  const findings: FindingData[] = [];
  if (ignoredLiveRoles.length > 0) {
    const ignored = ignoredLiveRoles.map(({ id, name }) => (name.trim() === "" ? id : name)).sort(byCodeUnit);
    findings.push({ code: "roles-ignored", name: "ignore.roles", roles: ignored });
  }
  if (ignoredMembers.length > 0) {
    const groups = [...holders].map(([held, members]) => ({ held, members: members.sort(byCodeUnit) }));
    groups.sort((a, b) => byCodeUnit(a.held, b.held));
    findings.push({ code: "members-ignored", name: "ignore.members", count: ignoredMembers.length, groups });
  }
  return findings;
}

/** The names of declared roles and addresses of declared members that are ignored. */
export interface IgnoredEntries {
  readonly roles: ReadonlySet<string>;
  readonly members: ReadonlySet<string>;
}

/**
 * Finds entries that are both declared and ignored, by name or by live id: they would be created beside the existing
 * ones.
 */
export function ignoredEntries(
  { roles = [], members = [], ignore }: DesiredState,
  scope: Scope,
  matches: GlobMatch,
): IgnoredEntries {
  if (ignore.roles.length + ignore.members.length === 0) return { roles: new Set(), members: new Set() };
  const names = new Set(scope.roles.map(({ name }) => name));
  const pinned = new Set(roles.flatMap(({ id }) => id ?? []));
  const free = new Set(scope.roles.flatMap(({ id, name }) => (pinned.has(id) ? [] : [name])));
  const chains = renameChains(roles, free);
  const isIgnoredRole = (name: string): boolean => scope.ignoredRoles.has(name) && !names.has(name);
  const addressesIn = (live: readonly LiveMember[]): ReadonlySet<string> =>
    new Set(live.flatMap(addressesOf).map((address) => address.toLowerCase()));
  const ignoredIds = new Set(scope.ignoredMembers.map(({ id }) => id));
  const ignoredAddresses = addressesIn(scope.ignoredMembers);
  // An expired invitation of an ignored address cannot be renewed, so the entry must match a different member.
  const addresses = addressesIn(
    ignoredAddresses.size === 0 ? [] : scope.members.filter(({ status }) => status !== "expired"),
  );
  const isIgnoredAddress = (address: string): boolean =>
    ignoredAddresses.has(address) && !addresses.has(address);
  return {
    roles: new Set(
      roles
        .filter(
          ({ name, id, previously }) =>
            matchesAny(ignore.roles, [name, id ?? name], matches) ||
            (id !== undefined && scope.ignoredRoles.has(id)) ||
            // A pinned role is renamed to the name in its entry, which an ignored role may still have.
            isIgnoredRole(name) ||
            (id === undefined &&
              previously?.some(isIgnoredRole) &&
              !chains.hasCandidate(previously) &&
              chains.isRenamed(name)),
        )
        .map(({ name }) => name),
    ),
    members: new Set(
      members
        .filter(
          ({ email, id }) =>
            matchesAny(ignore.members, [email, id ?? email], matches) ||
            (id !== undefined && ignoredIds.has(id)) ||
            (id === undefined && isIgnoredAddress(email.toLowerCase())),
        )
        .map(({ email }) => email),
    ),
  };
}

/** Follows chains of renames through the entries without a pinned id. */
function renameChains(roles: readonly DesiredRole[], free: ReadonlySet<string>) {
  const unpinned = roles.filter(({ id }) => id === undefined);
  const entries = new Map(unpinned.map((role) => [role.name, role]));
  const successors = new Map(
    unpinned.flatMap(({ previously = [], name }) => previously.map((former) => [former, name] as const)),
  );
  return {
    /**
     * Returns whether a live role that is not ignored, and that no other entry keeps, has one of an entry's previous
     * names.
     */
    hasCandidate(previously: readonly string[]): boolean {
      const seen = new Set<string>();
      const untried = [...previously];
      for (let former = untried.pop(); former !== undefined; former = untried.pop()) {
        if (!free.has(former) || seen.has(former)) continue;
        seen.add(former);
        const keeper = entries.get(former);
        if (keeper === undefined) return true;
        for (const earlier of keeper.previously ?? []) untried.push(earlier);
      }
      return false;
    },
    /**
     * Returns whether an entry matches by its previous name: no live role with its own name is free, or a chain of
     * renames takes that role.
     */
    isRenamed(name: string): boolean {
      const seen = new Set<string>();
      let end: string | undefined = name;
      while (end !== undefined && free.has(end)) {
        if (seen.has(end)) return false;
        seen.add(end);
        end = successors.get(end);
      }
      return end !== undefined;
    },
  };
}
