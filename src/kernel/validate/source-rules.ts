import type { MemberField } from "../../model/field-values.ts";
import { mapFields } from "../fields/field.ts";
import { entryPath, MEMBER_FIELDS } from "../fields/member.ts";
import type { Location, Path, Problem } from "../problems/problem.ts";
import { keysInFile, listsInFile } from "../rules/settings/every-setting.ts";
import {
  grantPath,
  type RawBegin,
  type RawDates,
  type RawEnd,
  type RawFile,
  type RawMember,
  type RawRole,
} from "../schema/raw-file.ts";
import { MAX_ADDRESS } from "../values/limits.ts";
import { fieldsOf, listOf, repeats, textOf, valueAt } from "../values/values.ts";
import { plainAdjustments } from "./adjustments.ts";
import { clearRoleNames } from "./identity.ts";

type SourceRule = (raw: RawFile, now: number) => readonly Problem[];

const RULES: readonly SourceRule[] = [
  noRepeatedEntries,
  noRepeatedGrants,
  clearRoleNames,
  plainAdjustments,
  plainMetadata,
  plainMaps,
  withinLimits,
  soundDates,
];

/** Returns the problems of one file that the schema does not see and that no other file influences. */
export function checkSource(raw: RawFile, now: number): readonly Problem[] {
  return RULES.flatMap((rule) => rule(raw, now));
}

/** Requires that ends are in the future and after their beginnings, and that no grant outlives its membership. */
function soundDates({ members }: RawFile, now: number): readonly Problem[] {
  return members
    .filter((member) => [member, ...member.grants].some(hasDates) || member.suspended !== null)
    .flatMap((member) => [
      ...pastEnd(member.end, "membership", now),
      ...lateBegin(member, member.end),
      ...(member.suspended === null
        ? []
        : [
            ...pastEnd(member.suspended.end, "suspension", now),
            ...lateBegin(member.suspended, member.suspended.end),
          ]),
      ...member.grants.flatMap((grant) => [
        ...pastEnd(grant.end, "grant", now),
        ...lateEnd(grant.end, member),
        ...lateBegin(grant, grant.end),
        ...(isLate(grant.begin, grant.end) ? [] : lateBegin(grant, member.end)),
      ]),
    ]);
}

function hasDates({ begin, end }: RawDates): boolean {
  return begin !== null || end !== null;
}

function isLate(begin: RawBegin | null, end: RawEnd | null): boolean {
  const [from, until] = [begin?.from ?? null, end?.until ?? null];
  return from !== null && until !== null && from.starts >= until.ends;
}

function lateBegin({ begin }: Pick<RawDates, "begin">, end: RawEnd | null): readonly Problem[] {
  const [from, until] = [begin?.from ?? null, end?.until ?? null];
  return begin === null || end === null || from === null || until === null || !isLate(begin, end)
    ? []
    : [
        {
          code: "from-after-until",
          from: from.text,
          until: until.text,
          location: { at: "value", path: begin.path },
          first: { at: "value", path: end.path },
        },
      ];
}

function pastEnd(
  end: RawEnd | null,
  what: "grant" | "membership" | "suspension",
  now: number,
): readonly Problem[] {
  const until = end?.until ?? null;
  return end === null || until === null || until.ends > now
    ? []
    : [{ code: "until-past", until: until.text, what, location: { at: "value", path: end.path } }];
}

function lateEnd(end: RawEnd | null, { end: membership }: RawMember): readonly Problem[] {
  const [grantEnd, whole] = [end?.until ?? null, membership?.until ?? null];
  return end === null ||
    membership === null ||
    grantEnd === null ||
    whole === null ||
    grantEnd.ends <= whole.ends
    ? []
    : [
        {
          code: "until-after-membership",
          until: grantEnd.text,
          membership: whole.text,
          location: { at: "value", path: end.path },
          first: { at: "value", path: membership.path },
        },
      ];
}

/** Requires that members are within the known limits of the service, but for those of the schema. */
function withinLimits({ members }: RawFile): readonly Problem[] {
  return members.flatMap((member) => [
    ...tooMany("address", lengthOf(member.email), MAX_ADDRESS, ["members", member.index, "email"]),
    ...mapFields(MEMBER_FIELDS, (name, { kind, declared: { most } }) => {
      const path = entryPath(name);
      const size = kind.name === "roles" ? roleCount(member) : lengthOf(textOf(valueAt(member.fields, path)));
      return most !== null && size > most
        ? tooMany(name, size, most, ["members", member.index, ...path])
        : undefined;
    }).flat(),
  ]);
}

function tooMany(
  what: "address" | MemberField,
  count: number,
  limit: number,
  path: Path,
): readonly Problem[] {
  return count > limit
    ? [{ code: "service-limit", what, count, limit, location: { at: "value", path } }]
    : [];
}

function lengthOf(text: string | null): number {
  return text?.length ?? 0;
}

