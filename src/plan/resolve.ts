import { byCodeUnit } from "../lib/order.ts";
import { openSuggester } from "../lib/suggest.ts";
import { PREDEFINED_ROLES } from "../model/live.ts";
import type { RoleRef } from "../model/plan.ts";
import type { RolePlan } from "./changes/plan-roles.ts";
import type { FindingData } from "./judge/findings.ts";
import type { Scope } from "./scope.ts";

/** Takes what is found out on the way. */
export type Report = (found: FindingData) => void;

/** Turns the role names and ids of a member into references, or says why it cannot. */
export interface RoleResolver {
  /** The references of what a member is to hold; null where one cannot be resolved, which goes to `report`. */
  resolve(member: string, roles: readonly string[], report: Report): readonly RoleRef[] | null;
  /** The reference of a live role id. */
  refOf(id: string): RoleRef;
  /** The reference that takes the place of a held role: another one only where the role is replaced. */
  successorOf(id: string): RoleRef;
  /** Returns the successor of a role id that was held once; undefined if that role is gone or removed. */
  stillHeld(id: string): readonly RoleRef[];
  /** The live id that a role's name or id stands for; null where there is none yet, or it cannot be resolved. */
  idOf(role: string): string | null;
  /** Whether any role is replaced. */
  readonly replacesAny: boolean;
  /** Whether this role id belongs to a role that is replaced. */
  isReplaced(id: string): boolean;
  /** Whether nothing may be done with this role id. */
  isIgnored(id: string): boolean;
}

/** What a name or id stands for, or what to tell of a member who is to hold it. */
type Resolved = RoleRef | ((member: string) => FindingData);

/** A name is looked up among the declared roles; then an id among the live ones, and then a name. */
export function roleResolver(plan: RolePlan, { roles: live, ignoredRoles }: Scope): RoleResolver {
  const names = new Map(live.map((role) => [role.id, role.name]));
  for (const [name, id] of plan.declared) if (id !== null) names.set(id, name);
  for (const [id, name] of plan.replaced) names.set(id, name);
  const removed = new Set(plan.changes.flatMap((change) => (change.kind === "delete" ? change.id : [])));
  const idsByName = new Map<string, readonly string[]>();
  for (const role of live) {
    if (!role.predefined) {
      idsByName.set(role.name, [...(idsByName.get(role.name) ?? []), role.id].sort(byCodeUnit));
    }
  }
  const custom = live.filter(({ predefined }) => !predefined);
  const nearest = openSuggester([
    ...new Set([...plan.declared.keys(), ...custom.map(({ name }) => name), ...PREDEFINED_ROLES]),
  ]);
  // A member holds a predefined role by its id; the name that it is shown by is no way to name it.
  const predefined = new Map(
    live.flatMap((role) => (role.predefined ? [[role.name.toLowerCase(), role.id] as const] : [])),
  );
  const suggest = (role: string): string | null => predefined.get(role.toLowerCase()) ?? nearest(role);
  const refOf = (id: string): RoleRef => ({ id, name: names.get(id) ?? id });
  const declaredRef = (name: string, id: string | null): RoleRef => (id === null ? { id, name } : refOf(id));

  const successorOf = (id: string): RoleRef => {
    const name = plan.replaced.get(id);
    return name === undefined ? refOf(id) : declaredRef(name, plan.declared.get(name) ?? null);
  };

  const lookUp = (role: string): Resolved => {
    const declared = plan.declared.get(role);
    if (declared !== undefined) return declared === null ? declaredRef(role, null) : successorOf(declared);
    if (ignoredRoles.has(role)) return (name) => ({ code: "member-role-ignored", name, role });
    // An id before a name: whoever can name a role at the service could capture what a file means by the id.
    const [id, ...others] = names.has(role) ? [role] : (idsByName.get(role) ?? []);
    if (id === undefined) {
      const near = suggest(role);
      return (name) => ({ code: "member-role-unknown", name, role, near });
    }
    if (others.length > 0) {
      return (name) => ({ code: "member-role-ambiguous", name, role, ids: [id, ...others] });
    }
    if (removed.has(id)) return (name) => ({ code: "member-role-removed", name, role });
    return successorOf(id);
  };
  // Thousands of members hold a handful of roles.
  const known = new Map<string, Resolved>();
  const resolveOne = (role: string): Resolved => {
    const found = known.get(role);
    if (found !== undefined) return found;
    const resolved = lookUp(role);
    known.set(role, resolved);
    return resolved;
  };

  return {
    refOf,
    successorOf,
    stillHeld: (id) => (names.has(id) && !removed.has(id) ? [successorOf(id)] : []),
    idOf(role) {
      const resolved = resolveOne(role);
      return typeof resolved === "function" ? null : resolved.id;
    },
    replacesAny: plan.replaced.size > 0,
    isReplaced: (id) => plan.replaced.has(id),
    isIgnored: (id) => ignoredRoles.has(id),
    resolve(member, roles, report) {
      const refs = new Map<string, RoleRef>();
      let complete = true;
      for (const role of roles) {
        const resolved = resolveOne(role);
        if (typeof resolved === "function") {
          report(resolved(member));
          complete = false;
        } else {
          refs.set(resolved.id ?? `new ${resolved.name}`, resolved);
        }
      }
      return complete ? [...refs.values()] : null;
    },
  };
}
