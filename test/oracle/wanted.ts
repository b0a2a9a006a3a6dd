import { matches } from "../support/build.ts";
import {
  type Case,
  type Data,
  type FileValue,
  formerNames,
  type GrantValue,
  type MemberValue,
  type RoleValue,
} from "./case.ts";

/** Who is to hold what at a moment, as the files say it together. */
export interface Wanted {
  readonly roles: readonly RoleValue[] | null;
  readonly members: readonly WantedMember[] | null;
  /** Addresses, in lower case, of which nobody holds anything any more. */
  readonly left: ReadonlySet<string>;
  readonly now: number;
  readonly additive: { readonly roles: boolean; readonly members: boolean };
  readonly reinvite: boolean;
  readonly replaceRoles: boolean;
  readonly ignored: { readonly roles: readonly string[]; readonly members: readonly string[] };
  /** Names and ids in all grants, also in those that have ended. */
  readonly granted: ReadonlySet<string>;
  readonly file: FileValue;
}

/** One person; null is not managed. */
export interface WantedMember {
  readonly email: string;
  readonly id: string | null;
  readonly roles: readonly string[] | null;
  /** Previous addresses, in lower case. */
  readonly previously: readonly string[];
  readonly metadata: Data | null;
  readonly managed: { readonly nickname: string | null } | null;
  /** Roles that are granted without any end. */
  readonly endless: readonly string[];
  /** Whether the whole membership has an end. */
  readonly isLimited: boolean;
  /** Whether only an included file lists the person, without roles. */
  readonly isMention: boolean;
  /** Roles that the person is to hold at another time, and does not hold now. */
  readonly later: readonly string[];
  /** Whether all access has ended or not begun, or the person has left. */
  readonly ended: boolean;
  /** Whether the person holds nothing for a time, and is not invited either. */
  readonly away: boolean;
  /** Whether the file has a suspension, whatever its dates. */
  readonly isBack: boolean;
  /** All grants with the dates that count for them, in the file's words. */
  readonly ends: ReadonlyMap<string, Term>;
  /** All grants with their own dates. */
  readonly written: ReadonlyMap<string, Term>;
}

/** When a grant begins and ends, with its membership; as a date its last day is whole. */
interface Term {
  readonly from?: number;
  readonly until?: { readonly at: number; readonly isDate: boolean };
}

/** The moment at which access ends. */
function endOf(text: string): number {
  return text.length === 10 ? Date.parse(`${text}T00:00:00Z`) + 24 * 3_600_000 : Date.parse(text);
}

/** The moment at which access begins, or somebody leaves. */
function startOf(text: string): number {
  return Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text);
}

/** Reads the files of a case; null where one of them has an error. */
export function wantedOf({ files, now }: Pick<Case, "files" | "now">): Wanted | null {
  const all = Object.values(files);
  const main = all[0];
  if (main === undefined) return null;
  const declared = joined(all.map((file) => file.roles?.filter(({ adjust }) => adjust === undefined)));
  const roles = declared && withAdjustments(declared, all);
  if (roles === "wrong") return null;
  const entries = all.map((file) => file.members);
  const members = entries.every((one) => one === undefined)
    ? null
    : people(entries, now, (role) => declaredName(role, roles));
  if (members === "conflict" || (roles !== null && !areRolesSound(roles))) return null;
  if (roles !== null && !areNamesKnown(roles, all)) return null;
  if (!areAddressesSound(members ?? [])) return null;
  const pins = members?.flatMap(({ id }) => id ?? []) ?? [];
  if (new Set(pins).size < pins.length) return null;
  const one = <Key extends "sync" | "guards" | "policies">(key: Key) =>
    Object.assign({}, ...all.map((file) => file[key] ?? {})) as NonNullable<FileValue[Key]>;
  const sync = one("sync");
  const [fewest, most] = [one("guards").min_holders ?? {}, one("policies").max_holders ?? {}];
  if (Object.entries(fewest).some(([role, count]) => count > (most[role] ?? count))) return null;
  const gone = all.flatMap(({ leavers = [] }) =>
    leavers.flatMap(({ email, from }) => (startOf(from) <= now ? email.toLowerCase() : [])),
  );
  // A person who has left under one address has left under all of them.
  const left = new Set([
    ...gone,
    ...(members ?? [])
      .map(({ email, previously }) => [email, ...previously])
      .filter((addresses) => addresses.some((one) => gone.includes(one)))
      .flat(),
  ]);
  return {
    roles,
    members: members?.map((one) => (left.has(one.email) ? { ...one, ended: true, later: [] } : one)) ?? null,
    left,
    now,
    additive: { roles: sync.roles === "additive", members: sync.members === "additive" },
    reinvite: sync.reinvite ?? true,
    replaceRoles: sync.replace_roles ?? false,
    ignored: {
      roles: all.flatMap((file) => file.ignore?.roles ?? []),
      members: all.flatMap((file) => file.ignore?.members ?? []),
    },
    granted: new Set(entries.flat().flatMap((entry) => entry?.roles?.map(roleOf) ?? [])),
    file: {
      ...main,
      guards: one("guards"),
      policies: one("policies"),
      checks: all.flatMap((file) => file.checks ?? []),
    },
  };
}

