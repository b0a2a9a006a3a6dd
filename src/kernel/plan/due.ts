import { canonicalJson } from "../../lib/json-text.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type { DesiredMember, DesiredState, Grant } from "../../model/desired.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { LiveState } from "../../model/live.ts";
import type { Change, FieldDiff, MemberChange, MemberImage, Plan, Reason } from "../../model/plan.ts";
import { type Approval, textHash } from "./approve.ts";
import { buildPlan, type PlanInput } from "./build-plan.ts";
import { hasBeginnings, type TimedState } from "./upcoming-dates.ts";

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

/**
 * Returns the custom roles that a change gives and that grant something else than the file declares, or are not declared in
 * it: nobody has reviewed what they grant by now, so time alone must not give them.
 */
export function unpinnedRoles(
  change: Change,
  { roles = [] }: Pick<DesiredState, "roles">,
  live: Pick<LiveState, "roles">,
  { changes }: Pick<Plan, "changes">,
): readonly string[] {
  const isUnpinned = ({ id }: RoleRef): boolean => {
    const role = live.roles.find((one) => one.id === id);
    // One without an id is created by the plan.
    if (role === undefined || role.predefined) return false;
    if (changes.some((one) => one.resource === "role" && one.id === id)) return false;
    const declared = roles.find((one) => one.id === id || one.name === role.name)?.permissions;
    return declared === undefined || setText(declared) !== setText(role.permissions);
  };
  return givenRoles(change)
    .filter(isUnpinned)
    .map(({ name }) => name);
}

function givenRoles(change: Change): readonly RoleRef[] {
  if (change.resource !== "member") return [];
  if (change.kind === "create" || change.kind === "replace") return change.after.roles;
  return change.fields.flatMap((diff) => (diff.field === "roles" ? diff.added : []));
}

function setText(texts: readonly string[]): string {
  return canonicalJson([...new Set(texts)].sort(byCodeUnit));
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
    ...(isDated ? [Math.min(...starts.map((at) => at ?? 0))] : []),
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
      (at) => at !== undefined,
    );
    return starts.length === 0 ? [undefined] : starts;
  });
  // A declared role is removed only after its end, or while it is suspended.
  const removed = diff.removed.map((ref) => {
    const grant = grantOf(ref, member);
    return reason === "suspended" && grant !== undefined ? suspended?.from?.starts : grant?.until?.ends;
  });
  return [...added, ...removed];
}

function grantOf({ id, name }: RoleRef, { roles = [] }: DesiredMember): Grant | undefined {
  return roles.find(({ role }) => role === name || role === id);
}

function entryOf({ id, name }: MemberChange, { members = [] }: TimedState): DesiredMember | undefined {
  return (
    members.find((member) => member.id !== undefined && member.id === id) ??
    members.find(({ email }) => email.toLowerCase() === name.toLowerCase())
  );
}

function leftSince(addresses: readonly (string | undefined)[], { leavers = [] }: TimedState): number | null {
  const keys = new Set(addresses.map((address) => address?.toLowerCase()));
  const times = leavers.flatMap(({ email, from }) => (keys.has(email.toLowerCase()) ? from.starts : []));
  return times.length === 0 ? null : Math.min(...times);
}

/** Hashes what a state leaves to time: the dates of access, and how old an invitation may become. */
export function hashOfTimes(
  { merchant, members = [], leavers = [], sync }: TimedState & Pick<DesiredState, "merchant" | "sync">,
  key: string,
): string {
  const ends = members.flatMap(({ email, until, roles = [] }): readonly string[] => {
    const grants = roles.flatMap((one) => (one.until ? [canonicalJson([one.role, one.until.ends])] : []));
    if (until === undefined && grants.length === 0) return [];
    return [canonicalJson([email.toLowerCase(), until?.ends ?? null, grants.sort(byCodeUnit)])];
  });
  const { reinvite } = sync;
  const renewal = typeof reinvite === "boolean" ? reinvite : reinvite.ms;
  const others = [
    ...leavers.map(({ email, from }) => canonicalJson([email.toLowerCase(), from.starts])),
    ...members.filter(hasBeginnings).map(({ email, from, suspended, roles = [] }) => {
      const grants = roles.flatMap((one) => (one.from ? [canonicalJson([one.role, one.from.starts])] : []));
      const away = suspended && [suspended.from?.starts ?? null, suspended.until?.ends ?? null];
      const own = from?.starts ?? null;
      return canonicalJson([email.toLowerCase(), own, away ?? null, grants.sort(byCodeUnit)]);
    }),
  ];
  // Without others the text is that of earlier versions, whose approvals still count.
  const times = [ends, ...(others.length > 0 ? [others] : [])].map((all) => all.sort(byCodeUnit));
  return textHash(canonicalJson([merchant, renewal, ...times]), key);
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
  const others = whole.changes.filter((change) => dueSince(change, input.desired) === null);
  const later = whole.deferred.map(({ change }) => change);
  const due = others.length + later.length === 0 ? whole : without([...others, ...later], input);
  const giving = due.changes.filter(givesAccess);
  if (due.refusals.length === 0 || giving.length === 0) return due;
  const removals = without([...others, ...later, ...giving], input);
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

/**
 * Checks if an approval holds for a fresh plan, like `check`, where what follows from time alone needs no approval: the
 * changes by which the fresh plan differs from that of the same states at the time of the approval.
 */
export function approveOverTime(
  fresh: Plan,
  planThen: () => Plan,
  check: (plan: Plan) => Approval,
): Approval {
  const now = check(fresh);
  if (now.status !== "new-changes") return now;
  const then = planThen();
  const before = check(then);
  if (before.status === "approved") return before;
  if (before.status !== "new-changes") return now;
  const same = new Set(then.changes.map(({ fingerprint }) => fingerprint));
  const unapproved = new Set(before.changes.map(targetOf));
  const changes = now.changes.filter(
    (change) => same.has(change.fingerprint) || unapproved.has(targetOf(change)),
  );
  return changes.length === 0 ? { status: "approved" } : { status: "new-changes", changes };
}

function targetOf({ resource, name }: Change): string {
  return `${resource} ${name}`;
}
