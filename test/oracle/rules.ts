import { matches } from "../support/build.ts";
import type { CheckValue, WorldMember } from "./case.ts";
import { type Expected, isIgnoredMember, type Outlook, statusOf } from "./expected.ts";
import { canonical, declaredName, type Wanted } from "./wanted.ts";

/** Permissions of a role, by its name or predefined id. */
type Granted = (role: string) => readonly string[];

/** Somebody on one side of a plan. */
interface Person {
  /** The same before and after. */
  readonly key: string;
  readonly email: string | null;
  readonly roles: readonly string[];
  /** Null where it is not known, or not asked for. */
  readonly mfa: boolean | null;
}

/** Everybody as they are, as the plan leaves them, and as the files alone show them. */
interface Sides {
  readonly before: readonly Person[];
  readonly after: readonly Person[];
  readonly file: readonly Person[];
}

/** Lists the codes of the rules that refuse a plan. */
export function refusedBy(
  wanted: Wanted,
  expected: Expected,
  predefined: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const names = new Map(expected.live.roles.map(({ id, name }) => [id, expected.finalNames.get(id) ?? name]));
  const sides: Sides = {
    before: expected.outlook.flatMap(({ before }) => (before === null ? [] : [personBefore(before, names)])),
    after: expected.outlook.flatMap(personAfter),
    file: (wanted.members ?? []).flatMap(({ email, roles, ended, isMention }) =>
      ended || isMention
        ? []
        : [
            {
              key: email,
              email,
              roles: [...new Set(roles?.map((role) => declaredName(role, wanted.roles)))],
              mfa: null,
            },
          ],
    ),
  };
  const codes = new Set<string>();
  const put = (code: string, isRefused: boolean): void => {
    if (isRefused) codes.add(code);
  };
  put("protect", touchesProtected(wanted, expected));
  put("max-removals", removesTooMuch(wanted, expected));
  put("max-gains", givesTooMuch(wanted, expected, predefined));
  put(
    "min-holders",
    shortages(wanted, expected).some(({ expects }) => !expects),
  );
  put("email-domains", leavesDomains(wanted));
  put("require-until", grantsForever(wanted, expected));
  put("until-limit", grantsTooLong(wanted, expected));
  put("forbid-permissions", grantsForbidden(wanted, expected));
  const { policies = {}, checks = [] } = wanted.file;
  for (const set of policies.separate ?? []) put("separate", breaksSeparation(set, sides));
  for (const [role, most] of Object.entries(policies.max_holders ?? {})) {
    put(
      "max-holders",
      counted((one) => one.roles.includes(role), most, sides),
    );
  }
  for (const role of policies.require_mfa ?? []) {
    const lacks = (one: Person): boolean => one.roles.includes(role) && one.mfa === false;
    put("require-mfa", compared(lacks, { ...sides, file: [] }));
  }
  for (const check of checks) put(codeOf(check), breaksCheck(check, wanted, expected, predefined, sides));
  return codes;
}

function personBefore(
  { id, email, roles, status, type, mfa }: WorldMember,
  names: ReadonlyMap<string, string>,
): Person {
  const isAsked = type !== "service_account" && type !== "system_account";
  const isKnown = email !== null && status !== "pending" && status !== "expired";
  return {
    key: id,
    email: email?.toLowerCase() ?? null,
    roles: roles.map((role) => names.get(role) ?? role),
    mfa: isAsked && isKnown ? mfa : null,
  };
}

function personAfter({ before, after, wanted }: Outlook): readonly Person[] {
  if (after === null) return [];
  const { email, roles, status } = after;
  const managed = after.id === null && wanted?.managed != null;
  const mfa =
    before !== null && status === statusOf(before)
      ? personBefore(before, new Map()).mfa
      : managed
        ? false
        : null;
  return [{ key: before?.id ?? email ?? "", email, roles, mfa }];
}

/** The memberships before that are somebody's: the one that is changed, or all of the address where it is a new one. */
function formerOf({ key, email }: Person, sides: Sides): readonly Person[] {
  return sides.before.filter(
    (one) => one.key === key || (one.email !== null && one.email === email && key === email),
  );
}

