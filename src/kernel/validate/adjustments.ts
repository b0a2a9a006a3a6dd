import { openSuggester } from "../../lib/suggest.ts";
import { DEFAULT_ESCALATION } from "../../model/desired.ts";
import type { FileLocation, LocatedProblem, Path, Problem } from "../problems/problem.ts";
import { limitsInFile } from "../rules/settings/every-setting.ts";
import { locationOf, type RawAdjustment, type RawFile, type RawRole } from "../schema/raw-file.ts";
import { MAX_PERMISSIONS } from "../values/limits.ts";
import { fieldsOf, kindOf, listOf, repeats, textOf, valueAt } from "../values/values.ts";
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
  const { adjustments, main, complete, renamed } = merchant;
  if (adjustments.length === 0) return [];
  const ownAdjustments = adjustments.filter(({ file }) => file === main);
  const currentName = ({ name }: RawAdjustment): string | null => name && (renamed.get(name) ?? name);
  return [
    ...repeats(ownAdjustments, currentName).map(
      ({ text, item, first }): LocatedProblem => ({
        code: "duplicate-role",
        name: text,
        location: nameOf(item),
        first: nameOf(first),
      }),
    ),
    // A role may be declared in a file that could not be read.
    ...(complete ? adjustments.flatMap((adjustment) => problemsOf(adjustment, merchant)) : []),
  ];
}

function problemsOf(
  adjustment: RawAdjustment,
  { main, roles, renamed }: RuleContext,
): readonly LocatedProblem[] {
  const { name, file } = adjustment;
  const location = nameOf(adjustment);
  if (name === null) return [];
  if (file !== main) return [{ code: "adjust-included", role: name, location }];
  const current = renamed.get(name) ?? name;
  const role = roles.find((candidate) => candidate.name === current);
  if (role === undefined) {
    const names = roles.flatMap((candidate) => (candidate.file === main ? [] : (candidate.name ?? [])));
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
  const indexes = new Map(role.permissions.map((permission, index) => [permission, index] as const));
  const locationIn = (list: "add" | "remove", index: number): FileLocation =>
    locationOf(adjustment.file, [...adjustment.path, "adjust", list, index]);
  return (["add", "remove"] as const).flatMap((list) =>
    adjustment[list].flatMap((value, index): readonly LocatedProblem[] => {
      const permission = textOf(value);
      if (permission === null || indexes.has(permission) === (list === "remove")) return [];
      const place = indexes.get(permission);
      const first = locationOf(role.file, [
        ...role.path,
        ...(place === undefined ? ["name"] : ["permissions", place]),
      ]);
      const data = { role: role.name ?? "", permission, list };
      return [{ code: "adjust-no-effect", ...data, location: locationIn(list, index), first }];
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

/** A limit of one file, as far as it can be compared. */
interface Limit {
  readonly path: Path;
  /** The setting, and the role by its current name. */
  readonly setBy: string;
  /** Limits with one key are compared: those of a setting in one unit. */
  readonly key: string;
  readonly value: unknown;
  /** The greater, the stricter. */
  readonly strictness: number;
  readonly stricter: "less" | "more";
  readonly location: FileLocation;
}

/** Requires that a merchant's own file is no looser than what it includes; of included files, the strictest counts. */
export function strictLimits(merchant: RuleContext): readonly LocatedProblem[] {
  const { main, rawFiles, renamed } = merchant;
  if (rawFiles.length < 2) {
    return [];
  }
  const limits = rawFiles.flatMap(({ file, fields }) =>
    limitsInFile(fields).map(({ role, unit, ...limit }): Limit => {
      const [section, setting] = limit.path;
      const setBy = JSON.stringify([section, setting, role && (renamed.get(role) ?? role)]);
      return { ...limit, setBy, key: `${setBy} ${unit}`, location: locationOf(file, limit.path) };
    }),
  );
  const included = new Map<string, Limit>();
  for (const limit of limits) {
    const stricter = included.get(limit.key);
    if (limit.location.file !== main && (stricter === undefined || limit.strictness > stricter.strictness)) {
      included.set(limit.key, limit);
    }
  }
  const looser = limits.flatMap(
    ({ path, key, value, strictness, stricter, location }): readonly LocatedProblem[] => {
      const limit = location.file === main ? included.get(key) : undefined;
      return limit === undefined || strictness >= limit.strictness
        ? []
        : [
            {
              code: "looser-setting",
              path,
              value,
              limit: limit.value,
              stricter,
              location,
              first: limit.location,
            },
          ];
    },
  );
  return [...looser, ...mixedUnits(limits), ...looserEscalation(merchant)];
}

/**
 * Requires that a merchant's own file only adds to what included files count as leading to more access: to their lists or,
 * beside an included check of what somebody can reach, to the default.
 */
function looserEscalation({ main, rawFiles }: RuleContext): readonly LocatedProblem[] {
  const mainFile = rawFiles.find(({ file }) => file === main);
  const includedFiles = rawFiles.filter(({ file }) => file !== main);
  return ESCALATION_KEYS.flatMap((key): readonly LocatedProblem[] => {
    const path = ["policies", "escalation", key];
    const value = mainFile && valueAt(mainFile.fields, path);
    if (!Array.isArray(value)) return [];
    const lists = includedFiles.flatMap(({ file, fields }) => {
      const list = valueAt(fields, path);
      return Array.isArray(list)
        ? [{ list: list as readonly unknown[], location: locationOf(file, path) }]
        : [];
    });
    const stricter = lists.length > 0 ? lists : includedFiles.flatMap((raw) => defaultBeside(raw, key));
    const [first] = stricter;
    if (first === undefined) return [];
    const limit = [...new Set(stricter.flatMap(({ list }) => list))];
    if (limit.every((permission) => value.includes(permission))) return [];
    return [
      {
        code: "looser-setting",
        path,
        value,
        limit,
        stricter: "more",
        location: locationOf(main, path),
        first: first.location,
      },
    ];
  });
}

const ESCALATION_KEYS = ["assign", "edit", "create"] as const;

/** Returns the default of a list of permissions, at the first check of what somebody can reach. */
function defaultBeside(
  { file, fields }: RawFile,
  key: (typeof ESCALATION_KEYS)[number],
): readonly { readonly list: readonly unknown[]; readonly location: FileLocation }[] {
  const index = listOf(fields["checks"]).findIndex((check) => fieldsOf(check)["reach"] === true);
  return index < 0
    ? []
    : [{ list: DEFAULT_ESCALATION[key], location: locationOf(file, ["checks", index, "reach"]) }];
}

/** Reports limits in several units, such as a count and a percentage: which is stricter depends on what is live. */
function mixedUnits(limits: readonly Limit[]): readonly LocatedProblem[] {
  const firsts = new Map<string, Limit>();
  return limits.flatMap((limit): readonly LocatedProblem[] => {
    const { path, key, setBy, location } = limit;
    const first = firsts.get(setBy) ?? limit;
    firsts.set(setBy, first);
    return key === first.key ? [] : [{ code: "conflicting-setting", path, location, first: first.location }];
  });
}
