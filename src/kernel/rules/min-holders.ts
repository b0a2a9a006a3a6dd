import { by, counted, quoted } from "../../lib/text.ts";
import { PREDEFINED_ROLES } from "../../model/live.ts";
import type { MemberChange, Refusal } from "../../model/plan.ts";
import { guardRefusal, list } from "../findings/refusals.ts";
import { countOf, fieldsOf } from "../values/values.ts";
import { type Access, type PersonAccess, roleFinder } from "./access.ts";
import { holdersOf } from "./impact.ts";
import type { Guard, Removals, Withheld } from "./rule.ts";
import { minHoldersSetting } from "./settings/min-holders-setting.ts";

/** The role of the default minimum: without an owner, nobody can restore access. */
const OWNER = "role_owner";
const OWNERS = 1;

/** The default minimums, for files that set none for the owner role. */
const DEFAULT_MINIMUMS: Minimums = { [OWNER]: OWNERS };

type Minimums = Readonly<Record<string, number>>;

/** Requires a minimum number of accepted holders of each role. */
export const minHolders = {
  ...minHoldersSetting,
  codes: ["min-holders", "min-holders-wait"],
  keepsAccess: true,
  off: {},
  list(settings) {
    const written = Object.entries(settings ?? {}).map(([role, min]) => [role, min, true] as const);
    const isOff = settings !== undefined && written.length === 0;
    const defaults = Object.entries(isOff ? {} : DEFAULT_MINIMUMS).flatMap(([role, min]) =>
      Object.hasOwn(settings ?? {}, role) ? [] : [[role, min, false] as const],
    );
    return [...written, ...defaults].map(([role, min, isWritten]) => ({
      text: minimumText(role, min),
      keys: [role],
      entry: null,
      violated: null,
      alone: { [role]: min },
      item: { kind: "min-holders", role, min, written: isWritten } as const,
    }));
  },
  looser(before, after) {
    const needed = minimumsOf(after);
    return Object.entries(minimumsOf(before)).flatMap(([role, min]) => {
      const now = needed[role] ?? 0;
      return now < min ? [`minimum number of accepted holders of "${role}": ${min} → ${now}`] : [];
    });
  },
  withhold: keepHolders,
  /** Counts the people who have accepted a role; nobody logs in as a service account. */
  report({ role, min, written }, { access, find }, isDeclared) {
    if (isDeclared) {
      return written
        ? { status: "unknown", reasons: [`Not known from the files: who has accepted "${role}".`] }
        : null;
    }
    const key = find(role);
    const people =
      key === undefined
        ? []
        : holdersOf(access, key).filter((person) => isAccepted(person) && isPerson(person));
    // The default applies only to a merchant that has an owner.
    if (key === undefined || (people.length === 0 && !written)) {
      return written ? { status: "unknown", reasons: [`No role is named ${role}.`] } : null;
    }
    if (people.length >= min) return { status: "passed", reasons: [] };
    const names = people.length === 0 ? "" : ` (${list(people.map(({ name }) => name))})`;
    const name = access.roles.get(key)?.name ?? role;
    const has = `"${name}" has ${counted(people.length, "accepted holder")}${names}`;
    return { status: "failed", reasons: [`${has}; it needs ${min}.`] };
  },
  lint: (written) =>
    Object.entries(fieldsOf(written)).flatMap(([role, min]) =>
      countOf(min) === 0
        ? [
            {
              code: "idle-guard",
              path: [role],
              message: `A minimum of 0 has no effect on ${quoted(role)}.`,
              hint: "Set 1 or more, or remove the line.",
            },
          ]
        : [],
    ),
} as const satisfies Guard<
  Minimums | undefined,
  { readonly kind: "min-holders"; readonly role: string; readonly min: number; readonly written: boolean }
>;

function minimumText(role: string, min: number): string {
  return `min_holders ${role}: ${min}`;
}

