import { isLiteralGlob } from "../../lib/glob.ts";
import { by, byCodeUnit } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import { type LiveState, PREDEFINED_ROLES, UNASSIGNABLE_ROLES } from "../../model/live.ts";
import type { Change, Counts, Finding, MemberChange, Plan, Refusal } from "../../model/plan.ts";
import { leftAt } from "../diff/active-member.ts";
import { planFingerprint } from "../diff/fingerprint.ts";
import { orderedState } from "../diff/ordered-state.ts";
import { type MemberPlan, planMembers, type Renewal } from "../diff/plan-members.ts";
import { planRoles, type RolePlan } from "../diff/plan-roles.ts";
import { roleResolver } from "../diff/resolve.ts";
import { type GlobMatch, type Scope, scopeOf } from "../diff/scope.ts";
import { roleKey } from "../fields/set.ts";
import { type FindingData, toFinding } from "../findings/findings.ts";
import { sortRefusals, toRefusal } from "../findings/refusals.ts";
import {
  type Access,
  accessAfter,
  accessBefore,
  type DeclaredRoles,
  hasSuccessors,
  roleNames,
  splitByResource,
} from "../rules/access.ts";
import {
  type BaseRules,
  besidesEnforced,
  enforcedSets,
  findingOfEnforced,
  ownRules,
  refusalOfEnforced,
  refusalsOfBase,
  withRulesOf,
} from "../rules/base-rules.ts";
import { changedAddresses, sameUsers } from "../rules/changed-addresses.ts";
import { refusalOfUndo } from "../rules/every-rule.ts";
import { guardCaller } from "../rules/guards.ts";
import { blockHeldRoles } from "../rules/held-roles.ts";
import { ignoredAccess, ignoredEntries } from "../rules/ignored.ts";
import { detectRenames, impactOf } from "../rules/impact.ts";
import { judgeTransition, type Transition } from "../rules/judge-transition.ts";
import { applyFileOverrides, isBoundToPeople } from "../rules/overrides.ts";
import {
  ambiguousInRules,
  misspeltInRoles,
  misspeltInRules,
  rolesInRules,
  unknownInRules,
  unknownMembersInRules,
} from "../rules/rule-roles.ts";
import { reviewedStateOf } from "./reviewed-state.ts";
import { roundingChanges } from "./select.ts";
import { bringsAccess, upcomingDates } from "./upcoming-dates.ts";
import { withholdRemovals } from "./withhold-removals.ts";

/** The input of a plan. */
export interface PlanInput {
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** Base URL of the service that `live` was read from. */
  readonly service: string;
  /** The time that end dates are compared with, in ms since the epoch. */
  readonly now: number;
  /** @internal */
  readonly renewal?: Renewal;
  /** Matches the globs of `ignore`, guards and policies, as `globMatcher()` does. */
  readonly matches: GlobMatch;
  /** Fingerprints of changes to leave out; changes that depend on them are left out as well. */
  readonly leaveOut?: ReadonlySet<string>;
  /**
   * @internal The state of the base branch, whose rules judge the changes as well; absent: only those of `desired` do.
   */
  readonly base?: BaseRules;
}

/** Computes the changes that turn the live state into the desired one; pure and deterministic. */
export function buildPlan(unordered: PlanInput): Plan {
  const input = orderedInput(unordered);
  return planChanges(input, proposeChanges(input));
}

/** Returns the input with the live state in an order that does not depend on the service. */
export function orderedInput(input: PlanInput): PlanInput {
  return { ...input, live: orderedState(input.live) };
}

/** Returns a function that judges an input's changes without some of them, and finds the changes only once. */
export function planParts<Result>(
  unordered: PlanInput,
  judge: Judge<Result>,
): (without?: ReadonlySet<string>) => Result {
  const input = orderedInput(unordered);
  let proposed: ProposedChanges | null = null;
  return (without) => {
    proposed ??= proposeChanges(input);
    return judge(leavingOut(input, without), proposed);
  };
}

