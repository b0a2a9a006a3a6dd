import { canonicalJson } from "../lib/json-text.ts";
import { by, byCodeUnit } from "../lib/text.ts";
import type { DesiredMember, DesiredState } from "../model/desired.ts";
import type { Change, MemberChange, Plan } from "../model/plan.ts";
import { type Approval, textHash } from "./approve.ts";
import { buildPlan, type PlanInput } from "./build-plan.ts";
import { leftAt } from "./changes/active-member.ts";

/**
 * Returns the time since which a change is due: it does nothing but remove access whose end in the file has passed. In ms
 * since the epoch; `null` for any other change.
 */
export function dueSince(change: Change, desired: TimedState): number | null {
  if (change.resource !== "member") return null;
  const member = entryOf(change, desired);
  if (change.reason === "left") return leftSince([change.name, member?.email], desired);
  if (change.reason !== "access-ended" || member === undefined) return null;
  const { until, roles = [] } = member;
  if (change.kind === "delete") {
    const ends = roles.map((grant) => grant.until?.ends ?? Number.POSITIVE_INFINITY);
    return Math.min(until?.ends ?? Number.POSITIVE_INFINITY, Math.max(...ends));
  }
  const ends = change.fields.flatMap((diff): readonly number[] => {
    // A declared role is removed only after its end.
    if (diff.field !== "roles" || diff.added.length > 0) return [Number.POSITIVE_INFINITY];
    return diff.removed.map(({ id, name }) => {
      const grant = roles.find(({ role }) => role === name || role === id);
      return grant?.until?.ends ?? Number.POSITIVE_INFINITY;
    });
  });
  const last = Math.max(...ends);
  return Number.isFinite(last) ? last : null;
}

/** The part of a desired state that says when access ends. */
type TimedState = Pick<DesiredState, "members" | "leavers">;

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

/** Returns whether a state sets an end of somebody's access. */
export function hasEnds({ members = [], leavers = [] }: TimedState): boolean {
  return (
    leavers.length > 0 ||
    members.some(({ until, roles = [] }) => until !== undefined || roles.some((one) => one.until))
  );
}

/** Hashes what a state leaves to time: the ends of access, and how old an invitation may become. */
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
  const left = leavers.map(({ email, from }) => canonicalJson([email.toLowerCase(), from.starts]));
  // Without leavers the text is that of earlier versions, whose approvals still count.
  const times = [ends, ...(left.length > 0 ? [left] : [])].map((all) => all.sort(byCodeUnit));
  return textHash(canonicalJson([merchant, renewal, ...times]), key);
}

/** Plans only the changes that are due: everything else is left out. */
export function planDue(input: PlanInput): Plan {
  const plan = buildPlan(input);
  const others = plan.changes.filter((change) => dueSince(change, input.desired) === null);
  const later = plan.deferred.map(({ change }) => change);
  if (others.length + later.length === 0) return plan;
  const leaveOut = new Set([...others, ...later].map(({ fingerprint }) => fingerprint));
  return buildPlan({ ...input, leaveOut: new Set([...(input.leaveOut ?? []), ...leaveOut]) });
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

/** An end of access that is to come. */
export interface UpcomingEnd {
  /** The first moment without access, in ms since the epoch. */
  readonly ends: number;
  /** As the file writes it: the last day with access, or a timestamp; of a leaver the first moment without it. */
  readonly text: string;
  readonly email: string;
  /** Roles that end then; `null` for the whole membership. */
  readonly roles: readonly string[] | null;
  /** Set for a leaver: whether the merchant's files list the address. */
  readonly leaves?: "listed" | "unlisted";
}

/** Returns the ends of access that a file sets for times to come: the earliest first, then by address. */
export function upcomingEnds(
  { members = [], leavers = [] }: TimedState,
  now: number,
): readonly UpcomingEnd[] {
  const listed = new Set(leavers.length === 0 ? [] : members.map(({ email }) => email.toLowerCase()));
  const leaving = leavers
    .filter(({ from }) => from.starts > now)
    .map(({ email, from: { starts, text } }): UpcomingEnd => {
      const leaves = listed.has(email.toLowerCase()) ? "listed" : "unlisted";
      return { ends: starts, text, email, roles: null, leaves };
    });
  const left = leftAt(leavers, now);
  const ending = members
    .filter(({ email }) => !left.has(email.toLowerCase()))
    .flatMap(({ email, until, roles = [] }): readonly UpcomingEnd[] => {
      const last = until?.ends ?? Number.POSITIVE_INFINITY;
      if (last <= now) return [];
      const ending = roles.flatMap(({ role, until: end }) =>
        end !== undefined && end.ends > now && end.ends < last ? [{ role, end }] : [],
      );
      const times = [...new Map(ending.map(({ end }) => [end.ends, end])).values()];
      return [
        ...times.map(({ ends, text }) => {
          const own = ending.filter(({ end }) => end.ends === ends);
          return { ends, text, email, roles: own.map(({ role }) => role).sort() };
        }),
        ...(until === undefined ? [] : [{ ends: last, text: until.text, email, roles: null }]),
      ];
    });
  return [...leaving, ...ending].sort(
    (a, b) => a.ends - b.ends || by(({ email }: UpcomingEnd) => email)(a, b),
  );
}
