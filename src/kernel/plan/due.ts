import type { DesiredMember, Grant } from "../../model/desired.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type {
  Change,
  FieldDiff,
  Finding,
  MemberChange,
  MemberImage,
  Plan,
  Reason,
  Refusal,
} from "../../model/plan.ts";
import { withFingerprint } from "../diff/fingerprint.ts";
import { memberDiffs, withValues } from "../fields/member.ts";
import { type FindingData, toFinding } from "../findings/findings.ts";
import { toExistingViolation } from "../findings/refusals.ts";
import { isOfLoss } from "../rules/every-rule.ts";
import { isBoundToPeople, MIN_FINGERPRINT_LENGTH } from "../rules/overrides.ts";
import { addressesOfPerson } from "../values/person.ts";
import {
  orderedInput,
  type PlanInput,
  type ProposedChanges,
  planChanges,
  proposeChanges,
} from "./build-plan.ts";
import type { TimedState } from "./upcoming-dates.ts";

/**
 * Returns the time since which a change is due: it does nothing but what the file leaves to time, which has come. Removed
 * access has ended, or is suspended; given access has begun, or comes back after a suspension. In ms since the epoch;
 * `null` for any other change.
 */
export function dueSince(change: Change, desired: TimedState, now: number): number | null {
  return change.resource === "member" ? latest(pastTimesOf(change, desired, now)) : null;
}

/** Returns whether a change is due, or a part of it. */
export function isDueInPart(change: Change, desired: TimedState, now: number): boolean {
  return change.resource === "member" && pastTimesOf(change, desired, now).some((time) => time !== undefined);
}

/** Returns the times of what a change does, in ms since the epoch; `undefined` for what no date has brought. */
function pastTimesOf(
  change: MemberChange,
  desired: TimedState,
  now: number,
): readonly (number | undefined)[] {
  const isPast = (time: number | undefined): boolean => time !== undefined && time <= now;
  return timesOf(change, desired, isPast).map((time) => (isPast(time) ? time : undefined));
}

function timesOf(
  change: MemberChange,
  desired: TimedState,
  isPast: (time: number | undefined) => boolean,
): readonly (number | undefined)[] {
  const member = entryOf(change, desired);
  if (change.reason === "left") return [leftSince([change.name, member?.email], desired)];
  if (member === undefined) return [];
  switch (change.kind) {
    case "create":
      return creationTimes(change.after, change.reason, member);
    case "update":
      return change.fields.flatMap((diff) => updateTimes(diff, change.reason, member));
    case "delete":
      if (change.reason === "access-ended") return [endOfMembership(member)];
      // Between two grants, one has ended.
      return change.reason === "access-not-begun" ? endsOfGrants(member).filter(isPast) : [];
    case "replace": {
      const back = backTimes(change.reason, member);
      const times = change.fields.flatMap((diff) => updateTimes(diff, change.reason, member));
      return back.length === 0 ? [undefined] : [...times, ...back];
    }
    default:
      return change satisfies never;
  }
}

/** Returns the latest of several times; `null` if there is none, or if one is unknown. */
function latest(times: readonly (number | undefined)[]): number | null {
  if (times.length === 0) return null;
  const last = Math.max(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(last) ? last : null;
}

function endOfMembership(member: DesiredMember): number {
  const ends = endsOfGrants(member);
  const last = ends.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...ends);
  return Math.min(member.until?.ends ?? Number.POSITIVE_INFINITY, last);
}

function endsOfGrants({ roles = [] }: DesiredMember): readonly number[] {
  return roles.map((grant) => grant.until?.ends ?? Number.POSITIVE_INFINITY);
}

/**
 * Returns when a membership began: by itself, with the first of its grants, or after a suspension. A managed user needs a
 * password, which time does not give.
 */
function creationTimes(
  { roles, managed }: MemberImage,
  reason: Reason,
  member: DesiredMember,
): readonly (number | undefined)[] {
  const starts = roles.map((ref) => grantOf(ref, member)?.from?.starts);
  const isDated = starts.length > 0 && !starts.includes(undefined);
  return [
    ...(managed === null ? [] : [undefined]),
    ...(isDated ? [Math.min(...starts.map((time) => time ?? 0))] : []),
    ...(member.from?.starts === undefined ? [] : [member.from.starts]),
    ...backTimes(reason, member),
  ];
}

