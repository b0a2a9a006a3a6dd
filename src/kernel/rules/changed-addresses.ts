import type { DesiredMember } from "../../model/desired.ts";
import type { LiveMember } from "../../model/live.ts";
import type { MemberChange } from "../../model/plan.ts";
import { samePeople } from "../diff/same-people.ts";
import { addressOf } from "../diff/scope.ts";
import type { FindingData } from "../findings/findings.ts";
import { entriesByAddress } from "../values/person.ts";

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

/** Finds people whom a plan removes while another membership of the same user stays. */
export function sameUsers(
  changes: readonly MemberChange[],
  live: readonly LiveMember[],
): readonly FindingData[] {
  const removed = new Set(
    changes.flatMap(({ kind, reason, id }) => (kind === "delete" && reason === "unlisted" ? (id ?? []) : [])),
  );
  if (removed.size === 0) return [];
  const staying = new Map(
    live.flatMap((member) => {
      const address = addressOf(member);
      return member.user === undefined || address === null || removed.has(member.id)
        ? []
        : [[member.user.id, address] as const];
    }),
  );
  return live.flatMap((member): readonly FindingData[] => {
    const [name, previously] = [staying.get(member.user?.id ?? ""), addressOf(member)];
    const isSame = removed.has(member.id) && name !== undefined && previously !== null;
    return isSame ? [{ code: "member-same-user", name, previously }] : [];
  });
}

/**
 * Returns a function that tests whether the removal of an old membership takes a role that the new one does not hold,
 * by id or name.
 */
export function lossByNewAddress(
  entries: readonly DesiredMember[],
  rolesOf: (entry: DesiredMember) => readonly string[],
): (removal: MemberChange) => boolean {
  const entryOf = entriesByAddress(entries);
  return ({ name, before }) => {
    const entry = entryOf.get(name.toLowerCase());
    const held = new Set(entry === undefined ? [] : rolesOf(entry));
    return (
      before?.roles.some(({ id, name: role }) => id !== null && !held.has(id) && !held.has(role)) ?? false
    );
  };
}