/** Makes a plan, or a part of one, from an input's changes. */
export type Judge<Result> = (input: PlanInput, proposed: ProposedChanges) => Result;

/** Returns an input that leaves out more changes. */
export function leavingOut(input: PlanInput, without: ReadonlySet<string> = new Set()): PlanInput {
  return { ...input, leaveOut: new Set([...(input.leaveOut ?? []), ...without]) };
}

/** Finds the changes of an input in order. */
export function proposeChanges(input: PlanInput): ProposedChanges {
  const { desired, live, now, matches, renewal = {} } = input;
  const { sync } = desired;
  const gone = leftAt(desired.leavers, now);
  const scope = scopeOf(live, desired.ignore, matches, gone);
  const guards = [desired, ...(desired.enforced ?? [])].map((rules) => rules.guards);
  const namedIds = new Set([
    ...namedRoleIds(desired),
    ...guards.flatMap((each) => protectedIds(each, scope)),
  ]);
  const ignored = ignoredEntries(desired, scope, matches);
  const roles = planRoles(desired.roles, scope, { ...sync, named: namedIds, ignored: ignored.roles });
  const ignoredRoles = new Set([...scope.ignoredRoles, ...ignored.roles]);
  const members = planMembers(desired.members, scope, {
    sync,
    roles: roleResolver(roles, { ...scope, ignoredRoles }),
    ignored: ignored.members,
    left: gone,
    now,
    file: desired.origin.file,
    renewal,
  });
  return { scope, roles, members, byFile: true };
}

/** Changes that guards, policies and checks have not judged yet. */
export interface ProposedChanges {
  readonly scope: Scope;
  readonly roles: RolePlan;
  readonly members: MemberPlan;
  /** `true` if the changes come from the file's roles and members, so that hints about the file apply. */
  readonly byFile: boolean;
}

/** Makes a plan from changes. */
export function planChanges(input: PlanInput, proposed: ProposedChanges): Plan {
  const judged = judgeChanges(input, proposed);
  const { before, after, changes, deferred, refusals, overridden, findings, ...summary } = judged;
  return {
    ...summary,
    reviewed: reviewedStateOf({ ...input, ...judged }),
    changes,
    deferred,
    refusals,
    ...(overridden && { overridden }),
    findings,
    ...(input.renewal?.recorded && { recorded: input.renewal.recorded }),
  };
}

/** A plan without its reviewed state, with the access before and after. */
type JudgedChanges = Omit<Plan, "reviewed"> & Record<"before" | "after", Access>;

/** Reports what the service did not disclose about the key and the account. */
function unansweredBy(
  { callerUnknown, sandboxFailure }: LiveState,
  { environment }: DesiredState,
): readonly FindingData[] {
  return [
    ...(sandboxFailure && environment ? [{ code: "environment-unknown", name: environment } as const] : []),
    ...(callerUnknown ? [{ code: "caller-unknown", name: "the API key" } as const] : []),
  ];
}

