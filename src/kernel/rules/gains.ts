import { memoized } from "../../lib/memoized.ts";
import { sortedSet } from "../../lib/text.ts";
import type { DesiredMember } from "../../model/desired.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { MemberChange, Plan } from "../../model/plan.ts";
import { openCurrentAddresses } from "../values/person.ts";
import { globsOf, SENSITIVE } from "./settings/sensitive.ts";

/** The predefined administrator roles, which can do nearly everything. */
export const ADMINISTRATORS: readonly string[] = ["role_owner", "role_admin"];

/** Returns the roles that a change gives a member. */
export function newRoles(change: MemberChange): readonly RoleRef[] {
  if (change.kind === "create") return change.after.roles;
  return change.fields.flatMap((diff) => (diff.field === "roles" ? diff.added : []));
}

/** The part of a plan that shows who gains what. */
export interface Gains {
  readonly impact: Plan["impact"];
  readonly members: readonly MemberChange[];
  /** The files' entries, which list a person's addresses. */
  readonly entries: readonly DesiredMember[] | undefined;
}

/**
 * Returns the people who newly hold what a limit names, or with `reach` can reach it, each with the permissions or the
 * role: all sensitive permissions, those that a pattern matches, or the role with a name or id. A permission or role
 * that a person held under a previous address, or by an expired invitation, is not new. Memberships of one person
 * count once.
 */
export function gainsOf(
  what: string,
  { impact, members, entries }: Gains,
  reach = false,
): ReadonlyMap<string, readonly string[]> {
  const reached = reach ? (impact.reach ?? []) : [];
  // Members with the same roles share lists.
  const lists = new Set(reached.map(({ permissions }) => permissions));
  const all = [...impact.permissions.map(({ permission }) => permission), ...[...lists].flat()];
  const meant = new Set(what === SENSITIVE ? impact.sensitive : [...new Set(all)].filter(globsOf([what])));
  const meantOf = memoized((list: readonly string[]) => list.filter((permission) => meant.has(permission)));
  const formerly = new Map(
    impact.formerly?.map(({ name, roles, permissions }) => [name, new Set([...roles, ...permissions])]),
  );
  const personOf = openCurrentAddresses(entries);
  const people = new Map<string, readonly string[]>();
  const add = (address: string, items: readonly string[]): void => {
    const name = personOf(address);
    const [had, others] = [formerly.get(address), people.get(name)];
    const gained = had === undefined ? items : items.filter((item) => !had.has(item));
    // Unchanged lists stay shared.
    if (gained.length > 0)
      people.set(name, others === undefined ? gained : sortedSet([...others, ...gained]));
  };
  for (const { name, gained } of impact.members) add(name, meantOf(gained));
  for (const { name, permissions } of reached) add(name, meantOf(permissions));
  for (const change of members) {
    const before = new Set(change.before?.roles.map(({ name }) => name));
    const isNew = ({ id, name }: RoleRef): boolean =>
      // The successor of a replaced role has its name.
      (id === what || (name === what && !before.has(name))) && !formerly.get(change.name)?.has(id ?? "");
    if (newRoles(change).some(isNew)) add(change.name, [what]);
  }
  return people;
}
