import type * as z from "zod/mini";
import { isSameJson } from "../../lib/json-text.ts";
import type { ListedRule } from "../../model/coverage.ts";
import type { DesiredState, GuardSettings, Policies } from "../../model/desired.ts";
import type { Refusal } from "../../model/plan.ts";
import type { RuleResult } from "../../model/reports.ts";
import type { GlobMatch } from "../diff/scope.ts";
import { UNDO_HINTS } from "../findings/refusals.ts";
import type { Path } from "../problems/problem.ts";
import { type DiagnosticRule, fixedDiagnostics } from "../problems/rule-table.ts";
import { fieldsOf, omitUndefined } from "../values/values.ts";
import type { Judged } from "./checks.ts";
import { emailDomains } from "./email-domains.ts";
import { escalation } from "./escalation.ts";
import { forbidPermissions } from "./forbid-permissions.ts";
import { maxHolders } from "./max-holders.ts";
import { maxRemovals } from "./max-removals.ts";
import { minHolders } from "./min-holders.ts";
import { protect } from "./protect.ts";
import { requireMfa } from "./require-mfa.ts";
import { requireUntil } from "./require-until.ts";
import type { Guard, LintFacts, LintOfRule, LooserContext, Policy, RuleEntry, RuleModule } from "./rule.ts";
import { separate } from "./separate.ts";
import { asSet, type NameOf, type SettingLimit, type SettingName } from "./settings.ts";

/** The policies, by their names in a state: everything that deals with policies loops over these. */
const POLICIES = {
  emailDomains,
  separate,
  maxHolders,
  requireUntil,
  requireMfa,
  forbidPermissions,
  escalation,
} as const satisfies { readonly [Name in keyof Policies]-?: Policy<Policies[Name]> };

/** The guards that files set, by their names in a state. */
const GUARDS = { maxRemovals, protect, minHolders } as const satisfies {
  readonly [Name in GuardName]-?: Guard<GuardSettings[Name]>;
};

/** An override is for one plan, and no rule. */
type GuardName = Exclude<keyof GuardSettings, "overrides">;

type Table = typeof POLICIES & typeof GUARDS;

/** Rules by themselves, each with what it takes to judge it. */
export type RuleItem = ReturnType<Table[keyof Table]["list"]>[number]["item"];

/** A policy with its value in a state; one that is not set has the value for none. */
interface SetPolicy {
  readonly policy: Policy<unknown, RuleItem>;
  readonly value: unknown;
}

interface SetGuard {
  readonly name: GuardName;
  readonly guard: Guard<unknown, RuleItem>;
  readonly value: unknown;
}

/** The guards and policies of a state. */
type RuleSettings = Pick<DesiredState, "guards" | "policies">;

// The tables type each rule by its setting; the loops below pass it this setting and no other.
const POLICY_LIST = Object.entries(POLICIES) as unknown as readonly (readonly [
  keyof Policies,
  SetPolicy["policy"],
])[];
const GUARD_LIST = Object.entries(GUARDS) as unknown as readonly (readonly [GuardName, SetGuard["guard"]])[];

/** All rules, in the order of reports. */
const RULES: readonly (readonly [name: string, rule: RuleModule<unknown, RuleItem>])[] = [
  ...POLICY_LIST,
  ...GUARD_LIST,
];

/** Returns all policies of a state. */
export function policiesIn(policies: Policies): readonly SetPolicy[] {
  return POLICY_LIST.map(([name, policy]) => ({ policy, value: policies[name] }));
}

/** Returns all guards of a state. */
export function guardsIn(guards: GuardSettings): readonly SetGuard[] {
  return GUARD_LIST.map(([name, guard]) => ({ name, guard, value: guards[name] }));
}

/** The schemas of the policies, by their keys in files. */
export const policySchemas = schemasOf(POLICIES);

/** The schemas of the guards, by their keys in files. */
export const guardSchemas = schemasOf(GUARDS);

type Schemas<Of extends Readonly<Record<string, { readonly key: string; readonly schema: unknown }>>> = {
  readonly [Name in keyof Of as Of[Name]["key"]]: Of[Name]["schema"];
};

