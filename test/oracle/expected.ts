import { matches } from "../support/build.ts";
import {
  type Case,
  type Data,
  formerNames,
  type RoleValue,
  type World,
  type WorldMember,
  type WorldRole,
} from "./case.ts";
import { canonical, type Wanted, type WantedMember } from "./wanted.ts";

/** What the documents say a plan should be. */
export interface Expected {
  /** `update member mem_1` → what it is to be afterwards; null where it goes. */
  readonly changes: ReadonlyMap<string, object | null>;
  /** Codes of what keeps the plan from being applied. */
  readonly errors: ReadonlySet<string>;
  readonly roles: readonly RoleAfter[];
  readonly members: readonly MemberAfter[];
  /** What the end state has of each live role and member; null where it goes. */
  readonly outlook: readonly Outlook[];
  /** What a live role is called in the end. */
  readonly finalNames: ReadonlyMap<string, string>;
  readonly live: World;
}

export interface RoleAfter {
  /** Null for a new one. */
  readonly id: string | null;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly string[];
  readonly metadata: Data;
}

export interface MemberAfter {
  readonly id: string | null;
  readonly email: string | null;
  /** Names of custom roles, and ids of predefined ones. */
  readonly roles: readonly string[];
  readonly metadata: Data;
  readonly status: WorldMember["status"];
  readonly nickname: string | null;
}

/** One person before and after. */
export interface Outlook {
  readonly before: WorldMember | null;
  readonly after: MemberAfter | null;
  readonly wanted: WantedMember | null;
  /** Set for an expired invitation beside a membership, which gives nobody access. */
  readonly isLeftover?: true;
  /** Set for the membership of a previous address. */
  readonly isMoved?: true;
}

const PREDEFINED = new Set([
  "role_owner",
  "role_admin",
  "role_manager",
  "role_employee",
  "role_accountant",
  "role_cashier",
]);

/** Works out what has to become of a world. */
export function expectedOf(wanted: Wanted, { world }: Pick<Case, "world">): Expected {
  const errors = new Set<string>();
  const changes = new Map<string, object | null>();
  const rolePlan = planRoles(wanted, world, errors, changes);
  const outlook = planMembers({ wanted, world, roles: rolePlan, errors, changes });
  for (const role of rolePlan.going) {
    if (
      outlook.some(
        ({ before, after }) => after !== null && before !== null && after.roles.includes(gone(role)),
      )
    ) {
      errors.add("role-still-held");
    }
  }
  const pins = new Set(wanted.roles?.flatMap(({ id }) => id ?? []));
  const isProtected =
    wanted.replaceRoles &&
    wanted.file.guards?.protect?.roles?.some((role) => rolePlan.replaced.has(role) && !pins.has(role));
  if (isProtected) errors.add("role-replace-named");
  if (protectsNothing(wanted, world)) errors.add("rule-role-unknown");
  if (namesSeveral(wanted, world, rolePlan)) errors.add("rule-role-ambiguous");
  return {
    changes,
    errors,
    roles: rolePlan.after,
    members: outlook.flatMap(({ after }) => after ?? []),
    outlook,
    finalNames: rolePlan.names,
    live: world,
  };
}

/** A name or id that is protected, and that no role has, is a slip; a glob may match roles to come. */
function protectsNothing({ file, roles }: Wanted, world: World): boolean {
  const names = [
    ...(roles ?? []).flatMap((role) => [role.name, ...formerNames(role)]),
    ...world.roles.flatMap(({ id, name }) => [id, name]),
  ];
  return (file.guards?.protect?.roles ?? []).some((role) => !role.includes("*") && !names.includes(role));
}

interface RolePlan {
  /** Final names of live roles by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly declared: ReadonlyMap<string, RoleAfter>;
  readonly going: readonly WorldRole[];
  readonly ignored: ReadonlySet<string>;
  readonly replaced: ReadonlySet<string>;
  /** Names of declared roles that are ignored. */
  readonly hidden: ReadonlySet<string>;
  readonly after: readonly RoleAfter[];
}

