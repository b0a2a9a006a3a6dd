import { type Draft, siteOf } from "../draft.ts";
import type { MerchantView } from "../merchant-view.ts";
import type { LocatedProblem, Problem } from "../problem.ts";
import { repeats } from "../repeats.ts";

/** No name and no pinned id stands for two roles, in whichever file. */
export function noDuplicateRoles({ roles }: MerchantView): readonly LocatedProblem[] {
  return [
    ...repeats(roles.map(({ name, file, path }) => [name, siteOf(file, [...path, "name"])] as const)).map(
      ({ text, ...places }): LocatedProblem => ({ code: "duplicate-role", name: text, ...places }),
    ),
    ...repeats(roles.map(({ id, file, path }) => [id, siteOf(file, [...path, "id"])] as const)).map(
      ({ text, ...places }): LocatedProblem => ({ code: "duplicate-role-id", id: text, ...places }),
    ),
  ];
}

/** No address, in whatever case, stands twice in one file, and no pinned id stands for two members. */
export function noDuplicateMembers({ members }: MerchantView): readonly LocatedProblem[] {
  const addresses = members.flatMap(({ email, file, path }) =>
    email === null
      ? []
      : [
          [
            JSON.stringify([file, email.toLowerCase()]),
            { email, site: siteOf(file, [...path, "email"]) },
          ] as const,
        ],
  );
  const ids = members.map(
    ({ id, email, file, path }) =>
      [id, { email: email?.toLowerCase(), file, site: siteOf(file, [...path, "id"]) }] as const,
  );
  return [
    ...repeats(addresses).map(
      ({ place, first }): LocatedProblem => ({
        code: "duplicate-member",
        email: place.email,
        place: place.site,
        first: first.site,
      }),
    ),
    ...repeats(ids).flatMap(({ text, place, first }): readonly LocatedProblem[] =>
      // The same member in another file.
      place.email === first.email && place.file !== first.file
        ? []
        : [{ code: "duplicate-member-id", id: text, place: place.site, first: first.site }],
    ),
  ];
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
  const previous = roles.map(
    ({ previously, file, path }) => [previously, siteOf(file, [...path, "previously"])] as const,
  );
  const declared = roles.flatMap(({ previously, name, file, path }): readonly LocatedProblem[] => {
    const holder = previously === null ? undefined : byName.get(previously);
    if (previously === null || holder === undefined) {
      return [];
    }
    const kind = previously === name ? "own" : holder.previously === null ? "kept" : "swapped";
    if (kind === "swapped" && !isCircle(previously, byName)) {
      return [];
    }
    const first = siteOf(holder.file, [...holder.path, "name"]);
    const place = siteOf(file, [...path, "previously"]);
    return [{ code: "previously-declared", name: previously, kind, place, first }];
  });
  return [
    ...declared,
    ...repeats(previous).map(
      ({ text, ...places }): LocatedProblem => ({ code: "duplicate-previously", name: text, ...places }),
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