/** A plan is refused for who breaks a rule and did not before, and for who breaks it in the files alone. */
function compared(breaks: (one: Person, side: keyof Sides) => boolean, sides: Sides): boolean {
  const isNew = sides.after.some(
    (one) => breaks(one, "after") && !formerOf(one, sides).some((former) => breaks(former, "before")),
  );
  return isNew || sides.file.some((one) => breaks(one, "file"));
}

/** A plan is refused where it adds somebody to too many, unless they get fewer, and where the files alone list too many. */
function counted(counts: (one: Person, side: keyof Sides) => boolean, most: number, sides: Sides): boolean {
  if (sides.file.filter((one) => counts(one, "file")).length > most) return true;
  const before = sides.before.filter((one) => counts(one, "before"));
  const after = sides.after.filter((one) => counts(one, "after"));
  if (after.length <= most || after.length < before.length) return false;
  return after.length > before.length || compared(counts, { ...sides, file: [] });
}

function breaksSeparation(set: readonly string[], sides: Sides): boolean {
  const held = ({ roles }: Person): readonly string[] => set.filter((role) => roles.includes(role));
  const after = sides.after.filter((one) => held(one).length > 1);
  if (sides.file.some((one) => held(one).length > 1)) return true;
  const isWorse = after.some((one) => {
    const before = new Set(
      formerOf(one, sides).flatMap((former) => (held(former).length > 1 ? held(former) : [])),
    );
    return held(one).some((role) => !before.has(role));
  });
  return isWorse;
}

function leavesDomains({ file, members }: Wanted): boolean {
  const domains = file.policies?.email_domains;
  const isOutside = (email: string): boolean => {
    const domain = email.slice(email.lastIndexOf("@") + 1);
    return (
      domains?.every((one) => (one.startsWith("*.") ? !domain.endsWith(one.slice(1)) : domain !== one)) ??
      false
    );
  };
  return members?.some(({ email, ended, isMention }) => !ended && !isMention && isOutside(email)) ?? false;
}

/** The final name of a role that the files grant by its name or its id: a rule means the same role by either. */
function finalName(role: string, { roles }: Wanted, { finalNames }: Expected): string {
  return finalNames.get(role) ?? declaredName(role, roles);
}

/** The files give a role without an end, or a new membership takes it over from that of a previous address. */
function grantsForever(wanted: Wanted, expected: Expected): boolean {
  const { file, members } = wanted;
  const required = file.policies?.require_until ?? [];
  const roles = Array.isArray(required) ? required : Object.keys(required);
  const isEndless = members?.some(
    (one) =>
      !one.ended &&
      one.endless.some(
        (role) =>
          roles.includes(finalName(role, wanted, expected)) && !isHeldById(role, one, wanted, expected),
      ),
  );
  const takesOver = expected.outlook.some(
    ({ before, after, wanted: one }) =>
      before === null &&
      one?.isLimited === false &&
      after?.roles.some((role) => {
        const isListed = [...one.ends.keys()].some((name) => finalName(name, wanted, expected) === role);
        return roles.includes(role) && !isListed;
      }),
  );
  return takesOver || (isEndless ?? false);
}

/** Only the live state tells what an undeclared role's id means: who holds it without an end already may keep it. */
function isHeldById(
  role: string,
  one: NonNullable<Outlook["wanted"]>,
  { roles }: Wanted,
  { finalNames, outlook }: Expected,
): boolean {
  const isUndeclared = finalNames.has(role) && declaredName(role, roles) === role;
  return isUndeclared && outlook.some(({ before, wanted }) => wanted === one && before?.roles.includes(role));
}