/** A role that goes, as somebody's role. */
function gone({ id }: WorldRole): string {
  return `gone ${id}`;
}

function planRoles(
  wanted: Wanted,
  world: World,
  errors: Set<string>,
  changes: Map<string, object | null>,
): RolePlan {
  const isIgnored: IsIgnored = ({ id, name }) =>
    wanted.ignored.roles.some((glob) => matches(glob, id) || matches(glob, name));
  const visible = world.roles.filter((role) => !isIgnored(role));
  const ignored = world.roles.filter(isIgnored);
  const { found, unclear } = matchRoles(wanted.roles ?? [], visible);
  const declared = new Map<string, RoleAfter>();
  const replaced = new Set<string>();
  const hidden = new Set<string>();
  const entries = wanted.roles ?? [];
  for (const role of entries) {
    const is = found.get(role) ?? null;
    const isUnclear = unclear.has(role);
    const isNewName = !isUnclear && isRenamed(role, is, entries, visible);
    const fault = faultOf(role, is, { isNewName, isUnclear, ignored, isIgnored });
    if (fault !== null) errors.add(fault);
    // One error is told of an entry, not what would follow from it.
    const after = planRole(role, is, wanted, fault === null ? errors : new Set(), changes);
    if (fault === "role-ignored" && is === null) hidden.add(role.name);
    if (is !== null && after.id === null) replaced.add(is.id);
    declared.set(role.name, after);
  }
  const kept = new Set([...found.values()].map(({ id }) => id));
  const unlisted = visible.filter(({ id }) => !kept.has(id));
  // Where a pin is wrong, nobody knows which role is meant.
  const unclearRoles = [...unclear.values()].flat();
  const isMeant = (one: WorldRole): boolean =>
    unclearRoles.includes(one) ||
    entries.some((role) => role.name === one.name && role.id !== undefined && !found.has(role));
  const isStrict = wanted.roles !== null && !wanted.additive.roles;
  const going = unlisted.filter((role) => isStrict && !isMeant(role));
  for (const role of going) changes.set(`delete role ${role.id}`, null);
  const staying = [...ignored, ...unlisted.filter((role) => !going.includes(role))];
  const keeping = unlisted.filter((role) => !going.includes(role) && !isMeant(role));
  // Who has a name already takes it from nobody.
  const isTaken = ({ name }: WorldRole): boolean => {
    const role = declared.get(name);
    const own = world.roles.find(({ id }) => id === role?.id)?.name;
    return role !== undefined && (role.id === null || own !== name);
  };
  if (keeping.some(isTaken)) errors.add("role-name-taken");
  const isShared = ({ id, name }: WorldRole): boolean =>
    declared.has(name) || staying.some((other) => other.id !== id && other.name === name);
  const names = new Map<string, string>([
    // Of several that keep one name, each has a label of its own.
    ...staying.map((role) => [role.id, isShared(role) ? `${role.name} #${role.id}` : role.name] as const),
    ...going.map((role) => [role.id, gone(role)] as const),
    ...[...found].map(([{ name }, { id }]) => [id, name] as const),
  ]);
  return {
    names,
    declared,
    going,
    ignored: new Set(ignored.map(({ id }) => id)),
    replaced,
    hidden,
    after: [...declared.values(), ...staying.map(asIs)],
  };
}

type IsIgnored = (role: Pick<WorldRole, "id" | "name">) => boolean;

/** What is wrong with an entry: it stands for something ignored, or is pinned to something that is not there. */
function faultOf(
  entry: RoleValue,
  is: WorldRole | null,
  {
    isNewName,
    isUnclear,
    ignored,
    isIgnored,
  }: {
    readonly isNewName: boolean;
    readonly isUnclear: boolean;
    readonly ignored: readonly WorldRole[];
    readonly isIgnored: IsIgnored;
  },
): string | null {
  const { id, name } = entry;
  const isPinLost = id !== undefined && is === null;
  const isFormer = (role: WorldRole): boolean => formerNames(entry).includes(role.name);
  const isFormerIgnored = isNewName && !(is && isFormer(is)) && ignored.some(isFormer);
  const isPinIgnored = isPinLost && ignored.some((role) => role.id === id);
  if (
    ignored.some((role) => role.name === name) ||
    isFormerIgnored ||
    isPinIgnored ||
    isIgnored({ id: "", name })
  )
    return "role-ignored";
  if (isUnclear) return "role-ambiguous";
  return isPinLost ? "role-pin-missing" : null;
}

