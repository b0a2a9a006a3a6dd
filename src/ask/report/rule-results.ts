import { type GlobMatch, wholeScope } from "../../kernel/diff/scope.ts";
import type { Tense } from "../../kernel/findings/refusals.ts";
import {
  accessAfter,
  accessBefore,
  liveRoleFinder,
  pinnedIds,
  roleFinder,
  splitByResource,
} from "../../kernel/rules/access.ts";
import type { ResultAcross } from "../../kernel/rules/across-merchants.ts";
import { unknownToEach } from "../../kernel/rules/checks.ts";
import { isCause, resultOfGuard } from "../../kernel/rules/every-rule.ts";
import { declaredOf, unknownToPolicies } from "../../kernel/rules/judge-policies.ts";
import { openDeclared } from "../../kernel/rules/judge-rules.ts";
import type { Judged } from "../../kernel/rules/judged.ts";
import type { ListedRule } from "../../model/coverage.ts";
import type { DesiredState, Origin } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import type { ReportedRule, RuleResult } from "../../model/reports.ts";
import { type CoverageRule, type RuleSet, ruleSets } from "../coverage/coverage-rules.ts";
import { judgeSet } from "../coverage/judge-each.ts";

/** The input of the results of a merchant's rules in its live access, and in that after a plan. */
export interface LiveRulesInput {
  readonly live: LiveState;
  readonly desired: DesiredState;
  readonly plan: Plan | null;
  /** In milliseconds since the epoch. */
  readonly now: number;
  readonly matches: GlobMatch;
}

/** Judges the live access, and the access after a plan, by each rule of a merchant. */
export function liveRuleResults({
  live,
  desired,
  plan,
  now,
  matches,
}: LiveRulesInput): readonly ReportedRule[] {
  const scope = wholeScope(live);
  const changes = splitByResource(plan?.changes ?? []);
  const before = accessBefore(scope, changes, { mergeReplacedRoles: true });
  const after = accessAfter(before, changes, { mergeReplacedRoles: true });
  const judged = { access: before, settled: before, find: liveRoleFinder(before, after, desired) };
  const isLive = { judged, tense: "live", now, isDeclared: false } as const;
  const sets = ruleSets(desired);
  if (plan === null) return sets.flatMap((set) => withoutPlan(set, resultsOf(set, isLive)));
  // As in a plan, deferred changes count as done for numbers of holders.
  const waiting = splitByResource(plan.deferred.map(({ change }) => change));
  const settled = accessAfter(after, waiting, { mergeReplacedRoles: true });
  const planned = {
    judged: { access: after, settled, find: roleFinder(after, pinnedIds(desired)) },
    tense: "plan",
    now,
    isDeclared: false,
  } as const;
  const isGuard = ({ rule }: Refusal): boolean => rule === "guard";
  const guards = {
    refusals: plan.refusals.filter(isGuard),
    overridden: (plan.overridden ?? []).filter(isGuard),
  };
  return sets.flatMap((set) => {
    const [resultBefore, resultAfter] = [resultsOf(set, isLive), resultsOf(set, planned)];
    return set.each.flatMap((rule): readonly ReportedRule[] => {
      const [old, next] = [resultBefore(rule), refused(rule, guards, { set, matches }) ?? resultAfter(rule)];
      if (old === null && next === null) return [];
      const result = next ?? old ?? NOT_JUDGED;
      const passed = result.status === "not-judged" ? PASSED : result;
      return [{ rule: rule.listed, before: old ?? NOT_JUDGED, after: passed }];
    });
  });
}

/** Judges the access that the files declare by each rule of a merchant; `now` in ms since the epoch. */
export function declaredRuleResults(desired: DesiredState, now: number): readonly ReportedRule[] {
  const judged = openDeclared(desired, now);
  return ruleSets(desired).flatMap((set) =>
    withoutPlan(set, resultsOf(set, { judged, tense: "live", now, isDeclared: true })),
  );
}

