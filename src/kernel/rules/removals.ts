import { memoized } from "../../lib/memoized.ts";
import type { DesiredMember, DesiredState } from "../../model/desired.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { MemberChange, RoleChange } from "../../model/plan.ts";
import { isPast } from "../diff/active-member.ts";
import { addressesOfPerson, entriesByAddress, openCurrentAddresses } from "../values/person.ts";
import type { AccessChanges } from "./access.ts";

/** The number of removals that any percentage above 0% allows. */
export const ALWAYS_ALLOWED = 3;

/** Returns whether a change removes a role, or permissions from it. */
export function takesPermissions({ kind, fields }: RoleChange): boolean {
  return kind === "delete" || fields.some((diff) => diff.field === "permissions" && diff.removed.length > 0);
}

/** Returns whether a change removes a member, or a role without adding its successor. */
export function takesRoles(change: MemberChange, replaced: ReadonlySet<string>): boolean {
  return takenBy(change, replaced).length > 0;
}

/** Returns what a change removes: roles without a successor, or `null` for the membership. */
function takenBy({ kind, fields }: MemberChange, replaced: ReadonlySet<string>): readonly (RoleRef | null)[] {
  if (kind === "delete") return [null];
  if (kind !== "update") return [];
  return fields.flatMap((diff) =>
    diff.field === "roles"
      ? // The successor of a replaced role counts as the same role; another role with that name does not.
        diff.removed.filter(
          ({ id, name }) => !(replaced.has(id ?? "") && diff.added.some((added) => added.name === name)),
        )
      : [],
  );
}

/** Returns the ids of replaced roles. */
export function replacedBy({ roles }: AccessChanges): ReadonlySet<string> {
  return new Set(roles.flatMap(({ kind, id }) => (kind === "replace" && id !== null ? id : [])));
}

/** The people who lose access, by current address in lower case. */
export interface Losses {
  /** People who lose access through the changes of a plan, except access that a reviewed date has ended. */
  readonly now: ReadonlySet<string>;
  /** Those people in `now` whose access was ended by dates in the files. */
  readonly ended: ReadonlySet<string>;
  /** People who lose access later, through a date that is new in the files or earlier than the reviewed one. */
  readonly later: ReadonlySet<string>;
}

/** The part of a desired state that has dates. */
type DatedFiles = Pick<DesiredState, "members" | "leavers">;

/** Returns the people who lose access by the changes of a plan at a time, or by dates that nobody has reviewed. */
export function lossesOf(
  changes: AccessChanges,
  files: DatedFiles & Pick<DesiredState, "reviewedEnds">,
  now: number,
): Losses {
  const { members = [], leavers = [], reviewedEnds = {} } = files;
  const [replaced, personOf] = [replacedBy(changes), openCurrentAddresses(members)];
  const [endOf, reviewedEndOf] = [accessEnds(files, now), accessEnds(reviewedEnds, now)];
  const takings = changes.members.flatMap((change) => {
    const addresses = [change.name];
    const taken = takenBy(change, replaced).filter((role) => !(reviewedEndOf(addresses, role) <= now));
    // An entry's address may be that of another membership than the one that it is pinned to, which may have no
    // address.
    const name = personOf(change.before?.email ?? change.id ?? change.name).toLowerCase();
    return taken.length === 0
      ? []
      : [{ name, isEnded: taken.every((role) => endOf(addresses, role) <= now) }];
  });
  const ended = takings.filter(({ isEnded }) => isEnded);
  const endsEarlier = (addresses: readonly string[], role: RoleRef | null): boolean => {
    const end = endOf(addresses, role);
    return end > now && end < reviewedEndOf(addresses, role);
  };
  const entries = members.filter((entry) =>
    [null, ...(entry.roles ?? []).map(({ role }) => ({ id: null, name: role }))].some((role) =>
      endsEarlier(addressesOfPerson(entry), role),
    ),
  );
  // Leavers may be live without an entry.
  const leaving = leavers.filter(
    ({ email, from: { starts } }) => starts > now && !(reviewedEndOf([email], null) <= starts),
  );
  const later = files.reviewedEnds === undefined ? [] : [...entries, ...leaving];
  return {
    now: new Set(takings.map(({ name }) => name)),
    ended: new Set(ended.map(({ name }) => name)),
    later: new Set(later.map(({ email }) => personOf(email).toLowerCase())),
  };
}