/** Whether an entry stands for its former name: nothing live has its own, or that is the former name of another one. */
function isRenamed(
  { id, name }: RoleValue,
  is: WorldRole | null,
  roles: readonly RoleValue[],
  live: readonly WorldRole[],
): boolean {
  if (id !== undefined || is === null) return id === undefined;
  return roles.some((next) => {
    const own = live.find((one) => one.name === next.name) ?? null;
    return formerNames(next).includes(name) && isRenamed(next, own, roles, live);
  });
}

/** Creates, changes or replaces a role; one that is replaced is a new one, without an id. */
function planRole(
  role: RoleValue,
  is: WorldRole | null,
  { replaceRoles, granted }: Wanted,
  errors: Set<string>,
  changes: Map<string, object | null>,
): RoleAfter {
  const after: RoleAfter = {
    id: is?.id ?? null,
    name: role.name,
    description: role.description ?? is?.description ?? "",
    permissions: [...(role.permissions ?? is?.permissions ?? [])].sort(),
    metadata: role.metadata ?? is?.metadata ?? {},
  };
  if (is === null) {
    if (role.permissions === undefined) errors.add("role-needs-permissions");
    changes.set(`create role ${role.name}`, shownRole(after));
    return after;
  }
  if (canonical(after.metadata) !== canonical(is.metadata)) {
    const fault = whyFixed(role, is, replaceRoles, granted);
    if (fault !== null) {
      errors.add(fault);
      return after;
    }
    changes.set(`replace role ${is.id}`, shownRole(after));
    return { ...after, id: null };
  }
  if (canonical(shownRole(after)) !== canonical(shownRole(asIs(is)))) {
    changes.set(`update role ${is.id}`, shownRole(after));
  }
  return after;
}

/** Why a role with other metadata is not replaced; null if it is. */
function whyFixed(
  { id: pin }: RoleValue,
  { id }: WorldRole,
  replaceRoles: boolean,
  granted: ReadonlySet<string>,
): string | null {
  if (!replaceRoles) return "role-metadata-fixed";
  if (pin !== undefined) return "role-replace-pinned";
  return granted.has(id) ? "role-replace-named" : null;
}

function asIs({ permissions, ...role }: WorldRole): RoleAfter {
  return { ...role, permissions: [...permissions].sort() };
}

function shownRole({ id: _, ...rest }: RoleAfter): object {
  return rest;
}

interface MatchedRoles {
  readonly found: ReadonlyMap<RoleValue, WorldRole>;
  /** What an entry may stand for, if that is more than one role. */
  readonly unclear: ReadonlyMap<RoleValue, readonly WorldRole[]>;
}

/** A role is its id where it is pinned, else its name, else one of its former names. */
function matchRoles(roles: readonly RoleValue[], visible: readonly WorldRole[]): MatchedRoles {
  const found = new Map<RoleValue, WorldRole>();
  const free = new Set(visible);
  const take = (role: RoleValue, is: WorldRole | undefined): void => {
    if (is === undefined || !free.has(is)) return;
    found.set(role, is);
    free.delete(is);
  };
  const named = (name: string): readonly WorldRole[] => [...free].filter((one) => one.name === name);
  for (const role of roles) {
    if (role.id === undefined) continue;
    take(
      role,
      visible.find(({ id }) => id === role.id),
    );
  }
  const open = roles.filter(({ id }) => id === undefined);
  const candidates = (role: RoleValue): readonly WorldRole[] =>
    formerNames(role).flatMap((former) => {
      const other = open.find(({ name }) => name === former);
      return other === undefined || candidates(other).length > 0 ? named(former) : [];
    });
  // In a chain of renames a name that is live may still be the former name of another entry.
  const moving = new Map<RoleValue, readonly WorldRole[]>();
  const move = (role: RoleValue): void => {
    const those = candidates(role);
    if (those.length === 0) return;
    moving.set(role, those);
    for (const { name } of those) for (const other of open) if (other.name === name) move(other);
  };
  for (const role of open) if (named(role.name).length === 0) move(role);
  const unclear = new Map<RoleValue, readonly WorldRole[]>();
  for (const role of open) {
    const those = moving.has(role) ? [] : named(role.name);
    if (those.length > 1) unclear.set(role, those);
    else take(role, those[0]);
  }
  for (const [role, those] of moving) {
    if (those.length === 1) take(role, those[0]);
    else unclear.set(role, those);
  }
  return { found, unclear };
}

