import { by } from "../../lib/text.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { Change, Finding, MemberChange, Plan, Reason, Refusal } from "../../model/plan.ts";
import { activeAt, reasonOf } from "../diff/active-member.ts";
import { addressKeysOf } from "../diff/entry-memberships.ts";
import { withFingerprint } from "../diff/fingerprint.ts";
import { memberDiffs, withValues } from "../fields/member.ts";
import { type FindingData, toFinding } from "../findings/findings.ts";
import { toExistingViolation } from "../findings/refusals.ts";
import { isOfLoss } from "../rules/every-rule.ts";
import { isBoundToPeople, MIN_FINGERPRINT_LENGTH } from "../rules/overrides.ts";
import {
  orderedInput,
  type PlanInput,
  type ProposedChanges,
  planChanges,
  proposeChanges,
} from "./build-plan.ts";
import { dueSince, endOf, entryOf, pastTimesOf } from "./due-since.ts";

/**
 * Plans only the changes that are due: everything else is left out. All access that has ended is taken, whatever is
 * wrong elsewhere: errors become warnings, and if a change does more, only its part that takes ended access is made. A
 * rule that refuses one such removal keeps back only that one. Changes that give access are left out if a rule or a
 * limit of the run (`ofRun`) refuses anything, or if the role is not live yet. A removal that is due and deferred is
 * left out as well, but stays listed as deferred, so that nobody assumes that it is done.
 */
export function planDue(unordered: PlanInput, ofRun: readonly Refusal[] = []): Plan {
  const input = orderedInput(unordered);
  const proposed = proposeChanges(input);
  const ended = endedAccess(proposed, input);
  const due = proposed.members.changes.filter(
    (change) => givesAccess(change) && dueSince(change, input.desired, input.now) !== null,
  );
  const giving = due.flatMap((change) => withLiveRoles(change) ?? []);
  const leftOut = [
    ...proposed.members.changes.flatMap((change) => leftOutOf(change, input)),
    ...due.flatMap(lackingRoles),
  ];
  const { plan, kept } = withGiven(ended, giving, proposed, input, ofRun);
  return reported(plan, [...proposed.members.laterFindingData, ...leftOut, ...kept, ...ended.unmatched]);
}

/**
 * Plans only the removal of access that has ended. No rule refuses the plan: access that a rule keeps causes a warning.
 */
export function planEnded(unordered: PlanInput): Plan {
  const input = orderedInput(unordered);
  const { plan, kept, unmatched } = endedAccess(proposeChanges(input), input);
  return reported(plan, [...kept, ...unmatched]);
}

/** Returns why a plan of what is due keeps access that has ended; empty if it keeps none. */
export function keptAccess({ findings }: Pick<Plan, "findings">): readonly string[] {
  return findings.flatMap(({ code, message }) => (code === "due-kept" ? message : []));
}

/**
 * Returns the plan that removes ended access, to replace one that is refused or has errors, with a warning for each
 * change that grants access and is left out.
 */
export function endedInstead(
  refused: Plan,
  refusals: readonly Pick<Refusal, "message" | "override" | "rules">[],
  ended: Plan,
): Plan {
  const because = [
    ...refusals.map(({ message, override, rules }) => ({
      message,
      override:
        rules === undefined && override !== null && isBoundToPeople(override)
          ? `${override}@${refused.fingerprint.slice(0, MIN_FINGERPRINT_LENGTH)}`
          : null,
    })),
    ...refused.findings.filter(isRoleError).map(({ message }) => ({ message, override: null })),
  ];
  const leftOut = refused.changes
    .filter(givesAccess)
    .map(({ name }): FindingData => ({ code: "due-left-out", name, because }));
  return reported(ended, leftOut);
}

/**
 * Returns whether an error is about a role: rules may then be judged incorrectly. Other errors concern only a member.
 */
function isRoleError({ severity, resource }: Finding): boolean {
  return severity === "error" && resource === "role";
}

/** Adds findings to a plan, with its errors as warnings, since they concern nothing that the plan changes. */
function reported(plan: Plan, data: readonly FindingData[]): Plan {
  return { ...plan, findings: [...plan.findings, ...data.map(toFinding)].map(asWarning) };
}

function asWarning(finding: Finding): Finding {
  return { ...finding, severity: "warning" };
}

/** The plan that removes ended access, and its changes. */
interface EndedAccess {
  readonly plan: Plan;
  readonly taking: readonly MemberChange[];
  /** The changes that would remove all ended access. */
  readonly candidates: readonly MemberChange[];
  /** Access that rules keep. */
  readonly kept: readonly FindingData[];
  /** Access that is kept because it may belong to somebody else. */
  readonly unmatched: readonly FindingData[];
}