/** Returns the end of the suspension that a member is back from; empty for any other reason. */
function backTimes(reason: Reason, { suspended }: DesiredMember): readonly number[] {
  return reason === "suspension-ended" && suspended?.until ? [suspended.until.ends] : [];
}

function updateTimes(
  diff: FieldDiff,
  reason: Reason,
  member: DesiredMember,
): readonly (number | undefined)[] {
  if (diff.field !== "roles") return [undefined];
  const { from } = member;
  const added = diff.added.flatMap((ref) => {
    const starts = [from?.starts, grantOf(ref, member)?.from?.starts, ...backTimes(reason, member)].filter(
      (time) => time !== undefined,
    );
    return starts.length === 0 ? [undefined] : starts;
  });
  return [...added, ...diff.removed.map((ref) => endOf(ref, reason, member))];
}

/** Returns when a role that is removed has ended. A declared one is removed only after its end, or while it is suspended. */
function endOf(ref: RoleRef, reason: Reason, member: DesiredMember): number | undefined {
  const grant = grantOf(ref, member);
  const isDeclared = grant !== undefined || member.roles === undefined;
  return reason === "suspended" && isDeclared ? member.suspended?.from?.starts : grant?.until?.ends;
}

function grantOf({ id, name }: RoleRef, { roles = [] }: DesiredMember): Grant | undefined {
  return roles.find(({ role }) => role === name || role === id);
}

function entryOf({ id, name }: MemberChange, { members = [] }: TimedState): DesiredMember | undefined {
  return (
    members.find((member) => member.id !== undefined && member.id === id) ??
    members.find(({ email }) => email.toLowerCase() === name.toLowerCase()) ??
    members.find((member) => addressesOfPerson(member).includes(name.toLowerCase()))
  );
}

