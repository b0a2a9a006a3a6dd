import type { LocatedProblem } from "../diagnostics/problem.ts";
import { soundAdjustments } from "./adjustments.ts";
import {
  agreeingGrants,
  agreeingMembers,
  agreeingRoles,
  agreeingSettings,
  possibleHolders,
} from "./agreement.ts";
import { noDuplicateMembers, noDuplicateRoles, noIgnoredEntries, previousNames } from "./identity.ts";
import {
  currentRoleNames,
  heldRoles,
  knownMembers,
  knownProtectedRoles,
  knownRoles,
  usualPermissions,
} from "./references.ts";
import type { RuleContext } from "./rule-context.ts";

/** A rule for the files of one merchant together. */
type MerchantRule = (merchant: RuleContext) => readonly LocatedProblem[];

const RULES: readonly MerchantRule[] = [
  noDuplicateRoles,
  noDuplicateMembers,
  noIgnoredEntries,
  previousNames,
  soundAdjustments,
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
];

/** Returns the problems between the files of one merchant, without violations of policies and checks. */
export function checkMerchant(merchant: RuleContext): readonly LocatedProblem[] {
  return RULES.flatMap((rule) => rule(merchant));
}