/** A grant that nobody holds yet ends too far away from its beginning, or from now; nobody can know of others when they began. */
function grantsTooLong(wanted: Wanted, expected: Expected): boolean {
  const { file, members, now, left } = wanted;
  const { live, finalNames } = expected;
  const required = file.policies?.require_until ?? {};
  if (Array.isArray(required)) return false;
  return Object.entries(required).some(([role, limit]) =>
    (members ?? [])
      .filter(({ email }) => !left.has(email))
      .some(({ email, previously, id, ends, isBack }) => {
        const grant = [...ends].find(([name]) => finalName(name, wanted, expected) === role)?.[1];
        if (grant?.until === undefined || grant.until.at <= now) return false;
        const hours =
          Number.parseInt(limit, 10) * { h: 1, d: 24, w: 168 }[limit.slice(-1) as "h" | "d" | "w"];
        const isWholeDay = grant.until.isDate && !limit.endsWith("h");
        const last = grant.until.at - (isWholeDay ? 24 * 3_600_000 : 0);
        if (last - (grant.from ?? now) <= hours * 3_600_000) return false;
        const memberships = [
          live.members.find((one) => one.id === id),
          ...[email, ...previously].map((address) =>
            live.members.findLast((one) => one.email?.toLowerCase() === address),
          ),
        ].filter((one) => one !== undefined);
        const holds = memberships.some((one) =>
          one.roles.some((held) => (finalNames.get(held) ?? held) === role),
        );
        return !(holds || (isBack && memberships.length > 0));
      }),
  );
}

/** What each role grants in the end, by its final name. */
function permissionsAfter(
  roles: Expected["roles"],
  finalNames: Expected["finalNames"],
): ReadonlyMap<string | undefined, readonly string[]> {
  return new Map(roles.map(({ id, name, permissions }) => [finalNames.get(id ?? "") ?? name, permissions]));
}

function grantsForbidden({ file, roles }: Wanted, expected: Expected): boolean {
  const forbidden = file.policies?.forbid_permissions ?? [];
  const before = new Map(
    expected.live.roles.map(({ id, permissions }) => [expected.finalNames.get(id), permissions]),
  );
  const isNew = [...permissionsAfter(expected.roles, expected.finalNames)].some(([name, permissions]) =>
    forbidden.some((one) => permissions.includes(one) && !before.get(name)?.includes(one)),
  );
  const isDeclared = roles?.some(({ permissions = [] }) =>
    forbidden.some((one) => permissions.includes(one)),
  );
  return isNew || (isDeclared ?? false);
}

function codeOf(check: CheckValue): string {
  if ("member" in check) return "check-cannot";
  return "only" in check ? "check-only" : "check-at-most";
}

function grantsOf(
  wanted: Wanted,
  expected: Expected,
  predefined: ReadonlyMap<string, readonly string[]>,
): Readonly<Record<keyof Sides, Granted>> {
  const before = new Map(
    expected.live.roles.map(({ id, permissions }) => [expected.finalNames.get(id), permissions]),
  );
  const after = permissionsAfter(expected.roles, expected.finalNames);
  const file = new Map(wanted.roles?.map(({ name, permissions = [] }) => [name, permissions]));
  return {
    before: (role) => predefined.get(role) ?? before.get(role) ?? [],
    after: (role) => predefined.get(role) ?? after.get(role) ?? [],
    file: (role) => file.get(role) ?? [],
  };
}