/** Returns the minimum of each role, predefined ones by id, with the default for owners where it applies. */
function minimumsOf(settings: Minimums | undefined): Minimums {
  const numbers = new Map<string, number>();
  for (const [role, min] of Object.entries(settings ?? {})) {
    const key = PREDEFINED_ROLES.find((id) => id === `role_${role.toLowerCase()}`) ?? role;
    numbers.set(key, Math.max(min, numbers.get(key) ?? 0));
  }
  const isOff = settings !== undefined && numbers.size === 0;
  return isOff ? {} : { ...DEFAULT_MINIMUMS, ...Object.fromEntries(numbers) };
}

/**
 * Keeps enough accepted holders of each role. A removal is deferred if acceptance of open invitations would make up
 * for it, and refused otherwise. A role that already has too few holders and loses none is only reported.
 */
function keepHolders(
  settings: Minimums | undefined,
  { before, after, changes, declared, callerId }: Removals,
): Withheld {
  const [findBefore, findAfter] = [roleFinder(before, declared), roleFinder(after, declared)];
  // A name can move from one role to another, so both are checked. Holders are indexed by role id, which also covers
  // ignored and unreported roles.
  const findKeys = (role: string): readonly string[] => {
    const keys = [findBefore(role), findAfter(role)].flatMap((key) => key ?? []);
    return keys.length > 0 ? [...new Set(keys)] : isHeld(before, role) ? [role] : [];
  };
  const canJoin = addressesFree(before);
  const cache = new Map<string, readonly string[]>();
  const keysOf = (role: string): readonly string[] => {
    const keys = cache.get(role) ?? findKeys(role);
    cache.set(role, keys);
    return keys;
  };
  const results = rulesOf(settings, keysOf).flatMap(([role, min]) => {
    const isWritten = Object.hasOwn(settings ?? {}, role);
    return keysOf(role).map((key) =>
      guardRole({ role, key, min, isWritten, before, after, changes, callerId, canJoin }),
    );
  });
  return {
    deferred: results
      .flatMap(({ deferred }) => deferred)
      .sort(by((withheld) => withheld.deferred.change.name)),
    refusals: results.flatMap(({ refusals }) => refusals),
    findingData: results.flatMap(({ findingData }) => findingData),
  };
}

/** Returns the rules, with the default for owners unless the file sets it, or sets `{}`. */
function rulesOf(
  settings: Minimums | undefined,
  keysOf: (role: string) => readonly string[],
): readonly (readonly [role: string, min: number])[] {
  const entries = Object.entries(settings ?? {});
  const owners = keysOf(OWNER);
  const silent = entries.every(([role]) => !keysOf(role).some((key) => owners.includes(key)));
  const defaults = silent && (settings === undefined || entries.length > 0) ? [[OWNER, OWNERS] as const] : [];
  return [...entries, ...defaults].sort(by(([role]) => role));
}

const NOTHING: Withheld = { deferred: [], refusals: [], findingData: [] };

interface Rule {
  readonly role: string;
  readonly key: string;
  readonly min: number;
  /** True if a file sets it; the default applies only to a merchant that has an owner. */
  readonly isWritten: boolean;
  readonly before: Access;
  readonly after: Access;
  readonly changes: readonly MemberChange[];
  readonly callerId: string | null;
  readonly canJoin: (person: PersonAccess) => boolean;
}

/**
 * Checks one role. Nobody can log in as a service account, so the minimum applies both without and with them.
 */
function guardRole(rule: Rule): Withheld {
  const judged = [judgeRole(rule, isPerson), judgeRole(rule, () => true)];
  return (
    judged.find(({ refusals }) => refusals.length > 0) ??
    judged.find(({ deferred }) => deferred.length > 0) ??
    judged.find(({ findingData }) => findingData.length > 0) ??
    NOTHING
  );
}

