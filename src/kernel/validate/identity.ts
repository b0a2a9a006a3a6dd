import { onCircles } from "../../lib/circles.ts";
import { matchesSimpleGlob } from "../../lib/glob.ts";
import { memoized } from "../../lib/memoized.ts";
import type { FileLocation, LocatedProblem, Problem } from "../problems/problem.ts";
import {
  grantPath,
  locationOf,
  memberLocation,
  type RawFile,
  type RawMember,
  type RawRole,
} from "../schema/raw-file.ts";
import { repeats } from "../values/values.ts";
import type { RuleContext } from "./rule-context.ts";

/** Requires unique names and pinned ids of roles, across files. */
export function noDuplicateRoles({ roles }: RuleContext): readonly LocatedProblem[] {
  return [
    ...repeats(roles, ({ name }) => name).map(
      ({ text, item, first }): LocatedProblem => ({
        code: "duplicate-role",
        name: text,
        location: fieldSite(item, "name"),
        first: fieldSite(first, "name"),
      }),
    ),
    ...repeats(roles, ({ id }) => id).map(
      ({ text, item, first }): LocatedProblem => ({
        code: "duplicate-role-id",
        id: text,
        location: fieldSite(item, "id"),
        first: fieldSite(first, "id"),
      }),
    ),
  ];
}

/** Requires unique addresses within a file, and unique pinned ids of members. */
export function noDuplicateMembers({
  rawFiles,
  members,
  duplicateAddresses,
}: RuleContext): readonly LocatedProblem[] {
  const again =
    duplicateAddresses.size === 0
      ? []
      : rawFiles.flatMap((raw) => repeats(raw.members, ({ address }) => address));
  return [
    ...again.map(
      ({ item, first }): LocatedProblem => ({
        code: "duplicate-member",
        email: item.email ?? "",
        location: memberLocation(item, "email"),
        first: memberLocation(first, "email"),
      }),
    ),
    ...repeats(members, ({ id }) => id).flatMap(({ text, item, first }): readonly LocatedProblem[] =>
      // The same member in another file.
      item.address === first.address && item.file !== first.file
        ? []
        : [
            {
              code: "duplicate-member-id",
              id: text,
              location: memberLocation(item, "id"),
              first: memberLocation(first, "id"),
            },
          ],
    ),
  ];
}

function fieldSite({ file, path }: RawRole, field: string): FileLocation {
  return locationOf(file, [...path, field]);
}

/** Requires names of roles that do not look like ids. */
export function clearRoleNames({ roles }: RawFile): readonly Problem[] {
  return roles.flatMap(({ name, path }): readonly Problem[] =>
    name?.startsWith("role_")
      ? [{ code: "role-name-like-id", name, location: { at: "value", path: [...path, "name"] } }]
      : [],
  );
}

/** Requires that a previous name is unique, and not declared unless that role was renamed too. */
export function previousNames({ roles }: RuleContext): readonly LocatedProblem[] {
  const byName = new Map(roles.flatMap((role) => (role.name === null ? [] : [[role.name, role] as const])));
  const siteOf = previousNameSites();
  const inCircles = onCircles(byName.keys(), (name) => byName.get(name)?.previously ?? []);
  const former = roles.flatMap((role) => [...new Set(role.previously)].map((name) => ({ role, name })));
  const declared = former.flatMap(({ role, name }): readonly LocatedProblem[] => {
    const holder = byName.get(name);
    if (holder === undefined) {
      return [];
    }
    const kind = name === role.name ? "own" : holder.previously.length === 0 ? "kept" : "swapped";
    if (kind === "swapped" && !inCircles.has(name)) {
      return [];
    }
    const first = fieldSite(holder, "name");
    return [{ code: "previously-declared", name, kind, location: siteOf(role, name), first }];
  });
  return [
    ...declared,
    ...repeats(former, ({ name }) => name).map(
      ({ text, item, first }): LocatedProblem => ({
        code: "duplicate-previously",
        name: text,
        location: siteOf(item.role, text),
        first: siteOf(first.role, text),
      }),
    ),
  ];
}

