import type { GuardSettings } from "../../model/desired.ts";
import type { Refusal } from "../../model/plan.ts";
import { toRefusal } from "../findings/refusals.ts";
import { type Access, type AccessChanges, granting } from "./access.ts";
import { changedAddresses } from "./changed-addresses.ts";
import { guardsIn } from "./every-rule.ts";
import { ALWAYS_ALLOWED } from "./removals.ts";
import type { Guarded, Removals, Withheld } from "./rule.ts";

/** Returns the guards' refusals of the changes that are made. */
export function guardPlan(settings: GuardSettings, input: Guarded): readonly Refusal[] {
  // Expired invitations beside a membership give nobody access.
  const withoutLeftovers = ({ roles, members }: AccessChanges): AccessChanges => ({
    roles,
    members: members.filter(({ kind, reason }) => kind !== "delete" || reason !== "invitation-expired"),
  });
  const guarded = {
    ...input,
    changes: withoutLeftovers(input.changes),
    deferred: withoutLeftovers(input.deferred),
  };
  return [
    ...guardsIn(settings).flatMap(({ guard, value }) => guard.refuse?.(value, guarded) ?? []),
    ...guardAddresses(guarded),
  ];
}

/** Returns the removals that guards defer or refuse. */
export function withheldBy(settings: GuardSettings, removals: Removals): Withheld {
  const withheld = guardsIn(settings).flatMap(({ guard, value }) => guard.withhold?.(value, removals) ?? []);
  return {
    deferred: withheld.flatMap(({ deferred }) => deferred),
    refusals: withheld.flatMap(({ refusals }) => refusals),
    findingData: withheld.flatMap(({ findingData }) => findingData),
  };
}

/** Refuses to remove access at once from several people whose address has probably changed. */
function guardAddresses({ changes }: Guarded): readonly Refusal[] {
  const people = changedAddresses(changes.members);
  const [first] = people;
  if (first === undefined || people.length <= ALWAYS_ALLOWED) return [];
  const { name, previously } = first;
  return [toRefusal({ code: "changed-addresses", people: people.length, name, previously })];
}

/** The permissions that the next run needs, to read everything and to undo a change. */
const NEEDED = [
  "roles_list",
  "roles_view",
  "roles_create",
  "roles_update",
  "roles_delete",
  "merchant_read",
  "members_view",
  "members_create",
  "members_update",
  "members_delete",
] as const;

/** Refuses a plan that takes permissions from the owner of the API key that the next run needs. */
export function guardCaller({
  callerId,
  before,
  after,
}: Pick<Guarded, "callerId" | "before" | "after">): readonly Refusal[] {
  if (callerId === null) return [];
  const caller = ({ people }: Access) => people.find(({ id }) => id === callerId);
  const [callerBefore, callerAfter] = [caller(before), caller(after)];
  if (callerBefore === undefined) return [];
  if (callerAfter === undefined)
    return [toRefusal({ code: "self-lockout", name: callerBefore.name, removed: true, lost: [] })];
  const had = granting(before)(callerBefore);
  const has = granting(after)(callerAfter);
  const lost = [
    ...NEEDED.filter((permission) => had.permissions.has(permission) && !has.permissions.has(permission)),
    ...had.unknown.filter((role) => !has.unknown.includes(role)).map((role) => `what ${role} grants`),
  ];
  return lost.length > 0
    ? [toRefusal({ code: "self-lockout", name: callerBefore.name, removed: false, lost })]
    : [];
}
