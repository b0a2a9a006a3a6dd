import { activeAt, hasBegun, isMention, isPast, isSuspended } from "../../kernel/diff/active-member.ts";
import {
  addressKeysOf,
  divideMemberships,
  type EntryMemberships,
  isExpired,
} from "../../kernel/diff/entry-memberships.ts";
import type { Match } from "../../kernel/diff/match.ts";
import type { RoleResolver } from "../../kernel/diff/resolve.ts";
import { samePeople } from "../../kernel/diff/same-people.ts";
import { addressOf, isServiceAccount, type Scope } from "../../kernel/diff/scope.ts";
import {
  COMMON_FIELDS,
  type CommonValues,
  declaredValues,
  isManaged,
  liveValues,
  MANAGED_FIELDS,
} from "../../kernel/fields/member.ts";
import { by, byCodeUnit, sortedSet } from "../../lib/text.ts";
import type {
  EntryEdit,
  GrantUpdate,
  IgnoreCause,
  MemberEntry,
  MemberEntryUpdate,
  Mention,
} from "../../model/adoption.ts";
import type { DesiredMember, Grant, Reinvite } from "../../model/desired.ts";
import type { ManagedProperties, MemberProperties, RoleRef } from "../../model/field-values.ts";
import type { LiveMember } from "../../model/live.ts";
import { entryUpdates, entryValues } from "./entry-values.ts";

/** The edits of a merchant's member entries. */
export interface AdoptedMembers {
  readonly edits: readonly EntryEdit[];
  readonly mentions: readonly Mention[];
}

/** The input of adopting members. */
export interface MemberAdoption {
  readonly scope: Pick<Scope, "members" | "ignoredMembers">;
  /** Addresses, in lower case, of those who have left. */
  readonly left: ReadonlySet<string>;
  readonly now: number;
  /** The merchant's own file. */
  readonly file: string;
  /** Declared addresses that the file also ignores. */
  readonly ignored: ReadonlySet<string>;
  readonly unwritable: ReadonlyMap<string, ReadonlySet<string>>;
  /** Resolves the roles that the file names now. */
  readonly resolver: Pick<RoleResolver, "idOf">;
  /** Returns the word for a role after the adoption; `null` if it is ignored. */
  readonly wordOf: (id: string) => string | null;
  /** Returns the name and the id of a role. */
  readonly titleOf: (id: string) => string;
  /** Whether the files renew an expired invitation, unless its entry decides. */
  readonly reinvite: Reinvite;
  /** Addresses of the entries whose expired invitations the plan does not renew. */
  readonly unrenewed: ReadonlySet<string>;
  readonly wants: (edit: EntryEdit) => boolean;
}

/** Compares the declared members with the live ones, and returns the edits that make the entries declare those. */
export function adoptMembers(declared: readonly DesiredMember[], input: MemberAdoption): AdoptedMembers {
  const { scope, left, ignored, unwritable, wants } = input;
  const isIgnored = ({ email }: DesiredMember): boolean => ignored.has(email);
  const { entries, leaving } = divideMemberships(
    declared.filter((entry) => !isIgnored(entry)),
    scope,
    left,
  );
  // A plan removes those who have left, whatever the entries say.
  const hasLeft = new Set(leaving);
  const live = scope.members.filter((member) => !hasLeft.has(member));
  const isShared = sharedAddresses([...live, ...scope.ignoredMembers]);
  const found = matchEntries(entries, live, isShared, input);
  const { leftovers, formers } = found;
  const others = new Set([...leftovers, ...[...formers.values()].flat()]);
  const { matched, gone } = withNewAddresses(
    found,
    live.filter((member) => !others.has(member)),
    isShared,
  );
  const listed = new Set([...matched.values(), ...others]);
  const unlisted = live.filter((member) => !listed.has(member));
  const { adds, ignores, mentions } = divideUnlisted(unlisted, matched, isShared, input);
  const emails = newEmails(matched, input);
  const updates = [...matched].flatMap(([member, entry]): readonly EntryEdit[] => {
    const fields = memberUpdate(
      member,
      withFormerRoles(entry, formers.get(member) ?? []),
      { isShared: isShared(entry), email: emails.get(member) },
      input,
    );
    return Object.keys(fields).length === 0 ? [] : [{ kind: "update-member", member, fields }];
  });
  // A plan refuses an entry for what the file ignores.
  const refused = declared.filter((entry) => isIgnored(entry) && !left.has(entry.email.toLowerCase()));
  const edits = [
    ...updates,
    ...[...refused, ...gone].map((member): EntryEdit => ({ kind: "remove-member", member })),
    ...adds.map((member) => addMember(member, unwritable.get(member.id) ?? NONE, isShared(member), input)),
    ...leftovers.map((member) => ignoreMember(member, "leftover")),
    ...ignores,
  ].filter(wants);
  return { edits, mentions };
}

