import { by } from "../lib/text.ts";
import type { PersonAccess } from "./access.ts";
import {
  type AccessIndex,
  countWork,
  indexAccess,
  type Judged,
  type Rules,
  STEPS_OF_HOLDER,
  STEPS_OF_VIOLATION,
  subjectOf,
  type Violation,
} from "./checks.ts";

/** Returns the violations of policies in an access. */
export function policyViolations(rules: Rules, judged: Judged): readonly Violation[] {
  if (!hasPolicies(rules)) return [];
  const context = contextOf(judged);
  return [
    ...emailDomains(rules, context),
    ...separateRoles(rules, context),
    ...maxHolders(rules, context),
    ...requireUntil(rules, context),
    ...requireMfa(rules, context),
    ...forbidPermissions(rules, context),
  ];
}

interface Context extends Judged {
  readonly index: AccessIndex;
  /** The index of `settled`, for counting. */
  readonly counted: AccessIndex;
}

function contextOf(judged: Judged): Context {
  const { access, settled } = judged;
  const index = indexAccess(access);
  return { ...judged, index, counted: settled === access ? index : indexAccess(settled) };
}

/** Returns whether any policy is set. */
export function hasPolicies({ policies }: Rules): boolean {
  const { emailDomains: domains, separate, maxHolders: most, requireUntil: until } = policies;
  const { requireMfa: mfa, forbidPermissions: forbidden } = policies;
  const lists = [separate, Object.keys(most), until, mfa, forbidden];
  return domains !== undefined || lists.some((list) => list.length > 0);
}

/** Returns the holders of a role, by its name or id. */
function holdersBy(role: string, { holders }: AccessIndex, judged: Judged): readonly PersonAccess[] {
  const key = judged.find(role);
  const found = (key === undefined ? undefined : holders.get(key)) ?? [];
  countWork(judged, 1 + found.length);
  return found;
}

function emailDomains({ policies }: Rules, { index }: Context): readonly Violation[] {
  const { emailDomains: domains } = policies;
  if (domains === undefined) return [];
  const isAllowed = domainTest(domains);
  return index.people
    .filter(({ email }) => email !== null && !isAllowed(email))
    .map((person) => ({
      data: { code: "email-domains", name: person.name, domains },
      rule: "email-domains",
      subject: subjectOf(person),
      extent: [],
      check: null,
    }));
}

/** Returns a test of an address against the allowed domains. */
export function domainTest(domains: readonly string[]): (email: string) => boolean {
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

// Longest domain name.
const MAX_DOMAIN = 253;

function separateRoles({ policies }: Rules, context: Context): readonly Violation[] {
  const { index, find } = context;
  return policies.separate.flatMap((roles) => {
    const keys = new Map(roles.map((role) => [find(role), role] as const));
    const once = new Set<PersonAccess>();
    const twice = new Set<PersonAccess>();
    for (const role of keys.values()) {
      for (const person of holdersBy(role, index, context)) (once.has(person) ? twice : once).add(person);
    }
    countWork(context, twice.size * STEPS_OF_VIOLATION);
    return [...twice].sort(by(({ name }) => name)).map((person): Violation => {
      const together = person.roles.flatMap((key) => keys.get(key) ?? []).sort();
      return {
        data: { code: "separate", name: person.name, roles: together },
        rule: `separate ${JSON.stringify(roles)}`,
        subject: subjectOf(person),
        extent: together,
        check: null,
      };
    });
  });
}

function maxHolders({ policies }: Rules, context: Context): readonly Violation[] {
  return Object.entries(policies.maxHolders).flatMap(([role, max]): readonly Violation[] => {
    const holders = holdersBy(role, context.counted, context);
    if (holders.length <= max) return [];
    countWork(context, holders.length * STEPS_OF_HOLDER);
    const names = holders.map(({ name }) => name);
    return [
      {
        data: { code: "max-holders", name: role, holders: names, max },
        rule: `max-holders ${role}`,
        subject: null,
        extent: holders.map(({ id, name }) => id ?? name.toLowerCase()),
        check: null,
      },
    ];
  });
}

function requireUntil({ policies, members = [] }: Rules, context: Context): readonly Violation[] {
  const { find, index } = context;
  if (policies.requireUntil.length === 0) return [];
  const declared = new Map(
    members.flatMap((member) =>
      [member.email.toLowerCase(), member.id ?? []].flat().map((key) => [key, member] as const),
    ),
  );
  return policies.requireUntil.flatMap((role) => {
    const key = find(role);
    if (key === undefined) return [];
    return holdersBy(role, index, context).flatMap((person): readonly Violation[] => {
      const { id, name, email } = person;
      const member = declared.get(id ?? "") ?? declared.get((email ?? name).toLowerCase());
      countWork(context, STEPS_OF_VIOLATION + (member?.roles?.length ?? 0));
      const grant = member?.roles?.find((one) => find(one.role) === key);
      if (grant?.until || member?.until) return [];
      const listed = grant !== undefined ? "grant" : member !== undefined ? "member" : null;
      return [
        {
          data: { code: "require-until", name, role, listed },
          rule: `require-until ${role}`,
          subject: subjectOf(person),
          extent: [],
          check: null,
        },
      ];
    });
  });
}

/** Returns the holders of roles that require MFA, without service accounts: nobody logs in as one. */
function mfaHolders({ policies }: Rules, context: Context) {
  return policies.requireMfa.flatMap((role) =>
    holdersBy(role, context.index, context)
      .filter(({ serviceAccount }) => !serviceAccount)
      .map((person) => ({ role, person })),
  );
}

function requireMfa(rules: Rules, context: Context): readonly Violation[] {
  return mfaHolders(rules, context)
    .filter(({ person }) => person.mfa === false)
    .map(({ role, person }) => ({
      data: { code: "require-mfa", name: person.name, role },
      rule: `require-mfa ${role}`,
      subject: subjectOf(person),
      extent: [],
      check: null,
    }));
}

const UNACCEPTED: ReadonlySet<PersonAccess["status"]> = new Set(["invited", "pending", "expired"]);

/** Returns the holders of roles that require MFA whose MFA is unknown. */
export function mfaUnknown(
  rules: Rules,
  judged: Judged,
): readonly { readonly name: string; readonly role: string; readonly invited: boolean }[] {
  if (rules.policies.requireMfa.length === 0) return [];
  return mfaHolders(rules, contextOf(judged))
    .filter(({ person }) => person.mfa === null)
    .map(({ role, person: { name, status } }) => ({ name, role, invited: UNACCEPTED.has(status) }));
}

function forbidPermissions({ policies }: Rules, { access }: Context): readonly Violation[] {
  if (policies.forbidPermissions.length === 0) return [];
  const forbidden = new Set(policies.forbidPermissions);
  return [...access.roles].flatMap(([key, { id, custom, name, permissions }]): readonly Violation[] => {
    const granted = custom ? (permissions ?? []).filter((permission) => forbidden.has(permission)) : [];
    if (granted.length === 0) return [];
    return [
      {
        data: { code: "forbid-permissions", name, permissions: granted },
        rule: "forbid-permissions",
        subject: { id: id === null ? null : key, name },
        extent: granted,
        check: null,
      },
    ];
  });
}
