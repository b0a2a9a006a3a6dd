import * as z from "zod/mini";
import type { DesiredState, GuardSettings, Policies, RunLimits } from "../../../model/desired.ts";
import type { Path } from "../../problems/problem.ts";
import { fieldsOf, listOf, omitUndefined } from "../../values/values.ts";
import { emailDomainsSetting } from "./email-domains-setting.ts";
import { escalationSetting } from "./escalation-setting.ts";
import { listsInChecks, namesInCheck, namesInChecks } from "./every-check-setting.ts";
import { forbidPermissionsSetting } from "./forbid-permissions-setting.ts";
import { maxGainsSetting } from "./max-gains-setting.ts";
import { maxHoldersSetting } from "./max-holders-setting.ts";
import { maxRemovalsSetting } from "./max-removals-setting.ts";
import { minHoldersSetting } from "./min-holders-setting.ts";
import { protectSetting } from "./protect-setting.ts";
import { requireMfaSetting } from "./require-mfa-setting.ts";
import { requireUntilSetting } from "./require-until-setting.ts";
import { separateSetting } from "./separate-setting.ts";
import {
  asSet,
  type GuardSetting,
  type NameOf,
  type OverrideKind,
  type PolicySetting,
  type RuleSetting,
  type SettingLimit,
  type SettingName,
} from "./setting-kinds.ts";

/**
 * The policies as files set them, by their names in a state: everything that reads and writes files loops over these.
 */
const POLICY_SETTINGS = {
  emailDomains: emailDomainsSetting,
  separate: separateSetting,
  maxHolders: maxHoldersSetting,
  requireUntil: requireUntilSetting,
  requireMfa: requireMfaSetting,
  forbidPermissions: forbidPermissionsSetting,
  escalation: escalationSetting,
} as const satisfies { readonly [Name in keyof Policies]-?: PolicySetting<Policies[Name]> };

/** The guards as files set them, by their names in a state. */
const GUARD_SETTINGS = {
  maxRemovals: maxRemovalsSetting,
  maxGains: maxGainsSetting,
  protect: protectSetting,
  minHolders: minHoldersSetting,
} as const satisfies { readonly [Name in GuardName]-?: GuardSetting<GuardSettings[Name]> };

/** An override applies to one plan, and is not a rule. */
export type GuardName = Exclude<keyof GuardSettings, "overrides">;

type NamedSettings = readonly (readonly [name: string, setting: RuleSetting<unknown>])[];

// The tables type each setting by its value; the loops below pass it this value and no other.
const POLICY_LIST = Object.entries(POLICY_SETTINGS) as unknown as readonly (readonly [
  name: keyof Policies,
  setting: PolicySetting<unknown>,
])[];
const GUARD_LIST = Object.entries(GUARD_SETTINGS) as unknown as readonly (readonly [
  name: GuardName,
  setting: GuardSetting<unknown>,
])[];

/** The guards with a limit for all merchants of a run. */
const RUN_LIST = GUARD_LIST.flatMap(([name, setting]) => {
  const { ofRun } = setting;
  return ofRun === undefined ? [] : [[name, { ...setting, ofRun }] as const];
});

/** The guards and policies of a state. */
export type RuleSettings = Pick<DesiredState, "guards" | "policies">;

/** The schemas of the policies, by their keys in files. */
export const policySchemas = schemasOf(POLICY_SETTINGS);

/** The schemas of the guards, by their keys in files. */
export const guardSchemas = schemasOf(GUARD_SETTINGS);

/** The schemas of the policies that a project can set for all its merchants together, by their keys. */
export const acrossSchemas: Readonly<Record<string, z.ZodMiniType>> = Object.fromEntries(
  POLICY_LIST.flatMap(([, { acrossMerchants, key, schema }]) => (acrossMerchants ? [[key, schema]] : [])),
);

/** The schemas of the limits of a run, by the keys of their guards. */
export const runSchemas: Readonly<Record<string, z.ZodMiniType>> = Object.fromEntries(
  RUN_LIST.map(([, { key, ofRun }]) => [key, ofRun.schema]),
);

