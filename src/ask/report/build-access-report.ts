import { addressOf, wholeScope } from "../../kernel/diff/scope.ts";
import { managedValues } from "../../kernel/fields/member.ts";
import {
  type Access,
  accessAfter,
  accessBefore,
  beforeAndAfter,
  type PersonAccess,
  type RoleAccess,
} from "../../kernel/rules/access.ts";
import { sensitiveIn } from "../../kernel/rules/settings/sensitive.ts";
import { sortedSet } from "../../lib/text.ts";
import type { DesiredMember, DesiredState, Environment, From } from "../../model/desired.ts";
import type { ManagedProperties } from "../../model/field-values.ts";
import type { LiveMember, LiveRole, LiveState } from "../../model/live.ts";
import type { MemberChange, Plan, RoleChange } from "../../model/plan.ts";
import type { HeldRole } from "../../model/questions.ts";
import type {
  AccessReport,
  ReportedEnd,
  ReportedHolding,
  ReportedMember,
  ReportedRole,
} from "../../model/reports.ts";
import { byName, declaredMembers, declaredSnapshot } from "../access/access-snapshot.ts";

/** The input of a report on the live state; the file gives the end dates, the plan the state after it. */
export interface LiveReportInput {
  readonly live: LiveState;
  readonly desired: DesiredState;
  readonly service: string;
  readonly environment: Environment | null;
  readonly plan: Plan | null;
}

/** Reports the live roles and their holders, including ignored members; with a plan, also the state after it. */
export function liveReport({ live, desired, service, environment, plan }: LiveReportInput): AccessReport {
  const changes = plan === null ? NO_CHANGES : split(plan);
  const scope = wholeScope(live);
  const before = accessBefore(scope, changes, { mergeReplacedRoles: false });
  const after = plan === null ? before : accessAfter(before, changes, { mergeReplacedRoles: false });
  const liveRoles = new Map(scope.roles.map((role) => [role.id, role]));
  const liveMembers = new Map(live.members.map((member) => [member.id, member]));
  const declared = declaredMembers(desired);
  const leavingFrom = leaverFinder(desired);
  const created = new Map(changes.members.map((change) => [change.name.toLowerCase(), change]));
  const changedRoles = new Map(
    changes.roles.flatMap((change) => (change.id === null ? [] : [[change.id, change]])),
  );
  const createdRoles = new Map(
    changes.roles.flatMap((change) => (change.id === null ? [[change.name, change]] : [])),
  );
  const granted = [before, after].flatMap(({ roles }) =>
    [...roles.values()].flatMap(({ permissions }) => permissions ?? []),
  );
  return {
    merchant: live.merchant,
    merchantName: live.merchantName ?? null,
    environment,
    service,
    sensitive: sortedSet(granted).filter(sensitiveIn(desired.projects)),
    roles: [...new Set([...before.roles.keys(), ...after.roles.keys()])]
      .map((key) =>
        roleOf(
          key,
          { before, after },
          liveRoles.get(key),
          (name) => changedRoles.get(key) ?? createdRoles.get(name),
        ),
      )
      .sort(byName),
    members: [...beforeAndAfter(before, after)]
      .map(({ was, is }): ReportedMember => {
        const id = was?.id ?? "";
        const name = is?.name ?? was?.name ?? id;
        const held = liveMembers.get(id);
        const address = held === undefined ? name : addressOf(held);
        const about = traits(held, created.get(name.toLowerCase()));
        // A managed user needs no invitation.
        const now = holding(
          is,
          is?.status === "invited" && about.type === "managed_user" ? "accepted" : is?.status,
        );
        return {
          name,
          ...about,
          before: was === is ? now : holding(was),
          after: now,
          ends: endsOf(declared(id, address), leavingFrom(address)),
        };
      })
      .sort(byName),
  };
}

const NO_CHANGES = { roles: [], members: [] };

function split({ changes }: Plan): {
  readonly roles: readonly RoleChange[];
  readonly members: readonly MemberChange[];
} {
  return {
    roles: changes.flatMap((change) => (change.resource === "role" ? [change] : [])),
    members: changes.flatMap((change) => (change.resource === "member" ? [change] : [])),
  };
}

function roleOf(
  key: string,
  { before, after }: { readonly before: Access; readonly after: Access },
  live: LiveRole | undefined,
  changeOf: (name: string) => RoleChange | undefined,
): ReportedRole {
  const [roleBefore, roleAfter] = [before.roles.get(key), after.roles.get(key)];
  const role = roleAfter ?? roleBefore;
  const name = role?.name ?? key;
  const change = changeOf(name);
  const now = grants(roleAfter);
  return {
    key,
    name,
    id: role?.id ?? null,
    description: change?.after?.description ?? live?.description ?? null,
    predefined: role !== undefined && !role.custom,
    before: roleBefore === roleAfter ? now : grants(roleBefore),
    after: now,
  };
}

