import type { JudgedRule } from "../../model/coverage.ts";
import type { DesiredState, Policies } from "../../model/desired.ts";
import type { Judged, Rules } from "../judge/checks.ts";
import { violationsIn } from "../judge/judge-rules.ts";
import { toRefusal } from "../judge/refusals.ts";
import { type CoverageRule, coverageRules } from "./coverage-rules.ts";

/** Judges an access by each policy and check apart; guards judge changes, not access. */
export function judgeEach(judged: Judged, desired: DesiredState): readonly JudgedRule[] {
  return coverageRules(desired).flatMap((rule): readonly JudgedRule[] => {
    const alone = ruleAlone(rule, desired.members);
    if (alone === null) return [];
    const violations = violationsIn(alone, judged).map(({ data }) => toRefusal(data, "live").message);
    return [{ rule: rule.listed, violations }];
  });
}

const NO_POLICIES: Policies = {
  separate: [],
  maxHolders: {},
  requireUntil: [],
  requireMfa: [],
  forbidPermissions: [],
};

/** Returns a rule as the only one of a file; `null` for a guard. */
function ruleAlone(rule: CoverageRule, members: DesiredState["members"]): Rules | null {
  const only = (policies: Partial<Policies>): Rules => ({
    policies: { ...NO_POLICIES, ...policies },
    checks: [],
    ...(members && { members }),
  });
  switch (rule.kind) {
    case "check":
      return { ...only({ escalation: rule.escalation }), checks: [rule.check] };
    case "email-domains":
      return only({ emailDomains: rule.domains });
    case "separate":
      return only({ separate: [rule.roles] });
    case "max-holders":
      return only({ maxHolders: { [rule.role]: rule.max } });
    case "require-until":
      return only({ requireUntil: [rule.role] });
    case "require-mfa":
      return only({ requireMfa: [rule.role] });
    case "forbid":
      return only({ forbidPermissions: rule.permissions });
    default:
      return null;
  }
}