/** Counts who newly holds what a limit names; a world is too small for the default of sensitive permissions. */
function givesTooMuch(
  wanted: Wanted,
  expected: Expected,
  predefined: ReadonlyMap<string, readonly string[]>,
): boolean {
  const { max_gains: given } = wanted.file.guards ?? {};
  if (wanted.members === null || (given !== undefined && Object.keys(given).length === 0)) return false;
  const { live, outlook, finalNames } = expected;
  const granted = grantsOf(wanted, expected, predefined);
  // A person is the same under a previous address, and by an expired invitation.
  const rolesBefore = ({ before, wanted: entry }: Outlook, isUsable: (one: WorldMember) => boolean) =>
    [before, ...live.members.filter(({ email }) => entry?.previously.includes(email?.toLowerCase() ?? "-"))]
      .flatMap((one) => (one !== null && isUsable(one) ? one.roles : []))
      .map((id) => finalNames.get(id) ?? id);
  const isEnabled = (one: WorldMember): boolean => statusOf(one) !== "disabled";
  const gained = (one: Outlook): readonly string[] => {
    const { after } = one;
    if (after === null || after.status === "expired" || after.status === "disabled") return [];
    const had = rolesBefore(one, isEnabled).flatMap(granted.before);
    return after.roles.flatMap(granted.after).filter((permission) => !had.includes(permission));
  };
  const isNewRole = (what: string, one: Outlook): boolean =>
    one.after?.roles.includes(what) === true &&
    !rolesBefore(one, (member) => member === one.before || isEnabled(member)).includes(what);
  const isMeant = (what: string, permission: string): boolean =>
    what === "sensitive"
      ? /member|role|key|owner|merchant|payout|bank_account|refund/.test(permission) &&
        !/(?:view|read|readonly|list|get|export)$/.test(permission)
      : matches(what, permission);
  return Object.entries({ role_owner: 2, role_admin: 2, ...given }).some(([what, limit]) => {
    const people = outlook.filter(
      (one) => gained(one).some((permission) => isMeant(what, permission)) || isNewRole(what, one),
    );
    const share = Math.max(10, Math.floor((live.members.length * Number.parseInt(String(limit), 10)) / 100));
    // An entry names the member whom it is pinned to, whatever the address.
    const names = people.map(
      ({ before, after, wanted: entry }) =>
        addressesOfPerson(wanted, entry?.email ?? after?.email ?? null)[0] ?? before?.id,
    );
    return new Set(names).size > (typeof limit === "number" ? limit : limit === "0%" ? 0 : share);
  });
}

/** A person has the address of the entry and its previous ones, whichever the membership has. */
function addressesOfPerson({ members }: Wanted, email: string | null): readonly string[] {
  if (email === null) return [];
  const all = (members ?? []).map((one) => [one.email, ...one.previously]);
  return all.find((addresses) => addresses.includes(email)) ?? [email];
}

function breaksCheck(
  check: CheckValue,
  wanted: Wanted,
  expected: Expected,
  predefined: ReadonlyMap<string, readonly string[]>,
  sides: Sides,
): boolean {
  const granted = grantsOf(wanted, expected, predefined);
  const can = ({ roles }: Person, permission: string, side: keyof Sides): boolean =>
    roles.some((role) => granted[side](role).includes(permission));
  const addresses = (email: string | null): readonly string[] => addressesOfPerson(wanted, email);
  if ("member" in check) {
    return check.cannot.some((permission) =>
      compared(
        (one, side) => addresses(one.email).includes(check.member) && can(one, permission, side),
        sides,
      ),
    );
  }
  if ("at_most" in check) return counted((one, side) => can(one, check.can, side), check.at_most, sides);
  const listed = new Set(check.only);
  return compared(
    (one, side) =>
      can(one, check.can, side) &&
      !addresses(one.email).some((address) => listed.has(address)) &&
      one.roles.every((role) => !listed.has(`role:${role}`)),
    sides,
  );
}

/** What is protected is neither changed nor removed; a member may move to the successor of a replaced role. */
function touchesProtected({ file }: Wanted, { changes, live, outlook, finalNames }: Expected): boolean {
  const { roles = [], members = [] } = file.guards?.protect ?? {};
  const isTouched = (resource: string, id: string): boolean =>
    ["update", "delete", "replace"].some((kind) => changes.has(`${kind} ${resource} ${id}`));
  const ofRole = live.roles.some(
    ({ id, name }) => isNamed(roles, [id, name, finalNames.get(id)]) && isTouched("role", id),
  );
  // What an entry changes is also what the entry calls it.
  const ofMember = outlook.some((one) => {
    if (one.before === null || one.isLeftover || onlyMoves(one, finalNames)) return false;
    const { before, wanted: entry, isMoved } = one;
    // The removal of an old membership is none of the person's.
    const ofPerson = entry === null || (isMoved && !entry.ended) ? [] : [entry.email, ...entry.previously];
    return (
      isNamed(members, [before.id, before.email?.toLowerCase(), ...ofPerson]) &&
      isTouched("member", before.id)
    );
  });
  return ofRole || ofMember;
}

function isNamed(globs: readonly string[], names: readonly (string | undefined)[]): boolean {
  return globs.some((glob) => names.some((name) => name !== undefined && matches(glob, name)));
}