/** Returns the people who lose access, now or later. */
export function losing({ now, later }: Losses): ReadonlySet<string> {
  return new Set([...now, ...later]);
}

/** Returns losses with one key for all addresses of a person. */
export function lossesOfPeople({ now, ended, later }: Losses, personOf: (address: string) => string): Losses {
  const people = (names: ReadonlySet<string>): ReadonlySet<string> => new Set([...names].map(personOf));
  return { now: people(now), ended: people(ended), later: people(later) };
}

/** Joins the losses of several merchants. */
export function joinLosses(all: readonly Losses[]): Losses {
  return {
    now: new Set(all.flatMap(({ now }) => [...now])),
    ended: new Set(all.flatMap(({ ended }) => [...ended])),
    later: new Set(all.flatMap(({ later }) => [...later])),
  };
}

/** Returns, as part of a sentence, how many people lose access only later; empty if nobody does. */
export function laterText(losses: Losses): string {
  const later = losing(losses).size - losses.now.size;
  return later === 0 ? "" : `, ${later} of them by end dates that were added or brought forward`;
}

/** Returns the hint on losses that a limit refuses: advice about dates if these are the cause, else `hint`. */
export function lossHint({ ended, later }: Losses, hint: string): string {
  if (later.size > 0) return "Check the dates that are new or earlier in the files.";
  return ended.size === 0
    ? hint
    : 'Check the dates. If they are right, "rolecall apply --only due" removes what has ended, without this limit.';
}

/** Returns when the membership of a person with these addresses, or one of its roles, ends, in ms since the epoch. */
type AccessEnds = (addresses: readonly string[], role: RoleRef | null) => number;

/**
 * Returns the ends according to the dates in files; infinite if there is no end, `NaN` if the files do not declare the
 * access.
 */
function accessEnds({ members = [], leavers = [] }: DatedFiles, now: number): AccessEnds {
  const entries = entriesByAddress(members);
  const lastEnds = memoized(lastEndsOf);
  const left = new Map(leavers.map(({ email, from }) => [email.toLowerCase(), from.starts]));
  return (addresses, role) => {
    const keys = addresses.map((address) => address.toLowerCase());
    const entry = keys.map((key) => entries.get(key)).find((found) => found !== undefined);
    const ends = [
      ...keys.flatMap((key) => left.get(key) ?? []),
      ...(entry === undefined ? [] : endsIn(entry, lastEnds(entry), role, now)),
    ];
    return ends.length === 0 ? Number.NaN : Math.min(...ends);
  };
}

/** The latest end of an entry's grants of each role; with the key `null`, of all its grants. */
type LastEnds = ReadonlyMap<string | null, number>;

function lastEndsOf({ roles = [] }: DesiredMember): LastEnds {
  const ends = new Map<string | null, number>();
  for (const { role, until } of roles) {
    for (const key of [role, null]) {
      const end = until?.ends ?? Number.POSITIVE_INFINITY;
      ends.set(key, Math.max(ends.get(key) ?? Number.NEGATIVE_INFINITY, end));
    }
  }
  return ends;
}

/** Returns when an entry's membership or role ends, or is suspended; empty if the entry does not grant the role. */
function endsIn(
  { until, suspended, roles }: DesiredMember,
  lastEnds: LastEnds,
  role: RoleRef | null,
  now: number,
): readonly number[] {
  const never = Number.POSITIVE_INFINITY;
  const end = until?.ends ?? never;
  const names = role === null ? [null] : [role.name, ...(role.id === null ? [] : [role.id])];
  const grantEnds = names.flatMap((name) => lastEnds.get(name) ?? []);
  const isOver = suspended === undefined || isPast(suspended.until, now);
  const suspension = role === null || isOver ? [] : [suspended.from?.starts ?? Number.NEGATIVE_INFINITY];
  if (role !== null && roles !== undefined && grantEnds.length === 0) return suspension;
  return [end, ...(grantEnds.length === 0 ? [] : [Math.max(...grantEnds)]), ...suspension];
}
