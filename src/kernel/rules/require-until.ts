import type { DesiredMember, Duration, From, Until } from "../../model/desired.ts";
import type { Refusal } from "../../model/plan.ts";
import { leftAt } from "../diff/active-member.ts";
import { type Tense, toExistingViolation } from "../findings/refusals.ts";
import { refusalRule, warningRule } from "../problems/rule-table.ts";
import { addressesOfPerson, entriesByAddress } from "../values/person.ts";
import type { PersonAccess } from "./access.ts";
import { countWork, holdersBy, STEPS_OF_VIOLATION, subjectOf } from "./judged.ts";
import { currentNameIn } from "./renamed-roles.ts";
import {
  breachOf,
  type Declarations,
  type DeclaredJudge,
  type DeclaredViolation,
  type FormerGrants,
  type Policy,
  policyRefusal,
} from "./rule.ts";
import { requireUntilSetting } from "./settings/require-until-setting.ts";

/** Roles that may only be granted with an end date, each with the maximum time until that date. */
type RequiredEnds = Readonly<Record<string, Duration | null>>;

/** Lists roles that may only be granted with an end date. */
export const requireUntil = {
  ...requireUntilSetting,
  diagnostics: {
    "policy-require-until": refusalRule("These roles must be granted with an end date (`require_until`)."),
    "policy-until-limit": warningRule("A new grant should not exceed its limit (`require_until`)."),
  },
  codes: ["require-until", "until-limit"],
  list: (ends) =>
    Object.entries(ends).map(([role, longest]) => ({
      text: `require_until: ${role}`,
      keys: [],
      entry: role,
      violated: keyOf(role),
      alone: { [role]: longest },
    })),
  looser: (before, after) => [
    ...Object.keys(before).flatMap((role) =>
      Object.hasOwn(after, role) ? [] : [`"${role}" may be granted without an end date`],
    ),
    ...Object.entries(before).flatMap(([role, longest]) => {
      const now = after[role];
      if (longest === null || now === undefined || (now !== null && now.ms <= longest.ms)) return [];
      return [`"${role}" may be granted for ${longest.text} → ${now?.text ?? "any time with an end"}`];
    }),
  ],
  isOff: (ends) => Object.keys(ends).length === 0,
  judge(ends, context) {
    const { find, index, members } = context;
    const roles = Object.keys(ends);
    if (roles.length === 0) return [];
    const declared = new Map([
      ...entriesByAddress(members),
      ...members.flatMap((member) => (member.id === undefined ? [] : [[member.id, member] as const])),
    ]);
    return roles.flatMap((role) => {
      const key = find(role);
      if (key === undefined) return [];
      return holdersBy(role, index, context).flatMap((person) => {
        const { id, name, email } = person;
        const member = declared.get(id ?? "") ?? declared.get((email ?? name).toLowerCase());
        countWork(context, STEPS_OF_VIOLATION + (member?.roles?.length ?? 0));
        const grant = member?.roles?.find((declaredGrant) => find(declaredGrant.role) === key);
        if (grant?.until || member?.until) return [];
        const hint = HINTS[grant !== undefined ? "grant" : member !== undefined ? "member" : "nothing"](role);
        const refusal = (tense: Tense): Refusal =>
          policyRefusal(
            "require-until",
            "member",
            name,
            `${name} ${tense === "plan" ? "would hold" : "holds"} "${role}" without an end date.`,
            hint,
          );
        return [
          {
            rule: keyOf(role),
            subject: subjectOf(person),
            extent: [],
            check: null,
            refusal,
            breaches: () => {
              const subject = { kind: "grant", email: name, role: key } as const;
              return [breachOf("policy-require-until", "require_until", subject, refusal("plan"))];
            },
          },
        ];
      });
    });
  },
  declared: judgeEnds(),
} as const satisfies Policy<RequiredEnds>;

function judgeEnds(): DeclaredJudge<RequiredEnds> {
  return { violations: longGrants, compare: compareGrants };
}

/** Hints, for a file that lists the grant, only the member, or neither. */
const HINTS = {
  grant: (role: string): string => `Write { role: ${role}, until: 2027-01-31 }.`,
  member: (role: string): string =>
    `Add "until:" to the member, or write { role: ${role}, until: 2027-01-31 } among its roles.`,
  nothing: (): string => "The file does not list the member: list it with an end date.",
};

function keyOf(role: string): string {
  return `require-until ${role}`;
}

/** A declared grant whose end is further away than the policy allows. */
interface LongGrant extends DeclaredViolation {
  readonly member: DesiredMember;
  readonly end: Until;
  /** The role as named in the member's entry, and its key. */
  readonly role: string;
  readonly key: string;
}

