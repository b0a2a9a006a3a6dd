import type { LiveRole } from "../../model/live.ts";
import type { RoleRef } from "../../model/plan.ts";
import type { UndoContext } from "./undo-context.ts";

/** What references to roles, of before or after the run, stand for once all is back. */
export interface RoleRefs {
  /**
   * What stands for a role of before or after the run once all is back; null where nothing does. One that the run
   * replaced, its successor, and the one that comes back in its place are one role.
   */
  refBack(ref: RoleRef): RoleRef | null;
  /** The id that a reference of before or after the run stands for; null where it is not known. */
  idOf(ref: RoleRef): string | null;
}

/** References that are being worked out, as one role after the other goes back. */
export interface GrowingRoleRefs extends RoleRefs {
  /** Says what stands for the role with this id from now on; null: nothing does. */
  stands(id: string, ref: RoleRef | null): void;
}

/** References where nothing has gone back yet: what is live stands for itself. */
export function roleRefs(context: UndoContext): GrowingRoleRefs {
  const { effects, live, scope } = context;
  const managed = new Map(scope.roles.map((role) => [role.id, role]));
  const known = new Map<string, RoleRef | null>();

  // One that had no id when it was planned was made by the run, so its write knows, or its name tells.
  const idOf = ({ id, name }: RoleRef): string | null => {
    if (id !== null) return id;
    const made = effects.roles.find((effect) => effect.before === null && effect.name === name);
    const successor = effects.replaced.find((one) => one.name === name);
    return made?.id ?? successor?.successor ?? roleNamed(context, name)?.id ?? null;
  };

  const refBack = (ref: RoleRef): RoleRef | null => {
    const id = idOf(ref);
    if (id === null) return null;
    const told = known.get(id);
    if (told !== undefined) return told;
    const role = managed.get(id);
    if (role) return { id, name: role.name };
    if (scope.ignoredRoles.has(id)) {
      return { id, name: live.roles.find((one) => one.id === id)?.name ?? ref.name };
    }
    return null;
  };

  return { refBack, idOf, stands: (id, ref) => void known.set(id, ref) };
}

/** The live role that has a name for good: no predefined one, and none that is set aside. */
export function roleNamed({ scope }: Pick<UndoContext, "scope">, name: string): LiveRole | undefined {
  return scope.roles.find((role) => role.name === name && !role.predefined && !scope.setAside.has(role.id));
}
