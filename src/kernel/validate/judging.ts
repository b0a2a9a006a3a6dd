import { memoized } from "../../lib/memoized.ts";
import { groupByKey } from "../../lib/text.ts";
import type { Breach, BreachSubject, GrantSubject } from "../../model/diagnostic.ts";
import type { FileLocation, LocatedProblem, Path } from "../problems/problem.ts";
import { readablePolicies } from "../rules/settings/every-setting.ts";
import type { MerchantFile } from "../schema/merchant-schema.ts";
import {
  grantPath,
  locationOf,
  memberLocation,
  type RawDates,
  type RawFile,
  type RawMember,
  rolesByOtherNames,
} from "../schema/raw-file.ts";
import { countOf, fieldsOf, listOf, textOf, valueAt } from "../values/values.ts";
import type { ValidFile } from "./desired-settings.ts";
import type { RuleContext } from "./rule-context.ts";

/** Converts breaches to problems at their locations in the files; one of each kind per location, but every sentence of a check. */
export function breachProblems(breaches: readonly Breach[], view: RuleContext): readonly LocatedProblem[] {
  if (breaches.length === 0) return [];
  const places = openPlaces(view);
  const problems = new Map<string, LocatedProblem>();
  for (const { rule: _, subject, ...words } of breaches) {
    const sites = sitesOf(subject, places);
    const first =
      subject.kind === "grant" && subject.beside ? grantSite(subject, subject.beside, places) : null;
    for (const location of sites.length > 0 ? sites : [firstKeyOf(view)]) {
      const key = JSON.stringify([words.code, location, subject.kind === "check" ? words.message : ""]);
      if (!problems.has(key)) problems.set(key, { ...words, location, ...(first && { first }) });
    }
  }
  return [...problems.values()];
}

/** Returns a function that computes a value on the first call. */
function lazily<Value>(make: () => Value): () => Value {
  const made = memoized((_: null) => make());
  return () => made(null);
}

interface Places extends RuleContext {
  /** Address in lower case → entries, in the order of the files. */
  readonly entries: ReadonlyMap<string, readonly RawMember[]>;
  /** Role → permission → where the role gets it. */
  readonly permissionSites: () => SitesByTwo;
  /** File and path of a check → permission → where `cannot` lists it. */
  readonly cannotSites: (origin: { readonly file: string; readonly path: Path }) => SitesByTwo;
  /** Role, by its current name or id → the member's first grant of it that has not ended. */
  readonly grantsOf: (member: RawMember) => ReadonlyMap<string, RawMember["grants"][number]>;
}

/** Locations by two keys; a table, because a hostile file has as many breaches as locations. */
type SitesByTwo = ReadonlyMap<string, ReadonlyMap<unknown, readonly FileLocation[]>>;

function sitesByTwo(
  sites: Iterable<readonly [first: string, second: unknown, site: FileLocation]>,
): SitesByTwo {
  const table = new Map<string, Map<unknown, FileLocation[]>>();
  for (const [first, second, site] of sites) {
    const row = table.get(first) ?? new Map<unknown, FileLocation[]>();
    table.set(first, row);
    const bothSites = row.get(second);
    if (bothSites === undefined) row.set(second, [site]);
    else bothSites.push(site);
  }
  return table;
}

function openPlaces(view: RuleContext): Places {
  const entries = new Map(
    groupByKey(view.members, ({ address }) => address).map((group) => [group[0].address ?? "", group]),
  );
  const otherNames = rolesByOtherNames(view.roles);
  const current = (name: string): string => view.renamed.get(name) ?? name;
  return {
    ...view,
    entries,
    permissionSites: lazily(() => sitesByTwo(permissionLists(view, current))),
    cannotSites: memoized(
      ({ file, path }) => {
        const raw = view.rawFiles.find((rawFile) => rawFile.file === file);
        const list = listOf(valueAt(raw?.fields, [...path, "cannot"]));
        return sitesByTwo(
          list.map((item, index) => ["", item, locationOf(file, [...path, "cannot", index])] as const),
        );
      },
      ({ file, path }) => JSON.stringify([file, path]),
    ),
    grantsOf: memoized((member) => {
      // The first of several wins.
      const latest = member.grants.filter(({ end }) => isCurrent(end, view.now)).reverse();
      return new Map(latest.map((grant) => [otherNames.get(grant.role) ?? grant.role, grant]));
    }),
  };
}

function isCurrent(end: RawMember["grants"][number]["end"], now: number): boolean {
  return end === null || (end.until !== null && end.until.ends > now);
}

/** Yields every permission that a role gets, with its location. */
function* permissionLists(
  { roles, adjustments }: RuleContext,
  current: (name: string) => string,
): Generator<readonly [role: string, permission: unknown, site: FileLocation]> {
  for (const { name, file, path, permissions } of roles) {
    if (name === null) continue;
    for (const [index, permission] of permissions.entries()) {
      yield [current(name), permission, locationOf(file, [...path, "permissions", index])];
    }
  }
  for (const { name, file, path, add } of adjustments) {
    if (name === null) continue;
    for (const [index, permission] of add.entries()) {
      yield [current(name), permission, locationOf(file, [...path, "adjust", "add", index])];
    }
  }
}