type SchemaTable = Readonly<Record<string, { readonly key: string; readonly schema: unknown }>>;

type Schemas<Of extends SchemaTable> = {
  readonly [Name in keyof Of as Of[Name]["key"]]: Of[Name]["schema"];
};

function schemasOf<Of extends SchemaTable>(table: Of): Schemas<Of> {
  const schemas = Object.values(table).map(({ key, schema }) => [key, schema]);
  return Object.fromEntries(schemas) as Schemas<Of>;
}

/** Combines the policies of several files, with the current names of roles. */
export function combinedPolicies(sections: readonly unknown[], nameOf: NameOf): Policies {
  return combined(POLICY_LIST, sections, nameOf) as Policies;
}

/** Combines the guards of several files, with the current names of roles. */
export function combinedGuards(sections: readonly unknown[], nameOf: NameOf): GuardSettings {
  return combined(GUARD_LIST, sections, nameOf) as GuardSettings;
}

/** Parses the limits of a run in a project's file. */
export function parseRunLimits(section: unknown): Omit<RunLimits, "origin"> {
  return combined(RUN_LIST, [section], (role) => role) as RunLimits;
}

/** Returns the names in the limits of a run, with their paths below the limits. */
export function namesInRunLimits(limits: RunLimits): readonly SettingName[] {
  const values: Readonly<Record<string, unknown>> = { ...limits };
  return RUN_LIST.flatMap(([name, { key, kind }]) =>
    kind.names(values[name]).map((found) => ({ ...found, path: [key, ...found.path] })),
  );
}

function combined(settings: NamedSettings, sections: readonly unknown[], nameOf: NameOf): unknown {
  const values = settings.map(([name, { key, kind }]) => {
    const written = sections.map((section) => fieldsOf(section)[key]).filter((value) => value !== undefined);
    return [name, kind.renamed(kind.combine(written), nameOf)] as const;
  });
  return omitUndefined(Object.fromEntries(values));
}

/** The policies of files that have none. */
export const NO_POLICIES: Policies = combinedPolicies([], (role) => role);

/** Returns guards and policies with the current names of roles. */
export function renamedRules({ guards, policies }: RuleSettings, nameOf: NameOf): RuleSettings {
  const renamed = (settings: NamedSettings, values: Readonly<Record<string, unknown>>): object =>
    omitUndefined(
      Object.fromEntries(settings.map(([name, { kind }]) => [name, kind.renamed(values[name], nameOf)])),
    );
  return {
    guards: { ...guards, ...renamed(GUARD_LIST, { ...guards }) },
    policies: { ...policies, ...renamed(POLICY_LIST, { ...policies }) },
  };
}

/** Calls a function of a kind for each setting of a state. */
function inState<Said>(
  state: RuleSettings,
  say: (setting: RuleSetting<unknown>, value: unknown) => Said,
): readonly Said[] {
  const each = (settings: NamedSettings, values: Readonly<Record<string, unknown>>): readonly Said[] =>
    settings.map(([name, setting]) => say(setting, values[name]));
  return [...each(GUARD_LIST, { ...state.guards }), ...each(POLICY_LIST, { ...state.policies })];
}

/** Returns a text that is equal for rules with the same meaning. */
export function rulesMeaning(state: RuleSettings): unknown {
  return [...inState(state, ({ kind }, value) => kind.meaning(value)), asSet(state.guards.overrides ?? [])];
}

/** Returns the names in guards, policies and checks of a state. */
export function namesInRules(state: RuleSettings & Pick<DesiredState, "checks">): readonly SettingName[] {
  return [
    ...inState(state, ({ kind }, value) => kind.names(value)).flat(),
    ...state.checks.flatMap(namesInCheck),
  ];
}

