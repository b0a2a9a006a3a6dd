import type { Scope } from "../kernel/diff/scope.ts";
import type { RoleRef } from "../model/field-values.ts";
import type { LiveRole } from "../model/live.ts";
import type { NetEffects } from "./net-effects.ts";

/** A mapping from roles before and after a run, and from later ones, to roles after its undo. */
export interface RoleRefs {
  /**
   * Returns the role after the undo for a role before or after the run; `null` if there is none. A replaced role, its
   * successor and the role that the undo creates in its place count as one.
   */
  find(ref: RoleRef): RoleRef | null;
  /** The same, but returns a reference with its own id if there is none after the undo. */
  current(ref: RoleRef): RoleRef;
  /** Returns the reference of a live role, with its name after the undo. */
  refOf(id: string): RoleRef;
  /** Maps a role id to its role after the undo; `null` if there is none. */
  set(id: string, ref: RoleRef | null): void;
}

/** Creates the mapping before any role is reverted: each live role maps to itself. */
export function createRoleRefs(effects: NetEffects, scope: Scope): RoleRefs {
  const known = [...scope.ignoredLiveRoles, ...scope.roles];
  const names = new Map(known.map(({ id, name }) => [id, name]));
  const refs = new Map<string, RoleRef | null>(known.map(({ id, name }) => [id, { id, name }]));
  // The run created a role that was planned without an id: its write holds the id, or else the name identifies it.
  const idOf = ({ id, name }: RoleRef): string | null => {
    if (id !== null) return id;
    const made = effects.roles.find((effect) => effect.before === null && effect.name === name);
    const successor = effects.replaced.find((replacement) => replacement.name === name);
    return made?.id ?? successor?.successor ?? findRole(scope, name)?.id ?? null;
  };
  const find = (ref: RoleRef): RoleRef | null => {
    const id = idOf(ref);
    return id === null ? null : (refs.get(id) ?? null);
  };
  return {
    find,
    current: (ref) => find(ref) ?? { ...ref, id: idOf(ref) ?? ref.name },
    refOf: (id) => ({ id, name: names.get(id) ?? id }),
    set: (id, ref) => {
      refs.set(id, ref);
      if (ref !== null) names.set(id, ref.name);
    },
  };
}

/** Finds the live custom role with a name, without those with a temporary name. */
export function findRole({ roles, temporarilyNamed }: Scope, name: string): LiveRole | undefined {
  return roles.find((role) => role.name === name && !role.predefined && !temporarilyNamed.has(role.id));
}
