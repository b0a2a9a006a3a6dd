import { TooMuchWork } from "../access.ts";
import type { LocatedProblem } from "../diagnostics/problem.ts";
import { agreeingGrants, agreeingMembers, agreeingRoles, agreeingSettings } from "./agreement.ts";
import { metAtMost, metCannot, metOnly } from "./checks.ts";
import { noDuplicateMembers, noDuplicateRoles, previousNames } from "./identity.ts";
import {
  allowedDomains,
  allowedPermissions,
  endsWhereRequired,
  fewEnoughHolders,
  possibleHolders,
  separateRoles,
} from "./policies.ts";
import {
  currentRoleNames,
  heldRoles,
  knownMembers,
  knownProtectedRoles,
  knownRoles,
  usualPermissions,
} from "./references.ts";
import { createRuleContext, type RuleContext, type RuleContextInput } from "./rule-context.ts";

/** A rule for the files of one merchant together. */
type MerchantRule = (merchant: RuleContext) => readonly LocatedProblem[];

const RULES: readonly MerchantRule[] = [
  noDuplicateRoles,
  noDuplicateMembers,
  previousNames,
  agreeingMembers,
  agreeingGrants,
  agreeingRoles,
  agreeingSettings,
  currentRoleNames,
  knownRoles,
  knownProtectedRoles,
  knownMembers,
  heldRoles,
  usualPermissions,
  possibleHolders,
  allowedDomains,
  separateRoles,
  fewEnoughHolders,
  endsWhereRequired,
  allowedPermissions,
  metOnly,
  metAtMost,
  metCannot,
];

/** Returns the problems between the files of one merchant. */
export function checkMerchant(rawFiles: RuleContextInput): readonly LocatedProblem[] {
  const view = createRuleContext(rawFiles);
  return RULES.flatMap((rule) => judge(rule, view, rawFiles.main));
}

function judge(rule: MerchantRule, view: RuleContext, main: string): readonly LocatedProblem[] {
  try {
    return rule(view);
  } catch (error) {
    if (error instanceof TooMuchWork) {
      return [{ code: "too-much-to-judge", location: { at: "first-key", file: main, path: [] } }];
    }
    throw error;
  }
}
