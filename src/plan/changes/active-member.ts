import type { DesiredMember, From, Leaver, Until } from "../../model/desired.ts";
import type { LiveMember } from "../../model/live.ts";
import { addressKeysOf } from "../match.ts";

/** A declared member at one time, without the grants that have ended. */
export interface ActiveMember {
  readonly member: DesiredMember;
  /** `true` if the membership or all its grants have ended. */
  readonly expired: boolean;
  /** `true` if the membership or a grant has ended. */
  readonly partlyExpired: boolean;
}

/** Returns a declared member at a time, in ms since the epoch. */
export function activeAt(member: DesiredMember, now: number): ActiveMember {
  const { roles } = member;
  if (isPast(member.until, now)) return { member, expired: true, partlyExpired: true };
  if (roles === undefined || !roles.some((grant) => isPast(grant.until, now))) {
    return { member, expired: false, partlyExpired: false };
  }
  const left = roles.filter((grant) => !isPast(grant.until, now));
  return { member: { ...member, roles: left }, expired: left.length === 0, partlyExpired: true };
}

/** Returns whether an end is past. */
export function isPast(until: Until | undefined, now: number): boolean {
  return until !== undefined && until.ends <= now;
}

/** Returns whether a beginning is past; access without one has begun. */
function hasBegun(from: From | undefined, now: number): boolean {
  return from === undefined || from.starts <= now;
}

/** Returns whether an entry only adds to a member that exists: it comes from an included file and grants no roles. */
export function isMention({ roles, managed, origin }: DesiredMember, file: string): boolean {
  return roles === undefined && managed === undefined && origin.file !== file;
}

/** Returns the addresses, in lower case, of those who have left at a time, in ms since the epoch. */
export function leftAt(leavers: readonly Leaver[] | undefined, now: number): ReadonlySet<string> {
  return new Set(
    (leavers ?? []).flatMap(({ email, from }) => (hasBegun(from, now) ? email.toLowerCase() : [])),
  );
}

/** Live members and entries, divided at those who have left. */
export interface LeaverDivision {
  /** The live members of their addresses, and those that entries of their addresses are pinned to. */
  readonly leaving: readonly LiveMember[];
  readonly live: readonly LiveMember[];
  readonly entries: readonly DesiredMember[] | undefined;
  /** Entries of other addresses that are pinned to members who have left. */
  readonly pinned: readonly DesiredMember[];
}

/** Divides live members and entries at those who have left: whatever else the files say of these has no effect. */
export function divideLeavers(
  entries: readonly DesiredMember[] | undefined,
  live: readonly LiveMember[],
  left: ReadonlySet<string>,
): LeaverDivision {
  if (left.size === 0) return { leaving: [], live, entries, pinned: [] };
  const hasLeft = ({ email }: DesiredMember): boolean => left.has(email.toLowerCase());
  const pins = new Set(entries?.filter(hasLeft).flatMap(({ id }) => id ?? []));
  const isLeaving = (member: LiveMember): boolean =>
    pins.has(member.id) || addressKeysOf(member).some((address) => left.has(address));
  const leaving = live.filter(isLeaving);
  const gone = new Set(leaving.map(({ id }) => id));
  const staying = entries?.filter((entry) => !hasLeft(entry));
  return {
    leaving,
    live: live.filter(({ id }) => !gone.has(id)),
    entries: staying?.filter(({ id }) => id === undefined || !gone.has(id)),
    pinned: (staying ?? []).filter(({ id }) => id !== undefined && gone.has(id)),
  };
}