/** Returns the grants that last longer than the policy allows: counted from their beginning, or else from now. */
function longGrants(ends: RequiredEnds, { desired, find, now }: Declarations): readonly LongGrant[] {
  const limits = Object.entries(ends).flatMap(([role, limit]) =>
    limit === null ? [] : [[role, limit] as const],
  );
  if (limits.length === 0) return [];
  const keyOfRole = (role: string): string => find(role) ?? role;
  const gone = leftAt(desired.leavers, now);
  const staying = (desired.members ?? []).filter(({ email }) => !gone.has(email.toLowerCase()));
  return limits.flatMap(([role, limit]) =>
    staying.flatMap((member): readonly LongGrant[] => {
      const key = keyOfRole(role);
      const grant = member.roles?.find((declaredGrant) => keyOfRole(declaredGrant.role) === key);
      const end = grant && endOf(grant.until, member.until);
      if (grant === undefined || end === undefined || end.ends <= now) return [];
      const start = startOf(grant.from, member.from);
      const latest = (start?.starts ?? now) + limit.ms;
      if (lastMoment(end, limit) <= latest) return [];
      const { email } = member;
      const from = start?.text ?? null;
      const since = from === null ? "" : `from ${from} `;
      const refusal = (tense: Tense): Refusal =>
        policyRefusal(
          "until-limit",
          "member",
          email,
          `${email} ${tense === "plan" ? "would hold" : "holds"} "${role}" ${since}until ${end.text}; the limit is ${limit.text}.`,
          `Set an end date within ${limit.text} ${from === null ? "from now" : `of ${from}`}.`,
        );
      const subject = { kind: "grant", email, role: key } as const;
      const breach = {
        ...breachOf("policy-until-limit", "require_until", subject, refusal("plan")),
        severity: "warning",
      } as const;
      return [{ rule: keyOf(role), refusal, breach, member, end, role: grant.role, key }];
    }),
  );
}

/** Refuses new grants, and later ends of existing ones, that last longer than allowed; warns about the others. */
function compareGrants(
  ends: RequiredEnds,
  declared: Declarations,
  { before, base }: FormerGrants,
): ReturnType<NonNullable<Policy<RequiredEnds>["declared"]>["compare"]> {
  const grants = longGrants(ends, declared);
  if (grants.length === 0) return { refusals: [], findings: [] };
  const people = new Map(
    before.people.flatMap((person) =>
      [person.id, person.email?.toLowerCase()].flatMap((name) => (name ? [[name, person] as const] : [])),
    ),
  );
  const nameOf = base === undefined ? undefined : currentNameIn(declared.desired, base);
  const isExisting = (grant: LongGrant): boolean => {
    const { member } = grant;
    const addresses = addressesOfPerson(member);
    const former = base?.members?.find(({ email }) => addresses.includes(email.toLowerCase()));
    const same = former?.roles?.find(({ role }) => nameOf?.(role) === grant.role);
    if (former !== undefined && same !== undefined) {
      return (endOf(same.until, former.until)?.ends ?? Number.POSITIVE_INFINITY) >= grant.end.ends;
    }
    return [member.id ?? "", ...addresses].some((key) => {
      const person = people.get(key);
      return person !== undefined && isHeld(person, grant);
    });
  };
  return {
    refusals: grants.flatMap((grant) => (isExisting(grant) ? [] : [grant.refusal("plan")])),
    findings: grants.flatMap((grant) =>
      isExisting(grant) ? [toExistingViolation(grant.refusal("live"))] : [],
    ),
  };
}

/** Returns whether a grant is live; a suspended member gets the earlier grants back. */
function isHeld({ roles }: PersonAccess, { key, member }: LongGrant): boolean {
  return roles.includes(key) || member.suspended !== undefined;
}

const DAY = 86_400_000;

/** Returns the end time that a limit is compared with; for a limit in days, an end date counts as a whole day. */
export function lastMoment({ text: end, ends }: Until, limit: Duration): number {
  return isDate(end) && !isInHours(limit) ? ends - DAY : ends;
}

function isInHours({ text: period }: Duration): boolean {
  return period.endsWith("h");
}

function isDate(end: string): boolean {
  return !/t/i.test(end);
}

function endOf(grant: Until | undefined, membership: Until | undefined): Until | undefined {
  if (grant === undefined || membership === undefined) return grant ?? membership;
  return grant.ends <= membership.ends ? grant : membership;
}

function startOf(grant: From | undefined, membership: From | undefined): From | undefined {
  if (grant === undefined || membership === undefined) return grant ?? membership;
  return grant.starts >= membership.starts ? grant : membership;
}
