import type { DesiredMember, Until } from "../../model/desired.ts";

/** A declared member at one moment: without the grants whose end is past. */
export interface ActiveMember {
  readonly member: DesiredMember;
  /** The membership itself, or every one of its grants, has ended. */
  readonly expired: boolean;
  /** Something that the file still grants has ended. */
  readonly partlyExpired: boolean;
}

/** What a declared member has at a moment, in milliseconds since the epoch. */
export function activeAt(member: DesiredMember, now: number): ActiveMember {
  const { roles } = member;
  if (isPast(member.until, now)) return { member, expired: true, partlyExpired: true };
  if (roles === undefined || !roles.some((grant) => isPast(grant.until, now))) {
    return { member, expired: false, partlyExpired: false };
  }
  const left = roles.filter((grant) => !isPast(grant.until, now));
  return { member: { ...member, roles: left }, expired: left.length === 0, partlyExpired: true };
}

function isPast(until: Until | undefined, now: number): boolean {
  return until !== undefined && until.ends <= now;
}
