import { isSameJson } from "../../lib/json-text.ts";
import type { ListedRule } from "../../model/coverage.ts";
import type { GuardSettings, Policies, RunLimits } from "../../model/desired.ts";
import type { Refusal } from "../../model/plan.ts";
import type { RuleResult } from "../../model/reports.ts";
import type { GlobMatch } from "../diff/scope.ts";
import { UNDO_HINTS } from "../findings/refusals.ts";
import type { Path } from "../problems/problem.ts";
import { type DiagnosticRule, fixedDiagnostics } from "../problems/rule-table.ts";
import { fieldsOf } from "../values/values.ts";
import { diagnosticsOfChecks } from "./checks.ts";
import { emailDomains } from "./email-domains.ts";
import { escalation } from "./escalation.ts";
import { forbidPermissions } from "./forbid-permissions.ts";
import type { Judged } from "./judged.ts";
import { maxGains } from "./max-gains.ts";
import { maxHolders } from "./max-holders.ts";
import { maxRemovals } from "./max-removals.ts";
import { minHolders } from "./min-holders.ts";
import { protect } from "./protect.ts";
import { requireMfa } from "./require-mfa.ts";
import { requireUntil } from "./require-until.ts";
import type {
  CauseContext,
  Guard,
  LintFacts,
  LintOfRule,
  LooserContext,
  Policy,
  RuleEntry,
  RuleModule,
} from "./rule.ts";
import { separate } from "./separate.ts";
import { type GuardName, itemsInFile, NO_POLICIES, type RuleSettings } from "./settings/every-setting.ts";
import type { SettingName } from "./settings/setting-kinds.ts";

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
const GUARDS = { maxRemovals, maxGains, protect, minHolders } as const satisfies {
  readonly [Name in GuardName]-?: Guard<GuardSettings[Name]>;
};

/** The data of a single rule of a guard. */
export type GuardItem = ReturnType<(typeof GUARDS)[GuardName]["list"]>[number]["item"];

/** A policy with its value in a state, which for an unset policy is its empty value. */
interface SetPolicy {
  readonly policy: Policy<unknown>;
  readonly value: unknown;
}

interface SetGuard {
  readonly name: GuardName;
  readonly guard: Guard<unknown, GuardItem>;
  readonly value: unknown;
}

// The tables type each rule by its setting; the loops below pass it this setting and no other.
const POLICY_LIST = Object.entries(POLICIES) as unknown as readonly (readonly [
  keyof Policies,
  SetPolicy["policy"],
])[];
const GUARD_LIST = Object.entries(GUARDS) as unknown as readonly (readonly [GuardName, SetGuard["guard"]])[];

/** All rules, in the order of reports. */
const RULES: readonly RuleModule<unknown, GuardItem>[] = [...POLICY_LIST, ...GUARD_LIST].map(
  ([, rule]) => rule,
);

/** Returns all policies with their values in a state. */
export function policiesIn(policies: Policies): readonly SetPolicy[] {
  return POLICY_LIST.map(([name, policy]) => ({ policy, value: policies[name] }));
}

/** Returns all guards with their values in a state. */
export function guardsIn(guards: GuardSettings): readonly SetGuard[] {
  return GUARD_LIST.map(([name, guard]) => ({ name, guard, value: guards[name] }));
}

/** Returns the guards that also limit all merchants of a run together. */
export function guardsOfRun() {
  return GUARD_LIST.flatMap(([name, { ofRun }]) =>
    ofRun === undefined ? [] : [{ name: name as Exclude<keyof RunLimits, "origin">, ofRun }],
  );
}

/** A rule of a state, with the keys of its setting in a file. */
interface ListedEntry {
  readonly section: "guards" | "policies";
  readonly key: string;
  readonly entry: RuleEntry<unknown>;
  /** The data of a guard's rule. */
  readonly item?: GuardItem;
  /** The roles, permissions and patterns that the rule names. */
  readonly names: readonly SettingName[];
}

/** Lists each rule of guards and policies; `written` are the guards without defaults. */
export function listRules(
  { guards, policies }: RuleSettings,
  written: GuardSettings,
): readonly ListedEntry[] {
  return [
    ...listPolicies(policies),
    ...GUARD_LIST.flatMap(([name, guard]) =>
      guard.list(guards[name], written[name]).map((entry) => ({
        ...listed(guard, entry),
        item: entry.item,
      })),
    ),
  ];
}

/** Lists each rule of policies, with its path below `policies`, and the policies with only this rule. */
export function listPolicies(policies: Policies) {
  return POLICY_LIST.flatMap(([name, policy]) => {
    const value = policies[name];
    return policy.list(value, value).map((entry) => {
      const index = Array.isArray(value) ? value.findIndex((item) => isSameJson(item, entry.entry)) : -1;
      const path: Path = [policy.key, ...entry.keys, ...(index < 0 ? [] : [index])];
      const alone: Policies = { ...NO_POLICIES, [name]: entry.alone };
      return { ...listed(policy, entry), path, alone };
    });
  });
}

function listed({ section, key, kind }: RuleModule<unknown, GuardItem>, entry: RuleEntry<unknown>) {
  return { section, key, entry, names: kind.names(entry.alone) };
}

function isDefault(item: GuardItem): boolean {
  return "written" in item && !item.written;
}

/** Describes how some guards are looser than others. */
export function looserGuards(
  before: GuardSettings,
  after: GuardSettings,
  context: LooserContext,
): readonly string[] {
  return guardsIn(before).flatMap(({ name, guard, value }) => guard.looser(value, after[name], context));
}

