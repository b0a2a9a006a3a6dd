import type { DesiredMember, Grant } from "../../model/desired.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { Change, FieldDiff, MemberChange, MemberImage, Plan, Reason } from "../../model/plan.ts";
import { buildPlan, type PlanInput } from "./build-plan.ts";
import type { TimedState } from "./upcoming-dates.ts";

/**
 * Returns the time since which a change is due: it does nothing but what the file leaves to time, which has come. Removed
 * access has ended, or is suspended; given access has begun, or comes back after a suspension. In ms since the epoch;
 * `null` for any other change.
 */
export function dueSince(change: Change, desired: TimedState): number | null {
  if (change.resource !== "member") return null;
  const member = entryOf(change, desired);
  if (change.reason === "left") return leftSince([change.name, member?.email], desired);
  if (member === undefined) return null;
  switch (change.kind) {
    case "create":
      return latest(creationTimes(change.after, change.reason, member));
    case "update":
      return latest(change.fields.flatMap((diff) => updateTimes(diff, change.reason, member)));
    case "delete":
      return change.reason === "access-ended" ? latest([endOfMembership(member)]) : null;
    case "replace": {
      const back = backTimes(change.reason, member);
      const times = change.fields.flatMap((diff) => updateTimes(diff, change.reason, member));
      return back.length === 0 ? null : latest([...times, ...back]);
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

function endOfMembership({ until, roles = [] }: DesiredMember): number {
  const ends = roles.map((grant) => grant.until?.ends ?? Number.POSITIVE_INFINITY);
  const last = ends.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...ends);
  return Math.min(until?.ends ?? Number.POSITIVE_INFINITY, last);
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
  if (managed !== null) return [];
  const starts = roles.map((ref) => grantOf(ref, member)?.from?.starts);
  const isDated = starts.length > 0 && !starts.includes(undefined);
  return [
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
  const { from, suspended } = member;
  const added = diff.added.flatMap((ref) => {
    const starts = [from?.starts, grantOf(ref, member)?.from?.starts, ...backTimes(reason, member)].filter(
      (time) => time !== undefined,
    );
    return starts.length === 0 ? [undefined] : starts;
  });
  // A declared role is removed only after its end, or while it is suspended.
  const removed = diff.removed.map((ref) => {
    const grant = grantOf(ref, member);
    const isDeclared = grant !== undefined || member.roles === undefined;
    return reason === "suspended" && isDeclared ? suspended?.from?.starts : grant?.until?.ends;
  });
  return [...added, ...removed];
}

function grantOf({ id, name }: RoleRef, { roles = [] }: DesiredMember): Grant | undefined {
  return roles.find(({ role }) => role === name || role === id);
}

function entryOf({ id, name }: MemberChange, { members = [] }: TimedState): DesiredMember | undefined {
  return (
    members.find((member) => member.id !== undefined && member.id === id) ??
    members.find(({ email }) => email.toLowerCase() === name.toLowerCase()) ??
    members.find(({ previously = [] }) =>
      previously.some((address) => address.toLowerCase() === name.toLowerCase()),
    )
  );
}

function leftSince(addresses: readonly (string | undefined)[], { leavers = [] }: TimedState): number | null {
  const keys = new Set(addresses.map((address) => address?.toLowerCase()));
  const times = leavers.flatMap(({ email, from }) => (keys.has(email.toLowerCase()) ? from.starts : []));
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * Plans only the changes that are due: everything else is left out. If a rule refuses them together, what gives access is
 * left out too where that helps: it must not keep access that has ended. A removal that is due and deferred is left out as
 * well, but stays listed as deferred, so that nobody takes it for done.
 */
export function planDue(input: PlanInput): Plan {
  const whole = buildPlan(input);
  const plan = planOfDue(whole, input);
  const listed = new Set(plan.deferred.map(({ change }) => change.fingerprint));
  const waiting = whole.deferred.filter(
    ({ change }) => !listed.has(change.fingerprint) && dueSince(change, input.desired) !== null,
  );
  return waiting.length === 0 ? plan : { ...plan, deferred: [...plan.deferred, ...waiting] };
}

function planOfDue(whole: Plan, input: PlanInput): Plan {
  const undated = whole.changes.filter((change) => dueSince(change, input.desired) === null);
  const later = whole.deferred.map(({ change }) => change);
  const due = undated.length + later.length === 0 ? whole : without([...undated, ...later], input);
  const giving = due.changes.filter(givesAccess);
  if (due.refusals.length === 0 || giving.length === 0) return due;
  const removals = without([...undated, ...later, ...giving], input);
  return removals.refusals.length === 0 ? removals : due;
}

function without(changes: readonly Change[], input: PlanInput): Plan {
  const leaveOut = new Set([...(input.leaveOut ?? []), ...changes.map(({ fingerprint }) => fingerprint)]);
  return buildPlan({ ...input, leaveOut });
}

function givesAccess({ kind, fields }: Change): boolean {
  return (
    kind === "create" ||
    kind === "replace" ||
    fields.some((diff) => diff.field === "roles" && diff.added.length > 0)
  );
}
