import { openSuggester } from "../../lib/suggest.ts";
import type { FileLocation, LocatedProblem, Problem } from "../diagnostics/problem.ts";
import { locationOf, type RawAdjustment, type RawFile, type RawRole, renamedRoles } from "../raw-file.ts";
import { MAX_PERMISSIONS } from "../schema/text-schemas.ts";
import { kindOf, repeats, textOf } from "../values.ts";
import type { RuleContext } from "./rule-context.ts";

/** Requires that an adjustment has no other key but the role's name, and changes something. */
export function plainAdjustments({ adjustments }: RawFile): readonly Problem[] {
  return adjustments.flatMap(({ path, fields, add, remove }): readonly Problem[] => [
    ...Object.keys(fields)
      .filter((key) => key !== "name" && key !== "adjust")
      .map((key): Problem => ({ code: "adjust-form", key, location: { at: "key", path: [...path, key] } })),
    ...(add.length + remove.length > 0 || kindOf(fields["adjust"]) !== "mapping"
      ? []
      : [{ code: "adjust-form", key: null, location: { at: "key", path: [...path, "adjust"] } } as const]),
  ]);
}

/** Requires that a merchant's own file adjusts an included role, once, and that each permission changes it. */
export function soundAdjustments(merchant: RuleContext): readonly LocatedProblem[] {
  const { adjustments, main, complete } = merchant;
  if (adjustments.length === 0) return [];
  const own = adjustments.filter(({ file }) => file === main);
  const renamed = renamedRoles(merchant.roles);
  const currentName = ({ name }: RawAdjustment): string | null => name && (renamed.get(name) ?? name);
  return [
    ...repeats(own, currentName).map(
      ({ text, item, first }): LocatedProblem => ({
        code: "duplicate-role",
        name: text,
        location: nameOf(item),
        first: nameOf(first),
      }),
    ),
    // A role may be declared in a file that could not be read.
    ...(complete ? adjustments.flatMap((one) => problemsOf(one, merchant)) : []),
  ];
}

function problemsOf(adjustment: RawAdjustment, { main, roles }: RuleContext): readonly LocatedProblem[] {
  const { name, file } = adjustment;
  const location = nameOf(adjustment);
  if (name === null) return [];
  if (file !== main) return [{ code: "adjust-included", role: name, location }];
  const current = renamedRoles(roles).get(name) ?? name;
  const role = roles.find((one) => one.name === current);
  if (role === undefined) {
    const names = roles.flatMap((one) => (one.file === main ? [] : (one.name ?? [])));
    const near = openSuggester([...new Set(names)])(name);
    return [{ code: "adjust-unknown-role", role: name, near, location }];
  }
  const first = locationOf(role.file, [...role.path, "name"]);
  if (role.file === main) return [{ code: "adjust-unknown-role", role: name, near: null, location, first }];
  if (!Object.hasOwn(role.fields, "permissions")) {
    return [{ code: "adjust-unmanaged", role: name, location, first }];
  }
  return [...withoutEffect(adjustment, role), ...tooMany(adjustment, role)];
}

function withoutEffect(adjustment: RawAdjustment, role: RawRole): readonly LocatedProblem[] {
  const known = new Map(role.permissions.map((permission, index) => [permission, index] as const));
  const at = (list: "add" | "remove", index: number): FileLocation =>
    locationOf(adjustment.file, [...adjustment.path, "adjust", list, index]);
  return (["add", "remove"] as const).flatMap((list) =>
    adjustment[list].flatMap((value, index): readonly LocatedProblem[] => {
      const permission = textOf(value);
      if (permission === null || known.has(permission) === (list === "remove")) return [];
      const place = known.get(permission);
      const first = locationOf(role.file, [
        ...role.path,
        ...(place === undefined ? ["name"] : ["permissions", place]),
      ]);
      const data = { role: role.name ?? "", permission, list };
      return [{ code: "adjust-no-effect", ...data, location: at(list, index), first }];
    }),
  );
}

function tooMany(adjustment: RawAdjustment, role: RawRole): readonly LocatedProblem[] {
  const value = adjustedPermissions(role.permissions, adjustment);
  const path = [...adjustment.path, "adjust", "add"];
  return value.length <= MAX_PERMISSIONS || role.permissions.length > MAX_PERMISSIONS
    ? []
    : [{ code: "too-many-permissions", path, value, location: locationOf(adjustment.file, path) }];
}

/** Returns the permissions of a role with those of an adjustment added and removed. */
export function adjustedPermissions<T>(
  permissions: readonly T[],
  {
    add = [],
    remove = [],
  }: { readonly add?: readonly T[] | undefined; readonly remove?: readonly T[] | undefined },
): readonly T[] {
  const removed = new Set(remove);
  return [...new Set([...permissions, ...add])].filter((permission) => !removed.has(permission));
}

function nameOf({ file, path }: RawAdjustment): FileLocation {
  return locationOf(file, [...path, "name"]);
}