/** Judges changes: their impact, the deferred ones, refusals and findings. */
export function judgeChanges(
  input: PlanInput,
  { scope, roles, members, byFile }: ProposedChanges,
): JudgedChanges {
  const { desired, live, service, now, matches, leaveOut = new Set(), base } = input;
  const { merchant } = desired;
  const sets = enforcedSets(desired, base);
  const ownSettings = ownRules(desired, sets);
  const { callerId } = live;
  const proposed = { roles: roles.changes, members: members.changes };
  const rounding = roundingChanges([...proposed.roles, ...proposed.members], live);
  const declared = declaredRoles(roles);
  const {
    wanted,
    ready,
    deferred,
    before: joined,
    settled,
  } = withholdRemovals({
    declared,
    callerId,
    scope,
    found: proposed,
    leaveOut: new Set([...leaveOut, ...rounding.map(({ change }) => change.fingerprint)]),
    waiting: members.waiting,
    guards: [ownSettings, ...sets.map(({ rules }) => rules)].map(({ guards }) => guards),
  });
  const held = blockHeldRoles({ roles: wanted.roles, members: ready }, deferred, live.members);
  const { changes } = held;
  // These differ from `joined` only after an interrupted replacement; otherwise, this avoids computing a large
  // merchant twice.
  const apart = hasSuccessors(wanted);
  const waits = deferred.length + held.deferred.length > 0;
  const before = apart ? accessBefore(scope, changes, { mergeReplacedRoles: false }) : joined;
  const after = apart || waits ? accessAfter(before, changes, { mergeReplacedRoles: false }) : settled.access;
  const later = splitByResource([...held.deferred, ...deferred].map(({ change }) => change));
  const impact = impactOf(before, after, desired);
  const guarded = {
    impact,
    files: desired,
    now,
    file: desired.origin.file,
    merchant,
    scope,
    changes,
    deferred: later,
    before,
    after,
    callerId,
    matches,
  };
  const remaining = apart ? accessAfter(joined, changes, { mergeReplacedRoles: true }) : after;
  const names = roleNames(remaining, declared);
  const transition: Transition = {
    before: joined,
    present: waits ? { access: remaining, changes: changes.members } : settled,
    settled,
    declared,
    find: names.find,
    guarded,
    // An undo does not depend on the files.
    files: byFile ? { base } : null,
  };
  const judged = judgeTransition(ownSettings, transition);

  const place = { merchant, environment: desired.environment ?? null, service };
  const allChanges = [...sortChanges(changes.roles), ...sortChanges(changes.members)];
  const fingerprint = planFingerprint(place, allChanges);
  const isWhole = leaveOut.size === 0;
  // A selection of the changes, or an undo, is a different plan.
  const overridesOf = ({ guards: { overrides = [] } }: DesiredState): readonly string[] =>
    byFile ? overrides.filter((text) => isWhole || isBoundToPeople(text)) : [];
  const asWritten = (refusals: readonly Refusal[], enforcedBy?: string): readonly Refusal[] =>
    byFile ? refusals : refusals.map((refusal) => refusalOfUndo(refusal, enforcedBy));
  const enforced = sets.map(({ origin, rules }) => {
    const { refusals: broken, findings, findingData: data } = judgeTransition(rules, transition);
    const refused = { fingerprint, refusals: asWritten(broken, rules.enforcedBy), changes: allChanges };
    const notOverridden = applyFileOverrides(refused, overridesOf(rules));
    return { origin, ...notOverridden, findings, findingData: data };
  });
  const ownRefusals = asWritten([
    ...roles.refusalData.map((data) => toRefusal(data)),
    ...held.refusals,
    ...guardCaller(guarded),
    ...judged.refusals,
  ]);
  const baseRules = base && ownRules(withRulesOf(base, desired), sets);
  const ambiguous = [
    ownSettings,
    ...sets.map(({ rules }) => rules),
    ...(baseRules ? [baseRules] : []),
  ].flatMap((rules) => ambiguousInRules(rules, names, roles));
  const byBase =
    baseRules === undefined
      ? []
      : refusalsOfBase(judgeTransition(baseRules, transition).refusals, ownRefusals);
  const byEnforced = enforced.flatMap((ruleSet) => ruleSet.refusals);
  const overridesInFile = overridesOf(ownSettings);
  const { refusals, overridden, findingData } = applyFileOverrides(
    { fingerprint, refusals: [...ownRefusals, ...byBase], changes: allChanges },
    overridesInFile,
    byEnforced,
    overridesInFile.length > 0 && (!isWhole || upcomingDates(desired, now).some(bringsAccess)),
  );
  const allDeferred = [...held.deferred, ...deferred].sort(by(({ change }) => `${change.name} ${change.id}`));
  const allOverridden = [
    ...overridden,
    ...enforced.flatMap((ruleSet) =>
      ruleSet.overridden.map((refusal) => refusalOfEnforced(ruleSet.origin, refusal)),
    ),
  ];
  return {
    format: 1,
    ...place,
    fingerprint,
    summary: {
      roles: count(
        changes.roles,
        roles.unchanged + unchangedByChoice(proposed.roles, wanted.roles),
        byFile && desired.roles === undefined ? "all" : roles.unlisted,
      ),
      members: count(
        changes.members,
        members.unchanged + unchangedByChoice(proposed.members, wanted.members),
        byFile && desired.members === undefined ? "all" : members.unlisted,
      ),
    },
    impact,
    before,
    after,
    changes: allChanges,
    deferred: allDeferred,
    refusals: sortRefusals([
      ...besidesEnforced(refusals, byEnforced),
      ...enforced.flatMap((ruleSet) =>
        ruleSet.refusals.map((refusal) => refusalOfEnforced(ruleSet.origin, refusal, byFile)),
      ),
    ]),
    ...(allOverridden.length > 0 && { overridden: sortRefusals(allOverridden) }),
    findings: sortFindings([
      ...besidesEnforced(
        judged.findings,
        enforced.flatMap((ruleSet) => ruleSet.findings),
      ),
      ...enforced.flatMap((ruleSet) =>
        ruleSet.findings.map((finding) => findingOfEnforced(ruleSet.origin, finding)),
      ),
      ...[
        ...unansweredBy(live, desired),
        ...(byFile
          ? [
              ...unknownInRules(desired, scope, roles),
              ...sets.flatMap(({ rules }) => unknownInRules(asShared(rules), scope, roles)),
              ...unknownMembersInRules(desired, scope),
              ...misspeltInRoles(desired, scope),
              ...misspeltInRules(desired, scope),
              ...sets.flatMap(({ rules }) => misspeltInRules(rules, scope)),
              ...ignoredAccess(scope),
            ]
          : []),
        ...(byFile ? assumedRoles(desired, scope) : []),
        ...unassignableGrants(changes.members),
        ...roles.findingData,
        ...members.findingData,
        ...members.laterFindingData,
        ...rounding.map(({ finding }) => finding),
        ...distinctData([
          ...ambiguous,
          ...judged.findingData,
          ...enforced.flatMap((ruleSet) => ruleSet.findingData),
        ]),
        ...findingData,
        ...(byFile
          ? [
              ...detectRenames(changes.roles, before, after),
              ...changedAddresses(changes.members),
              ...sameUsers(changes.members, scope.members),
            ]
          : []),
      ].map(toFinding),
    ]),
  };
}

