import { canonicalJson } from "../../lib/json-text.ts";
import type { DesiredState, EnforcedBy, EnforcedRules } from "../../model/desired.ts";
import type { Finding, Refusal } from "../../model/plan.ts";
import { refusalOfBase } from "../findings/refusals.ts";
import { withoutDefaults } from "./every-rule.ts";
import { currentNameIn } from "./renamed-roles.ts";
import { renamedCheck } from "./settings/every-check-setting.ts";
import { renamedRules } from "./settings/every-setting.ts";

/** The rules of a base branch, with the roles that they name, and the rules that its project enforces. */
export type BaseRules = Pick<
  DesiredState,
  "guards" | "policies" | "checks" | "roles" | "enforced" | "members"
>;

/** Enforced rules as those of a desired state, in which renamed roles have their current names. */
export interface EnforcedSet {
  readonly origin: EnforcedRules;
  readonly rules: DesiredState & EnforcedBy;
}

/**
 * Returns the enforced rules to judge by, one set per file, without those of the base branch that the head branch also
 * has. The default guards apply unless one of the sets has them.
 */
export function enforcedSets(desired: DesiredState, base: BaseRules | undefined): readonly EnforcedSet[] {
  const former = (base?.enforced ?? []).map((rules): EnforcedRules => ({ ...rules, by: "base" }));
  const given = [...(desired.enforced ?? []), ...former];
  const distinct = new Map<string, EnforcedRules>();
  for (const rules of [...given.filter(({ by }) => by === undefined), ...given]) {
    const meaning = meaningOf(rules);
    distinct.set(meaning, distinct.get(meaning) ?? rules);
  }
  const sets = [...distinct.values()];
  return sets.map((origin, index) => {
    const { policies, checks } = origin;
    const guards = withoutDefaults(
      origin.guards,
      (name) => index > 0 || sets.some((rules) => rules.guards[name] !== undefined),
    );
    const [enforcedBy] = origin.files;
    return { origin, rules: { ...withRulesOf({ guards, policies, checks }, desired), enforcedBy } };
  });
}

function meaningOf({ guards, policies, checks }: EnforcedRules): string {
  return canonicalJson([guards, policies, checks.map(({ origin: _, ...check }) => check)]);
}

/**
 * Returns a file's own rules beside enforced ones: only those that are written. The defaults are part of the enforced
 * rules, so that the file cannot loosen them.
 */
export function ownRules(desired: DesiredState, enforced: readonly EnforcedSet[]): DesiredState {
  if (enforced.length === 0) return desired;
  return { ...desired, guards: withoutDefaults(desired.guards, () => true) };
}

/** Returns a desired state with the rules of its base branch, in which renamed roles have their current names. */
export function withRulesOf(base: BaseRules, head: DesiredState): DesiredState {
  const nameOf = currentNameIn(head, base);
  return {
    ...head,
    ...renamedRules(base, nameOf),
    checks: base.checks.map((check) => renamedCheck(check, nameOf)),
  };
}

/** Marks a refusal as caused by enforced rules; the file of these rules may override it if it refuses a plan. */
export function refusalOfEnforced(
  { files: [file], by }: EnforcedRules,
  refusal: Refusal,
  isOfPlan = false,
): Refusal {
  const inGit =
    isOfPlan && by === undefined && refusal.override !== null
      ? ` In git, only overrides under guards in ${file} count.`
      : "";
  return {
    ...refusal,
    message: ofRules(refusal.message, file, by),
    hint: `${refusal.hint}${inGit}`,
    rules: file,
    ...(by && { by }),
  };
}

/** Marks an existing violation as a violation of enforced rules. */
export function findingOfEnforced({ files: [file], by }: EnforcedRules, finding: Finding): Finding {
  return { ...finding, message: ofRules(finding.message, file, by), rules: file };
}

function ofRules(message: string, file: string, by: EnforcedRules["by"]): string {
  return `${message} Enforced by ${file}${by === "base" ? " of the base branch" : ""}.`;
}

/** Returns the items of a file's own rules that no enforced rule contains. */
export function besidesEnforced<T extends Refusal | Finding>(
  ownItems: readonly T[],
  enforced: readonly (Refusal | Finding)[],
): readonly T[] {
  if (enforced.length === 0) return ownItems;
  const enforcedKeys = new Set(enforced.map(keyOf));
  return ownItems.filter((item) => !enforcedKeys.has(keyOf(item)));
}

/** Returns the refusals that only the base branch's rules have, with advice. */
export function refusalsOfBase(
  byBase: readonly Refusal[],
  ownRefusals: readonly Refusal[],
): readonly Refusal[] {
  const ownKeys = new Set(ownRefusals.map(keyOf));
  return byBase.filter((refusal) => !ownKeys.has(keyOf(refusal))).map(refusalOfBase);
}

/**
 * Returns the refusals of a plan without those that the base branch's rules add for people and roles that they also
 * refuse in the base branch's own files: this pull request neither causes them nor can avoid them.
 */
export function withoutThoseOfBase(
  refusals: readonly Refusal[],
  ofBase: readonly Refusal[],
): readonly Refusal[] {
  const subjectOf = ({ rule, code, resource, name }: Refusal): string =>
    JSON.stringify([rule, code, resource, name]);
  const subjects = new Set(ofBase.map(subjectOf));
  return refusals.filter(
    (refusal) => refusal.by !== "base" || refusal.name === null || !subjects.has(subjectOf(refusal)),
  );
}

/** Equal refusals of two branches may state different limits; if so, they have the same override. */
function keyOf(problem: Refusal | Finding): string {
  const { code, resource, name, message } = problem;
  if ("severity" in problem) return JSON.stringify([code, resource, name, message]);
  return JSON.stringify([problem.rule, code, resource, name, problem.override ?? message]);
}
