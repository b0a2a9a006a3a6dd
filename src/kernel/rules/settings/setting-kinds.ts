import type * as z from "zod/mini";
import { canonicalJson } from "../../../lib/json-text.ts";
import { byCodeUnit } from "../../../lib/text.ts";
import type { Duration } from "../../../model/desired.ts";
import type { Path } from "../../problems/problem.ts";
import { parsePeriod } from "../../values/dates.ts";
import { countOf, fieldsOf, listOf, textOf } from "../../values/values.ts";

/** A name in a setting. Names of roles and permissions, and addresses of members, are exact; a pattern is a glob. */
export interface SettingName {
  readonly what: "role" | "permission" | "member" | "role-pattern" | "member-pattern" | "permission-pattern";
  readonly text: string;
  /** Path within the setting. */
  readonly path: Path;
  /** `key` if the name is the key at the path. */
  readonly at: "key" | "value";
}

/** A number in a setting that can be compared with the same number in another file. */
export interface SettingLimit {
  /** Path within the setting. */
  readonly path: Path;
  /**
   * Limits with the same name are compared; a limit's role has the same name here, whichever of its names the file
   * uses.
   */
  readonly role: string | null;
  /** The unit; limits with different units cannot be compared. */
  readonly unit: string;
  readonly value: unknown;
  /** The greater, the stricter. */
  readonly strictness: number;
  /** The direction in which values get stricter. */
  readonly stricter: "less" | "more";
}

/** The unit of limits on the number of holders. */
export const HOLDERS = "holders";

/** Returns the current name of a role. */
export type NameOf = (role: string) => string;

/**
 * A kind of settings: how they are written, combined and compared. `written` comes from a file, which may have errors;
 * `names`, `lists`, `keys` and `limits` accept both forms.
 */
export interface SettingKind<Value> {
  /** Combines what the files set; of several numbers, the strictest counts. Takes any number of valid settings. */
  combine(written: readonly unknown[]): Value;
  /** Returns the setting with the current names of roles. */
  renamed(value: Value, nameOf: NameOf): Value;
  /** Returns a value that is equal for settings with the same meaning. */
  meaning(value: Value): unknown;
  /** Returns the readable part of a setting with errors; `undefined` if there is none. */
  readable(written: unknown): unknown;
  names(written: unknown): readonly SettingName[];
  /** Paths of the lists that must not have duplicate entries. */
  lists(written: unknown): readonly Path[];
  /** The keys that a user chooses. */
  keys(written: unknown): readonly string[];
  limits(written: unknown): readonly SettingLimit[];
}

/** A rule as files set it, without its judge. */
export interface RuleSetting<Value> {
  readonly section: "guards" | "policies";
  /** The key in the section. */
  readonly key: string;
  readonly schema: z.ZodMiniType;
  readonly kind: SettingKind<Value>;
}

/** A policy as files set it. */
export interface PolicySetting<Value> extends RuleSetting<Value> {
  readonly section: "policies";
  /** True if a project can set it for all its merchants together. */
  readonly acrossMerchants?: true;
}

/** A guard as files set it. */
export interface GuardSetting<Value> extends RuleSetting<Value> {
  readonly section: "guards";
  /** Its overrides, by the code of a refusal. */
  readonly overrides: Readonly<Record<string, OverrideKind>>;
  /** Its limit for all merchants of a run, which a project sets. Absent if it only limits single merchants. */
  readonly ofRun?: RunSetting<Value>;
}

/** The limit of a guard for all merchants of a run. */
export interface RunSetting<Value> {
  readonly schema: z.ZodMiniType;
  /** The limit for a project that sets none. */
  readonly default: NonNullable<Value>;
  /** The code of its refusals. */
  readonly code: string;
  readonly override: OverrideKind;
}

/** The overrides of the refusals with a code. */
export interface OverrideKind {
  /** The pattern of their values. */
  readonly value: string;
  /** Set for a limit on how many people lose or gain access; absent for other refusals. */
  readonly limit?: {
    /**
     * An override for a count also applies to every smaller one; one for people is bound to what they gain, rather
     * than to a plan.
     */
    readonly boundTo: "count" | "people";
  };
  /** The code of the refusals that an override with the same name also applies to. */
  readonly alsoFor?: string;
}

