import type { Breach, BreachSubject, GrantSubject } from "../../model/diagnostic.ts";
import type { FileLocation, LocatedProblem, Path } from "../diagnostics/problem.ts";
import {
  grantPath,
  locationOf,
  memberLocation,
  type RawMember,
  renamedRoles,
  rolesByOtherNames,
} from "../raw-file.ts";
import { countOf, listOf, valueAt } from "../values.ts";
import { pairsAt, type RuleContext } from "./rule-context.ts";

/** Converts breaches to problems at their locations in the files; one of each kind per location. */
export function breachProblems(breaches: readonly Breach[], view: RuleContext): readonly LocatedProblem[] {
  if (breaches.length === 0) return [];
  const places = openPlaces(view);
  const problems = new Map<string, LocatedProblem>();
  for (const { code, subject, message, hint } of breaches) {
    const sites = sitesOf(subject, places);
    const first =
      subject.kind === "grant" && subject.beside ? grantSite(subject, subject.beside, places) : null;
    for (const location of sites.length > 0 ? sites : [firstKeyOf(view)]) {
      const key = JSON.stringify([code, location]);
      if (!problems.has(key)) problems.set(key, { code, message, hint, location, ...(first && { first }) });
    }
  }
  return [...problems.values()];
}

interface Places extends RuleContext {
  /** Address in lower case → entries, in the order of the files. */
  readonly entries: ReadonlyMap<string, readonly RawMember[]>;
  /** A role's former name or id → its name. */
  readonly otherNames: ReadonlyMap<string, string>;
  readonly formerNames: ReadonlyMap<string, string>;
}

function openPlaces(view: RuleContext): Places {
  const entries = new Map<string, RawMember[]>();
  for (const member of view.members) {
    if (member.address === null) continue;
    const known = entries.get(member.address);
    if (known === undefined) entries.set(member.address, [member]);
    else known.push(member);
  }
  return {
    ...view,
    entries,
    otherNames: rolesByOtherNames(view.roles),
    formerNames: renamedRoles(view.roles),
  };
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
      return [
        ...places.roles.map(({ path, permissions, ...role }) => ({
          ...role,
          permissions,
          path: [...path, "permissions"],
        })),
        ...places.adjustments.map(({ path, add, ...role }) => ({
          ...role,
          permissions: add,
          path: [...path, "adjust", "add"],
        })),
      ].flatMap(({ name, permissions, file, path }) =>
        name !== null && (places.formerNames.get(name) ?? name) === subject.role
          ? indexesOf(permissions, subject.permission).map((index) => locationOf(file, [...path, index]))
          : [],
      );
    case "max-holders":
      return pairsAt(places, "policies", "max_holders").flatMap(({ name, value, location }) =>
        (places.formerNames.get(name) ?? name) === subject.role && countOf(value) === subject.max
          ? [location]
          : [],
      );
    case "check":
      return [locationOf(subject.origin.file, [...subject.origin.path, subject.key])];
    case "cannot": {
      const { origin, permission } = subject;
      const path: Path = [...origin.path, "cannot"];
      const raw = places.rawFiles.find(({ file }) => file === origin.file);
      const list = listOf(valueAt(raw?.fields, path));
      return indexesOf(list, permission).map((index) => locationOf(origin.file, [...path, index]));
    }
    default:
      return subject satisfies never;
  }
}

/** Returns the location of the first grant of a role that has not ended; `null` if there is none. */
function grantSite(
  { email }: GrantSubject,
  role: string,
  { entries, otherNames, now }: Places,
): FileLocation | null {
  for (const member of entries.get(email.toLowerCase()) ?? []) {
    const grant = member.grants.find(
      (one) =>
        (otherNames.get(one.role) ?? one.role) === role &&
        (one.end === null || (one.end.until !== null && one.end.until.ends > now)),
    );
    if (grant !== undefined) return locationOf(member.file, grantPath(member, grant));
  }
  return null;
}

function firstKeyOf({ main }: RuleContext): FileLocation {
  return { at: "first-key", file: main, path: [] };
}

function indexesOf(list: readonly unknown[], wanted: string): readonly number[] {
  return list.flatMap((item, index) => (item === wanted ? [index] : []));
}