/** Whether the files themselves show that they declare, or grant at the moment, what they ignore. */
export function declaresIgnored({ files, now }: Pick<Case, "files" | "now">): boolean {
  const all = Object.values(files);
  const roles = all.flatMap((file) => file.roles ?? []).filter(({ adjust }) => adjust === undefined);
  const isIgnored = (key: "roles" | "members", texts: readonly (string | undefined)[]): boolean =>
    all
      .flatMap((file) => file.ignore?.[key] ?? [])
      .some((glob) => texts.some((text) => text !== undefined && matches(glob, text)));
  const nameOf = (role: string): string =>
    roles.some(({ name }) => name === role)
      ? role
      : (roles.find((one) => formerNames(one).includes(role))?.name ?? role);
  const isOver = (until: string | undefined): boolean => until !== undefined && endOf(until) <= now;
  return (
    roles.some(({ name, id }) => isIgnored("roles", [name, id])) ||
    all.some(({ members = [] }) =>
      members.some(
        ({ email, id, until, roles: held = [] }) =>
          isIgnored("members", [email.toLowerCase(), id]) ||
          (!isOver(until) &&
            held.some(
              (grant) =>
                !(typeof grant !== "string" && isOver(grant.until)) &&
                isIgnored("roles", [nameOf(roleOf(grant))]),
            )),
      ),
    )
  );
}

/** Changes the permissions of included roles as the merchant's own file says; "wrong" where it may not say that. */
function withAdjustments(
  roles: readonly RoleValue[],
  [main, ...others]: readonly FileValue[],
): readonly RoleValue[] | "wrong" {
  const adjusting = (file: FileValue | undefined) => (file?.roles ?? []).filter(({ adjust }) => adjust);
  if (others.some((file) => adjusting(file).length > 0)) return "wrong";
  const entries = adjusting(main).map((entry) => ({ ...entry, name: declaredName(entry.name, roles) }));
  if (new Set(entries.map(({ name }) => name)).size < entries.length) return "wrong";
  const included = others.flatMap((file) => file.roles ?? []);
  const isWrong = entries.some(({ name, adjust: { add = [], remove = [] } = {} }) => {
    const permissions = included.find((role) => role.name === name)?.permissions;
    return (
      permissions === undefined ||
      add.length + remove.length === 0 ||
      add.some((one) => permissions.includes(one)) ||
      remove.some((one) => !permissions.includes(one))
    );
  });
  if (isWrong) return "wrong";
  return roles.map((role) => {
    const { add = [], remove = [] } = entries.find(({ name }) => name === role.name)?.adjust ?? {};
    const { permissions } = role;
    return permissions === undefined
      ? role
      : { ...role, permissions: [...permissions, ...add].filter((one) => !remove.includes(one)) };
  });
}

function joined<T>(lists: readonly (readonly T[] | undefined)[]): readonly T[] | null {
  return lists.every((list) => list === undefined) ? null : lists.flatMap((list) => list ?? []);
}

/** A previous address is nobody's now, and was one person's. */
function areAddressesSound(members: readonly WantedMember[]): boolean {
  const formers = members.flatMap(({ previously }) => [...new Set(previously)]);
  return members.every(({ email }) => !formers.includes(email)) && new Set(formers).size === formers.length;
}

/** No name, id or former name twice; a former name is no role's any more, unless that one was renamed too. */
function areRolesSound(roles: readonly RoleValue[]): boolean {
  const unique = (values: readonly (string | undefined)[]): boolean => {
    const given = values.filter((value) => value !== undefined);
    return new Set(given).size === given.length;
  };
  return (
    unique(roles.map(({ name }) => name)) &&
    unique(roles.map(({ id }) => id)) &&
    unique(roles.flatMap(formerNames)) &&
    roles.every((role) => endsSomewhere(role, roles))
  );
}