/** Returns the roles that the file declares. */
function declaredRoles({ declared, replaced }: RolePlan): DeclaredRoles {
  return new Map([...replaced, ...[...declared].map(([name, id]) => [roleKey({ id, name }), name] as const)]);
}

/** Returns each finding once, even if several rules report it. */
function distinctData(data: readonly FindingData[]): readonly FindingData[] {
  return [...new Map(data.map((finding) => [JSON.stringify(finding), finding])).values()];
}

/** Returns enforced rules as those of a shared file: another merchant may have the roles that they name. */
function asShared(rules: DesiredState): DesiredState {
  return { ...rules, sharedRuleNames: [...rolesInRules(rules), ...rules.guards.protect.roles] };
}

/** Reports roles that the file names by id and that the service did not return. */
function assumedRoles(desired: DesiredState, { roles }: Scope): readonly FindingData[] {
  const assumed = roles.filter(({ idOnly }) => idOnly);
  if (assumed.length === 0) return [];
  const namedIds = new Set(namedRoleIds(desired));
  return (
    assumed
      // A documented role may be missing from every response although the file is correct.
      .filter(({ id }) => namedIds.has(id) && !PREDEFINED_ROLES.includes(id))
      .map(({ id }): FindingData => ({ code: "role-not-retrieved", name: id }))
  );
}

