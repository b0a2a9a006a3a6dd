import type { FileLocation, LocatedProblem, Problem } from "../diagnostics/problem.ts";
import { locationOf, memberLocation, type RawFile, type RawRole } from "../raw-file.ts";
import { repeats } from "../values.ts";
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
  const declared = roles.flatMap((role): readonly LocatedProblem[] => {
    const { previously, name } = role;
    const holder = previously === null ? undefined : byName.get(previously);
    if (previously === null || holder === undefined) {
      return [];
    }
    const kind = previously === name ? "own" : holder.previously === null ? "kept" : "swapped";
    if (kind === "swapped" && !isCircle(previously, byName)) {
      return [];
    }
    const first = fieldSite(holder, "name");
    const location = fieldSite(role, "previously");
    return [{ code: "previously-declared", name: previously, kind, location, first }];
  });
  return [
    ...declared,
    ...repeats(roles, ({ previously }) => previously).map(
      ({ text, item, first }): LocatedProblem => ({
        code: "duplicate-previously",
        name: text,
        location: fieldSite(item, "previously"),
        first: fieldSite(first, "previously"),
      }),
    ),
  ];
}

/** Returns true if a chain of previous names leads back to a name. */
function isCircle(
  name: string,
  byName: ReadonlyMap<string, { readonly previously: string | null }>,
): boolean {
  const seen = new Set<string>();
  for (let at: string | null = name; at !== null && !seen.has(at); at = byName.get(at)?.previously ?? null) {
    seen.add(at);
    if (byName.get(at)?.previously === name) {
      return true;
    }
  }
  return false;
}
