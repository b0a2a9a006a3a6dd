import type { DesiredState } from "../../model/desired.ts";
import type { Finding, Refusal } from "../../model/plan.ts";
import { policiesIn } from "./every-rule.ts";
import { indexAccess, type Judged, type Rules, type Violation } from "./judged.ts";
import type { Declarations, DeclaredViolation, FormerGrants, PolicyContext, UnknownToRule } from "./rule.ts";

/** Returns whether no policy is set. */
export function hasNoPolicies({ policies }: Pick<Rules, "policies">): boolean {
  return policiesIn(policies).every(({ policy, value }) => policy.isOff(value));
}

/** Returns the violations of policies in an access. */
export function policyViolations(rules: Rules, judged: Judged): readonly Violation[] {
  if (hasNoPolicies(rules)) return [];
  const context = contextOf(rules, judged);
  return policiesIn(rules.policies).flatMap(({ policy, value }) => policy.judge(value, context));
}

/** Returns the unknown facts about an access that leave open whether policies are violated. */
export function unknownToPolicies(rules: Rules, judged: Judged): readonly UnknownToRule[] {
  const asking = policiesIn(rules.policies).filter(
    ({ policy, value }) => policy.unknown !== undefined && !policy.isOff(value),
  );
  if (asking.length === 0) return [];
  const context = contextOf(rules, judged);
  return asking.flatMap(({ policy, value }) => policy.unknown?.(value, context) ?? []);
}

function contextOf({ members = [], enforcedBy }: Rules, judged: Judged): PolicyContext {
  const { access, settled } = judged;
  const index = indexAccess(access);
  return {
    ...judged,
    index,
    counted: settled === access ? index : indexAccess(settled),
    members,
    enforcedBy,
  };
}

/** Returns the violations by what the files declare, such as end dates that are too late. */
export function declaredOf(
  { policies }: Pick<DesiredState, "policies">,
  declared: Declarations,
): readonly DeclaredViolation[] {
  return policiesIn(policies).flatMap(
    ({ policy, value }) => policy.declared?.violations(value, declared) ?? [],
  );
}

/** Refuses new violations by declarations, and warns about the others. */
export function judgeDeclarations(
  { policies }: Pick<DesiredState, "policies">,
  declared: Declarations,
  former: FormerGrants,
): { readonly refusals: readonly Refusal[]; readonly findings: readonly Finding[] } {
  const judged = policiesIn(policies).flatMap(
    ({ policy, value }) => policy.declared?.compare(value, declared, former) ?? [],
  );
  return {
    refusals: judged.flatMap(({ refusals }) => refusals),
    findings: judged.flatMap(({ findings }) => findings),
  };
}