function judgeRole(
  { role, key, min, isWritten, before, after, changes, callerId, canJoin }: Rule,
  counts: (person: PersonAccess) => boolean,
): Withheld {
  const accepted = holdersOf(before, key).filter(isAccepted);
  const had = accepted.filter(counts);
  const holders = holdersOf(after, key).filter((person) => counts(person) && canJoin(person));
  const has = holders.filter(isAccepted);
  const pending = holders.filter(({ status }) => status === "pending" || status === "invited");
  const name = before.roles.get(key)?.name ?? role;
  if (has.length >= had.length) {
    const wasShort = had.length > 0 || (isWritten && before.roles.has(key));
    return has.length < min && wasShort
      ? { ...NOTHING, findingData: [{ code: "role-few-holders", name, holders: has.length, min }] }
      : NOTHING;
  }
  const needed = Math.min(min, had.length);
  if (has.length >= needed) return NOTHING;
  // If one removal has to wait, it is that of the key's user, who can then still remove the others.
  const losing = removalsOf(had, has, changes).toSorted(by(({ id }) => (id === callerId ? "0" : "1")));
  const short = needed - has.length;
  if (has.length + pending.length < needed || losing.length < short) {
    return {
      ...NOTHING,
      refusals: [
        refusalOf(role, name, {
          before: had.length,
          after: has.length,
          min,
          uncounted: accepted.length - had.length,
        }),
      ],
    };
  }
  const waitsFor = pending.map((person) => person.name);
  return {
    ...NOTHING,
    deferred: losing.slice(0, short).map((change) => ({
      deferred: { change, role: name, waitsFor },
      key,
      refusal: (isChained) => waitRefusal(role, name, change.name, isChained),
    })),
  };
}

interface Kept {
  readonly before: number;
  readonly after: number;
  readonly min: number;
  /** Number of service accounts that hold the role, which do not count. */
  readonly uncounted: number;
}

function refusalOf(role: string, name: string, { before, after, min, uncounted }: Kept): Refusal {
  const kept =
    before === 1
      ? "lose its only accepted holder"
      : `keep ${after === 0 ? "none" : after} of its ${before} accepted holders`;
  const besides = uncounted === 0 ? "" : ", service accounts not counted";
  return guardRefusal(
    "min-holders",
    "role",
    name,
    `The role "${name}" would ${kept}${besides}; it needs ${min}.`,
    "Grant the role to somebody else first, and wait until they have accepted.",
    // The live state can lower the number while the changes, and hence the fingerprint, stay the same.
    `min-holders=${role}:${after}`,
    role,
  );
}

/**
 * Returns whether a member exists, or can join before others are removed: the service does not invite a member's
 * address.
 */
function addressesFree({ people }: Access): (person: PersonAccess) => boolean {
  const members = people.filter(({ status }) => status !== "expired");
  const ids = new Set(members.map(({ id }) => id));
  const addresses = new Set(members.flatMap(({ email }) => email?.toLowerCase() ?? []));
  return ({ id, email }) => ids.has(id) || !addresses.has(email?.toLowerCase() ?? "");
}

function isHeld({ people }: Access, roleId: string): boolean {
  return people.some(({ roles }) => roles.includes(roleId));
}

function isPerson({ serviceAccount }: PersonAccess): boolean {
  return serviceAccount === false;
}

function isAccepted({ status }: PersonAccess): boolean {
  return status === "accepted";
}

/** Returns the changes that remove the role from an active holder, sorted by name. */
function removalsOf(
  had: readonly PersonAccess[],
  has: readonly PersonAccess[],
  changes: readonly MemberChange[],
): readonly MemberChange[] {
  const kept = new Set(has.map(({ id }) => id));
  const lost = new Set(had.filter(({ id }) => !kept.has(id)).map(({ id }) => id));
  return changes.filter(({ id }) => id !== null && lost.has(id)).sort(by(({ name }) => name));
}

/**
 * Returns the refusal of a removal that cannot be deferred; a chained one does not depend only on an open invitation.
 */
function waitRefusal(role: string, name: string, member: string, isChained: boolean): Refusal {
  const until = isChained
    ? ", and this removal would depend on another deferred removal"
    : " until somebody who is invited has accepted";
  return guardRefusal(
    "min-holders-wait",
    "role",
    name,
    `Without ${member}, "${name}" would have too few holders${until}.`,
    "Make the change in two steps: first grant the roles, then remove them when everybody has accepted.",
    null,
    role,
  );
}