/** Requires that a previous address is no member's address, and the previous one of a single member. */
export function previousAddresses({ members }: RuleContext): readonly LocatedProblem[] {
  const renamed = members.filter(({ previously }) => previously.length > 0);
  if (renamed.length === 0) return [];
  const listed = new Map(
    members.flatMap((member) => (member.address === null ? [] : [[member.address, member] as const])),
  );
  const owners = new Map<string, RawMember>();
  return renamed.flatMap((member) =>
    [...new Set(member.previously)].flatMap((address): readonly LocatedProblem[] => {
      const location = memberLocation(member, "previously");
      const other = owners.get(address) ?? member;
      owners.set(address, other);
      const holder = listed.get(address);
      if (holder !== undefined)
        return [
          {
            code: "previous-address",
            email: address,
            kind: "listed",
            location,
            first: memberLocation(holder, "email"),
          },
        ];
      return other.address === member.address
        ? []
        : [
            {
              code: "previous-address",
              email: address,
              kind: "twice",
              location,
              first: memberLocation(other, "previously"),
            },
          ];
    }),
  );
}

/** Returns a function that locates a role's previous names. */
function previousNameSites(): (role: RawRole, name: string) => FileLocation {
  // The first of several wins.
  const indexesOf = memoized(
    (written: readonly unknown[]) => new Map(written.map((each, index) => [each, index] as const).reverse()),
  );
  return ({ file, path, fields }, name) => {
    const previousPath = [...path, "previously"];
    const written = fields["previously"];
    if (!Array.isArray(written)) return locationOf(file, previousPath);
    return locationOf(file, [...previousPath, indexesOf(written).get(name) ?? 0]);
  };
}

/** Requires that no entry and no current grant matches `ignore`: a plan could not apply it. */
export function noIgnoredEntries(merchant: RuleContext): readonly LocatedProblem[] {
  const ignoresRole = openIgnores(merchant, "roles");
  const ignoresMember = openIgnores(merchant, "members");
  const { renamed } = merchant;
  return [
    ...merchant.roles.flatMap((role) => {
      const first = ignoresRole(role.name, role.id);
      return ignored("role", role.name, first, () => fieldSite(role, "name"));
    }),
    ...merchant.members.flatMap((member) => {
      const first = ignoresMember(member.email, member.id);
      return ignored("member", member.email, first, () => memberLocation(member, "email"));
    }),
    ...merchant.members.flatMap((member) =>
      member.grants.flatMap((grant) => {
        const isOver = [grant.end, member.end].some((end) => (end?.until?.ends ?? Infinity) <= merchant.now);
        const first = isOver ? null : ignoresRole(renamed.get(grant.role) ?? grant.role, null);
        return ignored("grant", grant.role, first, () => locationOf(member.file, grantPath(member, grant)));
      }),
    ),
  ];
}

function ignored(
  kind: "role" | "member" | "grant",
  name: string | null,
  first: FileLocation | null,
  location: () => FileLocation,
): readonly LocatedProblem[] {
  return name === null || first === null
    ? []
    : [{ code: "ignored-entry", kind, name, location: location(), first }];
}

type Ignores = (name: string | null, id: string | null) => FileLocation | null;

/** Returns a search for the pattern that ignores a name or an id; each text is compared once. */
function openIgnores(merchant: RuleContext, key: "roles" | "members"): Ignores {
  const patterns = merchant.ignored[key].flatMap(({ value, location }) =>
    typeof value === "string" ? [{ value, location }] : [],
  );
  if (patterns.length === 0 || patterns.length > MAX_PATTERNS) return () => null;
  const find = memoized(
    (text: string) => patterns.find(({ value }) => matchesSimpleGlob(value, text))?.location ?? null,
  );
  return (name, id) => (name === null ? null : find(name)) ?? (id === null ? null : find(id));
}

// More than anyone writes: matching them with thousands of members would take too long.
const MAX_PATTERNS = 100;