/** What planning one member depends on, and what it adds to. */
interface Work {
  readonly wanted: Wanted;
  readonly world: World;
  readonly roles: RolePlan;
  readonly errors: Set<string>;
  readonly changes: Map<string, object | null>;
}

/** First those go who have left; then nothing is left of them in the world, nor of what the files say of them. */
function planMembers({ wanted, world, ...rest }: Work): readonly Outlook[] {
  const { left, members } = wanted;
  const isOfLeaver = ({ email }: WantedMember): boolean => left.has(email);
  const pins = new Set(members?.filter(isOfLeaver).flatMap(({ id }) => id ?? []));
  const hasLeft = ({ id, email }: WorldMember): boolean =>
    left.has(email?.toLowerCase() ?? "") || (pins.has(id) && !isIgnoredMember(wanted, id, email));
  const leaving = world.members.filter(hasLeft);
  const gone = new Set(leaving.map(({ id }) => id));
  const rests = members?.filter((one) => !isOfLeaver(one) && !gone.has(one.id ?? "")) ?? null;
  const entryOf = ({ id, email }: WorldMember): WantedMember | null =>
    members?.find(
      (one) => one.id === id || [one.email, ...one.previously].includes(email?.toLowerCase() ?? ""),
    ) ?? null;
  return [
    ...leaving.map((one) => go(one, entryOf(one), { wanted, world, ...rest })),
    ...planStaying({
      ...rest,
      wanted: { ...wanted, members: rests },
      world: { ...world, members: world.members.filter((one) => !hasLeft(one)) },
    }),
  ];
}

function planStaying(given: Work): readonly Outlook[] {
  const { world, roles, errors } = given;
  const isHidden = ({ id, email }: WorldMember): boolean => isIgnoredMember(given.wanted, id, email);
  const seen = world.members.filter((one) => !isHidden(one));
  // An id does not keep the membership that somebody is to leave.
  const members = given.wanted.members?.map((one) => {
    const address = seen
      .find(({ id, status }) => id === one.id && status !== "expired")
      ?.email?.toLowerCase();
    if (address === undefined || address === one.email || !one.previously.includes(address)) return one;
    if (!one.ended) errors.add("member-pin-former");
    return { ...one, id: null };
  });
  const wanted = { ...given.wanted, members: members ?? null };
  const work = { ...given, wanted };
  const hidden = world.members.filter(isHidden);
  const pinned = new Set(wanted.members?.flatMap(({ id }) => id ?? []));
  const formersOf = ({ previously }: WantedMember): readonly WorldMember[] =>
    seen.filter(({ id, email }) => !pinned.has(id) && previously.includes(email?.toLowerCase() ?? "-"));
  const formers = new Set(wanted.members?.flatMap(formersOf));
  const visible = seen.filter((one) => !formers.has(one));
  if (hidden.some((one) => one.roles.some((id) => roles.replaced.has(id)))) errors.add("role-still-held");
  const untouched = hidden.map((before) => ({ before, after: unchanged(before, roles), wanted: null }));
  if (wanted.members === null) return [...untouched, ...visible.map((one) => stay(one, work))];
  const free = new Set(visible);
  const listed = wanted.members.flatMap((one) => {
    const { is, leftovers, error } = findMember(wanted, one, world, visible, areDisabled(formersOf(one)));
    if (hasOtherDates(one, work)) errors.add("member-role-conflict");
    if (error !== undefined) {
      errors.add(error);
      return [];
    }
    // What is to come has to be there already.
    for (const role of one.later) resolve(role, wanted, world, roles, errors);
    const pin = visible.find(({ id }) => id === one.id);
    for (const each of [is, pin, ...leftovers]) if (each) free.delete(each);
    const former = formersOf(one);
    const own = planOwn(one, is, former, work);
    const old = former.map((each) => planOld(each, former, one, is, work));
    const isKept = pin !== undefined && pin !== is && !leftovers.includes(pin);
    return [
      ...(isKept ? [{ ...stay(pin, work), isLeftover: true as const }] : []),
      ...leftovers.map((each) => ({ ...go(each, null, work), isLeftover: true as const })),
      ...own,
      ...old,
    ];
  });
  const standing = new Set(
    [...free].flatMap(({ status, email }) => (status === "expired" ? [] : email?.toLowerCase())),
  );
  const rest = [...free].map((one): Outlook => {
    const isPerson = one.type === "user" || one.type === "managed_user";
    const stays = wanted.additive.members || one.email === null || !isPerson;
    if (stays) return stay(one, work);
    const isLeftover = one.status === "expired" && standing.has(one.email?.toLowerCase());
    return { ...go(one, null, work), ...(isLeftover && { isLeftover }) };
  });
  return [...untouched, ...listed, ...rest];
}

