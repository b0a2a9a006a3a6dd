import { by, byCodeUnit } from "../../lib/text.ts";
import type { LiveState } from "../../model/live.ts";

/** Returns a live state with sorted lists, so that the order of the service's lists does not affect a plan. */
export function orderedState(live: LiveState): LiveState {
  return {
    ...live,
    roles: sortedBy(live.roles, ({ id }) => id).map((role) => ({
      ...role,
      permissions: sortedBy(role.permissions, (permission) => permission),
    })),
    members: sortedBy(live.members, ({ id }) => id).map((member) => {
      const roles = sortedBy(member.roles, (role) => role);
      return roles === member.roles ? member : { ...member, roles };
    }),
  };
}

/** Returns items sorted by their texts; the same list if it is already sorted. */
function sortedBy<T>(items: readonly T[], textOf: (item: T) => string): readonly T[] {
  const isSorted = items.every(
    (item, index) => index === 0 || byCodeUnit(textOf(items[index - 1] ?? item), textOf(item)) <= 0,
  );
  return isSorted ? items : [...items].sort(by(textOf));
}