function leftSince(
  addresses: readonly (string | undefined)[],
  { leavers = [] }: TimedState,
): number | undefined {
  const keys = new Set(addresses.map((address) => address?.toLowerCase()));
  const times = leavers.flatMap(({ email, from }) => (keys.has(email.toLowerCase()) ? from.starts : []));
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * Plans only the changes that are due: everything else is left out. Of a change that does more, what takes ended access is
 * made alone. If a rule, a limit of the run (`ofRun`) or an error stops the changes together, what gives access is left out
 * too where that helps: nothing else must keep access that has ended. What is due and left out is a warning. A removal that
 * is due and deferred is left out as well, but stays listed as deferred, so that nobody takes it for done.
 */
export function planDue(unordered: PlanInput, ofRun: readonly Refusal[] = []): Plan {
  const input = orderedInput(unordered);
  const proposed = proposeChanges(input);
  const due = planOfDue(proposed, input, false);
  const refusals = [...due.refusals, ...ofRun];
  const plan = endedInstead(due, refusals, () => planTakings(proposed, input)) ?? due;
  const leftOut = proposed.members.changes.flatMap((change) => leftOutOf(change, input));
  // A role that nobody holds yet keeps no ended access.
  const later = proposed.members.laterFindingData.map(toFinding);
  const warnings = [...later.map(asWarning), ...leftOut.map(toFinding)];
  return warnings.length === 0 ? plan : { ...plan, findings: [...plan.findings, ...warnings] };
}

/** Plans only what takes access that has ended. */
export function planEnded(unordered: PlanInput): Plan {
  const input = orderedInput(unordered);
  return planTakings(proposeChanges(input), input);
}

/**
 * Returns the plan of what takes ended access in place of one that is refused or has errors, with a warning for each change
 * that gives access and is left out; `null` if nothing stops the plan, or the other one is stopped as well.
 */
export function endedInstead(stopped: Plan, refusals: readonly Refusal[], ended: () => Plan): Plan | null {
  const errors = errorsIn(stopped);
  if (refusals.length + errors.length === 0) return null;
  const plan = ended();
  // An error stays one where nothing can be taken.
  if (plan.refusals.length > 0 || errorsIn(plan).length > 0) return null;
  if (errors.length > 0 && plan.changes.length === 0) return null;
  const reasons = [
    ...errors.map(({ message }) => ({ message, override: null })),
    ...refusals.map(({ message, override, rules }) => ({
      message,
      override:
        rules === undefined && override !== null && isBoundToPeople(override)
          ? `${override}@${stopped.fingerprint.slice(0, MIN_FINGERPRINT_LENGTH)}`
          : null,
    })),
  ];
  const leftOut = stopped.changes
    .filter(givesAccess)
    .map(({ name }) => toFinding({ code: "due-left-out", name, because: reasons }));
  return { ...plan, findings: [...plan.findings, ...leftOut] };
}

function errorsIn({ findings }: Plan): readonly Finding[] {
  return findings.filter(({ severity }) => severity === "error");
}

function asWarning(finding: Finding): Finding {
  return { ...finding, severity: "warning" };
}

/** Plans what takes ended access. Whatever else is wrong at the merchant is a warning, also the rules that this cannot break. */
function planTakings(proposed: ProposedChanges, input: PlanInput): Plan {
  const plan = planOfDue(proposed, input, true);
  const others = plan.refusals.filter((refusal) => !isOfLoss(refusal));
  return {
    ...plan,
    refusals: plan.refusals.filter(isOfLoss),
    findings: [...plan.findings.map(asWarning), ...others.map(toExistingViolation)],
  };
}

function planOfDue(proposed: ProposedChanges, input: PlanInput, onlyTaking: boolean): Plan {
  const { desired, leaveOut = [] } = input;
  const duePart = (change: MemberChange): MemberChange | null =>
    dueSince(change, desired, input.now) !== null && !(onlyTaking && givesAccess(change))
      ? change
      : endedPart(change, input);
  const dueParts = proposed.members.changes.map(duePart);
  const isDue = new Set(dueParts.flatMap((change) => change?.fingerprint ?? []));
  const changes = proposed.members.changes.map((change, index) => dueParts[index] ?? change);
  const parts = { ...proposed, members: { ...proposed.members, changes, laterFindingData: [] } };
  const whole = planChanges(input, parts);
  const otherChanges = [
    ...whole.changes.filter(({ fingerprint }) => !isDue.has(fingerprint)),
    ...whole.deferred.map(({ change }) => change),
  ];
  const out = new Set([...leaveOut, ...otherChanges.map(({ fingerprint }) => fingerprint)]);
  const plan = otherChanges.length === 0 ? whole : planChanges({ ...input, leaveOut: out }, parts);
  const listed = new Set(plan.deferred.map(({ change }) => change.fingerprint));
  const waiting = whole.deferred.filter(
    ({ change }) => !listed.has(change.fingerprint) && dueSince(change, desired, input.now) !== null,
  );
  return waiting.length === 0 ? plan : { ...plan, deferred: [...plan.deferred, ...waiting] };
}

/** Returns the part of an update that takes ended access and nothing else; `null` if there is none. */
function endedPart(change: MemberChange, { desired, now }: PlanInput): MemberChange | null {
  const member = entryOf(change, desired);
  if (change.kind !== "update" || member === undefined) return null;
  // Who is suspended holds nothing, also none of the roles that no file lists.
  const isSuspended = change.reason === "suspended" && (member.suspended?.from?.starts ?? now + 1) <= now;
  const isEnded = (ref: RoleRef): boolean =>
    isSuspended || (endOf(ref, change.reason, member) ?? Number.POSITIVE_INFINITY) <= now;
  const removed = change.fields.flatMap((diff) =>
    diff.field === "roles" ? diff.removed.filter(isEnded) : [],
  );
  if (removed.length === 0) return null;
  const { before } = change;
  const after = withValues(before, {
    roles: before.roles.filter((ref) => !removed.some(({ id }) => id === ref.id)),
  });
  return withFingerprint<MemberChange>({ ...change, after, fields: memberDiffs(before, after) });
}

/** Reports what dates bring and a change has together with something else. */
function leftOutOf(change: MemberChange, input: PlanInput): readonly FindingData[] {
  const { desired, now } = input;
  const ended = endedPart(change, input)?.fields.flatMap((diff) =>
    diff.field === "roles" ? diff.removed : [],
  );
  const times = pastTimesOf(change, desired, now);
  const dated = times.filter((time) => time !== undefined).length - (ended?.length ?? 0);
  if (dated <= 0 || !times.includes(undefined)) return [];
  const because = change.kind === "create" && change.after.managed !== null ? "password" : "mixed";
  return [{ code: "due-left-out", name: change.name, because }];
}

function givesAccess({ kind, fields }: Change): boolean {
  return (
    kind === "create" ||
    kind === "replace" ||
    fields.some((diff) => diff.field === "roles" && diff.added.length > 0)
  );
}