/** Where all roles are declared, a name is one of theirs, a former one, or one that may be ignored. */
function areNamesKnown(roles: readonly RoleValue[], files: readonly FileValue[]): boolean {
  if (files.some(({ sync }) => sync?.roles === "additive")) return true;
  const names = new Set(roles.flatMap((role) => [role.name, ...formerNames(role)]));
  const ignored = files.flatMap(({ ignore }) => ignore?.roles ?? []);
  const isKnown = (role: string): boolean =>
    names.has(role) ||
    role.startsWith("role_") ||
    ignored.some((glob) => glob.startsWith("*") || matches(glob, role));
  return files.every(({ members = [] }) =>
    members.every(({ roles: held = [] }) => held.every((grant) => isKnown(roleOf(grant)))),
  );
}

/** Whether all chains of former names lead to some that no role has, not in a circle. */
function endsSomewhere(role: RoleValue, roles: readonly RoleValue[], seen: readonly string[] = []): boolean {
  return formerNames(role).every((former) => {
    const other = roles.find(({ name }) => name === former);
    if (other === undefined) return true;
    const isCircle = other === role || [...seen, role.name].includes(former);
    return !isCircle && formerNames(other).length > 0 && endsSomewhere(other, roles, [...seen, role.name]);
  });
}

/** Returns the name by which a role is declared. */
type NameOf = (role: string) => string;

/** Returns the declared name of a role that is given by its name, its id or its former name. */
export function declaredName(role: string, roles: readonly RoleValue[] | null): string {
  if (roles?.some(({ name }) => name === role)) return role;
  return roles?.find((one) => one.id === role || formerNames(one).includes(role))?.name ?? role;
}

function withName(grant: GrantValue, nameOf: NameOf): GrantValue {
  return typeof grant === "string" ? nameOf(grant) : { ...grant, role: nameOf(grant.role) };
}

function roleOf(grant: GrantValue): string {
  return typeof grant === "string" ? grant : grant.role;
}

/** Joins what several files say of each person; "conflict" where they contradict one another. */
function people(
  lists: readonly (readonly MemberValue[] | undefined)[],
  now: number,
  nameOf: NameOf,
): readonly WantedMember[] | "conflict" {
  const byEmail = new Map<string, MemberValue[]>();
  for (const list of lists) {
    const emails = emailsOf(list);
    if (new Set(emails).size < emails.length) return "conflict";
    for (const entry of list ?? []) {
      const key = addressNow(entry.email.toLowerCase(), lists);
      byEmail.set(key, [...(byEmail.get(key) ?? []), entry]);
    }
  }
  const isAgreed = [...byEmail.values()].every(
    (entries) => agreed(entries.map(({ previously }) => previously)) !== "conflict",
  );
  if (!isAgreed) return "conflict";
  const own = emailsOf(lists[0]).map((email) => addressNow(email, lists));
  const all = [...byEmail].map(([email, entries]) =>
    person(email, entries, own.includes(email), now, nameOf),
  );
  return all.includes("conflict") ? "conflict" : all.filter((one) => one !== "conflict");
}

/** The address of a person whom another file lists under a previous one; each file lists a person once. */
function addressNow(email: string, lists: readonly (readonly MemberValue[] | undefined)[]): string {
  const entries = lists.flatMap((list) => list ?? []);
  const now = entries.findLast((entry) => formersOf([entry]).includes(email))?.email.toLowerCase();
  if (now === undefined || entries.some((entry) => formersOf([entry]).includes(now))) return email;
  const own = entries.filter((entry) => entry.email.toLowerCase() === now);
  const addresses = new Set([now, ...formersOf(own)]);
  const isTwice = lists.some((list) => emailsOf(list).filter((one) => addresses.has(one)).length > 1);
  return isTwice ? email : now;
}

/** The previous addresses of a person, in lower case. */
function formersOf(entries: readonly MemberValue[]): readonly string[] {
  const all = entries.flatMap(({ previously = [] }) => previously);
  return [...new Set(all.map((address) => address.toLowerCase()))];
}

function emailsOf(list: readonly MemberValue[] | undefined): readonly string[] {
  return (list ?? []).map(({ email }) => email.toLowerCase());
}