/** Reports the roles that members would newly hold and that the service may refuse to assign. */
function unassignableGrants(changes: readonly MemberChange[]): readonly FindingData[] {
  return changes.flatMap((change): readonly FindingData[] => {
    if (change.kind === "delete") return [];
    const held = change.kind === "update" ? change.before.roles.map(({ id }) => id) : [];
    return change.after.roles.flatMap(({ id }) =>
      id !== null && UNASSIGNABLE_ROLES.includes(id) && !held.includes(id)
        ? [{ code: "member-role-unassignable", name: change.name, role: id }]
        : [],
    );
  });
}

/** Returns the role ids that a desired state names, for the reader to retrieve even if no member holds them. */
export function namedRoleIds(desired: DesiredState): readonly string[] {
  const { roles, members } = desired;
  const declared = new Set(roles?.map((role) => role.name));
  const granted = new Set<string>();
  for (const member of members ?? []) for (const { role } of member.roles ?? []) granted.add(role);
  const ids = [
    ...(roles ?? []).flatMap((role) => role.id ?? []),
    ...granted,
    ...rolesInRules(desired),
    ...(desired.enforced ?? []).flatMap(rolesInRules),
    // Members who can assign roles can also assign predefined ones.
    ...(reachMatters(desired) ? PREDEFINED_ROLES : []),
  ].filter((name) => name.startsWith("role_") && !declared.has(name));
  return [...new Set(ids)].sort(byCodeUnit);
}

/** Returns whether a check counts what members can give themselves. */
function reachMatters({ checks, enforced = [] }: DesiredState): boolean {
  return [checks, ...enforced.map((rules) => rules.checks)].flat().some(({ reach }) => reach === true);
}

/** Returns the ids of the live roles that `protect` names by id, not by a pattern. */
function protectedIds({ protect }: DesiredState["guards"], { roles }: Scope): readonly string[] {
  const protectedNames = new Set(protect.roles.filter(isLiteralGlob).map((role) => role.toLowerCase()));
  return roles.flatMap(({ id }) => (protectedNames.has(id.toLowerCase()) ? id : []));
}

/** Counts the live entries that stay unchanged because their changes are left out. */
function unchangedByChoice(proposed: readonly Change[], kept: readonly Change[]): number {
  const touched = (changes: readonly Change[]): number =>
    changes.filter(({ kind }) => kind !== "create").length;
  return touched(proposed) - touched(kept);
}

/** Counts changes and unchanged entries; if `unlisted` is `"all"`, every unchanged entry counts as unmanaged. */
function count(changes: readonly Change[], untouched: number, unlisted: number | "all"): Counts {
  const of = (kind: Change["kind"]): number => changes.filter((change) => change.kind === kind).length;
  const isUnmanaged = unlisted === "all";
  const unmanaged = isUnmanaged ? untouched : unlisted;
  return {
    create: of("create"),
    update: of("update"),
    replace: of("replace"),
    delete: of("delete"),
    unchanged: isUnmanaged ? 0 : untouched,
    ...((isUnmanaged || unmanaged > 0) && { unmanaged }),
  };
}

function sortChanges<C extends Change>(changes: readonly C[]): readonly C[] {
  return [...changes].sort((a, b) => byCodeUnit(a.name, b.name) || byCodeUnit(a.id ?? "", b.id ?? ""));
}

function sortFindings(findings: readonly Finding[]): readonly Finding[] {
  const rank = (finding: Finding): string => (finding.severity === "error" ? "0" : "1");
  return [...findings].sort(
    (a, b) =>
      byCodeUnit(rank(a), rank(b)) ||
      byCodeUnit(a.resource, b.resource) ||
      byCodeUnit(a.name, b.name) ||
      byCodeUnit(a.message, b.message),
  );
}