/** Removes all ended access except what a rule refuses to remove. */
function endedAccess(proposed: ProposedChanges, input: PlanInput): EndedAccess {
  const { desired, leaveOut, now } = input;
  const candidates = [...proposed.members.changes, ...proposed.members.unresolved].flatMap((change) => {
    const isEnded = !givesAccess(change) && dueSince(change, desired, now) !== null;
    const part = isEnded ? change : endedPart(change, input);
    return part === null || leaveOut?.has(part.fingerprint) ? [] : part;
  });
  const kept: FindingData[] = [];
  let taking: readonly MemberChange[] = [];
  let plan: Plan | null = null;
  const take = (more: readonly MemberChange[]): readonly Refusal[] => {
    const ids = new Set(more.map(({ id }) => id));
    const together = [...taking.filter(({ id }) => !ids.has(id)), ...more];
    const tried = planTakings(together, proposed, input);
    if (tried.refusals.length > 0) return tried.refusals;
    taking = together;
    plan = tried;
    return [];
  };
  // Bisection finds the few that are refused without a plan for each.
  const takeAll = (changes: readonly MemberChange[]): void => {
    const refusals = take(changes);
    const [change, ...others] = changes;
    if (refusals.length === 0 || change === undefined) return;
    if (others.length > 0) {
      const half = Math.ceil(changes.length / 2);
      takeAll(changes.slice(0, half));
      takeAll(changes.slice(half));
      return;
    }
    kept.push({ code: "due-kept", name: change.name, because: refusals });
    let own = new Set<string | null>();
    for (const { id } of removedBy(change)) {
      const roles = new Set([...own, id]);
      const part = takingOnly(change, ({ id: other }) => roles.has(other));
      if (part !== null && part.fingerprint !== change.fingerprint && take([part]).length === 0) own = roles;
    }
  };
  takeAll(candidates.toSorted(by(takingOrder)));
  return {
    plan: plan ?? planTakings([], proposed, input),
    taking,
    candidates,
    kept,
    unmatched: unmatchedAccess(proposed, input),
  };
}

/**
 * Returns the sort key of changes that remove access: if a role must keep a holder, somebody who stays keeps it, and
 * no removal waits for an invitation that is removed as well.
 */
function takingOrder({ kind, reason, before, name, id }: MemberChange): string {
  const rank = before?.status !== "accepted" ? 0 : reason === "left" ? 1 : kind === "delete" ? 2 : 3;
  return `${rank} ${name} ${id}`;
}

/**
 * Adds the changes that grant access, unless anything refuses them or cannot be judged reliably. Access that a rule
 * keeps is removed if those who gain access make up for it, as the next holder of a role does.
 */
function withGiven(
  { plan, taking, candidates, kept }: EndedAccess,
  giving: readonly MemberChange[],
  proposed: ProposedChanges,
  input: PlanInput,
  ofRun: readonly Refusal[],
): Pick<EndedAccess, "plan" | "kept"> {
  if (giving.length === 0) return { plan, kept };
  const ids = new Set(giving.map(({ id }) => id));
  const planWith = (takings: readonly MemberChange[]): Plan =>
    planSelected([...takings.filter(({ id }) => !ids.has(id)), ...giving], proposed, input);
  const refusalsOf = (due: Plan): readonly Refusal[] => [...due.refusals, ...ofRun];
  const isPossible = (due: Plan): boolean => refusalsOf(due).length === 0 && !due.findings.some(isRoleError);
  const whole = planWith(kept.length === 0 ? taking : candidates);
  if (isPossible(whole)) return { plan: whole, kept: [] };
  const due = kept.length === 0 ? whole : planWith(taking);
  return { plan: isPossible(due) ? due : endedInstead(due, refusalsOf(due), plan), kept };
}

/** Plans some of the changes that remove ended access. Violations that these cannot cause are warnings. */
function planTakings(selected: readonly MemberChange[], proposed: ProposedChanges, input: PlanInput): Plan {
  const plan = planSelected(selected, proposed, input);
  const others = plan.refusals.filter((refusal) => !isOfLoss(refusal));
  return {
    ...plan,
    refusals: plan.refusals.filter(isOfLoss),
    findings: [...plan.findings, ...others.map(toExistingViolation)],
  };
}

/** Plans some of the members' changes, and leaves out all others. */
function planSelected(selected: readonly MemberChange[], proposed: ProposedChanges, input: PlanInput): Plan {
  const { desired, leaveOut = [], now } = input;
  const { changes: all, unchanged } = proposed.members;
  const byKey = new Map(selected.map((change) => [keyOf(change), change]));
  const found = new Set(all.map(keyOf));
  const added = selected.filter((change) => !found.has(keyOf(change)));
  const parts: ProposedChanges = {
    ...proposed,
    members: {
      ...proposed.members,
      changes: [...all.map((change) => byKey.get(keyOf(change)) ?? change), ...added],
      unchanged: unchanged - added.length,
      laterFindingData: [],
    },
  };
  const isSelected = (change: Change): boolean =>
    change.resource === "member" &&
    byKey.has(keyOf(change)) &&
    (dueSince(change, desired, now) !== null || endedPart(change, input)?.fingerprint === change.fingerprint);
  const whole = planChanges(input, parts);
  const otherChanges = [
    ...whole.changes.filter((change) => !isSelected(change)),
    ...whole.deferred.map(({ change }) => change),
  ];
  const out = new Set([...leaveOut, ...otherChanges.map(({ fingerprint }) => fingerprint)]);
  const plan = otherChanges.length === 0 ? whole : planChanges({ ...input, leaveOut: out }, parts);
  const listed = new Set(plan.deferred.map(({ change }) => change.fingerprint));
  const waiting = whole.deferred.filter(
    ({ change }) => !listed.has(change.fingerprint) && isSelected(change),
  );
  return waiting.length === 0 ? plan : { ...plan, deferred: [...plan.deferred, ...waiting] };
}

