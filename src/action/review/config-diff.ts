import type { DesiredMember, DesiredRole, DesiredState } from "../../model/desired.ts";
import type { LiveMember, LiveRole, LiveState } from "../../model/live.ts";
import type { Plan } from "../../model/plan.ts";
import { buildPlan } from "../../plan/build-plan.ts";
import type { Matches } from "../../plan/scope.ts";

/**
 * What a pull request changes in the files, told as a plan: as if what they say on the branch that it is to be merged
 * into were live. What is really live is not in it, so nothing is refused by it, and nothing can be approved by it.
 */
export function configDiff(
  head: readonly DesiredState[],
  base: readonly DesiredState[],
  matches: Matches,
  now: number,
): readonly Plan[] {
  const before = new Map(base.map((state) => [state.merchant, state]));
  return head.map((state) => {
    const is = before.get(state.merchant);
    const { environment } = state;
    const desired: DesiredState = {
      ...state,
      // Whatever the file no longer lists is shown, also where it would be left alone at the service.
      sync: { ...state.sync, roles: "authoritative", members: "authoritative" },
      ignore: { roles: [], members: [] },
      ...(environment && { environment }),
    };
    const live = asLive(desired, is);
    const plan = buildPlan({ desired, live, service: "the files of the base branch", now, matches });
    return {
      ...plan,
      refusals: [],
      findings: [],
      changes: [...plan.changes, ...plan.deferred.map((d) => d.change)],
      deferred: [],
    };
  });
}

const EPOCH = "1970-01-01T00:00:00Z";

function asLive(head: DesiredState, base: DesiredState | undefined): LiveState {
  const roles = (base?.roles ?? []).map((role) => liveRole(role, head));
  const byName = new Map(roles.map((role) => [role.name, role]));
  const others = new Map<string, LiveRole>();
  const idOf = (role: string): string => {
    const known = byName.get(role);
    if (known) return known.id;
    others.set(role, {
      id: role,
      name: role,
      permissions: [],
      predefined: true,
      metadata: {},
      updatedAt: EPOCH,
    });
    return role;
  };
  for (const { role } of (head.members ?? []).flatMap((member) => member.roles ?? [])) idOf(role);
  const members = (base?.members ?? []).map((member) => liveMember(member, head, idOf));
  const declared = new Set((head.roles ?? []).map(({ name }) => name));
  const known = [...others.values()].filter(({ name }) => !declared.has(name));
  return { merchant: head.merchant, roles: [...roles, ...known], members, callerId: null };
}

function liveRole(role: DesiredRole, head: DesiredState): LiveRole {
  const { name, description, permissions = [], metadata = {} } = role;
  const pinned = head.roles?.find((one) => one.name === name || one.previously === name)?.id ?? role.id;
  return {
    id: pinned ?? `file:${name}`,
    name,
    ...(description !== undefined && { description }),
    permissions,
    predefined: false,
    metadata,
    updatedAt: EPOCH,
  };
}

function liveMember(member: DesiredMember, head: DesiredState, idOf: (role: string) => string): LiveMember {
  const { email, roles = [], metadata = {}, managed } = member;
  const same = head.members?.find((one) => one.email.toLowerCase() === email.toLowerCase());
  const id = same?.id ?? member.id ?? `file:${email.toLowerCase()}`;
  return {
    id,
    roles: roles.map(({ role }) => idOf(role)),
    status: "accepted",
    user: {
      id,
      email,
      mfaOnLogin: true,
      type: managed === undefined ? "user" : "managed_user",
      ...(managed?.nickname !== undefined && { nickname: managed.nickname }),
    },
    metadata,
    updatedAt: EPOCH,
  };
}
