import type { Person } from "../access.ts";
import type { LocatedProblem, Who } from "../diagnostics/problem.ts";
import { locationOf } from "../raw-file.ts";
import { countOf, listOf, textOf } from "../values.ts";
import { entriesAt, pairsAt, type RuleContext } from "./rule-context.ts";

/** Members have addresses of the allowed domains. */
export function allowedDomains(merchant: RuleContext): readonly LocatedProblem[] {
  const lists = merchant.rawFiles.some(({ fields }) =>
    Array.isArray(Object(fields["policies"])["email_domains"]),
  );
  const domains = entriesAt(merchant, "policies", "email_domains").map(({ value }) => textOf(value));
  if (!lists || domains.includes(null)) {
    return [];
  }
  const allowed = domains.flatMap((domain) => domain ?? []);
  const accepts = domainTest(allowed);
  return merchant
    .access()
    .people.flatMap(({ email, location }): readonly LocatedProblem[] =>
      accepts(email) ? [] : [{ code: "policy-email-domain", email, domains: allowed, location }],
    );
}

function domainTest(domains: readonly string[]): (email: string) => boolean {
  const lower = domains.map((domain) => domain.toLowerCase());
  const whole = new Set(lower.filter((domain) => !domain.startsWith("*.")));
  const parents = new Set(lower.filter((domain) => domain.startsWith("*.")).map((domain) => domain.slice(2)));
  return (email) => {
    const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
    const labels = domain.slice(0, MAX_DOMAIN).split(".");
    return (
      whole.has(domain) || labels.some((_, index) => index > 0 && parents.has(labels.slice(index).join(".")))
    );
  };
}

// The longest that a name can be.
const MAX_DOMAIN = 253;

/** Nobody holds two roles that are kept separate. */
export function separateRoles(merchant: RuleContext): readonly LocatedProblem[] {
  const sets = entriesAt(merchant, "policies", "separate").map(({ value }) =>
    listOf(value).filter((role) => typeof role === "string"),
  );
  if (sets.length === 0) {
    return [];
  }
  const { people, keyOf, spend } = merchant.access();
  const setsOf = new Map<string, number[]>();
  for (const [index, roles] of sets.entries()) {
    for (const role of new Set(roles.map(keyOf))) {
      const known = setsOf.get(role);
      if (known === undefined) {
        setsOf.set(role, [index]);
      } else {
        known.push(index);
      }
    }
  }
  return people.flatMap((person) => separateIn(person, setsOf, spend));
}

function separateIn(
  { email, roles }: Person,
  setsOf: ReadonlyMap<string, readonly number[]>,
  spend: (steps: number) => void,
): readonly LocatedProblem[] {
  const firsts = new Map<number, string>();
  return [...roles].flatMap(([role, held]): readonly LocatedProblem[] => {
    const sets = setsOf.get(role) ?? [];
    spend(sets.length);
    // One other role is enough to say that this one cannot be held.
    const other = sets.flatMap((set) => firsts.get(set) ?? [])[0];
    for (const set of sets) {
      firsts.set(set, firsts.get(set) ?? role);
    }
    const first = other === undefined ? undefined : roles.get(other);
    return first === undefined
      ? []
      : [
          {
            code: "policy-separate",
            email,
            roles: [first.role, held.role],
            location: held.location,
            first: first.location,
          },
        ];
  });
}

/** No role has more holders than it may have. */
export function fewEnoughHolders(merchant: RuleContext): readonly LocatedProblem[] {
  return pairsAt(merchant, "policies", "max_holders").flatMap(
    ({ name: role, value, location }): readonly LocatedProblem[] => {
      const limit = countOf(value);
      const holders = limit === null ? [] : merchant.access().holdersOf(role);
      return limit !== null && holders.length > limit
        ? [{ code: "policy-max-holders", role, limit, who: who(holders), location }]
        : [];
    },
  );
}

/** No role needs more holders than it may have. */
export function possibleHolders(merchant: RuleContext): readonly LocatedProblem[] {
  const limits = new Map(
    pairsAt(merchant, "policies", "max_holders").map((pair) => [pair.name, pair] as const),
  );
  return pairsAt(merchant, "guards", "min_holders").flatMap(
    ({ name: role, value, location }): readonly LocatedProblem[] => {
      const limit = limits.get(role);
      const [min, max] = [countOf(value), countOf(limit?.value)];
      return limit !== undefined && min !== null && max !== null && min > max
        ? [{ code: "holders-contradiction", role, min, max, location: limit.location, first: location }]
        : [];
    },
  );
}

/** Where a role is only granted with an end, every grant or its membership has one. */
export function endsWhereRequired(merchant: RuleContext): readonly LocatedProblem[] {
  const roles = entriesAt(merchant, "policies", "require_until").flatMap(({ value }) => textOf(value) ?? []);
  return [...new Set(roles.map((role) => merchant.access().keyOf(role)))].flatMap((role) =>
    merchant
      .access()
      .holdersOf(role)
      .flatMap(({ roles: held }): readonly LocatedProblem[] => {
        const grant = held.get(role);
        return grant === undefined || grant.ends
          ? []
          : [{ code: "policy-require-until", role: grant.role, location: grant.location }];
      }),
  );
}

/** No custom role grants a forbidden permission. */
export function allowedPermissions(merchant: RuleContext): readonly LocatedProblem[] {
  const forbidden = new Set(entriesAt(merchant, "policies", "forbid_permissions").map(({ value }) => value));
  return merchant.roles.flatMap(({ name, permissions, file, path }) =>
    permissions.flatMap((permission, index): readonly LocatedProblem[] =>
      typeof permission === "string" && forbidden.has(permission)
        ? [
            {
              code: "policy-forbidden-permission",
              permission,
              role: name ?? "",
              location: locationOf(file, [...path, "permissions", index]),
            },
          ]
        : [],
    ),
  );
}

const NAMED = 3;

/** The first few of some people, and how many they are. */
export function who(people: readonly Person[]): Who {
  return { names: people.slice(0, NAMED).map(({ email }) => email), count: people.length };
}