function person(
  email: string,
  entries: readonly MemberValue[],
  isOwn: boolean,
  now: number,
  nameOf: NameOf,
): WantedMember | "conflict" {
  const id = agreed(entries.map((one) => one.id));
  const metadata = agreed(entries.map((one) => one.metadata));
  const managed = agreed(entries.map((one) => one.managed));
  const until = agreed(entries.map((one) => one.until));
  const from = agreed(entries.map((one) => one.from));
  const suspended = agreed(entries.map((one) => one.suspended));
  const given = entries.flatMap((one) => one.roles ?? []);
  const ends = endsOf(given);
  const endsByName = endsOf(given.map((grant) => withName(grant, nameOf)));
  // No roles in one file and some in another.
  if (given.length > 0 && entries.some(({ roles }) => roles?.length === 0)) return "conflict";
  if (
    ends === "conflict" ||
    endsByName === "conflict" ||
    metadata === "conflict" ||
    managed === "conflict" ||
    until === "conflict" ||
    from === "conflict" ||
    suspended === "conflict" ||
    [...entries, ...given.map((grant) => (typeof grant === "string" ? {} : grant))].some(isBackwards) ||
    (suspended !== null && suspended !== true && isBackwards(suspended)) ||
    entries.some((one) => isPointless(one)) ||
    id === "conflict"
  ) {
    return "conflict";
  }
  const held = [...ends].filter(([, grant]) => isNow(grant, now)).map(([role]) => role);
  const isOver = (dates: Dates): boolean => dates.until !== undefined && now >= endOf(dates.until);
  const away = suspended !== null && isNow(suspended === true ? {} : suspended, now);
  const listed = entries.every((one) => one.roles === undefined) ? null : held;
  return {
    email,
    id,
    previously: formersOf(entries),
    roles: away ? [] : listed,
    metadata,
    managed: managed === null ? null : { nickname: managed.nickname ?? null },
    endless:
      until === null && !away
        ? [...endsByName].flatMap(([role, grant]) =>
            grant.until === undefined && isNow(grant, now) ? [role] : [],
          )
        : [],
    isLimited: until !== null,
    isMention: !isOwn && entries.every(({ roles, managed: user }) => (roles ?? user) === undefined),
    later:
      until !== null && isOver({ until })
        ? []
        : [...ends].flatMap(([role, grant]) =>
            isOver(grant) || (held.includes(role) && !away && isNow({ ...(from !== null && { from }) }, now))
              ? []
              : [role],
          ),
    ended:
      !isNow({ ...(from !== null && { from }), ...(until !== null && { until }) }, now) ||
      (ends.size > 0 && held.length === 0),
    away,
    isBack: suspended !== null,
    ends: new Map(
      [...ends].map(([role, grant]) => [
        role,
        termOf([grant, { ...(from !== null && { from }), ...(until !== null && { until }) }]),
      ]),
    ),
    written: new Map([...ends].map(([role, grant]) => [role, termOf([grant])])),
  };
}

/** The latest beginning and the earliest end of several. */
function termOf(all: readonly Dates[]): Term {
  const starts = all.flatMap(({ from }) => (from === undefined ? [] : [startOf(from)]));
  const stops = all.flatMap(({ until }) => (until === undefined ? [] : [until]));
  const [first] = stops.sort((a, b) => endOf(a) - endOf(b));
  return {
    ...(starts.length > 0 && { from: Math.max(...starts) }),
    ...(first !== undefined && { until: { at: endOf(first), isDate: first.length === 10 } }),
  };
}

interface Dates {
  readonly from?: string;
  readonly until?: string;
}

/** Whether a moment is between two dates, of which the first and the last day count. */
function isNow({ from, until }: Dates, now: number): boolean {
  return (from === undefined || startOf(from) <= now) && (until === undefined || now < endOf(until));
}

/** Whether something would begin after it has ended. */
function isBackwards({ from, until }: Dates): boolean {
  return from !== undefined && until !== undefined && startOf(from) >= endOf(until);
}

/** Whether a role would begin after the membership, in one file, has ended. */
function isPointless({ until, roles = [] }: MemberValue): boolean {
  return roles.some(
    (grant) =>
      typeof grant !== "string" &&
      isBackwards({ ...(grant.from && { from: grant.from }), ...(until && { until }) }),
  );
}

/** What all those who say anything say. */
function agreed<T>(values: readonly (T | undefined)[]): T | null | "conflict" {
  const different = new Map(
    values.flatMap((value) => (value === undefined ? [] : [[canonical(value), value] as const])),
  );
  return different.size > 1 ? "conflict" : ([...different.values()][0] ?? null);
}

/** Each role with its dates: the same, wherever it is granted. */
function endsOf(grants: readonly GrantValue[]): ReadonlyMap<string, Dates> | "conflict" {
  const all = new Map<string, Dates>();
  const moments = ({ from, until }: Dates): string =>
    `${from === undefined ? "" : startOf(from)} ${until === undefined ? "" : endOf(until)}`;
  for (const grant of grants) {
    const dates = typeof grant === "string" ? {} : grant;
    const before = all.get(roleOf(grant));
    if (before !== undefined && moments(before) !== moments(dates)) return "conflict";
    all.set(roleOf(grant), dates);
  }
  return all;
}

/** A text that is the same for equal values. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}
