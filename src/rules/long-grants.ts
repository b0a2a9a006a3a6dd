import { leftAt } from "../kernel/diff/active-member.ts";
import { type RefusalData, toExistingViolation, toRefusal } from "../kernel/findings/refusals.ts";
import type { DesiredMember, DesiredState, Duration, From, Until } from "../model/desired.ts";
import type { Finding, Refusal } from "../model/plan.ts";
import type { Access, PersonAccess } from "./access.ts";
import { type BaseRules, currentNameIn } from "./base-rules.ts";
import type { Judged } from "./checks.ts";

/** A declared grant whose end is further away than the policies allow. */
export interface LongGrant {
  readonly data: Extract<RefusalData, { readonly code: "until-limit" }>;
  readonly member: DesiredMember;
  readonly end: Until;
  /** The role as the member's entry names it, and its key. */
  readonly role: string;
  readonly key: string;
}

/** Returns the grants that last longer than the policies allow: from their beginning, else from now. */
export function longGrants(
  { policies, members = [], leavers }: Pick<DesiredState, "policies" | "members" | "leavers">,
  find: Judged["find"],
  now: number,
): readonly LongGrant[] {
  const limits = Object.entries(policies.longestGrants ?? {});
  if (limits.length === 0) return [];
  const keyOf = (role: string): string => find(role) ?? role;
  const left = leftAt(leavers, now);
  const staying = members.filter(({ email }) => !left.has(email.toLowerCase()));
  return limits.flatMap(([role, limit]) =>
    staying.flatMap((member): readonly LongGrant[] => {
      const key = keyOf(role);
      const grant = member.roles?.find((one) => keyOf(one.role) === key);
      const end = grant && endOf(grant.until, member.until);
      if (grant === undefined || end === undefined || end.ends <= now) return [];
      const start = startOf(grant.from, member.from);
      const latest = (start?.starts ?? now) + limit.ms;
      if (lastMoment(end, limit) <= latest) return [];
      const data = {
        code: "until-limit",
        name: member.email,
        role,
        from: start?.text ?? null,
        until: end.text,
        limit: limit.text,
      } as const;
      return [{ data, member, end, role: grant.role, key }];
    }),
  );
}

/** Grants to compare with: those that exist already are only warned of. */
export interface GrantComparison {
  readonly find: Judged["find"];
  /** The access before the plan. */
  readonly before: Access;
  /** The state of the base branch; absent if it is not known. */
  readonly base: BaseRules | undefined;
  readonly now: number;
}

/** Refuses new grants, and later ends of existing ones, that last longer than allowed; warns of the others. */
export function judgeGrants(
  rules: DesiredState,
  { find, before, base, now }: GrantComparison,
): { readonly refusals: readonly Refusal[]; readonly findings: readonly Finding[] } {
  const grants = longGrants(rules, find, now);
  if (grants.length === 0) return { refusals: [], findings: [] };
  const people = new Map(
    before.people.flatMap((person) =>
      [person.id, person.email?.toLowerCase()].flatMap((name) => (name ? [[name, person] as const] : [])),
    ),
  );
  const nameOf = base === undefined ? undefined : currentNameIn(rules, base);
  const isExisting = (grant: LongGrant): boolean => {
    const { member } = grant;
    const former = base?.members?.find(({ email }) => email.toLowerCase() === member.email.toLowerCase());
    const same = former?.roles?.find(({ role }) => nameOf?.(role) === grant.role);
    if (former !== undefined && same !== undefined) {
      return (endOf(same.until, former.until)?.ends ?? Number.POSITIVE_INFINITY) >= grant.end.ends;
    }
    const person = people.get(member.id ?? "") ?? people.get(member.email.toLowerCase());
    return person !== undefined && isHeld(person, grant);
  };
  return {
    refusals: grants.flatMap((one) => (isExisting(one) ? [] : [toRefusal(one.data)])),
    findings: grants.flatMap((one) =>
      isExisting(one) ? [toExistingViolation(toRefusal(one.data, "live"))] : [],
    ),
  };
}

/** Returns whether a grant is live; who was suspended gets back what was granted before. */
function isHeld({ roles }: PersonAccess, { key, member }: LongGrant): boolean {
  return roles.includes(key) || member.suspended !== undefined;
}

const DAY = 86_400_000;

/** Returns the moment that counts for a limit: in days, the last day of an end that is a date is not divided. */
function lastMoment({ text, ends }: Until, limit: Duration): number {
  return isDate(text) && !isInHours(limit) ? ends - DAY : ends;
}

function isInHours({ text }: Duration): boolean {
  return text.endsWith("h");
}

function isDate(text: string): boolean {
  return !/t/i.test(text);
}

function endOf(grant: Until | undefined, membership: Until | undefined): Until | undefined {
  if (grant === undefined || membership === undefined) return grant ?? membership;
  return grant.ends <= membership.ends ? grant : membership;
}

function startOf(grant: From | undefined, membership: From | undefined): From | undefined {
  if (grant === undefined || membership === undefined) return grant ?? membership;
  return grant.starts >= membership.starts ? grant : membership;
}