/** Returns the readable part of the policies of a file with errors. */
export function readablePolicies(section: unknown): z.infer<z.ZodMiniObject<typeof policySchemas>> {
  const written = fieldsOf(section);
  const readable = POLICY_LIST.map(([, { key, kind }]) => [
    key,
    written[key] === undefined ? undefined : kind.readable(written[key]),
  ]);
  return omitUndefined(Object.fromEntries(readable));
}

/** Returns the items that each rule of a table finds in its setting in a file, with their paths. */
export function itemsInFile<Rule extends RuleSetting<unknown>, Item extends { readonly path: Path }>(
  rules: readonly Rule[],
  file: Readonly<Record<string, unknown>>,
  find: (rule: Rule, written: unknown) => readonly Item[],
): readonly Item[] {
  return rules.flatMap((rule) => {
    const { section, key } = rule;
    return find(rule, fieldsOf(file[section])[key]).map((item) => ({
      ...item,
      path: [section, key, ...item.path],
    }));
  });
}

const SETTINGS = [...POLICY_LIST, ...GUARD_LIST].map(([, setting]) => setting);

/** Returns the names in the guards, policies and checks of a file. */
export function namesInFile(file: Readonly<Record<string, unknown>>): readonly SettingName[] {
  return [...itemsInFile(SETTINGS, file, ({ kind }, written) => kind.names(written)), ...namesInChecks(file)];
}

/** Returns the keys in guards and policies whose examples name only roles, or only permissions. */
export function keysNaming(what: SettingName["what"]): readonly string[] {
  return SETTINGS.flatMap(({ key, schema, kind }) => {
    const names = listOf(z.globalRegistry.get(schema)?.["examples"]).flatMap(kind.names);
    return names.length > 0 && names.every((name) => name.what === what) ? [key] : [];
  });
}

/** Returns the paths of lists in the guards, policies and checks of a file that must not have duplicate entries. */
export function listsInFile(file: Readonly<Record<string, unknown>>): readonly Path[] {
  const inSettings = itemsInFile(SETTINGS, file, ({ kind }, written) =>
    kind.lists(written).map((path) => ({ path })),
  );
  return [...inSettings.map(({ path }) => path), ...listsInChecks(file)];
}

/** Returns the paths of keys in the guards and policies of a file that a user chooses. */
export function keysInFile(file: Readonly<Record<string, unknown>>): readonly Path[] {
  return itemsInFile(SETTINGS, file, ({ kind }, written) =>
    kind.keys(written).map((key) => ({ path: [key] })),
  ).map(({ path }) => path);
}

/** Returns the limits in the guards and policies of a file. */
export function limitsInFile(file: Readonly<Record<string, unknown>>): readonly SettingLimit[] {
  return itemsInFile(SETTINGS, file, ({ kind }, written) => kind.limits(written));
}

/** The overrides of refusals, by code; with those that no merchant's file can contain first. */
const OVERRIDES: ReadonlyMap<string, OverrideKind> = new Map([
  ...RUN_LIST.map(([, { ofRun }]) => [ofRun.code, ofRun.override] as const),
  ["changed-addresses", { value: "[0-9]+" }],
  ["self-lockout", { value: ".+" }],
  ...GUARD_LIST.flatMap(([, { overrides }]) => Object.entries(overrides)),
]);

/** Returns how refusals with a code can be overridden; `undefined` if they cannot. */
export function overrideKind(code: string): OverrideKind | undefined {
  return OVERRIDES.get(code);
}

/** An override of a refusal; it ends with the beginning of the plan's fingerprint. */
export const OVERRIDE = new RegExp(
  `^(?:${[...OVERRIDES].map(([code, { value }]) => `${code}=${value}`).join("|")})@[0-9a-f]{12,32}$`,
);

/** An override, as printed in plans. */
export const EXAMPLE_OVERRIDE = "max-removals=5@35e43f876462";

/** Returns whether a file may contain an override, given without its fingerprint. */
export function isFileOverride(what: string): boolean {
  return OVERRIDE.test(`${what}@${"0".repeat(12)}`);
}
