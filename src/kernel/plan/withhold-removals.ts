import type { GuardSettings } from "../../model/desired.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { Deferred, MemberChange, MemberImage } from "../../model/plan.ts";
import { withFingerprint } from "../diff/fingerprint.ts";
import type { Scope } from "../diff/scope.ts";
import { memberDiffs, withValues } from "../fields/member.ts";
import { type Access, type AccessChanges, accessAfter, accessBefore } from "../rules/access.ts";
import { withheldBy } from "../rules/guards.ts";
import type { ReachedAccess } from "../rules/judge-transition.ts";
import type { Removals, Withheld } from "../rules/rule.ts";
import { invitationsInTheWay, withoutLeftOut } from "./select.ts";

/** The changes to divide into current and waiting ones. */
export interface WithholdInput extends Pick<Removals, "declared" | "callerId"> {
  readonly scope: Scope;
  readonly found: AccessChanges;
  /** Fingerprints of changes to leave out. */
  readonly leaveOut: ReadonlySet<string>;
  /** Removals that wait regardless of the guards: of `found`, or of members whom `found` changes now. */
  readonly waiting: readonly Deferred[];
  /** The guards of the merchant's own files, and those of each set of enforced rules. */
  readonly guards: readonly GuardSettings[];
}

/** Changes, some of which the guards defer. */
export interface WithheldChanges {
  /** All changes that are not left out. */
  readonly wanted: AccessChanges;
  /** The members' changes for now. */
  readonly ready: readonly MemberChange[];
  readonly deferred: readonly Deferred[];
  readonly before: Access;
  /** The access after everything has happened, with the members' changes that lead to it. */
  readonly settled: ReachedAccess;
}

/** Leaves changes out, and lets the guards defer removals: the other parts of such an update are made now. */
export function withholdRemovals({
  scope,
  found,
  leaveOut,
  waiting,
  guards,
  ...holders
}: WithholdInput): WithheldChanges {
  const chosen = waiting.filter(({ change }) => !leaveOut.has(change.fingerprint));
  const removalOf = new Map(
    chosen.flatMap(({ change }) => (change.resource === "member" ? [[change.id, change] as const] : [])),
  );
  const settledBy = (members: readonly MemberChange[]): readonly MemberChange[] =>
    chosen.length === 0 ? members : members.map((change) => removalOf.get(change.id) ?? change);
  const withholding = (changes: AccessChanges) => {
    const before = accessBefore(scope, changes, { mergeReplacedRoles: true });
    const members = settledBy(changes.members);
    const access = accessAfter(before, { ...changes, members }, { mergeReplacedRoles: true });
    const removals = { before, after: access, changes: members, ...holders };
    const withheld = guards
      .flatMap((settings) => withheldBy(settings, removals).deferred)
      .map((removal) => firstLoss(removal, changes));
    return { wanted: changes, before, settled: { access, changes: members }, withheld };
  };
  const dividedBy = (...parts: readonly ReturnType<typeof withholding>[]): Divided =>
    divide(
      parts.flatMap(({ withheld }) => withheld),
      holders.callerId,
    );
  const whole = withholding(found);
  const current =
    leaveOut.size === 0
      ? whole
      : withholding(withoutLeftOut(withParts(found, dividedBy(whole), leaveOut), leaveOut));
  // Leaving out other changes does not make a deferred one due.
  const divided = dividedBy(current, whole);
  const { wanted } = current;
  const kept = new Set(
    [...wanted.members, ...settledBy(wanted.members)].map(({ fingerprint }) => fingerprint),
  );
  const withheld = [current, whole].flatMap((part) => part.withheld).map(({ deferred }) => deferred);
  const taken = new Set(chosen.map(({ change }) => change.fingerprint));
  // A person's removal comes after removals of single roles.
  const removals = distinctDeferred([
    ...withheld.filter(({ change }) => !taken.has(change.fingerprint)),
    ...chosen,
  ]).filter(({ change }) => kept.has(change.fingerprint));
  const later = [...removals, ...invitationsAfter(removals, wanted.members)];
  const waits = new Set(later.map(({ change }) => change.fingerprint));
  return {
    wanted,
    before: current.before,
    settled: current.settled,
    ready: wanted.members.flatMap((change) =>
      waits.has(change.fingerprint) ? (divided.get(change.fingerprint)?.now ?? []) : change,
    ),
    deferred: later.map((removal) => ({
      ...removal,
      change: divided.get(removal.change.fingerprint)?.later ?? removal.change,
    })),
  };
}

