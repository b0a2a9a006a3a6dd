import type { DesiredMember, From, Grant, Leaver, Until } from "../../model/desired.ts";
import type { Reason } from "../../model/plan.ts";

/** A declared member at a given time, with the grants that have begun and not ended; without grants while suspended. */
export interface ActiveMember {
  readonly member: DesiredMember;
  /**
   * Why there should be no membership: it or all its grants have ended, or have not begun; `null` if there should be
   * one.
   */
  readonly absent: "ended" | "not-begun" | null;
  readonly suspended: boolean;
  /** `true` if the file lists roles, whatever their dates. */
  readonly listsRoles: boolean;
  /** `true` if a suspension has ended. */
  readonly back: boolean;
  /** `true` if the membership or a grant has ended. */
  readonly partlyEnded: boolean;
  /** The roles that the member will hold later and does not hold now. */
  readonly laterRoles: readonly string[];
}

/** Returns a declared member at a time, in ms since the epoch. */
export function activeAt(member: DesiredMember, now: number): ActiveMember {
  const { roles, from, until, suspended } = member;
  const listsRoles = roles !== undefined;
  const ended = { member, suspended: false, listsRoles, back: false, laterRoles: [] } as const;
  if (isPast(until, now)) return { ...ended, absent: "ended", partlyEnded: true };
  const current = roles?.filter((grant) => !isPast(grant.until, now)) ?? [];
  const none = { ...ended, laterRoles: current.map(({ role }) => role) };
  if (!hasBegun(from, now)) return { ...none, absent: "not-begun", partlyEnded: false };
  const back = isPast(suspended?.until, now);
  const isAway = isSuspended(member, now);
  const active = roles?.filter((grant) => isInForce(grant, now));
  if (roles !== undefined && roles.length > 0 && active?.length === 0) {
    const isAwaited = roles.some((grant) => !hasBegun(grant.from, now));
    const absent = isAwaited ? "not-begun" : "ended";
    return { ...none, member: { ...member, roles: [] }, absent, partlyEnded: true };
  }
  const held = isAway ? [] : active;
  return {
    member: held === undefined || held.length === roles?.length ? member : { ...member, roles: held },
    absent: null,
    suspended: isAway,
    listsRoles,
    back,
    partlyEnded: roles?.some((grant) => isPast(grant.until, now)) ?? false,
    laterRoles: current.flatMap((grant) => (held?.includes(grant) ? [] : grant.role)),
  };
}

/** Returns whether the member of an entry is suspended at a time. */
export function isSuspended({ suspended }: DesiredMember, now: number): boolean {
  return suspended !== undefined && isInForce(suspended, now);
}

/** Returns whether a grant has begun and not ended. */
export function isInForce({ from, until }: Pick<Grant, "from" | "until">, now: number): boolean {
  return hasBegun(from, now) && !isPast(until, now);
}

/** Returns whether an end is past. */
export function isPast(until: Until | undefined, now: number): boolean {
  return until !== undefined && until.ends <= now;
}

/** Returns whether a beginning is past; access without a beginning has begun. */
export function hasBegun(from: From | undefined, now: number): boolean {
  return from === undefined || from.starts <= now;
}

/** Returns whether an entry only adds to an existing member: it comes from an included file and grants no roles. */
export function isMention({ roles, managed, origin }: DesiredMember, file: string): boolean {
  return roles === undefined && managed === undefined && origin.file !== file;
}

/** Returns the addresses, in lower case, of people who have left by a time, in ms since the epoch. */
export function leftAt(leavers: readonly Leaver[] | undefined, now: number): ReadonlySet<string> {
  return new Set(
    (leavers ?? []).flatMap(({ email, from }) => (hasBegun(from, now) ? email.toLowerCase() : [])),
  );
}

/** Returns why an entry's membership changes at the time of the entry's state. */
export function reasonOf({ suspended, back, partlyEnded }: ActiveMember): Reason {
  if (suspended) return "suspended";
  if (back) return "suspension-ended";
  return partlyEnded ? "access-ended" : "declared";
}