function roleCount({ grants }: RawMember): number {
  return new Set(grants.map(({ role }) => role)).size;
}

/** Requires that metadata can be sent as JSON without loss. */
function plainMetadata({ roles, members }: RawFile): readonly Problem[] {
  return [
    ...withStrange(roles).flatMap(({ path, fields }) => check(fields["metadata"], [...path, "metadata"])),
    ...withStrange(members).flatMap(({ index, fields }) =>
      check(fields["metadata"], ["members", index, "metadata"]),
    ),
  ];
}

/** Requires safe keys in mappings whose keys a user chooses. */
function plainMaps({ fields }: RawFile): readonly Problem[] {
  return keysInFile(fields).flatMap((path) => checkKey(String(path.at(-1)), path));
}

/** Returns the entries whose metadata has a problem; only those are searched for its location. */
function withStrange<T extends Pick<RawRole, "fields">>(entries: readonly T[]): readonly T[] {
  return entries.filter(({ fields }) => !isPlain(fields["metadata"]));
}

/** Returns true if no part of a value has a problem. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) {
    return typeof value !== "number" || isExact(value);
  }
  return Array.isArray(value)
    ? value.every(isPlain)
    : Object.keys(value).every((key) => key !== "__proto__" && key !== "<<" && isPlain(fieldsOf(value)[key]));
}

/** Returns true if JSON preserves a number: 12345678901234567890 would become …7000. */
function isExact(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

function check(value: unknown, path: Path): readonly Problem[] {
  if (typeof value === "number") {
    return isExact(value) ? [] : [{ code: "bad-number", value, location: { at: "value", path } }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => check(item, [...path, index]));
  }
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, item]) => [
    ...checkKey(key, [...path, key]),
    ...check(item, [...path, key]),
  ]);
}

function checkKey(key: string, path: Path): readonly Problem[] {
  if (key === "__proto__") {
    return [{ code: "unsafe-key", key, path, location: { at: "key", path } }];
  }
  return key === "<<" ? [{ code: "merge-key", location: { at: "key", path } }] : [];
}

const LISTS: readonly Path[] = [
  ["ignore", "roles"],
  ["ignore", "members"],
  ["guards", "overrides"],
];

/** Requires that lists have no duplicates. */
function noRepeatedEntries({ fields, roles, adjustments, leavers }: RawFile): readonly Problem[] {
  const lists = [...LISTS, ...listsInFile(fields)];
  const permissionLists = [
    ...roles.map(({ permissions, path }) => ({ permissions, path: [...path, "permissions"] })),
    ...adjustments.flatMap(({ add, remove, path }) => [
      { permissions: add, path: [...path, "adjust", "add"] },
      { permissions: remove, path: [...path, "adjust", "remove"] },
    ]),
  ];
  return [
    ...repeatsIn(listOf(fields["include"]), ["include"]).map(
      ({ text, ...places }): Problem => ({ code: "duplicate-include", name: text, ...places }),
    ),
    ...repeats(leavers, ({ address }) => address).map(
      ({ text, item, first }): Problem => ({
        code: "duplicate-entry",
        text,
        path: ["leavers"],
        location: value([...item.path, "email"]),
        first: value([...first.path, "email"]),
      }),
    ),
    ...permissionLists.flatMap(({ permissions, path }) =>
      repeatsIn(permissions, path).map(
        ({ text, ...places }): Problem => ({ code: "duplicate-permission", permission: text, ...places }),
      ),
    ),
    ...[...lists, ...roles.map(({ path }) => [...path, "previously"])].flatMap((path) =>
      repeatsIn(listOf(valueAt(fields, path)), path).map(
        ({ text, ...places }): Problem => ({ code: "duplicate-entry", text, path, ...places }),
      ),
    ),
  ];
}

/** Requires that a member lists a role once; grants with different dates are a conflict instead. */
function noRepeatedGrants({ members }: RawFile): readonly Problem[] {
  return members
    .filter(({ repeated }) => repeated)
    .flatMap((member) =>
      repeats(member.grants, ({ role, begin, end }) =>
        JSON.stringify([role, begin?.from?.text ?? null, end?.until?.text ?? null]),
      ).map(
        ({ item, first }): Problem => ({
          code: "duplicate-member-role",
          role: item.role,
          location: value(grantPath(member, item)),
          first: value(grantPath(member, first)),
        }),
      ),
    );
}

interface RepeatedText {
  readonly text: string;
  readonly location: Location;
  readonly first: Location;
}

function repeatsIn(items: readonly unknown[], path: Path): readonly RepeatedText[] {
  // As nearly all lists.
  if (new Set(items).size === items.length) return [];
  const numbered = items.map((item, index) => ({ item, index }));
  return repeats(numbered, ({ item }) => item).map(({ text, item, first }) => ({
    text,
    location: value([...path, item.index]),
    first: value([...path, first.index]),
  }));
}

function value(path: Path): Location {
  return { at: "value", path };
}