/** Returns the rules across merchants that hold for one of them, broken if its people are among those who break them. */
export function acrossRuleResults(
  results: readonly ResultAcross[],
  { merchant, projects = [] }: DesiredState,
): readonly ReportedRule[] {
  const files = new Set(projects.flatMap(({ across }) => across?.origin.file ?? []));
  return results
    .filter(({ origin }) => files.has(origin.file))
    .map(({ text, origin, broken }) => {
      const reasons = broken.flatMap(({ refusal, of }) => (of.has(merchant) ? refusal.message : []));
      const result: RuleResult = reasons.length === 0 ? PASSED : { status: "failed", reasons };
      return { rule: listedAcross(text, origin), before: result, after: result };
    });
}

/** Returns a rule across merchants as reports list it. */
export function listedAcross(text: string, origin: Origin): ListedRule {
  return { section: "policies", text, origin, keys: [], entry: null, enforcedBy: origin.file };
}

const PASSED: RuleResult = { status: "passed", reasons: [] };
const NOT_JUDGED: RuleResult = { status: "not-judged", reasons: [] };

/** Returns the result of a rule; `null` if the rule does not apply. */
type ResultOf = (rule: CoverageRule) => RuleResult | null;

function withoutPlan({ each }: RuleSet, resultOf: ResultOf): readonly ReportedRule[] {
  return each.flatMap((rule) => {
    const result = resultOf(rule);
    return result === null ? [] : [{ rule: rule.listed, before: result, after: result }];
  });
}

/** An access to judge. */
interface JudgedAccess {
  readonly judged: Judged;
  readonly tense: Tense;
  readonly now: number;
  /** True for the access in the files, which do not say who has accepted or uses MFA. */
  readonly isDeclared: boolean;
}

function resultsOf(set: RuleSet, { judged, tense, now, isDeclared }: JudgedAccess): ResultOf {
  const { rules } = set;
  const violationsOf = judgeSet(judged, set, tense);
  const unknownTo = unknownToEach(rules, judged);
  const unknownOf = unknownToPolicies(rules, judged);
  const declaredViolations = declaredOf(rules, { desired: rules, find: judged.find, now });
  const unknowns = (rule: CoverageRule): readonly string[] => {
    if (rule.kind === "check") {
      return (unknownTo.get(rule.check) ?? []).map(
        ({ name, permission }) => `The permissions of "${name}" are not known: it could grant ${permission}.`,
      );
    }
    const unknown = unknownOf.filter((fact) => fact.rule === rule.violated);
    if (!isDeclared) return unknown.map(({ live }) => live);
    return unknown.slice(0, 1).map(({ inFiles }) => inFiles(unknown.length));
  };
  return (rule) => {
    const reported = resultOfGuard(rule.listed, rule, judged, isDeclared);
    if (reported !== undefined) return reported?.status === "passed" ? PASSED : reported;
    const broken = violationsOf(rule);
    if (broken === null) return NOT_JUDGED;
    const reasons = [
      ...broken,
      ...declaredViolations.flatMap((violation) =>
        violation.rule === rule.violated ? [violation.refusal(tense).message] : [],
      ),
    ];
    if (reasons.length > 0) return { status: "failed", reasons };
    const unknown = unknowns(rule);
    return unknown.length === 0 ? PASSED : { status: "unknown", reasons: unknown };
  };
}

/** Returns the result of a guard that refuses a plan, of all refusals by guards; `null` if it does not. */
function refused(
  rule: CoverageRule,
  { refusals, overridden }: Required<Pick<Plan, "refusals" | "overridden">>,
  { set, matches }: { readonly set: RuleSet; readonly matches: GlobMatch },
): RuleResult | null {
  const { enforcedBy } = rule.listed;
  const isOf = (refusal: Refusal): boolean =>
    (refusal.rules ?? null) === enforcedBy &&
    isCause(rule.listed, rule, refusal, { matches, items: set.each });
  const messages = (someRefusals: readonly Refusal[]): readonly string[] =>
    someRefusals.filter(isOf).map(({ message }) => message);
  const [failed, excused] = [messages(refusals), messages(overridden)];
  if (failed.length > 0) return { status: "failed", reasons: failed };
  return excused.length > 0 ? { status: "overridden", reasons: excused } : null;
}
