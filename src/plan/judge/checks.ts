import { sortedSet } from "../../lib/text.ts";
import type { Check } from "../../model/desired.ts";
import { type Granted, granting, type PersonAccess, rolesGranting } from "./access.ts";
import type { RefusalData } from "./refusals.ts";
import {
  type AccessIndex,
  countWork,
  indexAccess,
  type Judged,
  peopleWith,
  subjectOf,
  type Violation,
} from "./violation.ts";

/** Returns the violations of the file's checks in an access; members count whatever their status. */
export function checkViolations(checks: readonly Check[], judged: Judged): readonly Violation[] {
  if (checks.length === 0) return [];
  const context = contextOf(judged);
  return checks.flatMap((check) => {
    const text = checkText(check);
    return violationsOf(check, context).map(
      (found): Violation => ({
        ...found,
        rule: `check ${text} ${found.subject === null ? "" : found.extent.join()}`,
        check,
      }),
    );
  });
}

/** Returns the distinct roles of unknown permissions, because of which a check may be wrong. */
export function unknownToChecks(
  checks: readonly Check[],
  judged: Judged,
): readonly { readonly name: string; readonly permission: string }[] {
  if (checks.length === 0) return [];
  const context = contextOf(judged);
  const { granted, index } = context;
  return checks.flatMap((check) =>
    permissionsOf(check).flatMap((permission) => {
      const roles = new Set(
        subjectsOf(check, index.people, context).flatMap((person) =>
          granted(person).permissions.has(permission) ? [] : granted(person).unknown,
        ),
      );
      return [...roles].sort().map((name) => ({ name, permission }));
    }),
  );
}

type Found = Pick<Violation, "data" | "subject" | "extent">;

interface Context extends Judged {
  readonly granted: (person: PersonAccess) => Granted;
  readonly index: AccessIndex;
  /** The index of `settled`, for counting. */
  readonly counted: AccessIndex;
}

function contextOf(judged: Judged): Context {
  const { access, settled } = judged;
  const index = indexAccess(access);
  const counted = settled === access ? index : indexAccess(settled);
  return { ...judged, granted: granting(access, () => true), index, counted };
}

function permissionsOf(check: Check): readonly string[] {
  return check.kind === "cannot" ? check.cannot : [check.can];
}

/** Returns the people who break a check, of those with its permission. */
function subjectsOf(
  check: Check,
  people: readonly PersonAccess[],
  { index, find }: Context,
): readonly PersonAccess[] {
  switch (check.kind) {
    case "only": {
      const roles = new Set(
        check.only.flatMap((entry) => (entry.startsWith("role:") ? (find(entry.slice(5)) ?? []) : [])),
      );
      const allowed = new Set(check.only.map((entry) => entry.toLowerCase()));
      return people.filter(
        ({ email, roles: held }) =>
          !allowed.has(email?.toLowerCase() ?? "") && !held.some((role) => roles.has(role)),
      );
    }
    case "at-most":
      return people;
    case "cannot":
      return index.byAddress.get(check.member.toLowerCase()) ?? [];
    default:
      return check satisfies never;
  }
}

function violationsOf(check: Check, context: Context): readonly Found[] {
  const { access, granted, index, counted } = context;
  if (check.kind === "at-most") {
    const { can, atMost } = check;
    const holders = peopleWith(counted, can);
    countWork(context, holders.length);
    if (holders.length <= atMost) return [];
    const data: RefusalData = {
      code: "check-at-most",
      permission: can,
      most: atMost,
      holders: holders.map(({ name }) => name),
    };
    return [{ data, subject: null, extent: holders.map(({ id, name }) => id ?? name.toLowerCase()) }];
  }
  const code = check.kind === "only" ? "check-only" : "check-cannot";
  const people = check.kind === "only" ? peopleWith(index, check.can) : [];
  countWork(context, people.length);
  return subjectsOf(check, people, context).flatMap((person) => {
    const has = permissionsOf(check).filter((permission) => granted(person).permissions.has(permission));
    return has.map((permission): Found => {
      const through = rolesGranting(access, person, permission);
      return {
        data: { code, name: person.name, permission, through },
        subject: subjectOf(person),
        extent: [permission],
      };
    });
  });
}

/** Returns a check in one line, in a fixed order of keys, to serve as its name. */
export function checkText(check: Check): string {
  switch (check.kind) {
    case "only":
      return `can ${check.can}: only ${sortedSet(check.only).join(", ") || "nobody"}`;
    case "at-most":
      return `can ${check.can}: at most ${check.atMost}`;
    case "cannot":
      return `${check.member} cannot ${sortedSet(check.cannot).join(", ")}`;
    default:
      return check satisfies never;
  }
}