/** Overrides of a limit that state the number of people. */
export const COUNT_OVERRIDE: OverrideKind = { value: "[0-9]+", limit: { boundTo: "count" } };

/** Overrides of a limit that state what people gain, with a hash of the people. */
export const PEOPLE_OVERRIDE: OverrideKind = { value: ".+:[0-9a-f]{12}", limit: { boundTo: "people" } };

const none = () => [];

/** Returns the distinct texts, sorted, of values whose order does not matter. */
export function asSet(values: readonly unknown[]): readonly string[] {
  return [...new Set(values.map((value) => canonicalJson(value)))].sort(byCodeUnit);
}

function distinct<Item>(items: readonly Item[]): readonly Item[] {
  return [...new Set(items)];
}

function texts(written: unknown): readonly string[] {
  return listOf(written).filter((item): item is string => textOf(item) !== null);
}

function listed(what: SettingName["what"], written: unknown): readonly SettingName[] {
  return listOf(written).flatMap((text, index) =>
    typeof text === "string" && text.trim() !== ""
      ? [{ what, text, path: [index], at: "value" } as const]
      : [],
  );
}

/** A list of names, or of other texts. */
export function textList(what: "role" | "permission"): SettingKind<readonly string[]> {
  return {
    combine: (written) => distinct(written.flatMap(texts)),
    renamed: (value, nameOf) => (what === "role" ? distinct(value.map(nameOf)) : value),
    meaning: asSet,
    readable: texts,
    names: (written) => listed(what, written),
    lists: () => [[]],
    keys: none,
    limits: none,
  };
}

/** A list of texts, all of which are allowed; `undefined` allows any. */
export const allowList: SettingKind<readonly string[] | undefined> = {
  combine: (written) => (written.length === 0 ? undefined : distinct(written.flatMap(texts))),
  renamed: (value) => value,
  meaning: (value) => value && asSet(value),
  readable: (written) =>
    Array.isArray(written) && written.every((item) => textOf(item) !== null) ? written : undefined,
  names: none,
  lists: () => [[]],
  keys: none,
  limits: none,
};

/** Sets of roles. */
export const roleSets: SettingKind<readonly (readonly string[])[]> = {
  combine: (written) => written.flatMap((sets) => listOf(sets).map(texts)),
  renamed: (value, nameOf) => value.map((roles) => distinct(roles.map(nameOf))),
  meaning: (value) => asSet(value.map(asSet)),
  readable: (written) => listOf(written).map((roles) => texts(listOf(roles))),
  names: (written) =>
    listOf(written).flatMap((roles, index) =>
      listed("role", roles).map((name) => ({ ...name, path: [index, ...name.path] })),
    ),
  lists: (written) => listOf(written).map((_, index) => [index]),
  keys: none,
  limits: none,
};

/** Names that have a special meaning in YAML or JavaScript. */
const STRANGE_KEYS: ReadonlySet<string> = new Set(["__proto__", "<<"]);

function roleKeys(written: unknown): readonly SettingName[] {
  return Object.keys(fieldsOf(written)).flatMap((text) =>
    text.trim() === "" || STRANGE_KEYS.has(text)
      ? []
      : [{ what: "role", text, path: [text], at: "key" } as const],
  );
}

/** Combines values by role: of several for one role, `stricter` chooses one. */
function byRole<Item>(
  entries: readonly (readonly [role: string, item: Item])[],
  stricter: (a: Item, b: Item) => Item,
): Readonly<Record<string, Item>> {
  const items = new Map<string, Item>();
  for (const [role, item] of entries) {
    const current = items.get(role);
    items.set(role, current === undefined ? item : stricter(item, current));
  }
  return Object.fromEntries(items);
}

type RoleCounts = Readonly<Record<string, number>>;

function countEntries(written: unknown): readonly (readonly [role: string, count: number])[] {
  return Object.entries(fieldsOf(written)).flatMap(([role, value]) => {
    const count = countOf(value);
    return count === null ? [] : [[role, count] as const];
  });
}

