import type { Person } from "../access.ts";
import type { FileLocation, LocatedProblem } from "../diagnostics/problem.ts";
import { locationOf } from "../raw-file.ts";
import { countOf, fieldsOf, listOf, textOf } from "../values.ts";
import { who } from "./policies.ts";
import type { RuleContext } from "./rule-context.ts";

interface WrittenCheck {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly location: (key: string, index?: number) => FileLocation;
}

/** Nobody has a permission but those whom a check allows it. */
export function metOnly(merchant: RuleContext): readonly LocatedProblem[] {
  return checksOf(merchant).flatMap(({ fields, location }): readonly LocatedProblem[] => {
    const can = textOf(fields["can"]);
    const entries = listOf(fields["only"]);
    if (
      can === null ||
      !Array.isArray(fields["only"]) ||
      !entries.every((entry) => typeof entry === "string")
    ) {
      return [];
    }
    const allows = holderTest(entries, merchant.access().keyOf);
    const people = [...merchant.access().whoCan(can).keys()];
    merchant
      .access()
      .spend(people.length * (1 + entries.filter((entry) => entry.startsWith("role:")).length));
    const others = people.filter((person) => !allows(person));
    return others.length === 0
      ? []
      : [{ code: "check-only", can, who: who(others), location: location("only") }];
  });
}

function holderTest(
  entries: readonly string[],
  keyOf: (role: string) => string,
): (person: Person) => boolean {
  const roles = entries.flatMap((entry) =>
    entry.startsWith("role:") ? [keyOf(entry.slice("role:".length).trim())] : [],
  );
  const emails = new Set(entries.map((entry) => entry.toLowerCase()));
  return (person) => emails.has(person.email.toLowerCase()) || roles.some((role) => person.roles.has(role));
}

/** No more members have a permission than a check allows. */
export function metAtMost(merchant: RuleContext): readonly LocatedProblem[] {
  return checksOf(merchant).flatMap(({ fields, location }): readonly LocatedProblem[] => {
    const can = textOf(fields["can"]);
    const limit = countOf(fields["at_most"]);
    if (can === null || limit === null) {
      return [];
    }
    const people = [...merchant.access().whoCan(can).keys()];
    return people.length > limit
      ? [{ code: "check-at-most", can, limit, who: who(people), location: location("at_most") }]
      : [];
  });
}

/** A member has none of the permissions that a check denies it. */
export function metCannot(merchant: RuleContext): readonly LocatedProblem[] {
  const checks = checksOf(merchant).filter(({ fields }) => textOf(fields["member"]) !== null);
  if (checks.length === 0) {
    return [];
  }
  const { people, through } = merchant.access();
  const byAddress = new Map(people.map((person) => [person.email.toLowerCase(), person]));
  return checks.flatMap(({ fields, location }) => {
    const member = String(fields["member"]);
    const person = byAddress.get(member.toLowerCase());
    return listOf(fields["cannot"]).flatMap((permission, index): readonly LocatedProblem[] => {
      const role = person && typeof permission === "string" ? through(person, permission) : null;
      return role === null || typeof permission !== "string"
        ? []
        : [{ code: "check-cannot", member, permission, role, location: location("cannot", index) }];
    });
  });
}

function checksOf({ rawFiles }: RuleContext): readonly WrittenCheck[] {
  return rawFiles.flatMap(({ file, fields }) =>
    listOf(fields["checks"]).map((check, index) => ({
      fields: fieldsOf(check),
      location: (key: string, at?: number) =>
        locationOf(file, ["checks", index, key, ...(at === undefined ? [] : [at])]),
    })),
  );
}