/** Whether an entry grants a role by its name and by its id with other dates. */
function hasOtherDates({ written }: WantedMember, { wanted, world, roles }: Work): boolean {
  const terms = [...written].map(([role, { from, until }]) => ({
    final: resolve(role, wanted, world, roles, new Set()),
    term: JSON.stringify([from, until?.at]),
  }));
  return terms.some((one) => terms.some((other) => one.final === other.final && one.term !== other.term));
}

function planOwn(
  one: WantedMember,
  is: WorldMember | null,
  former: readonly WorldMember[],
  work: Work,
): readonly Outlook[] {
  if (one.ended) return is === null ? [] : [go(is, one, work)];
  if (!isBarred(is, former, work.wanted)) return planPresent(inheriting(one, is, former, work), is, work);
  for (const role of one.roles ?? []) resolve(role, work.wanted, work.world, work.roles, work.errors);
  return is === null ? [] : [{ ...stay(is, work), wanted: one }];
}

/** A new membership takes over what the files do not say of the old one, and the roles of all that give access. */
function inheriting(
  one: WantedMember,
  is: WorldMember | null,
  former: readonly WorldMember[],
  { roles }: Work,
): Heir {
  const old = former.find((each) => statusOf(each) !== "disabled");
  if (old === undefined || is !== null) return one;
  const withAccess = former.filter((each) => ["accepted", "unknown"].includes(statusOf(each)));
  const all = [...new Set([old, ...withAccess].flatMap((each) => each.roles))];
  const held = all.filter((id) => !roles.ignored.has(id));
  const inherited = all.filter((id) => roles.ignored.has(id)).map((id) => roles.names.get(id) ?? id);
  return { ...one, roles: one.roles ?? held, metadata: one.metadata ?? old.metadata, inherited };
}

/** An entry with the ignored roles of the membership whose place it takes. */
interface Heir extends WantedMember {
  readonly inherited?: readonly string[];
}

/** Whether somebody was disabled under every previous address, and would need an invitation. */
function isBarred(
  is: WorldMember | null,
  former: readonly WorldMember[],
  { reinvite }: Pick<Wanted, "reinvite">,
): boolean {
  return areDisabled(former) && (is === null || (is.status === "expired" && reinvite));
}

function areDisabled(former: readonly WorldMember[]): boolean {
  return former.length > 0 && former.every((one) => statusOf(one) === "disabled");
}