/** Numbers of holders by role, where either smaller or larger numbers are stricter. */
function roleCounts(stricter: SettingLimit["stricter"]) {
  const [strictest, sign] = stricter === "less" ? [Math.min, -1] : [Math.max, 1];
  return {
    combine: (written: readonly unknown[]): RoleCounts => byRole(written.flatMap(countEntries), strictest),
    renamed: (value: RoleCounts, nameOf: NameOf): RoleCounts =>
      byRole(
        Object.entries(value).map(([role, count]) => [nameOf(role), count] as const),
        strictest,
      ),
    meaning: (value: RoleCounts | undefined): unknown => value,
    readable: (written: unknown): unknown => Object.fromEntries(countEntries(written)),
    names: roleKeys,
    lists: none,
    keys: (written: unknown) => Object.keys(fieldsOf(written)),
    limits: (written: unknown): readonly SettingLimit[] =>
      countEntries(written).map(([role, value]) => ({
        path: [role],
        role,
        unit: HOLDERS,
        value,
        strictness: sign * value,
        stricter,
      })),
  };
}

/** Maximum number of holders, by role. */
export const mostByRole: SettingKind<RoleCounts> = roleCounts("less");

const fewest = roleCounts("more");

/** Minimum number of holders, by role; `undefined` for the default. */
export const fewestByRole: SettingKind<RoleCounts | undefined> = {
  ...fewest,
  combine: (written) => (written.length === 0 ? undefined : fewest.combine(written)),
  renamed: (value, nameOf) => value && fewest.renamed(value, nameOf),
};

type Periods = Readonly<Record<string, Duration | null>>;

function periodEntries(written: unknown): readonly (readonly [role: string, period: Duration | null])[] {
  if (Array.isArray(written)) return texts(written).map((role) => [role, null] as const);
  return Object.entries(fieldsOf(written)).flatMap(([role, text]) => {
    const period = typeof text === "string" ? parsePeriod(text) : null;
    return period === null ? [] : [[role, period] as const];
  });
}

function shorter(a: Duration | null, b: Duration | null): Duration | null {
  if (a === null || b === null) return a ?? b;
  return a.ms < b.ms ? a : b;
}

/** Roles with optional periods, as a list or a mapping. */
export const periodsByRole: SettingKind<Periods> = {
  combine: (written) => byRole(written.flatMap(periodEntries), shorter),
  renamed: (value, nameOf) =>
    byRole(
      Object.entries(value).map(([role, period]) => [nameOf(role), period] as const),
      shorter,
    ),
  meaning: (value) => Object.fromEntries(Object.entries(value).map(([role, period]) => [role, period?.ms])),
  readable: (written) =>
    Array.isArray(written)
      ? texts(written)
      : Object.fromEntries(periodEntries(written).map(([role, period]) => [role, period?.text])),
  names: (written) => (Array.isArray(written) ? listed("role", written) : roleKeys(written)),
  lists: () => [[]],
  keys: (written) => (Array.isArray(written) ? [] : Object.keys(fieldsOf(written))),
  limits: (written) =>
    periodEntries(written).flatMap(([role, period]): readonly SettingLimit[] =>
      period === null
        ? []
        : [
            {
              path: [role],
              role,
              unit: "time",
              value: period.text,
              strictness: -period.ms,
              stricter: "less",
            },
          ],
    ),
};

/** Lists of globs over roles and members. */
export const patternLists: SettingKind<Readonly<Record<"roles" | "members", readonly string[]>>> = {
  combine: (written) => ({
    roles: distinct(written.flatMap((lists) => texts(fieldsOf(lists)["roles"]))),
    members: distinct(written.flatMap((lists) => texts(fieldsOf(lists)["members"]))),
  }),
  // A renamed role is matched by its previous name, too.
  renamed: ({ roles, members }, nameOf) => ({
    roles: distinct(roles.flatMap((role) => [role, nameOf(role)])),
    members,
  }),
  meaning: ({ roles, members }) => [asSet(roles), asSet(members)],
  readable: (written) => ({
    roles: texts(fieldsOf(written)["roles"]),
    members: texts(fieldsOf(written)["members"]),
  }),
  names: (written) =>
    (["roles", "members"] as const).flatMap((key) =>
      listed(key === "roles" ? "role-pattern" : "member-pattern", fieldsOf(written)[key]).map((name) => ({
        ...name,
        path: [key, ...name.path],
      })),
    ),
  lists: () => [["roles"], ["members"]],
  keys: none,
  limits: none,
};
