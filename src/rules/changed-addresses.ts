import { samePeople } from "../kernel/diff/same-people.ts";
import type { FindingData } from "../kernel/findings/findings.ts";
import type { DesiredMember } from "../model/desired.ts";
import type { MemberChange } from "../model/plan.ts";

/** Finds people whom a plan removes and invites under another address. */
export function changedAddresses(
  changes: readonly MemberChange[],
): readonly Extract<FindingData, { code: "member-likely-renamed" }>[] {
  const gone = changes.flatMap((change) =>
    change.kind === "delete" && change.reason === "unlisted" && change.before.status === "accepted"
      ? [{ address: change.name, metadata: change.before.metadata }]
      : [],
  );
  if (gone.length === 0) return [];
  const come = changes.flatMap((change) =>
    change.kind === "create" ? [{ address: change.name, metadata: change.after.metadata }] : [],
  );
  return samePeople(gone, come).map(({ from, to }) => ({
    code: "member-likely-renamed",
    name: to.address,
    previously: from.address,
  }));
}

/** Returns whether the removal of an old membership takes a role that the new one does not hold. */
export function lostByNewAddress(
  { name, before }: MemberChange,
  entries: readonly DesiredMember[],
  rolesOf: (address: string) => readonly string[],
): boolean {
  const key = name.toLowerCase();
  const entry = entries.find(({ previously = [] }) =>
    previously.some((address) => address.toLowerCase() === key),
  );
  const held = new Set(entry === undefined ? [] : rolesOf(entry.email.toLowerCase()));
  return before?.roles.some(({ id }) => id !== null && !held.has(id)) ?? false;
}