const NONE: ReadonlySet<string> = new Set();

interface Matched {
  readonly matched: ReadonlyMap<DesiredMember, LiveMember>;
  /** Declared members that are not live. */
  readonly gone: readonly DesiredMember[];
}

interface MatchedEntries extends Matched {
  /** Expired invitations beside a matched member. */
  readonly leftovers: readonly LiveMember[];
  /** The memberships of previous addresses, by the entries that keep them. */
  readonly formers: ReadonlyMap<DesiredMember, readonly LiveMember[]>;
}

/** Matches entries as a plan does, and those that a plan cannot distinguish by their address. */
function matchEntries(
  entries: readonly EntryMemberships[],
  live: readonly LiveMember[],
  isShared: (member: LiveMember) => boolean,
  input: MemberAdoption,
): MatchedEntries {
  const { now, file, unwritable } = input;
  const matched = new Map<DesiredMember, LiveMember>();
  const leftovers: LiveMember[] = [];
  for (const { entry, match } of entries) {
    if (match.found === "one") {
      matched.set(entry, match.live);
      leftovers.push(...match.leftovers);
    }
  }
  const claimed = new Set([...matched.values(), ...leftovers]);
  const gone: DesiredMember[] = [];
  const away = new Set<DesiredMember>();
  for (const { entry, match, formers } of entries) {
    if (match.found === "one") continue;
    const best = bestOf(match, claimed);
    // A suspended member who holds nothing under a previous address either matches the entry.
    const isAsDeclared = isSuspended(entry, now) && !formers.some((member) => holdsRoles(member, input));
    if (best !== null) {
      matched.set(entry, best);
      claimed.add(best);
    } else if (isMention(entry, file)) continue;
    else if (isAway(entry, now) && (formers.length === 0 || isAsDeclared)) away.add(entry);
    else gone.push(entry);
  }
  const drop = (isWrong: (member: DesiredMember, found: LiveMember) => boolean): void => {
    for (const [member, liveMember] of matched) {
      if (!isWrong(member, liveMember)) continue;
      matched.delete(member);
      gone.push(member);
    }
  };
  // Without a pin a plan could not distinguish it from the others with its address.
  drop(
    ({ id }, liveMember) =>
      id !== liveMember.id && unwritable.get(liveMember.id)?.has("id") === true && isShared(liveMember),
  );
  // A plan treats an expired invitation as a leftover of the member beside it.
  const taken = new Set(matched.values());
  const unmatched = live.filter((member) => member.status !== "expired" && !taken.has(member));
  const standing = new Set(unmatched.flatMap(addressKeysOf));
  drop(({ email }, { status }) => status === "expired" && standing.has(email.toLowerCase()));
  const keeping = entries.filter(({ entry }) => matched.has(entry) || away.has(entry));
  const formers = new Map(keeping.map(({ entry, formers }) => [entry, formers]));
  return { matched, gone, leftovers, formers };
}

/** Adds the roles of memberships of previous addresses, which are the ones that give access until the new one is accepted. */
function withFormerRoles(live: LiveMember, formers: readonly LiveMember[]): LiveMember {
  const inForce = formers.filter(({ status }) => status === "accepted");
  if (live.status === "accepted" || inForce.length === 0) return live;
  return { ...live, roles: [...new Set([live, ...inForce].flatMap(({ roles }) => roles))] };
}