/** The membership of a previous address goes once the new one is accepted. */
function planOld(
  old: WorldMember,
  former: readonly WorldMember[],
  one: WantedMember,
  is: WorldMember | null,
  work: Work,
): Outlook {
  const isAccepted = is !== null && statusOf(is) === "accepted";
  if (!one.ended && !isAccepted) {
    const left = one.away
      ? planAway(old, one, work)
      : planKept(old, inheriting(one, is, former, work), { former, is }, work);
    if (left !== null) return left;
  }
  return { ...go(old, one, work), isMoved: true };
}

/** Keeps the old membership of an absent member, without roles. */
function planAway(old: WorldMember, one: WantedMember, work: Work): Outlook {
  const status = old.status === "expired" ? "pending" : old.status;
  const [left] = planListed({ ...one, roles: one.roles === null ? null : [] }, { ...old, status }, work);
  if (left === undefined) return stay(old, work);
  return { ...left, before: old, after: left.after && { ...left.after, status: statusOf(old) } };
}

/**
 * Until then the old membership holds no more than the entry grants; null where it holds nothing else, or is not accepted.
 * One that is disabled stays where nobody is invited.
 */
function planKept(
  old: WorldMember,
  one: WantedMember,
  { former, is }: { readonly former: readonly WorldMember[]; readonly is: WorldMember | null },
  work: Work,
): Outlook | null {
  const { wanted, world, roles, changes } = work;
  const isDisabled = areDisabled(former);
  if (!isDisabled && !["accepted", "unknown"].includes(statusOf(old))) return null;
  const granted = one.roles?.map((role) => resolve(role, wanted, world, roles, new Set()));
  const kept = old.roles.filter((id) => granted?.includes(roles.names.get(id) ?? id));
  const entry = { ...one, roles: granted === undefined ? null : kept, metadata: null, managed: null };
  const [left] = planListed(entry, old, work);
  if (changes.has(`update member ${old.id}`)) return left ?? null;
  return isDisabled && is?.status !== "pending" ? stay(old, work) : null;
}

function unchanged(before: WorldMember, { names }: RolePlan): MemberAfter {
  return {
    id: before.id,
    email: before.email?.toLowerCase() ?? null,
    roles: before.roles.map((id) => names.get(id) ?? id).sort(),
    metadata: before.metadata,
    status: statusOf(before),
    nickname: before.nickname,
  };
}

/** Leaves somebody alone, but for a role that is replaced. */
function stay(before: WorldMember, { roles, changes }: Work): Outlook {
  const after = unchanged(before, roles);
  if (before.roles.some((id) => roles.replaced.has(id))) {
    changes.set(`update member ${before.id}`, shownMember(after));
  }
  return { before, after, wanted: null };
}

function go(before: WorldMember, wanted: WantedMember | null, { changes }: Work): Outlook {
  changes.set(`delete member ${before.id}`, null);
  return { before, after: null, wanted };
}

/** Nobody is invited, or invited again, while suspended. */
function planPresent(one: Heir, is: WorldMember | null, work: Work): readonly Outlook[] {
  if (!one.away || (is !== null && is.status !== "expired")) return planListed(one, is, work);
  return is === null ? [] : [{ ...stay(is, work), wanted: one }];
}

