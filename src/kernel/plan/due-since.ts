import type { DesiredMember, Grant } from "../../model/desired.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { Change, FieldDiff, MemberChange, MemberImage, Reason } from "../../model/plan.ts";
import { activeAt } from "../diff/active-member.ts";
import { addressesOfPerson } from "../values/person.ts";
import type { TimedState } from "./upcoming-dates.ts";

/**
 * Returns the time since which a change is due: all its effects are caused by dates in the file that have passed.
 * Removed access has ended or is suspended; granted access has begun or returns after a suspension. The time is in ms
 * since the epoch; `null` for any other change.
 */
export function dueSince(change: Change, desired: TimedState, now: number): number | null {
  return change.resource === "member" ? latest(pastTimesOf(change, desired, now)) : null;
}

/** Returns whether a change is due, entirely or in part. */
export function isDueInPart(change: Change, desired: TimedState, now: number): boolean {
  return change.resource === "member" && pastTimesOf(change, desired, now).some((time) => time !== undefined);
}

/**
 * Returns the times of the effects of a change, in ms since the epoch; `undefined` for an effect that no date has
 * caused.
 */
export function pastTimesOf(
  change: MemberChange,
  desired: TimedState,
  now: number,
): readonly (number | undefined)[] {
  return timesOf(change, desired, now).map((time) => (isPast(time, now) ? time : undefined));
}

function isPast(time: number | undefined, now: number): boolean {
  return time !== undefined && time <= now;
}

function timesOf(change: MemberChange, desired: TimedState, now: number): readonly (number | undefined)[] {
  const member = entryOf(change, desired);
  if (change.reason === "left") return [leftSince([change.name, member?.email], desired)];
  if (member === undefined) return [];
  switch (change.kind) {
    case "create":
      return creationTimes(change.after, change.reason, member);
    case "update":
      return change.fields.flatMap((diff) => updateTimes(diff, change.reason, member));
    case "delete":
      switch (change.reason === "invitation-expired" ? absenceOf(member, now) : change.reason) {
        case "access-ended":
          return [endOfMembership(member)];
        case "access-not-begun": {
          // Between two grants, the grant that the member still holds has ended; a suspended member holds none.
          const { roles: refs } = change.before;
          const held = refs.length === 0 ? member : { roles: refs.flatMap((ref) => grantsOf(ref, member)) };
          return endsOfGrants(held).filter((time) => isPast(time, now));
        }
        default:
          return [];
      }
    case "replace":
      // A renewed invitation takes all values from the file, like a new one.
      return backTimes(change.reason, member).length === 0
        ? [undefined]
        : creationTimes(change.after, change.reason, member);
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

/**
 * Returns why an entry should have no membership, so that an expired invitation is removed as well; `null` if it
 * should have one.
 */
function absenceOf(member: DesiredMember, now: number): Reason | null {
  const { absent } = activeAt(member, now);
  if (absent === null) return null;
  return absent === "ended" ? "access-ended" : "access-not-begun";
}

function endOfMembership(member: DesiredMember): number {
  const ends = endsOfGrants(member);
  const last = ends.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...ends);
  return Math.min(member.until?.ends ?? Number.POSITIVE_INFINITY, last);
}

function endsOfGrants({ roles = [] }: Pick<DesiredMember, "roles">): readonly number[] {
  return roles.map((grant) => grant.until?.ends ?? Number.POSITIVE_INFINITY);
}

/**
 * Returns when a membership began: by itself, with the first of its grants, or after a suspension. A managed user needs
 * a password, which no date provides.
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
  // A suspension also takes an undeclared role, but no date has granted that role.
  const isForeign = (ref: RoleRef): boolean =>
    member.roles !== undefined && grantOf(ref, member) === undefined;
  return [...added, ...diff.removed.map((ref) => (isForeign(ref) ? undefined : endOf(ref, reason, member)))];
}

/** Returns when a role that is removed has ended: when all its grants have ended, or for any role with a suspension. */
export function endOf(ref: RoleRef, reason: Reason, member: DesiredMember): number | undefined {
  const suspended = reason === "suspended" ? member.suspended?.from?.starts : undefined;
  if (suspended !== undefined) return suspended;
  const grants = grantsOf(ref, member);
  return grants.length === 0 ? undefined : Math.max(...endsOfGrants({ roles: grants }));
}

function grantOf(ref: RoleRef, member: DesiredMember): Grant | undefined {
  return grantsOf(ref, member)[0];
}

/** Returns the grants of a role: two if an entry grants it by its name and by its id. */
function grantsOf({ id, name }: RoleRef, { roles = [] }: DesiredMember): readonly Grant[] {
  return roles.filter(({ role }) => role === name || role === id);
}

/** Returns the entry of a changed member. */
export function entryOf({ id, name }: MemberChange, { members = [] }: TimedState): DesiredMember | undefined {
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
