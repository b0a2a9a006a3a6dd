import type { LocatedProblem, Problem, Site } from "../diagnostics/problem.ts";
import { type Draft, type DraftRole, memberSite, siteOf } from "../raw-file.ts";
import { repeats } from "../values.ts";
import type { MerchantView } from "./rule-context.ts";

/** No name and no pinned id stands for two roles, in whichever file. */
export function noDuplicateRoles({ roles }: MerchantView): readonly LocatedProblem[] {
  return [
    ...repeats(roles, ({ name }) => name).map(
      ({ text, item, first }): LocatedProblem => ({
        code: "duplicate-role",
        name: text,
        place: fieldSite(item, "name"),
        first: fieldSite(first, "name"),
      }),
    ),
    ...repeats(roles, ({ id }) => id).map(
      ({ text, item, first }): LocatedProblem => ({
        code: "duplicate-role-id",
        id: text,
        place: fieldSite(item, "id"),
        first: fieldSite(first, "id"),
      }),
    ),
  ];
}

/** No address, in whatever case, stands twice in one file, and no pinned id stands for two members. */
export function noDuplicateMembers({ drafts, members, twice }: MerchantView): readonly LocatedProblem[] {
  const again =
    twice.size === 0 ? [] : drafts.flatMap((draft) => repeats(draft.members, ({ address }) => address));
  return [
    ...again.map(
      ({ item, first }): LocatedProblem => ({
        code: "duplicate-member",
        email: item.email ?? "",
        place: memberSite(item, "email"),
        first: memberSite(first, "email"),
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
              place: memberSite(item, "id"),
              first: memberSite(first, "id"),
            },
          ],
    ),
  ];
}

function fieldSite({ file, path }: DraftRole, field: string): Site {
  return siteOf(file, [...path, field]);
}

/** A role's name does not look like an id, which members are given roles by as well. */
export function clearRoleNames({ roles }: Draft): readonly Problem[] {
  return roles.flatMap(({ name, path }): readonly Problem[] =>
    name?.startsWith("role_")
      ? [{ code: "role-name-like-id", name, place: { at: "value", path: [...path, "name"] } }]
      : [],
  );
}

/** The name that a role had is no role's any more, or that role had another one itself: a chain. Only one role had it. */
export function previousNames({ roles }: MerchantView): readonly LocatedProblem[] {
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
    const place = fieldSite(role, "previously");
    return [{ code: "previously-declared", name: previously, kind, place, first }];
  });
  return [
    ...declared,
    ...repeats(roles, ({ previously }) => previously).map(
      ({ text, item, first }): LocatedProblem => ({
        code: "duplicate-previously",
        name: text,
        place: fieldSite(item, "previously"),
        first: fieldSite(first, "previously"),
      }),
    ),
  ];
}

/** Whether one comes back to a name by going from each role to the one that it was. */
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
