import type { DesiredState, EnforcedBy } from "../../model/desired.ts";
import type { Finding, MemberChange, Refusal } from "../../model/plan.ts";
import type { FindingData } from "../findings/findings.ts";
import { toExistingViolation } from "../findings/refusals.ts";
import { type Access, type DeclaredRoles, type RoleNames, roleFinder } from "./access.ts";
import type { BaseRules } from "./base-rules.ts";
import { unknownToChecks } from "./checks.ts";
import { guardPlan, withheldBy } from "./guards.ts";
import { judgeDeclarations, unknownToPolicies } from "./judge-policies.ts";
import { byKey, declaredViolations, isNoWorse, keyOf, keysOf, violationsIn } from "./judge-rules.ts";
import type { Judged, Rules, Violation } from "./judged.ts";
import type { Guarded } from "./rule.ts";

/** The verdict of rules on a plan. */
export interface Judgement {
  readonly refusals: readonly Refusal[];
  /** Existing violations that the plan does not make worse. */
  readonly findings: readonly Finding[];
  readonly findingData: readonly FindingData[];
}

/** A state of the access, with the changes of members that lead to it. */
export interface ReachedAccess {
  readonly access: Access;
  readonly changes: readonly MemberChange[];
}

/**
 * The effect of a plan on access, counting a replaced role as one role before and after, even if its successor exists
 * already.
 */
export interface Transition {
  readonly before: Access;
  /** The access after the plan. */
  readonly present: ReachedAccess;
  /** The access after the deferred changes as well: the same object as `present` if there are none. */
  readonly settled: ReachedAccess;
  readonly declared: DeclaredRoles;
  /** Finds roles after the plan. */
  readonly find: RoleNames["find"];
  readonly guarded: Omit<Guarded, "enforcedBy">;
  /** The base branch, if the changes come from files, which are then judged by themselves, too; `null` for an undo. */
  readonly files: { readonly base: BaseRules | undefined } | null;
}

/** Judges a plan by a set of rules: its guards, policies and checks. */
export function judgeTransition(rules: DesiredState & EnforcedBy, transition: Transition): Judgement {
  const { before, present, settled, declared, guarded, files } = transition;
  const { callerId, now } = guarded;
  // Deferred changes are judged as well: the rules hold while they wait, and after everything has happened.
  const steps = present === settled ? [settled] : [present, settled];
  const withheld = steps.map(({ access, changes }) =>
    withheldBy(rules.guards, { before, after: access, changes, declared, callerId }),
  );
  // A removal that the guards still withhold would wait for a deferred one, and their order is not known.
  const [unresolved] = withheld;
  const find = stillFinder(transition);
  const compared = { before, declared: () => (files === null ? [] : declaredViolations(rules, now)) };
  const judgements = steps.map(({ access }) =>
    compareAccess(rules, { access, settled: settled.access, find }, compared),
  );
  const grants = files && judgeDeclarations(rules, { desired: rules, find, now }, { before, ...files });
  return {
    refusals: distinct([
      ...withheld.flatMap(({ refusals }) => refusals),
      ...(unresolved?.deferred ?? []).map((removal) => removal.refusal(steps.length > 1)),
      ...guardPlan(rules.guards, { ...guarded, enforcedBy: rules.enforcedBy }),
      ...judgements.flatMap(({ refusals }) => refusals),
      ...(grants?.refusals ?? []),
    ]),
    findings: distinct([...judgements.flatMap(({ findings }) => findings), ...(grants?.findings ?? [])]),
    findingData: distinct([...withheld, ...judgements].flatMap(({ findingData }) => findingData)),
  };
}

/** Finds roles by their names after the plan, else by their live names: rules may not know of a rename yet. */
function stillFinder({ before, present, declared, find }: Transition): RoleNames["find"] {
  const findBefore = roleFinder(before, declared);
  return (role) => {
    const key = findBefore(role) ?? "";
    return find(role) ?? (present.access.roles.has(key) ? key : undefined);
  };
}

/** The access that a plan is compared with; `declared` returns the violations in the files themselves. */
interface AccessComparison {
  readonly before: Access;
  readonly declared: () => readonly Violation[];
}

/**
 * Judges the access after a plan. Violations that it makes worse, and those in the files themselves, are refused;
 * existing violations that it leaves or improves are warnings.
 */
function compareAccess(rules: Rules, after: Judged, { before, declared }: AccessComparison): Judgement {
  const findingData = [
    ...unknownToPolicies(rules, after).map(({ finding }) => finding),
    ...unknownToChecks(rules, after).map((data): FindingData => ({ code: "check-unknown", ...data })),
  ];
  const violations = violationsIn(rules, after);
  if (violations.length === 0) return { refusals: [], findings: [], findingData };
  const violationsBefore = byKey(violationsIn(rules, { access: before, settled: before, find: after.find }));
  const ownViolations = byKey(declared());
  const existing = (violation: Violation): Violation | null => {
    const old = violationsBefore.get(keyOf(violation));
    const isOwn = keysOf(violation).some((key) => ownViolations.has(key));
    return old !== undefined && !isOwn && isNoWorse(violation, old) ? old : null;
  };
  return {
    refusals: violations.flatMap((violation) =>
      existing(violation) === null ? [violation.refusal("plan")] : [],
    ),
    findings: violations.flatMap((violation) => {
      const old = existing(violation);
      return old === null
        ? []
        : [toExistingViolation(violation.refusal(isNoWorse(old, violation) ? "live" : "plan"))];
    }),
    findingData,
  };
}

function distinct<Item>(items: readonly Item[]): readonly Item[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}
