import type { DesiredMember, Until } from "../../model/desired.ts";

/** A declared member at one moment: without the grants whose end is past. */
export interface MemberAt {
  readonly member: DesiredMember;
  /** The membership itself, or every one of its grants, has ended: nothing is left to have. */
  readonly gone: boolean;
  /** Something that the file still grants has ended. */
  readonly ended: boolean;
}

/** What a declared member has at a moment, in milliseconds since the epoch. */
export function memberAt(member: DesiredMember, now: number): MemberAt {
  const { roles } = member;
  if (isPast(member.until, now)) return { member, gone: true, ended: true };
  if (roles === undefined || !roles.some((grant) => isPast(grant.until, now))) {
    return { member, gone: false, ended: false };
  }
  const left = roles.filter((grant) => !isPast(grant.until, now));
  return { member: { ...member, roles: left }, gone: left.length === 0, ended: true };
}

function isPast(until: Until | undefined, now: number): boolean {
  return until !== undefined && until.ends <= now;
}