function sitesOf(subject: BreachSubject, places: Places): readonly FileLocation[] {
  switch (subject.kind) {
    case "member": {
      const [first] = places.entries.get(subject.email.toLowerCase()) ?? [];
      return first === undefined ? [] : [memberLocation(first, "email")];
    }
    case "grant": {
      const site = grantSite(subject, subject.role, places);
      return site === null ? [] : [site];
    }
    case "permission":
      return places.permissionSites().get(subject.role)?.get(subject.permission) ?? [];
    case "check":
      return [locationOf(subject.origin.file, [...subject.origin.path, subject.key])];
    case "cannot":
      return places.cannotSites(subject.origin).get("")?.get(subject.permission) ?? [];
    default:
      return subject satisfies never;
  }
}

/** Returns the location of the first grant of a role that has not ended; `null` if there is none. */
function grantSite(
  { email }: GrantSubject,
  role: string,
  { entries, grantsOf }: Places,
): FileLocation | null {
  for (const member of entries.get(email.toLowerCase()) ?? []) {
    const grant = grantsOf(member).get(role);
    if (grant !== undefined) return locationOf(member.file, grantPath(member, grant));
  }
  return null;
}

function firstKeyOf({ main }: RuleContext): FileLocation {
  return { at: "first-key", file: main, path: [] };
}

/**
 * Returns the readable content of a file with errors, for its policies and checks; leaves out access with unreadable
 * dates.
 */
export function readableContent({ file, fields, roles, adjustments, members, leavers }: RawFile): ValidFile {
  const content: MerchantFile = {
    version: 1,
    // Never shown.
    merchant: "-",
    policies: readablePolicies(fields["policies"]),
    checks: listOf(fields["checks"]).map((check) => readableCheck(fieldsOf(check))),
    roles: [
      ...roles.flatMap(({ name, id, previously, permissions }) =>
        name === null
          ? []
          : [
              {
                name,
                ...(id !== null && { id }),
                ...(previously.length > 0 && { previously: [...previously] }),
                permissions: texts(permissions),
              },
            ],
      ),
      ...adjustments.flatMap(({ name, add, remove }) =>
        name === null ? [] : [{ name, adjust: { add: texts(add), remove: texts(remove) } }],
      ),
    ],
    members: members.flatMap(readableMember),
    leavers: leavers.flatMap(({ email, from }) =>
      email === null || from === null ? [] : [{ email, from: from.text }],
    ),
  };
  return { file, content };
}

/** Returns a check; one that is unreadable forbids nothing, but keeps its index. */
function readableCheck(
  fields: Readonly<Record<string, unknown>>,
): NonNullable<MerchantFile["checks"]>[number] {
  const { only, cannot } = fields;
  const can = textOf(fields["can"]);
  const atMost = countOf(fields["at_most"]);
  const reach = fields["reach"] === true ? { reach: true } : {};
  if (can !== null && Array.isArray(only) && only.every((entry) => typeof entry === "string")) {
    return { can, only, ...reach };
  }
  if (can !== null && atMost !== null) return { can, at_most: atMost, ...reach };
  return { member: textOf(fields["member"]) ?? "", cannot: texts(listOf(cannot)), ...reach };
}

function readableMember(member: RawMember): NonNullable<MerchantFile["members"]> {
  const { email, begin, end, suspended, grants, fields } = member;
  const readable = grants.filter(isReadable);
  const isLost = grants.length > 0 && readable.length === 0;
  if (email === null || !isReadable(member) || isLost) return [];
  if (suspended !== null && !isReadable(suspended)) return [];
  return [
    {
      email,
      ...(Object.hasOwn(fields, "roles") && {
        roles: readable.map(({ role, ...dates }) =>
          dates.begin === null && dates.end === null ? role : { role, ...datesOf(dates) },
        ),
      }),
      ...datesOf({ begin, end }),
      ...(suspended !== null && { suspended: datesOf(suspended) }),
      ...(Object.hasOwn(fields, "managed") && { managed: { password_env: "-" } }),
    },
  ];
}

function isReadable({ begin, end }: RawDates): boolean {
  return (begin === null || begin.from !== null) && (end === null || end.until !== null);
}

function datesOf({ begin, end }: RawDates): { readonly from?: string; readonly until?: string } {
  return {
    ...(begin?.from && { from: begin.from.text }),
    ...(end?.until && { until: end.until.text }),
  };
}

function isText(value: unknown): value is string {
  return textOf(value) !== null;
}

function texts(values: readonly unknown[]): string[] {
  return values.filter(isText);
}
