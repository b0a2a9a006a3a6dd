import type { DesiredMember, Policies } from "../model/desired.ts";
import type { Refusal } from "../model/plan.ts";
import type { Access, PersonAccess } from "./access.ts";
import type { Discovery } from "./findings.ts";
import { holdersOf } from "./impact.ts";
import { by } from "./order.ts";
import { refuse } from "./refusals.ts";
import { roleFinder } from "./role-names.ts";

/** What policies and checks find. */
export interface Judgement {
  readonly refusals: readonly Refusal[];
  readonly discoveries: readonly Discovery[];
}

/** What policies are judged on. */
export interface Judged {
  readonly policies: Policies;
  /** The access that the plan leaves behind. */
  readonly after: Access;
  /** What the file says of members, for their end dates. */
  readonly members: readonly DesiredMember[];
}

/** Everything in the access that a plan leaves behind that a policy does not allow. */
export function judgePolicies(judged: Judged): Judgement {
  return {
    refusals: [
      ...emailDomains(judged),
      ...separateRoles(judged),
      ...maxHolders(judged),
      ...requireUntil(judged),
      ...requireMfa(judged).refusals,
      ...forbidPermissions(judged),
    ],
    discoveries: requireMfa(judged).discoveries,
  };
}

function people({ after }: Judged): readonly PersonAccess[] {
  return after.people.filter(({ ignored }) => !ignored).sort(by(({ name }) => name));
}

/** Those who hold a role and are not kept out of the plan. */
function holders(after: Access, roleKey: string): readonly PersonAccess[] {
  return holdersOf(after, roleKey).filter(({ ignored }) => !ignored);
}

function emailDomains(judged: Judged): readonly Refusal[] {
  const { emailDomains: domains } = judged.policies;
  if (domains === undefined) return [];
  return people(judged)
    .filter(({ email, serviceAccount }) => email !== null && !serviceAccount && !inDomains(email, domains))
    .map(({ name }) => refuse({ code: "email-domains", name, domains }));
}

function inDomains(email: string, domains: readonly string[]): boolean {
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return domains.some((allowed) => {
    const wanted = allowed.toLowerCase();
    return wanted.startsWith("*.") ? domain.endsWith(wanted.slice(1)) : domain === wanted;
  });
}

function separateRoles(judged: Judged): readonly Refusal[] {
  const find = roleFinder(judged.after);
  return judged.policies.separate.flatMap((roles) => {
    const keys = new Map(roles.flatMap((role) => [[find(role), role]] as const));
    return people(judged).flatMap(({ name, roles: held }) => {
      const together = held.flatMap((key) => keys.get(key) ?? []).sort();
      return together.length > 1 ? [refuse({ code: "separate", name, roles: together })] : [];
    });
  });
}

function maxHolders({ policies, after }: Judged): readonly Refusal[] {
  const find = roleFinder(after);
  return Object.entries(policies.maxHolders).flatMap(([role, max]) => {
    const key = find(role);
    const names = key === undefined ? [] : holders(after, key).map(({ name }) => name);
    return names.length > max ? [refuse({ code: "max-holders", name: role, holders: names, max })] : [];
  });
}

function requireUntil({ policies, after, members }: Judged): readonly Refusal[] {
  if (policies.requireUntil.length === 0) return [];
  const find = roleFinder(after);
  const declared = new Map(
    members.flatMap((member) =>
      [member.email.toLowerCase(), member.id ?? []].flat().map((key) => [key, member] as const),
    ),
  );
  return policies.requireUntil.flatMap((role) => {
    const key = find(role);
    if (key === undefined) return [];
    return holders(after, key).flatMap(({ id, name, email }) => {
      const member = declared.get(id ?? "") ?? declared.get((email ?? name).toLowerCase());
      const grant = member?.roles?.find((one) => find(one.role) === key);
      if (grant?.until || (grant && member?.until)) return [];
      return [refuse({ code: "require-until", name, role, listed: grant !== undefined })];
    });
  });
}

function requireMfa({ policies, after }: Judged): Judgement {
  const find = roleFinder(after);
  const held = policies.requireMfa.flatMap((role) => {
    const key = find(role);
    return key === undefined ? [] : holders(after, key).map((person) => ({ role, ...person }));
  });
  return {
    refusals: held
      .filter(({ mfa }) => mfa === false)
      .map(({ name, role }) => refuse({ code: "require-mfa", name, role })),
    discoveries: held
      .filter(({ mfa }) => mfa === null)
      .map(({ name, role }) => ({ code: "member-mfa-unknown", name, role })),
  };
}

function forbidPermissions({ policies, after }: Judged): readonly Refusal[] {
  const forbidden = new Set(policies.forbidPermissions);
  return [...after.roles.values()].flatMap(({ custom, name, permissions }) => {
    const granted = custom ? (permissions ?? []).filter((permission) => forbidden.has(permission)) : [];
    return granted.length > 0 ? [refuse({ code: "forbid-permissions", name, permissions: granted })] : [];
  });
}