function grants(role: RoleAccess | undefined): ReportedRole["after"] {
  return role === undefined ? null : { permissions: role.permissions };
}

function holding(
  person: PersonAccess | undefined,
  status: ReportedHolding["status"] | undefined = person?.status,
): ReportedHolding | null {
  return person === undefined ? null : { status: status ?? person.status, roles: person.roles };
}

type Traits = Pick<ReportedMember, keyof ManagedProperties | "type" | "mfa" | "invitedUntil">;

function traits(live: LiveMember | undefined, change: MemberChange | undefined): Traits {
  const managed = change?.after?.managed ?? null;
  return {
    ...managedValues({ ...live?.user, ...managed }),
    type: live?.user?.type ?? typeOf(managed),
    mfa: live?.user?.mfaOnLogin ?? null,
    invitedUntil: live?.invite?.expiresAt ?? null,
  };
}

/** Returns the type of user that an entry creates. */
function typeOf(managed: object | null | undefined): "user" | "managed_user" {
  return managed ? "managed_user" : "user";
}

/** Returns a lookup of when somebody leaves. */
function leaverFinder({ leavers = [] }: DesiredState): (email: string | null) => From | undefined {
  const byEmail = new Map(leavers.map(({ email, from }) => [email.toLowerCase(), from]));
  return (email) => (email === null ? undefined : byEmail.get(email.toLowerCase()));
}

function endsOf(member: DesiredMember | undefined, leaving: From | undefined): readonly ReportedEnd[] {
  const leaves =
    leaving === undefined ? [] : [{ role: null, text: `before ${leaving.text}`, ends: leaving.starts }];
  return member === undefined ? leaves : [...leaves, ...declaredEnds(member)];
}

function declaredEnds(member: DesiredMember): readonly ReportedEnd[] {
  const ends = (member.roles ?? []).flatMap(({ role, until }) => (until ? [{ role, ...until }] : []));
  return member.until ? [{ role: null, ...member.until }, ...ends] : ends;
}

/**
 * Reports the declared roles and their holders; `now` in ms since the epoch. People whose access has ended, but who are
 * still in the files, are members neither before nor after the plan.
 */
export function declaredReport(desired: DesiredState, now: number): AccessReport {
  const { merchant, environment, roles, members } = declaredSnapshot(desired, now);
  const isPresent = ({ end, held }: (typeof members)[number]): boolean =>
    (end === null || end.ends > now) && (held.length === 0 || held.some(isKept));
  const present = members
    .filter(isPresent)
    .map((member) => ({ ...member, held: member.held.filter(isEffective) }));
  const entryOf = declaredMembers(desired);
  const leavingFrom = leaverFinder(desired);
  const descriptions = new Map(desired.roles?.map(({ name, description = null }) => [name, description]));
  const namedRoles = new Set(present.flatMap(({ held }) => held.map(({ role }) => role)));
  return {
    merchant,
    merchantName: null,
    environment,
    service: null,
    sensitive: sortedSet(roles.flatMap(({ permissions }) => permissions ?? [])).filter(
      sensitiveIn(desired.projects),
    ),
    roles: roles
      .filter(({ key, origin }) => origin !== null || namedRoles.has(key))
      .map(({ key, name, id, predefined, permissions }): ReportedRole => {
        const granted = { permissions };
        return {
          key,
          name,
          id,
          description: descriptions.get(name) ?? null,
          predefined,
          before: granted,
          after: granted,
        };
      }),
    members: members.flatMap((member): readonly ReportedMember[] => {
      const { name, id, email, held } = member;
      const entry = entryOf(id ?? "", email);
      const here = isPresent(member);
      const ends = here ? endsOf(entry, leavingFrom(name)) : entry === undefined ? [] : declaredEnds(entry);
      if (!here && (leavingFrom(name) !== undefined || !ends.some((end) => end.ends <= now))) return [];
      const roles = held.filter(isEffective).map(({ role }) => role);
      const holds: ReportedHolding | null = here ? { status: "declared", roles } : null;
      return [
        {
          name,
          ...managedValues(entry?.managed),
          type: typeOf(entry?.managed),
          mfa: null,
          invitedUntil: null,
          before: holds,
          after: holds,
          ends,
        },
      ];
    }),
  };
}

/** Returns whether somebody who holds a role counts as a member: a suspended member stays one. */
function isKept({ effective, status }: HeldRole): boolean {
  return effective || status === "suspended";
}

function isEffective({ effective }: HeldRole): boolean {
  return effective;
}