/** Describes how some policies are looser than others. */
export function looserPolicies(before: Policies, after: Policies, context: LooserContext): readonly string[] {
  return POLICY_LIST.flatMap(([name, policy]) => policy.looser(before[name], after[name], context));
}

/** Returns the guards, switching off the defaults that no rules set. */
export function withoutDefaults(guards: GuardSettings, isOff: (name: GuardName) => boolean): GuardSettings {
  const off = guardsIn(guards).flatMap(({ name, guard, value }) =>
    value === undefined && isOff(name) ? [[name, guard.off] as const] : [],
  );
  return { ...guards, ...Object.fromEntries(off) };
}

/** Returns the valid but questionable guards and policies of a file. */
export function lintOfFile(file: Readonly<Record<string, unknown>>, facts: LintFacts): readonly LintOfRule[] {
  return itemsInFile(RULES, file, (rule, written) =>
    written === undefined ? [] : (rule.lint?.(written, facts) ?? []),
  );
}

/** Returns all diagnostics by code, for reference documentation. */
export function diagnosticTable(): readonly DiagnosticRule[] {
  const ofPolicies = POLICY_LIST.flatMap(([, { diagnostics = {} }]) =>
    Object.entries(diagnostics).map(([code, rule]) => ({ code, ...rule })),
  );
  return [...fixedDiagnostics(), ...ofPolicies, ...diagnosticsOfChecks()].toSorted((a, b) =>
    a.code < b.code ? -1 : 1,
  );
}

const BY_CODE = new Map(RULES.flatMap((rule) => rule.codes.map((code) => [code, rule] as const)));

/** Returns the keys in a file that lead to the rule with a refusal's code; `undefined` if no file sets it. */
export function pathOfCode(code: string): readonly string[] | undefined {
  const rule = BY_CODE.get(code);
  return rule && [rule.section, rule.key];
}

/** The setting that contains a listed rule. */
type InSetting = Pick<ListedRule, "keys">;

function guardAt({ keys: [section, key] }: InSetting): SetGuard["guard"] | undefined {
  return section === "guards"
    ? GUARD_LIST.map(([, guard]) => guard).find((guard) => guard.key === key)
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
  const itemsOfGuard = items.filter(
    (candidate): candidate is CauseItem & GuardItem => guardAt(candidate.listed) === guard,
  );
  return causes(guard, { keys: listed.keys.slice(2), item: item as GuardItem }, refusal, {
    matches,
    items: itemsOfGuard,
  });
}

function causes(
  guard: SetGuard["guard"],
  { keys: [key], item }: { readonly keys: readonly string[]; readonly item: GuardItem },
  refusal: Refusal,
  context: CauseContext<GuardItem>,
): boolean {
  return guard.causes?.(item, refusal, context) ?? refusal.key === key;
}

/** The item of a listed rule: for a guard, one that the guard itself listed. */
interface ItemOfKind {
  readonly kind: string;
}

/** A rule among those that may cause a refusal. */
interface CauseItem extends ItemOfKind {
  readonly listed: InSetting;
}

/** Returns whether a guard's rule holds in an access; `undefined` if it does not concern access. */
export function resultOfGuard(
  listed: InSetting,
  item: ItemOfKind,
  judged: Judged,
  isDeclared: boolean,
): RuleResult | null | undefined {
  return guardAt(listed)?.report?.(item as GuardItem, judged, isDeclared);
}

/** Returns whether guards set the rule behind a refusal, rather than relying on its default. */
export function isSet(refusal: Refusal, guards: GuardSettings): boolean {
  const set = guardsIn(guards).find(({ guard }) => guard.codes.includes(refusal.code));
  if (set === undefined) return true;
  const { guard, value } = set;
  const entries = guard.list(value, value);
  const context = { matches: () => false, items: entries.map(({ item }) => item) };
  return (
    value !== undefined &&
    entries.some((entry) => !isDefault(entry.item) && causes(guard, entry, refusal, context))
  );
}

/**
 * Returns whether a file sets the rule behind a refusal to the value that applies to the merchant; files may have
 * different values.
 */
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
  // Among limits that apply to everything, the strictest counts.
  if (limits.every(({ role }) => role !== null)) return written !== undefined;
  return isSameJson(kind.combine([written]), set.value);
}

/** Returns the guard with a refusal's code; `undefined` if no file sets it. */
function guardOfCode(code: string): Guard<unknown, GuardItem> | undefined {
  return GUARD_LIST.map(([, guard]) => guard).find(({ codes }) => codes.includes(code));
}

/** Returns the roles in guards that defer removals, to keep enough holders of these roles. */
export function rolesKeptBy(guards: GuardSettings): readonly string[] {
  return guardsIn(guards).flatMap(({ guard, value }) =>
    guard.withhold === undefined
      ? []
      : guard.kind.names(value).flatMap(({ what, text }) => (what === "role" ? text : [])),
  );
}

/** Returns whether a refusal comes from a guard that judges losses of access. */
export function isOfLoss({ code }: Refusal): boolean {
  return code === "self-lockout" || guardOfCode(code)?.keepsAccess === true;
}

/** Rewords a refusal for the plan of an undo, whose changes do not come from the file. */
export function refusalOfUndo(refusal: Refusal, enforcedBy: string | undefined): Refusal {
  const { code, hint } = refusal;
  return { ...refusal, hint: guardOfCode(code)?.undoHints?.[code]?.(enforcedBy) ?? UNDO_HINTS[code] ?? hint };
}
