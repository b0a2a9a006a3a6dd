import { toFinding } from "../../kernel/findings/findings.ts";
import type { Tense } from "../../kernel/findings/refusals.ts";
import { pinnedIds, roleNames } from "../../kernel/rules/access.ts";
import { unknownToEach } from "../../kernel/rules/checks.ts";
import { violationsIn } from "../../kernel/rules/judge-rules.ts";
import type { Judged, Violation } from "../../kernel/rules/judged.ts";
import { sortedSet } from "../../lib/text.ts";
import type { JudgedRule } from "../../model/coverage.ts";
import type { DesiredState } from "../../model/desired.ts";
import { type CoverageRule, type RuleSet, ruleSets } from "./coverage-rules.ts";

/** Judges an access by each policy and check apart; guards judge changes, not access. */
export function judgeEach(judged: Judged, desired: DesiredState): readonly JudgedRule[] {
  return ruleSets(desired).flatMap((set) => {
    const violationsOf = judgeSet(judged, set, "live");
    const unknown = unknownToEach(set.rules, judged);
    return set.each.flatMap((rule): readonly JudgedRule[] => {
      const violations = violationsOf(rule);
      if (violations === null) return [];
      const roles = rule.kind === "check" ? (unknown.get(rule.check) ?? []) : [];
      return [{ rule: rule.listed, violations, unknownRoles: sortedSet(roles.map(({ name }) => name)) }];
    });
  });
}

/** Judges an access by a set of rules; the result tells what breaks one of them, `null` for a guard. */
export function judgeSet(
  judged: Judged,
  { rules }: Pick<RuleSet, "rules">,
  tense: Tense,
): (rule: CoverageRule) => readonly string[] | null {
  const { sharing } = roleNames(judged.access, pinnedIds(rules));
  const byRule = new Map<unknown, Violation[]>();
  for (const violation of violationsIn(rules, judged)) {
    const key = violation.check ?? violation.rule;
    const ruleViolations = byRule.get(key);
    if (ruleViolations === undefined) byRule.set(key, [violation]);
    else ruleViolations.push(violation);
  }
  return (rule) => {
    if (rule.violated === null) return null;
    const ambiguous = rule.names.flatMap(({ what, text: name }) => {
      const ids = what === "role" ? sharing(name) : [];
      return ids.length === 0 ? [] : toFinding({ code: "rule-role-ambiguous", name, ids }).message;
    });
    return [...ambiguous, ...(byRule.get(rule.violated) ?? []).map(({ refusal }) => refusal(tense).message)];
  };
}
