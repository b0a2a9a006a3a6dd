import { by } from "../../lib/order.ts";
import type { Access, PersonAccess } from "./access.ts";
import { holdersOf } from "./impact.ts";
import { type Judged, type Rules, subjectOf, type Violation } from "./violation.ts";

/** Returns everything in an access that a policy does not allow. */
export function policyViolations(rules: Rules, judged: Judged): readonly Violation[] {
  return [
    ...emailDomains(rules, judged),
    ...separateRoles(rules, judged),
    ...maxHolders(rules, judged),
    ...requireUntil(rules, judged),
    ...requireMfa(rules, judged),
    ...forbidPermissions(rules, judged),
  ];
}

function peopleOf({ people }: Access): readonly PersonAccess[] {
  return [...people].sort(by(({ name }) => name));
}

function emailDomains({ policies }: Rules, { access }: Judged): readonly Violation[] {
  const { emailDomains: domains } = policies;
  if (domains === undefined) return [];
  return peopleOf(access)
    .filter(({ email }) => email !== null && !inDomains(email, domains))
    .map((person) => ({
      data: { code: "email-domains", name: person.name, domains },
      rule: "email-domains",
      subject: subjectOf(person),
      extent: [],
      check: null,
    }));
}

function inDomains(email: string, domains: readonly string[]): boolean {
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return domains.some((allowed) => {
    const wanted = allowed.toLowerCase();
    return wanted.startsWith("*.") ? domain.endsWith(wanted.slice(1)) : domain === wanted;
  });
}

function separateRoles({ policies }: Rules, { access, find }: Judged): readonly Violation[] {
  if (policies.separate.length === 0) return [];
  const people = peopleOf(access);
  return policies.separate.flatMap((roles) => {
    const keys = new Map(roles.map((role) => [find(role), role] as const));
    return people.flatMap((person): readonly Violation[] => {
      const together = person.roles.flatMap((key) => keys.get(key) ?? []).sort();
      if (together.length < 2) return [];
      return [
        {
          data: { code: "separate", name: person.name, roles: together },
          rule: `separate ${JSON.stringify(roles)}`,
          subject: subjectOf(person),
          extent: together,
          check: null,
        },
      ];
    });
  });
}

function maxHolders({ policies }: Rules, { settled, find }: Judged): readonly Violation[] {
  return Object.entries(policies.maxHolders).flatMap(([role, max]): readonly Violation[] => {
    const key = find(role);
    const holders = key === undefined ? [] : holdersOf(settled, key);
    if (holders.length <= max) return [];
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

function requireUntil({ policies, members = [] }: Rules, { access, find }: Judged): readonly Violation[] {
  if (policies.requireUntil.length === 0) return [];
  const declared = new Map(
    members.flatMap((member) =>
      [member.email.toLowerCase(), member.id ?? []].flat().map((key) => [key, member] as const),
    ),
  );
  return policies.requireUntil.flatMap((role) => {
    const key = find(role);
    if (key === undefined) return [];
    return holdersOf(access, key).flatMap((person): readonly Violation[] => {
      const { id, name, email } = person;
      const member = declared.get(id ?? "") ?? declared.get((email ?? name).toLowerCase());
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

/** Nobody logs in as a service account, so it has no MFA to turn on. */
function mfaHolders({ policies }: Rules, { access, find }: Judged) {
  return policies.requireMfa.flatMap((role) => {
    const key = find(role);
    const holders = key === undefined ? [] : holdersOf(access, key);
    return holders.filter(({ serviceAccount }) => !serviceAccount).map((person) => ({ role, person }));
  });
}

function requireMfa(rules: Rules, judged: Judged): readonly Violation[] {
  return mfaHolders(rules, judged)
    .filter(({ person }) => person.mfa === false)
    .map(({ role, person }) => ({
      data: { code: "require-mfa", name: person.name, role },
      rule: `require-mfa ${role}`,
      subject: subjectOf(person),
      extent: [],
      check: null,
    }));
}

/** Returns those who are to have MFA on login, and of whom it is not known. */
export function mfaUnknown(
  rules: Rules,
  judged: Judged,
): readonly { readonly name: string; readonly role: string }[] {
  return mfaHolders(rules, judged)
    .filter(({ person }) => person.mfa === null)
    .map(({ role, person }) => ({ name: person.name, role }));
}

function forbidPermissions({ policies }: Rules, { access }: Judged): readonly Violation[] {
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
