import type { LiveMember, LiveRole, LiveState } from "../../../src/model/live.ts";
import { PREDEFINED_ROLES_BY_ID } from "../../../src/sandbox/state/snapshot.ts";
import { liveMember, liveRole } from "../build.ts";
import type { Chain, SeedMember, SeedMerchant } from "./chain.ts";

/** Returns what a sandbox with the seed of an organisation would have, by merchant; faster than reading it there. */
export function liveChain({ live }: Pick<Chain, "live">): ReadonlyMap<string, LiveState> {
  return new Map(live.map((merchant) => [merchant.code, liveState(merchant)]));
}

function liveState({ code, roles, members }: SeedMerchant): LiveState {
  const custom = roles.map(({ name, ...rest }, index) => liveRole(`role_${code}${index}`, name, rest));
  const ids = new Map(custom.map(({ id, name }) => [name, id]));
  return {
    merchant: code,
    roles: [...custom, ...PREDEFINED],
    members: members.map((member, index) => liveMemberOf(`mem_${code}${index}`, member, ids)),
    callerId: null,
  };
}

const PREDEFINED: readonly LiveRole[] = [...PREDEFINED_ROLES_BY_ID.values()].map(
  ({ id, name, permissions }) => liveRole(id, name, { permissions, predefined: true }),
);

function liveMemberOf(
  id: string,
  { email, roles, mfa, managed }: SeedMember,
  ids: ReadonlyMap<string, string>,
): LiveMember {
  const user = managed
    ? { type: "managed_user", nickname: managed.nickname, mfaOnLogin: null }
    : { type: "user", mfaOnLogin: mfa ?? false };
  return liveMember(id, email, {
    roles: roles.map((role) => ids.get(role) ?? role),
    user: { id: `user-${id}`, email, ...user },
  });
}