/** Adds the entries without a member whose person is probably live under another address. */
function withNewAddresses(
  { matched, gone }: Matched,
  live: readonly LiveMember[],
  isShared: (member: LiveMember) => boolean,
): Matched {
  const claimed = new Set(matched.values());
  const people = live.flatMap((member) => {
    const address = addressOf(member);
    const isPerson = isServiceAccount(member) === false && !isExpired(member) && !isShared(member);
    return address === null || !isPerson || claimed.has(member)
      ? []
      : [{ address, metadata: member.metadata, member }];
  });
  const missing = gone.flatMap((entry) =>
    [entry.id, entry.managed, entry.previously].some((value) => value !== undefined)
      ? []
      : [{ address: entry.email, metadata: entry.metadata ?? {}, entry }],
  );
  const pairs = samePeople(people, missing);
  const paired = new Set(pairs.map(({ to }) => to.entry));
  return {
    matched: new Map([...matched, ...pairs.map(({ from, to }) => [to.entry, from.member] as const)]),
    gone: gone.filter((entry) => !paired.has(entry)),
  };
}

/** Returns the best match for an entry that matches several live members, or is pinned to none. */
function bestOf(match: Match<LiveMember>, claimed: ReadonlySet<LiveMember>): LiveMember | null {
  if (match.found === "none" || match.found === "one") return null;
  const same = match.live.filter((member) => !claimed.has(member));
  const people = same.filter((member) => isServiceAccount(member) === false);
  return [...(people.length > 0 ? people : same)].sort(byStanding)[0] ?? null;
}

/** Sorts accepted members first, and expired invitations last, the latest first; then by id. */
function byStanding(a: LiveMember, b: LiveMember): number {
  const rank = ({ status }: LiveMember): number => (status === "accepted" ? 0 : status === "expired" ? 2 : 1);
  const endOf = ({ status, invite }: LiveMember): string =>
    status === "expired" ? (invite?.expiresAt ?? "") : "";
  return rank(a) - rank(b) || byCodeUnit(endOf(b), endOf(a)) || byCodeUnit(a.id, b.id);
}

/** Returns whether an entry has ended, has not begun or is suspended, so that no plan creates a member for it. */
function isAway(member: DesiredMember, now: number): boolean {
  const { absent, suspended } = activeAt(member, now);
  return absent !== null || suspended;
}

interface Unlisted {
  readonly adds: readonly LiveMember[];
  readonly ignores: readonly EntryEdit[];
  readonly mentions: readonly Mention[];
}

/** Divides the live members without an entry: to add, for `ignore`, and those that a plan leaves alone anyway. */
function divideUnlisted(
  unlisted: readonly LiveMember[],
  listed: ReadonlyMap<DesiredMember, LiveMember>,
  isShared: (member: LiveMember) => boolean,
  { unwritable, wordOf }: MemberAdoption,
): Unlisted {
  // A pinned entry may have another address than its member.
  const taken = new Set(
    [...listed].flatMap(([{ email }, member]) => [email.toLowerCase(), ...addressKeysOf(member)]),
  );
  const isLeft = (member: LiveMember): boolean =>
    addressOf(member) === null || (member.user !== undefined && isServiceAccount(member) !== false);
  const leftAlone = unlisted.filter(isLeft);
  const mentions = leftAlone.map((member): Mention => {
    const roles = [...new Set(member.roles)].map((role) => wordOf(role) ?? role).sort(byCodeUnit);
    return { id: member.id, email: addressOf(member), type: member.user?.type ?? null, roles };
  });
  // An entry for an expired invitation would match them.
  const standing = new Set(leftAlone.flatMap(addressKeysOf));
  const adds: LiveMember[] = [];
  const ignores: EntryEdit[] = [];
  for (const member of unlisted.filter((member) => !isLeft(member)).sort(byStanding)) {
    const { id, status } = member;
    const key = (addressOf(member) ?? id).toLowerCase();
    const parts = unwritable.get(id) ?? NONE;
    if (taken.has(key) || (status === "expired" && standing.has(key))) {
      ignores.push(ignoreMember(member, status === "expired" ? "leftover" : "twin"));
    } else if (parts.has("entry") || (parts.has("id") && isShared(member))) {
      ignores.push(ignoreMember(member, "unwritable"));
    } else {
      adds.push(member);
      taken.add(key);
    }
  }
  adds.sort((a, b) => byCodeUnit(nameOf(a), nameOf(b)));
  mentions.sort(by(({ email, id }) => `${email ?? id}\0${id}`));
  return { adds, ignores, mentions };
}