/** Invites, changes or invites again somebody whom the files list. */
function planListed(one: Heir, is: WorldMember | null, work: Work): readonly Outlook[] {
  const { wanted, world, roles, errors, changes } = work;
  const held = one.roles?.map((role) => resolve(role, wanted, world, roles, errors)) ?? null;
  if (is === null) {
    // Nobody is invited without being told to what.
    if (held === null) return [];
    const after: MemberAfter = {
      id: null,
      email: one.email,
      roles: [...new Set([...held, ...(one.inherited ?? [])])].sort(),
      metadata: one.metadata ?? {},
      status: one.managed === null ? "pending" : "accepted",
      nickname: one.managed?.nickname ?? null,
    };
    changes.set(`create member ${one.email}`, shownMember(after));
    return [{ before: null, after, wanted: one }];
  }
  const same = unchanged(is, roles);
  const ignored = is.roles.filter((id) => roles.ignored.has(id)).map((id) => roles.names.get(id) ?? id);
  const after: MemberAfter = {
    ...same,
    roles: held === null ? same.roles : [...new Set([...held, ...ignored])].sort(),
    metadata: one.metadata ?? is.metadata,
    nickname: (is.type === "managed_user" ? one.managed?.nickname : null) ?? is.nickname,
  };
  if (is.status === "expired" && wanted.reinvite && canBeInvited(one, world)) {
    const renewed: MemberAfter = {
      ...after,
      id: null,
      email: one.email,
      status: one.managed === null ? "pending" : "accepted",
      nickname: one.managed?.nickname ?? null,
    };
    changes.set(`replace member ${is.id}`, shownMember(renewed));
    return [{ before: is, after: renewed, wanted: one }];
  }
  const isMoved = is.roles.some(
    (id) => roles.replaced.has(id) && after.roles.includes(roles.names.get(id) ?? id),
  );
  if (isMoved || canonical(shownMember(after)) !== canonical(shownMember(same))) {
    changes.set(`update member ${is.id}`, shownMember(after));
  }
  return [{ before: is, after, wanted: one }];
}

/** Nobody who is a member can be invited. */
function canBeInvited({ email }: WantedMember, { members }: World): boolean {
  return members.every((other) => other.status === "expired" || other.email?.toLowerCase() !== email);
}

/** A user who was disabled counts as disabled, whatever the membership says. */
export function statusOf({ status, disabledAt }: WorldMember): WorldMember["status"] {
  return disabledAt === null ? status : "disabled";
}

function shownMember({ roles, metadata, nickname }: MemberAfter): object {
  return { roles, metadata, nickname };
}

/** Returns whether a glob hides a member. */
export function isIgnoredMember({ ignored }: Wanted, id: string, email: string | null): boolean {
  return ignored.members.some(
    (glob) => matches(glob, id) || (email !== null && matches(glob.toLowerCase(), email.toLowerCase())),
  );
}

interface Found {
  readonly is: WorldMember | null;
  readonly leftovers: readonly WorldMember[];
  /** What is wrong with the entry, which is not looked at any further then. */
  readonly error?: string;
}

function faulty(error: string): Found {
  return { ...NOBODY, error };
}

const NOBODY: Found = { is: null, leftovers: [] };

/** A member is its id where it is pinned, else its address. Who was disabled under another address is not invited. */
function findMember(
  wanted: Wanted,
  one: WantedMember,
  world: World,
  visible: readonly WorldMember[],
  wasDisabled: boolean,
): Found {
  const pins = new Set(wanted.members?.flatMap(({ id }) => id ?? []));
  const addressed = world.members.filter((each) => each.email?.toLowerCase() === one.email);
  const free = addressed.filter((each) => visible.includes(each) && !pins.has(each.id));
  const isTaken = addressed.some(({ id, status }) => id !== one.id && pins.has(id) && status !== "expired");
  const pinned = visible.find(({ id }) => id === one.id) ?? null;
  if (isIgnoredMember(wanted, one.id ?? "", one.email)) return faulty("member-ignored");
  if (one.id !== null && pinned === null) {
    return findHeir(
      one,
      world,
      addressed.filter((each) => visible.includes(each)),
      pins,
    );
  }
  const isHidden = addressed.some((each) => !visible.includes(each));
  const isTakenByHidden = addressed.some((each) => !visible.includes(each) && each.status !== "expired");
  const isSeen = addressed.some((each) => visible.includes(each) && each.status !== "expired");
  if (one.id === null && isHidden && !isSeen) {
    return faulty("member-ignored");
  }
  const expired = free.filter(({ status }) => status === "expired");
  if (pinned !== null && pinned.status !== "expired") {
    // Beside a membership of another address an invitation is one that nobody lists.
    return { is: pinned, leftovers: addressed.includes(pinned) ? expired : [] };
  }
  const standing = free.filter(({ status }) => status !== "expired");
  const isKept = (pinned !== null || expired.length > 0) && !wanted.reinvite;
  if (isTaken && standing.length === 0 && !one.ended && !one.away && !isKept && !wasDisabled) {
    return faulty("member-pinned-elsewhere");
  }
  // An invitation is renewed to the address of the entry.
  if (
    standing.length === 0 &&
    pinned !== null &&
    wanted.reinvite &&
    !one.ended &&
    !one.away &&
    isTakenByHidden
  ) {
    return faulty("member-ignored");
  }
  if (standing.length > 1) {
    return faulty("member-ambiguous");
  }
  // Beside a live membership all invitations that have expired go; else the pinned one or the first stays.
  const [is = pinned ?? expired[0] ?? null] = standing;
  const old = isClear(pinned, is, one) ? expired : [...expired, pinned].filter((each) => each !== null);
  return { is, leftovers: old.filter((each) => each !== is) };
}

