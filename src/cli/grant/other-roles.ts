import { oneLine } from "../../lib/escape.ts";
import type { DesiredMember, DesiredState } from "../../model/desired.ts";
import {
  type AccessRequest,
  type ChangedRole,
  cannotExpress,
  listedAs,
  openCurrentRoles,
} from "./access-request.ts";

/** A role for a period, in ms since the epoch. */
interface HeldRole {
  readonly role: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Throws RolecallError if patched files change other roles of the person than the requested ones: a shared entry may
 * set dates that also limit what a merchant's own file grants.
 */
export function checkOtherRoles(
  before: DesiredState,
  after: DesiredState | undefined,
  request: AccessRequest,
  changed: readonly ChangedRole[],
  now: number,
): void {
  const { email, listed } = listedAs(request, before);
  const had = heldRoles(listed, before, now);
  const has = after === undefined ? [] : heldRoles(listedAs(request, after).listed, after, now);
  const isRequested = ({ role }: HeldRole): boolean => changed.some((one) => one.role === role);
  const isIn = (list: readonly HeldRole[], { role, start, end }: HeldRole): boolean =>
    list.some((other) => other.role === role && other.start <= start && other.end >= end);
  const gained = has.find((held) => !isIn(had, held) && (request.kind === "revoke" || !isRequested(held)));
  const lost = had.find((held) => !isIn(has, held) && !isRequested(held));
  const other = gained ?? lost;
  if (other === undefined) return;
  throw cannotExpress(
    `${oneLine(email)} would also ${gained === undefined ? "lose" : "get"} ${oneLine(other.role)} at ${before.merchant}, since the files share an entry.`,
    "Choose another file with --file, or change the files by hand. Nothing was changed.",
  );
}

/** Returns the roles of a person from now on, by their current names. */
function heldRoles(member: DesiredMember | null, state: DesiredState, now: number): readonly HeldRole[] {
  const currentRole = openCurrentRoles(state);
  return (member?.roles ?? []).flatMap(({ role, from, until }): readonly HeldRole[] => {
    const start = Math.max(now, member?.from?.starts ?? now, from?.starts ?? now);
    const end = Math.min(endOf(member?.until), endOf(until));
    return start < end ? [{ role: currentRole(role), start, end }] : [];
  });
}

function endOf(until: DesiredMember["until"]): number {
  return until?.ends ?? Number.POSITIVE_INFINITY;
}