function nameOf(member: LiveMember): string {
  return addressOf(member)?.toLowerCase() ?? member.id;
}

/**
 * Returns a function that tests whether another live member has one of a member's addresses, so that its entry has to
 * be pinned.
 */
function sharedAddresses(live: readonly LiveMember[]): (member: LiveMember) => boolean {
  const isShared = repeatedKeys(live.flatMap(addressKeysOf));
  return (member) => addressKeysOf(member).some(isShared);
}

function ignoreMember(member: LiveMember, cause: IgnoreCause): EntryEdit {
  return { kind: "ignore-member", id: member.id, name: addressOf(member), cause };
}

function addMember(
  live: LiveMember,
  parts: ReadonlySet<string>,
  pin: boolean,
  { wordOf, titleOf, reinvite }: MemberAdoption,
): EntryEdit {
  const { id, status } = live;
  const words = liveValues({ ...live, roles: live.roles.flatMap((role) => wordOf(role) ?? []) }, refOf);
  const entry: MemberEntry = {
    email: addressOf(live) ?? id,
    ...(isManaged(live) && { managed: entryValues<ManagedProperties>(MANAGED_FIELDS, words, parts) }),
    ...entryValues<CommonValues>(COMMON_FIELDS, words, parts),
    ...(status === "expired" && reinvite !== false && { reinvite: false }),
    ...(pin && { id }),
  };
  return {
    kind: "add-member",
    id,
    entry,
    status,
    left: [...parts].filter((part) => part !== "id"),
    ignored: sortedSet(live.roles.filter((role) => wordOf(role) === null).map(titleOf)),
  };
}

/** Returns the addresses of pinned entries whose member has another one, unless two entries would have it. */
function newEmails(
  matched: ReadonlyMap<DesiredMember, LiveMember>,
  { unwritable }: MemberAdoption,
): ReadonlyMap<DesiredMember, string> {
  const newAddresses = new Map(
    [...matched].flatMap(([member, live]) => {
      const address = addressOf(live);
      const isOther = !addressKeysOf(live).includes(member.email.toLowerCase());
      // An expired invitation is renewed under the address of its entry.
      const isFit = live.status !== "expired" && !unwritable.get(live.id)?.has("entry");
      return address !== null && isOther && isFit ? [[member, address] as const] : [];
    }),
  );
  for (;;) {
    const isTaken = repeatedKeys(
      [...matched.keys()].map((member) => newAddresses.get(member) ?? member.email),
    );
    const refused = [...newAddresses].filter(([, address]) => isTaken(address));
    if (refused.length === 0) return newAddresses;
    for (const [member] of refused) newAddresses.delete(member);
  }
}

/** Returns a function that tests whether a text is in a list more than once, ignoring case. */
function repeatedKeys(texts: readonly string[]): (text: string) => boolean {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const key of texts.map((text) => text.toLowerCase())) {
    if (seen.has(key)) repeated.add(key);
    seen.add(key);
  }
  return (text) => repeated.has(text.toLowerCase());
}