/** Whether nothing that an entry is pinned to has to go: it stays clear as long as what it names is there. */
function isClear(pinned: WorldMember | null, is: WorldMember | null, { ended }: WantedMember): boolean {
  return pinned === null || (is !== null && is.status !== "pending" && !ended);
}

/** Finds what an entry stands for whose id is not to be seen: the renewal of the invitation that it named, or nothing. */
function findHeir(
  { id: gone, ended }: WantedMember,
  { members }: World,
  addressed: readonly WorldMember[],
  pins: ReadonlySet<string>,
): Found {
  if (members.some(({ id }) => id === gone)) {
    return faulty("member-ignored");
  }
  const [heir, ...more] = addressed;
  const isRenewal = heir?.status === "pending" && more.length === 0 && !pins.has(heir.id);
  if (isRenewal) return { is: heir, leftovers: [] };
  // Whoever is gone needs no pin, unless somebody else could be meant.
  return !ended || addressed.length > 0 ? faulty("member-pin-missing") : NOBODY;
}

/** The live roles that a name or an id may mean: what is ignored only where nothing else has the name. */
function namedRoles(
  role: string,
  world: World,
  { ignored }: Pick<RolePlan, "ignored">,
): readonly WorldRole[] {
  const own = world.roles.filter(({ id }) => id === role);
  if (own.length > 0) return own;
  const all = world.roles.filter(({ name }) => name === role);
  const seen = all.filter(({ id }) => !ignored.has(id));
  return seen.length > 0 ? seen : all;
}

/** Whether a rule names two live roles, of which no entry says which is meant. */
function namesSeveral({ file, roles: entries }: Wanted, world: World, roles: RolePlan): boolean {
  const { separate = [], max_holders = {}, require_until = [], require_mfa = [] } = file.policies ?? {};
  const limited = Array.isArray(require_until) ? require_until : Object.keys(require_until);
  const allowed = (file.checks ?? []).flatMap((check) => ("only" in check ? check.only : []));
  const named = [
    ...Object.keys(file.guards?.min_holders ?? {}),
    ...separate.flat(),
    ...Object.keys(max_holders),
    ...limited,
    ...require_mfa,
    ...allowed.flatMap((one) => (one.startsWith("role:") ? one.slice("role:".length) : [])),
  ];
  return entries === null && named.some((name) => namedRoles(name, world, roles).length > 1);
}

/** The final name of a role that somebody is to hold, or the id of a predefined one. */
function resolve(role: string, wanted: Wanted, world: World, roles: RolePlan, errors: Set<string>): string {
  if (roles.hidden.has(role)) errors.add("member-role-ignored");
  if (PREDEFINED.has(role) || roles.declared.has(role)) return role;
  const renamed = wanted.roles?.find((one) => formerNames(one).includes(role));
  if (renamed !== undefined) return renamed.name;
  const [is, ...others] = namedRoles(role, world, roles);
  const isId = is?.id === role;
  if (others.length > 0) errors.add("member-role-ambiguous");
  if (is === undefined) {
    errors.add("member-role-unknown");
    return role;
  }
  if (roles.ignored.has(is.id)) errors.add("member-role-ignored");
  if (roles.going.includes(is)) errors.add("member-role-removed");
  const final = roles.names.get(is.id) ?? role;
  if (!isId && final !== role) errors.add("member-role-unknown");
  return final;
}
