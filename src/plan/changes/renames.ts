import { by } from "../../lib/order.ts";
import type { DesiredRole } from "../../model/desired.ts";

/**
 * Which declared roles are renames: new name → the live name that it is found under.
 *
 * A live role of the new name, or one that was set aside for it, always wins over `previously`, so a rename that is done is not done again. A name that
 * another entry still has can only be taken when that entry moves on to another one itself: a chain. Two entries that
 * swap their names cannot be told from two that have done so; they need pins.
 */
export function findRenames(
  roles: readonly DesiredRole[],
  liveNames: ReadonlySet<string>,
  asideNames: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const unpinned = roles.filter(({ id }) => id === undefined);
  const declared = new Map(unpinned.map((role) => [role.name, role]));
  const renames = new Map<string, string>();
  const taken = new Set<string>();

  const rename = ({ name, previously }: DesiredRole, chain: ReadonlySet<string>): boolean => {
    if (previously === undefined || previously === name || !liveNames.has(previously)) return false;
    if (taken.has(previously) || chain.has(previously)) return false;
    const holder = declared.get(previously);
    // An entry that an earlier run has set a role aside for has found what it stands for, and gives its name up.
    const givesUp = holder?.previously !== undefined && asideNames.has(previously);
    if (holder && !givesUp && !rename(holder, new Set([...chain, name]))) return false;
    taken.add(previously);
    renames.set(name, previously);
    return true;
  };

  for (const role of [...unpinned].sort(by(({ name }) => name))) {
    if (!liveNames.has(role.name) && !asideNames.has(role.name)) rename(role, new Set());
  }
  return renames;
}
