import { addressOf, type GlobMatch, scopeOf } from "../../kernel/diff/scope.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type { IgnoredAccess } from "../../model/questions.ts";

/** Returns the patterns of what the files of merchants ignore, since the files do not say whom the patterns match. */
export function ignoredPatterns(states: readonly DesiredState[]): readonly IgnoredAccess[] {
  return states.flatMap(({ merchant, ignore: { roles, members } }) =>
    roles.length + members.length === 0 ? [] : [{ merchant, roles, members }],
  );
}

/** Returns the live roles and members that a file ignores: their names and addresses, else their ids. */
export function ignoredLive(
  live: LiveState,
  { merchant, ignore }: DesiredState,
  matches: GlobMatch,
): readonly IgnoredAccess[] {
  const { ignoredLiveRoles, ignoredMembers } = scopeOf(live, ignore, matches);
  const roles = ignoredLiveRoles.map(({ id, name }) => (name.trim() === "" ? id : `${name} (${id})`));
  const members = ignoredMembers.map((member) => addressOf(member) ?? member.id);
  if (roles.length + members.length === 0) return [];
  return [{ merchant, roles: roles.sort(byCodeUnit), members: members.sort(byCodeUnit) }];
}