function keyOf({ id, name }: MemberChange): string {
  return id ?? name;
}

/** Reports entries with ended access whose members cannot be identified. */
function unmatchedAccess(
  { members, scope }: ProposedChanges,
  { desired, now }: PlanInput,
): readonly FindingData[] {
  const names = new Map(scope.roles.map(({ id, name }) => [id, name]));
  return members.findingData.flatMap((data): readonly FindingData[] => {
    if (data.code !== "member-ambiguous" && data.code !== "member-pin-missing") return [];
    const { name } = data;
    const entry = desired.members?.find(({ email }) => email === name);
    const people = scope.members.filter((member) => addressKeysOf(member).includes(name.toLowerCase()));
    if (entry === undefined) return [];
    const active = activeAt(entry, now);
    const isEnded = (id: string): boolean =>
      (endOf({ id, name: names.get(id) ?? id }, reasonOf(active), entry) ?? Number.POSITIVE_INFINITY) <= now;
    const keeps = active.absent === "ended" || people.some(({ roles }) => roles.some(isEnded));
    const { message, hint } = toFinding(data);
    return keeps ? [{ code: "due-kept", name, because: [{ message, hint: hint ?? "" }] }] : [];
  });
}

/** Returns the part of a change that takes ended access and nothing else; `null` if there is none. */
function endedPart(change: MemberChange, { desired, now }: PlanInput): MemberChange | null {
  const member = entryOf(change, desired);
  if (member === undefined) return null;
  // The membership of a previous address is removed for another reason, but its access has ended as well.
  const taking =
    change.kind === "delete" && change.reason === "address-changed"
      ? takingAll(change, reasonOf(activeAt(member, now)))
      : change;
  return takingOnly(taking, (ref) => (endOf(ref, taking.reason, member) ?? Number.POSITIVE_INFINITY) <= now);
}

/** Returns an update that takes all roles, to replace a removal. */
function takingAll(
  removal: Extract<MemberChange, { readonly kind: "delete" }>,
  reason: Reason,
): MemberChange {
  const { before } = removal;
  const after = withValues(before, { roles: [] });
  return { ...removal, kind: "update", reason, after, fields: memberDiffs(before, after) };
}

/** Returns the part of an update that takes only some of its removed roles; `null` if it takes none of them. */
function takingOnly(change: MemberChange, isTaken: (ref: RoleRef) => boolean): MemberChange | null {
  const removed = new Set(
    removedBy(change)
      .filter(isTaken)
      .map(({ id }) => id),
  );
  if (change.kind !== "update" || removed.size === 0) return null;
  const { before } = change;
  const after = withValues(before, { roles: before.roles.filter(({ id }) => !removed.has(id)) });
  return withFingerprint<MemberChange>({ ...change, after, fields: memberDiffs(before, after) });
}

function removedBy({ fields }: MemberChange): readonly RoleRef[] {
  return fields.flatMap((diff) => (diff.field === "roles" ? diff.removed : []));
}

/** Reports the due effects that are left out of changes that also do something else. */
function leftOutOf(change: MemberChange, input: PlanInput): readonly FindingData[] {
  const { desired, now } = input;
  const part = endedPart(change, input);
  const times = pastTimesOf(change, desired, now);
  const dated = times.filter((time) => time !== undefined).length - (part ? removedBy(part).length : 0);
  if (dated <= 0 || !times.includes(undefined)) return [];
  const because = change.kind === "create" && change.after.managed !== null ? "password" : "mixed";
  return [{ code: "due-left-out", name: change.name, because }];
}

/** Returns the part of a change that gives the roles that are live; `null` if it gives none of them. */
function withLiveRoles(change: MemberChange): MemberChange | null {
  const { before, after } = change;
  if (after === null || after.roles.every(isLiveRole)) return change;
  const live = withValues(after, { roles: after.roles.filter(isLiveRole) });
  const fields = before === null ? [] : memberDiffs(before, live);
  const part = withFingerprint<MemberChange>({ ...change, after: live, fields } as MemberChange);
  return live.roles.length > 0 && givesAccess(part) ? part : null;
}

/** Reports the roles that a change would give but that a full apply must create first. */
function lackingRoles({ name, after }: MemberChange): readonly FindingData[] {
  const roles = after?.roles.flatMap((ref) => (isLiveRole(ref) ? [] : ref.name)) ?? [];
  return roles.length === 0 ? [] : [{ code: "due-left-out", name, because: { roles } }];
}

function isLiveRole({ id }: RoleRef): boolean {
  return id !== null;
}

function givesAccess({ kind, fields }: Change): boolean {
  return (
    kind === "create" ||
    kind === "replace" ||
    fields.some((diff) => diff.field === "roles" && diff.added.length > 0)
  );
}
