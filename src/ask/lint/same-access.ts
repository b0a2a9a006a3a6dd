import { activeAt, isPast, leftAt } from "../../kernel/diff/active-member.ts";
import type { GlobMatch } from "../../kernel/diff/scope.ts";
import { memberAsDeclared } from "../../kernel/fields/member.ts";
import { roleAsDeclared } from "../../kernel/fields/role.ts";
import { buildPlan } from "../../kernel/plan/build-plan.ts";
import { canonicalJson, isSameJson } from "../../lib/json-text.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type { DesiredMember, DesiredState } from "../../model/desired.ts";
import type { LiveMember, LiveRole, LiveState } from "../../model/live.ts";

/**
 * Returns whether two states of a merchant mean the same access, now and later: neither changes the result of applying
 * the other, and both change a live state in which nothing has ended yet in the same way. They may differ only in what
 * has ended.
 */
export function isSameAccess(
  before: DesiredState,
  after: DesiredState,
  now: number,
  matches: GlobMatch,
): boolean {
  const changes = (desired: DesiredState, live: LiveState): readonly string[] =>
    buildPlan({ desired, live, service: "", now, matches })
      .changes.map(({ fingerprint }) => fingerprint)
      .sort(byCodeUnit);
  const settled = liveAs(before, ({ email }) => activeRoles(before, email, now));
  const unapplied = liveAs(before, ({ roles = [] }) => roles.map(({ role }) => role));
  return (
    isSameJson(lasting(before, now), lasting(after, now)) &&
    changes(after, settled).length === 0 &&
    isSameJson(changes(before, withStranger(unapplied)), changes(after, withStranger(unapplied)))
  );
}

/** Returns the names of the roles that a declared member has at a time; `null` if it is not a member. */
function activeRoles(
  { members = [], leavers }: DesiredState,
  email: string,
  now: number,
): readonly string[] | null {
  const entry = members.find((member) => member.email === email);
  if (entry === undefined || leftAt(leavers, now).has(email.toLowerCase())) return null;
  const { member, absent } = activeAt(entry, now);
  return absent === null ? (member.roles ?? []).map(({ role }) => role) : null;
}

/** Returns a live state with the declared roles, and the members with the roles that a function returns. */
function liveAs(
  { merchant, roles = [], members = [] }: DesiredState,
  rolesOf: (member: DesiredMember) => readonly string[] | null,
): LiveState {
  const declared = roles.map((role, index) => roleAsDeclared(role, role.id ?? `role_declared_${index}`));
  const ids = new Map(declared.flatMap(({ id, name }) => [[name, id] as const, [id, id] as const]));
  const held = new Set(members.flatMap((member) => (member.roles ?? []).map(({ role }) => role)));
  const undeclared = [...held].filter((role) => !ids.has(role));
  for (const role of undeclared) ids.set(role, role.startsWith("role_") ? role : `role_other_${role}`);
  return {
    merchant,
    roles: [...declared, ...undeclared.map((role) => otherRole(ids.get(role) ?? role, role))],
    members: members.flatMap((member, index): readonly LiveMember[] => {
      const names = rolesOf(member);
      if (names === null) return [];
      const roleIds = names.map((name) => ids.get(name) ?? name);
      return [memberAsDeclared(member, member.id ?? `mem_declared_${index}`, roleIds)];
    }),
    callerId: null,
  };
}

function otherRole(id: string, name: string): LiveRole {
  const predefined = id === name;
  return { id, name, permissions: [], predefined, metadata: {}, updatedAt: "" };
}

/** Adds a member and a role that no file lists. */
function withStranger(live: LiveState): LiveState {
  const user = { id: "user_stranger", email: "stranger@rolecall.invalid", mfaOnLogin: true, type: "user" };
  return {
    ...live,
    roles: [...live.roles, { ...otherRole("role_stranger", "Stranger (no file)"), predefined: false }],
    members: [
      ...live.members,
      { id: "mem_stranger", roles: [], status: "accepted", user, metadata: {}, updatedAt: "" },
    ],
  };
}

/** Returns what a state still declares after a time, without locations, order and repetitions. */
function lasting(state: DesiredState, now: number): unknown {
  const members = state.members?.flatMap((member) => {
    const { roles, suspended, until, ...rest } = member;
    const kept = roles?.filter((grant) => !isPast(grant.until, now));
    const hasEnded = isPast(until, now) || (roles !== undefined && roles.length > 0 && kept?.length === 0);
    if (hasEnded) return [];
    const away = suspended && !isPast(suspended.until, now) ? { suspended } : {};
    return [{ ...rest, ...(until && { until }), ...(kept && { roles: kept }), ...away }];
  });
  return plain({ ...state, ...currentNames(state), ...(members && { members }) });
}

/**
 * Returns the guards without previous names of roles that they also protect by their current names, and the roles that
 * shared rules name and that do not exist.
 */
function currentNames({
  guards,
  roles = [],
  sharedRuleNames = [],
}: DesiredState): Pick<DesiredState, "guards" | "sharedRuleNames"> {
  const { protect } = guards;
  const names = new Set(roles.map(({ name }) => name));
  const current = new Map(
    roles.flatMap(({ name, previously = [] }) => previously.map((previous) => [previous, name] as const)),
  );
  const isKept = (role: string): boolean => !protect.roles.includes(current.get(role) ?? "");
  return {
    guards: { ...guards, protect: { ...protect, roles: protect.roles.filter(isKept) } },
    sharedRuleNames: sharedRuleNames.filter((name) => !names.has(name)),
  };
}

/** Ignores locations, and the roles of other merchants. */
const IGNORED: ReadonlySet<string> = new Set(["origin", "origins", "included", "rolesElsewhere"]);

function plain(value: unknown): unknown {
  if (Array.isArray(value))
    return [...new Set(value.map((item) => canonicalJson(plain(item))))].sort(byCodeUnit);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (IGNORED.has(key) ? [] : [[key, plain(item)]])),
  );
}