function schemasOf<Of extends Readonly<Record<string, { readonly key: string; readonly schema: unknown }>>>(
  table: Of,
): Schemas<Of> {
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

type NamedRules = readonly (readonly [name: string, rule: RuleModule<unknown>])[];

function combined(rules: NamedRules, sections: readonly unknown[], nameOf: NameOf): unknown {
  const values = rules.map(([name, { key, kind }]) => {
    const written = sections.map((section) => fieldsOf(section)[key]).filter((one) => one !== undefined);
    return [name, kind.renamed(kind.combine(written), nameOf)] as const;
  });
  return omitUndefined(Object.fromEntries(values));
}

/** Returns guards and policies with the current names of roles. */
export function renamedRules({ guards, policies }: RuleSettings, nameOf: NameOf): RuleSettings {
  const renamed = (rules: NamedRules, settings: Readonly<Record<string, unknown>>): object =>
    omitUndefined(
      Object.fromEntries(rules.map(([name, { kind }]) => [name, kind.renamed(settings[name], nameOf)])),
    );
  return {
    guards: { ...guards, ...renamed(GUARD_LIST, { ...guards }) },
    policies: { ...policies, ...renamed(POLICY_LIST, { ...policies }) },
  };
}

/** A rule of a state, with the keys of its setting in a file. */
interface ListedEntry {
  readonly section: "guards" | "policies";
  readonly key: string;
  readonly entry: RuleEntry<RuleItem>;
}

/** Lists each rule of guards and policies; `written` are the guards without defaults. */
export function listRules(
  { guards, policies }: RuleSettings,
  written: GuardSettings,
): readonly ListedEntry[] {
  const of = (rule: RuleModule<unknown, RuleItem>, value: unknown, own: unknown): readonly ListedEntry[] =>
    rule.list(value, own).map((entry) => ({ section: rule.section, key: rule.key, entry }));
  return [
    ...policiesIn(policies).flatMap(({ policy, value }) => of(policy, value, value)),
    ...guardsIn(guards).flatMap(({ name, guard, value }) => of(guard, value, written[name])),
  ];
}

/** Returns what is equal for rules that mean the same. */
export function rulesMeaning({ guards, policies }: RuleSettings): unknown {
  return [
    ...guardsIn(guards).map(({ guard, value }) => guard.kind.meaning(value)),
    asSet(guards.overrides ?? []),
    ...policiesIn(policies).map(({ policy, value }) => policy.kind.meaning(value)),
  ];
}

/** Returns what is looser in some guards than in others, in words. */
export function looserGuards(
  was: GuardSettings,
  is: GuardSettings,
  context: LooserContext,
): readonly string[] {
  return guardsIn(was).flatMap(({ name, guard, value }) => guard.looser(value, is[name], context));
}

/** Returns what is looser in some policies than in others, in words. */
export function looserPolicies(was: Policies, is: Policies, context: LooserContext): readonly string[] {
  return POLICY_LIST.flatMap(([name, policy]) => policy.looser(was[name], is[name], context));
}

/** Returns the guards with those that none of some rules set switched off. */
export function withoutDefaults(guards: GuardSettings, isOff: (name: GuardName) => boolean): GuardSettings {
  const off = guardsIn(guards).flatMap(({ name, guard, value }) =>
    value === undefined && isOff(name) ? [[name, guard.off] as const] : [],
  );
  return { ...guards, ...Object.fromEntries(off) };
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

/** Returns the items that each rule of a file finds in its own setting, with their paths in the file. */
function inFile<Item extends { readonly path: Path }>(
  file: Readonly<Record<string, unknown>>,
  find: (rule: RuleModule<unknown>, written: unknown) => readonly Item[],
): readonly Item[] {
  return RULES.flatMap(([, rule]) => {
    const { section, key } = rule;
    return find(rule, fieldsOf(file[section])[key]).map((item) => ({
      ...item,
      path: [section, key, ...item.path],
    }));
  });
}

/** Returns the names in the guards and policies of a file. */
export function namesInFile(file: Readonly<Record<string, unknown>>): readonly SettingName[] {
  return inFile(file, ({ kind }, written) => kind.names(written));
}

/** Returns the names in guards and policies of a state. */
export function namesInRules({ guards, policies }: RuleSettings): readonly SettingName[] {
  return [
    ...guardsIn(guards).flatMap(({ guard, value }) => guard.kind.names(value)),
    ...policiesIn(policies).flatMap(({ policy, value }) => policy.kind.names(value)),
  ];
}

/** Returns the paths of lists in the guards and policies of a file that have no entry twice. */
export function listsInFile(file: Readonly<Record<string, unknown>>): readonly Path[] {
  return inFile(file, ({ kind }, written) => kind.lists(written).map((path) => ({ path }))).map(
    ({ path }) => path,
  );
}

/** Returns the paths of keys in the guards and policies of a file that a user chooses. */
export function keysInFile(file: Readonly<Record<string, unknown>>): readonly Path[] {
  return inFile(file, ({ kind }, written) => kind.keys(written).map((key) => ({ path: [key] }))).map(
    ({ path }) => path,
  );
}

/** Returns the limits in the guards and policies of a file. */
export function limitsInFile(file: Readonly<Record<string, unknown>>): readonly SettingLimit[] {
  return inFile(file, ({ kind }, written) => kind.limits(written));
}

/** Returns what is valid and unwise in the guards and policies of a file. */
export function lintOfFile(file: Readonly<Record<string, unknown>>, facts: LintFacts): readonly LintOfRule[] {
  return inFile(file, (rule, written) => (written === undefined ? [] : (rule.lint?.(written, facts) ?? [])));
}

/** The values of overrides, by the code of a refusal that no file sets. */
const OTHER_OVERRIDES = { "changed-addresses": "[0-9]+", "self-lockout": ".+" };

/** An override of a refusal, for the plan whose fingerprint begins as it ends. */
export const OVERRIDE = new RegExp(
  `^(?:${[
    ...GUARD_LIST.flatMap(([, { overrides }]) => Object.entries(overrides)),
    ...Object.entries(OTHER_OVERRIDES),
  ]
    .map(([code, value]) => `${code}=${value}`)
    .join("|")})@[0-9a-f]{12,32}$`,
);

/** Returns whether a file may have an override, given without the plan that it is for. */
export function isFileOverride(what: string): boolean {
  return OVERRIDE.test(`${what}@${"0".repeat(12)}`);
}

/** The policies of files that have none. */
export const NO_POLICIES: Policies = combinedPolicies([], (role) => role);

/** Returns all diagnostics by code, for the reference. */
export function diagnosticTable(): readonly DiagnosticRule[] {
  const ofPolicies = POLICY_LIST.flatMap(([, { diagnostics = {} }]) =>
    Object.entries(diagnostics).map(([code, rule]) => ({ code, ...rule })),
  );
  return [...fixedDiagnostics(), ...ofPolicies].toSorted((a, b) => (a.code < b.code ? -1 : 1));
}

const BY_CODE = new Map(RULES.flatMap(([, rule]) => rule.codes.map((code) => [code, rule] as const)));

/** Returns the keys in a file that lead to the rule with a refusal's code; `undefined` if no file sets it. */
export function pathOfCode(code: string): readonly string[] | undefined {
  const rule = BY_CODE.get(code);
  return rule && [rule.section, rule.key];
}

/** The setting that a listed rule is in. */
type InSetting = Pick<ListedRule, "keys">;

function guardAt({ keys: [section, key] }: InSetting): SetGuard["guard"] | undefined {
  return section === "guards"
    ? GUARD_LIST.map(([, guard]) => guard).find((one) => one.key === key)
    : undefined;
}

/** Returns whether a guard's rule causes a refusal. */
export function isCause(
  listed: InSetting,
  item: ItemOfKind,
  refusal: Refusal,
  { matches, items }: { readonly matches: GlobMatch; readonly items: readonly CauseItem[] },
): boolean {
  const guard = guardAt(listed);
  if (guard === undefined || !guard.codes.includes(refusal.code)) return false;
  const own = items.filter((one): one is CauseItem & RuleItem => guardAt(one.listed) === guard);
  return guard.causes(item as RuleItem, refusal, { matches, items: own });
}

/** What a listed rule takes to be judged; that of a guard is one of the guard's own. */
interface ItemOfKind {
  readonly kind: string;
}

/** A rule among those that may cause a refusal. */
interface CauseItem extends ItemOfKind {
  readonly listed: InSetting;
}

/** Returns whether a guard's rule holds in an access; `undefined` if it says nothing of access. */
export function resultOfGuard(
  listed: InSetting,
  item: ItemOfKind,
  judged: Judged,
  isDeclared: boolean,
): RuleResult | null | undefined {
  return guardAt(listed)?.report?.(item as RuleItem, judged, isDeclared);
}

/** Returns whether guards have a rule that a refusal of a guard is by, and not only its default. */
export function isSet(refusal: Refusal, guards: GuardSettings): boolean {
  const set = guardsIn(guards).find(({ guard }) => guard.codes.includes(refusal.code));
  if (set === undefined) return true;
  const { guard, value } = set;
  const items = guard.list(value, value).map(({ item }) => item);
  const context = { matches: () => false, items };
  const isDefault = (item: RuleItem): boolean => "written" in item && !item.written;
  return (
    value !== undefined && items.some((item) => !isDefault(item) && guard.causes(item, refusal, context))
  );
}

/** Returns whether a file sets the rule that a refusal is by as it holds for the merchant, where files can differ. */
export function decides(
  { code }: Refusal,
  guards: GuardSettings,
  file: Readonly<Record<string, unknown>>,
): boolean {
  const set = guardsIn(guards).find(({ guard }) => guard.codes.includes(code));
  if (set === undefined) return true;
  const { section, key, kind } = set.guard;
  const written = fieldsOf(file[section])[key];
  const limits = kind.limits(written);
  // Of limits that hold for everything, the strictest counts.
  if (limits.every(({ role }) => role !== null)) return written !== undefined;
  return isSameJson(kind.combine([written]), set.value);
}

/** Returns the guard with a refusal's code; `undefined` if no file sets it. */
function guardOfCode(code: string): Guard<unknown, RuleItem> | undefined {
  return GUARD_LIST.map(([, guard]) => guard).find(({ codes }) => codes.includes(code));
}

/** Returns the refusal of an undo's plan, whose changes do not come from the file. */
export function refusalOfUndo(refusal: Refusal): Refusal {
  const { code, hint } = refusal;
  return { ...refusal, hint: guardOfCode(code)?.undoHints?.[code] ?? UNDO_HINTS[code] ?? hint };
}
