import type { Access } from "../../kernel/rules/access.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type { SuggestedRule } from "../../model/coverage.ts";

/** Maximum number of addresses in a suggested check; with more, it names roles. */
const MOST_ADDRESSES = 3;

/**
 * Returns a check that allows a permission to its current holders: a few by address, more by role. Holders of roles
 * with unknown permissions are allowed by these roles, unless the check would then not notice that one of some roles
 * gets the permission.
 */
export function onlyToday(
  permission: string,
  { roles, people }: Access,
  gainingRoles: readonly string[] = [],
): Extract<SuggestedRule, { readonly kind: "only" }> {
  const held = new Set(people.flatMap((person) => person.roles));
  const granting = [...held].filter((key) => roles.get(key)?.permissions?.includes(permission));
  const uncertain = [...held].filter((key) => (roles.get(key)?.permissions ?? null) === null);
  const holds = (keys: readonly string[]) => {
    const wanted = new Set(keys);
    return (person: Access["people"][number]): boolean => person.roles.some((key) => wanted.has(key));
  };
  const [has, isExempt] = [holds(granting), holds(uncertain)];
  const missed = gainingRoles.flatMap((role) => {
    const gaining = people.filter((person) => person.roles.includes(role) && !has(person));
    return gaining.every(isExempt) ? gaining : [];
  });
  const exemptOnly = new Set(missed.flatMap((person) => person.roles));
  const entryOf = (key: string): string => {
    const { id = key, name = key, custom = false } = roles.get(key) ?? {};
    return `role:${custom ? name : (id ?? name)}`;
  };
  const holders = people.filter(has);
  const addresses = holders.flatMap(({ email }) => email ?? []).sort(byCodeUnit);
  const isFew = holders.length <= MOST_ADDRESSES && addresses.length === holders.length;
  return {
    kind: "only",
    can: permission,
    only: [
      ...(isFew ? addresses : granting.map(entryOf)),
      ...uncertain.filter((key) => !exemptOnly.has(key)).map(entryOf),
    ],
  };
}