/** Returns the invitations to addresses of members whose removal is deferred. */
function invitationsAfter(
  removals: readonly Deferred[],
  members: readonly MemberChange[],
): readonly Deferred[] {
  const waiting = new Map(removals.map((removal) => [removal.change.fingerprint, removal]));
  return [...invitationsInTheWay(members)].flatMap(([removal, change]) => {
    const deferred = waiting.get(removal.fingerprint);
    return deferred === undefined ? [] : { ...deferred, change };
  });
}

/** Returns a removal with the first change that takes the role: a person may lose the role before the membership. */
function firstLoss(removal: Withheld["deferred"][number], { members }: AccessChanges): typeof removal {
  const { deferred, key } = removal;
  const change = members.find(({ id, kind }) => kind === "update" && id === deferred.change.id);
  if (change?.kind !== "update") return removal;
  const isKept = roleKeeper(change.after);
  const isFirst = change.before.roles.some((role) => role.id === key && !isKept(role));
  return isFirst ? { ...removal, deferred: { ...deferred, change } } : removal;
}

/** The parts of an update, in which the removal of some roles is deferred. */
interface Parts {
  readonly now: MemberChange;
  readonly later: MemberChange;
}

/** Parts of updates, by the fingerprint of the whole. */
type Divided = ReadonlyMap<string, Parts>;

/**
 * Divides the deferred updates. The update of the key's owner stays whole, since removing others may require the
 * permissions that it loses.
 */
function divide(withheld: Withheld["deferred"], callerId: string | null): Divided {
  const roles = new Map<MemberChange, Set<string>>();
  for (const {
    deferred: { change },
    key,
  } of withheld) {
    if (change.resource === "member" && change.id !== callerId)
      roles.set(change, (roles.get(change) ?? new Set()).add(key));
  }
  return new Map(
    [...roles].flatMap(([change, keys]) => {
      const parts = partsOf(change, keys);
      return parts === null ? [] : [[change.fingerprint, parts] as const];
    }),
  );
}

/**
 * Splits off the removal of some roles from an update; `null` if the update does nothing else. Granted roles are
 * deferred too, since in combination with a role that stays they might break a rule. So is a move to a role's
 * successor.
 */
function partsOf(change: MemberChange, waiting: ReadonlySet<string>): Parts | null {
  if (change.kind !== "update") return null;
  const { before, after } = change;
  const isKept = roleKeeper(after);
  const between = withValues(after, {
    roles: before.roles.filter((role) => isKept(role) || waiting.has(role.id ?? "")),
  });
  const fields = memberDiffs(before, between);
  const rest = memberDiffs(between, after);
  if (fields.length === 0 || rest.length === 0) return null;
  return {
    now: withFingerprint<MemberChange>({ ...change, after: between, fields }),
    later: withFingerprint<MemberChange>({ ...change, before: between, fields: rest }),
  };
}

/** Returns whether a member keeps a role, or its successor. */
function roleKeeper({ roles }: MemberImage): (role: RoleRef) => boolean {
  const [ids, names] = [new Set(roles.map(({ id }) => id)), new Set(roles.map(({ name }) => name))];
  return ({ id, name }) => ids.has(id) || names.has(name);
}

/** Returns changes, with only the current part of each divided update. */
function withParts(
  { roles, members }: AccessChanges,
  divided: Divided,
  out: ReadonlySet<string>,
): AccessChanges {
  const nowOf = ({ now, later }: Parts): MemberChange | null =>
    out.has(now.fingerprint) || out.has(later.fingerprint) ? now : null;
  return {
    roles,
    members: members.map((change) => {
      const parts = divided.get(change.fingerprint);
      return (parts && nowOf(parts)) ?? change;
    }),
  };
}

/** Returns each deferred change once. */
function distinctDeferred(deferred: readonly Deferred[]): readonly Deferred[] {
  const byChange = new Map(deferred.toReversed().map((removal) => [removal.change.fingerprint, removal]));
  return [...byChange.values()].reverse();
}