function memberUpdate(
  member: DesiredMember,
  live: LiveMember,
  { isShared, email }: { readonly isShared: boolean; readonly email: string | undefined },
  input: MemberAdoption,
): MemberEntryUpdate {
  const parts = input.unwritable.get(live.id) ?? NONE;
  const { id, roles } = member;
  const dates = datesUpdate(member, live, input);
  const grants = roles === undefined || dates.isAway ? null : grantUpdate(roles, live, input);
  const [declared, values] = [declaredValues(member), liveValues(live, refOf)];
  const fields: MemberEntryUpdate = {
    ...(email !== undefined && { email }),
    ...(grants !== null && (parts.has("roles") ? { roles: null } : { grants })),
    ...dates.update,
    ...entryUpdates<MemberProperties>(COMMON_FIELDS, declared, values, parts),
    ...(isManaged(live) && entryUpdates<ManagedProperties>(MANAGED_FIELDS, declared, values, parts)),
    ...(id === undefined
      ? isShared && { id: live.id }
      : id !== live.id && { id: parts.has("id") ? null : live.id }),
  };
  // The lines of an edited entry count as changed now.
  const isUnrenewed = input.unrenewed.has(member.email) && Object.keys(fields).length === 0;
  const isRenewed = live.status === "expired" && !isUnrenewed && !isSuspended(member, input.now);
  return isRenewed && (member.reinvite ?? input.reinvite) !== false ? { ...fields, reinvite: false } : fields;
}

/** Returns a reference by a single word. */
function refOf(word: string): RoleRef {
  return { id: word, name: word };
}

/** Returns the dates to remove, and whether the member is suspended, without roles, as in the entry. */
function datesUpdate(
  member: DesiredMember,
  live: LiveMember,
  input: MemberAdoption,
): { readonly update: MemberEntryUpdate; readonly isAway: boolean } {
  const { now } = input;
  const { from, until } = member;
  const suspended = isSuspended(member, now);
  const holds = holdsRoles(live, input);
  return {
    update: {
      ...(!hasBegun(from, now) && { from: null }),
      ...(isPast(until, now) && { until: null }),
      ...(suspended && holds && { suspended: null }),
    },
    isAway: suspended && !holds,
  };
}

/**
 * Returns whether a plan takes roles from a suspended member: all but ignored ones. It leaves an expired invitation
 * alone.
 */
function holdsRoles({ status, roles }: LiveMember, { wordOf }: MemberAdoption): boolean {
  return status !== "expired" && roles.some((role) => wordOf(role) !== null);
}

/** Compares the grants of an entry with the held roles; `null` if a plan would change nothing. */
function grantUpdate(
  grants: readonly Grant[],
  live: LiveMember,
  { now, resolver, wordOf }: MemberAdoption,
): GrantUpdate | null {
  const held = new Set(live.roles);
  const resolved = grants.map((grant) => ({
    ...grant,
    id: resolver.idOf(grant.role),
    ended: isPast(grant.until, now),
    begun: hasBegun(grant.from, now),
  }));
  const declared = new Set(resolved.map(({ id }) => id));
  const isHeld = (id: string | null): id is string => id !== null && held.has(id) && wordOf(id) !== null;
  const kept = resolved.filter(({ id }) => isHeld(id));
  // With nothing but grants that have ended or not begun, a plan would remove the member.
  const isEmpty = kept.length === 0 && [...held].every((id) => wordOf(id) === null || declared.has(id));
  const remove = resolved
    .filter(({ id, ended, begun }) => !isHeld(id) && ((!ended && begun) || isEmpty))
    .map(({ role }) => role);
  const add = [...held].flatMap((id) => (declared.has(id) ? [] : (wordOf(id) ?? [])));
  const unend = kept.flatMap(({ role, ended }) => (ended ? role : []));
  const begin = kept.flatMap(({ role, begun }) => (begun ? [] : role));
  const rename = kept.flatMap(({ id, role }): readonly (readonly [string, string])[] => {
    const word = id === null ? null : wordOf(id);
    return word === null || word === role || id === role ? [] : [[role, word]];
  });
  if (add.length + remove.length + unend.length + begin.length + rename.length === 0) return null;
  return { add: add.sort(byCodeUnit), remove, unend, begin, rename: new Map(rename) };
}
