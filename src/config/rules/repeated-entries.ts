import type { Location, Path, Problem } from "../diagnostics/problem.ts";
import { grantPath, type RawFile } from "../raw-file.ts";
import { fieldsOf, listOf, repeats, valueAt } from "../values.ts";

const LISTS: readonly Path[] = [
  ["ignore", "roles"],
  ["ignore", "members"],
  ["guards", "protect", "roles"],
  ["guards", "protect", "members"],
  ["policies", "email_domains"],
  ["policies", "require_until"],
  ["policies", "require_mfa"],
  ["policies", "forbid_permissions"],
];

/** Requires that lists have no duplicates. */
export function noRepeatedEntries({ fields, roles, adjustments }: RawFile): readonly Problem[] {
  const lists = [
    ...LISTS,
    ...listOf(fieldsOf(fields["policies"])["separate"]).map((_, index) => ["policies", "separate", index]),
    ...listOf(fields["checks"]).flatMap((_, index) => [
      ["checks", index, "only"],
      ["checks", index, "cannot"],
    ]),
  ];
  const permissionLists = [
    ...roles.map(({ permissions, path }) => ({ permissions, path: [...path, "permissions"] })),
    ...adjustments.flatMap(({ add, remove, path }) => [
      { permissions: add, path: [...path, "adjust", "add"] },
      { permissions: remove, path: [...path, "adjust", "remove"] },
    ]),
  ];
  return [
    ...repeatsIn(listOf(fields["include"]), ["include"]).map(
      ({ text, ...places }): Problem => ({ code: "duplicate-include", name: text, ...places }),
    ),
    ...permissionLists.flatMap(({ permissions, path }) =>
      repeatsIn(permissions, path).map(
        ({ text, ...places }): Problem => ({ code: "duplicate-permission", permission: text, ...places }),
      ),
    ),
    ...lists.flatMap((path) =>
      repeatsIn(listOf(valueAt(fields, path)), path).map(
        ({ text, ...places }): Problem => ({ code: "duplicate-entry", text, path, ...places }),
      ),
    ),
  ];
}

/** Requires that a member lists a role once; grants with different ends are a conflict instead. */
export function noRepeatedGrants({ members }: RawFile): readonly Problem[] {
  return members
    .filter(({ repeated }) => repeated)
    .flatMap((member) =>
      repeats(member.grants, ({ role, end }) => JSON.stringify([role, end?.until?.text ?? null])).map(
        ({ item, first }): Problem => ({
          code: "duplicate-member-role",
          role: item.role,
          location: value(grantPath(member, item)),
          first: value(grantPath(member, first)),
        }),
      ),
    );
}

interface RepeatedText {
  readonly text: string;
  readonly location: Location;
  readonly first: Location;
}

function repeatsIn(items: readonly unknown[], path: Path): readonly RepeatedText[] {
  const numbered = items.map((item, index) => ({ item, index }));
  return repeats(numbered, ({ item }) => item).map(({ text, item, first }) => ({
    text,
    location: value([...path, item.index]),
    first: value([...path, first.index]),
  }));
}

function value(path: Path): Location {
  return { at: "value", path };
}