/** Whether somebody is to be the same as before, but for the ids of roles that are replaced. */
function onlyMoves({ before, after }: Outlook, finalNames: ReadonlyMap<string, string>): boolean {
  if (before === null || after === null || after.id === null) return false;
  const roles = before.roles.map((id) => finalNames.get(id) ?? id).sort();
  const { metadata, nickname } = before;
  return canonical([roles, metadata, nickname]) === canonical([after.roles, after.metadata, after.nickname]);
}

/** Counts what is removed and what something is taken from. */
function removesTooMuch(wanted: Wanted, { changes, live, outlook, roles, finalNames }: Expected): boolean {
  const limit = wanted.file.guards?.max_removals ?? "25%";
  const isOver = (count: number, total: number): boolean =>
    typeof limit === "number"
      ? count > limit
      : count > 3 && count > (total * Number.parseInt(limit, 10)) / 100;
  const members = outlook.filter(({ before, after, wanted: entry, isLeftover, isMoved }) => {
    // Who is invited again is given what the file says.
    if (before === null || after?.id === null || isLeftover) return false;
    if (isMoved && !entry?.ended) {
      const now = outlook.find((one) => one.after?.status === "accepted" && one.after.email === entry?.email);
      return before.roles.some((id) => !now?.after?.roles.includes(finalNames.get(id) ?? id));
    }
    return after === null || before.roles.some((id) => !after.roles.includes(finalNames.get(id) ?? id));
  });
  const kept = permissionsAfter(roles, finalNames);
  const fewer = live.roles.filter(({ id, permissions }) => {
    const rest = kept.get(finalNames.get(id) ?? "");
    return (
      changes.has(`delete role ${id}`) || permissions.some((one) => rest !== undefined && !rest.includes(one))
    );
  });
  // Several memberships of one person count once.
  const people = new Set(
    members.map(
      ({ before }) => addressesOfPerson(wanted, before?.email?.toLowerCase() ?? null)[0] ?? before?.id,
    ),
  );
  // What is ignored is not counted; somebody who has left is, all the same.
  const { ignored, left } = wanted;
  const counted = live.members.filter(
    ({ id, email }) => left.has(email?.toLowerCase() ?? "") || !isIgnoredMember(wanted, id, email),
  );
  const countedRoles = live.roles.filter(({ id, name }) => !isNamed(ignored.roles, [id, name]));
  return isOver(people.size, counted.length) || isOver(fewer.length, countedRoles.length);
}

/** Roles that would have too few accepted holders, and whether there are enough with the invited ones. */
export function shortages(
  { file }: Wanted,
  { outlook, finalNames, live }: Expected,
): readonly { readonly role: string; readonly expects: boolean }[] {
  const { min_holders: given } = file.guards ?? {};
  const isNone = given !== undefined && Object.keys(given).length === 0;
  const fewest: Readonly<Record<string, number>> = isNone ? {} : { role_owner: 1, ...given };
  const isService = (one: WorldMember | null): boolean =>
    one !== null && one.type !== "user" && one.type !== "managed_user";
  // Nobody joins at the address of a member who is there until then.
  const isTaken = (before: WorldMember | null, email: string | null): boolean =>
    (before === null || before.status === "expired") &&
    live.members.some((one) => one.status !== "expired" && one.email?.toLowerCase() === email);
  // Nobody can log in as a service account: enough are left without those, and with them.
  return [false, true].flatMap((withServices) =>
    Object.entries(fewest).flatMap(([role, least]) => {
      const counted = outlook.filter(({ before }) => withServices || !isService(before));
      const had = counted.filter(
        ({ before }) =>
          before !== null &&
          statusOf(before) === "accepted" &&
          before.roles.some((id) => (finalNames.get(id) ?? id) === role),
      ).length;
      const holders = counted.flatMap(({ before, after }) =>
        after?.roles.includes(role) && !isTaken(before, after.email) ? [after.status] : [],
      );
      const has = holders.filter((status) => status === "accepted").length;
      const invited = holders.filter((status) => status === "pending").length;
      const needed = Math.min(least, had);
      return has < needed ? [{ role, expects: has + invited >= needed }] : [];
    }),
  );
}
