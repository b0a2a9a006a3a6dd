import { openSuggester } from "../../lib/suggest.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type { RoleRef } from "../../model/field-values.ts";
import { PREDEFINED_ROLES, predefinedRole } from "../../model/live.ts";
import type { FindingData } from "../findings/findings.ts";
import type { RolePlan } from "./plan-roles.ts";
import type { Scope } from "./scope.ts";

/** Receives the findings of a comparison. */
export type ReportFinding = (found: FindingData) => void;

/** Resolves role names and ids to references, or reports why it cannot. */
export interface RoleResolver {
  /** Returns the references of a member's roles; `null` if one cannot be resolved, which is reported. */
  resolve(member: string, roles: readonly string[], report: ReportFinding): readonly RoleRef[] | null;
  /** Returns the reference of a live role id. */
  refOf(id: string): RoleRef;
  /** Returns the reference of a held role, or of its successor if it is replaced. */
  successorOf(id: string): RoleRef;
  /** Returns the live id for a role's name or id; `null` if it has none yet or cannot be resolved. */
  idOf(role: string): string | null;
  readonly replacesAny: boolean;
  isReplaced(id: string): boolean;
  isIgnored(id: string): boolean;
}

/**
 * A reference; for a role that cannot be resolved, the finding about a member, or `null` if it has already been
 * reported.
 */
type Resolved = RoleRef | ((member: string) => FindingData | null);

/** Creates a resolver, which looks up declared names first, then live ids, then live names. */
export function roleResolver(
  plan: RolePlan,
  { roles: live, ignoredRoles, ignoredLiveRoles }: Scope,
): RoleResolver {
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
  // Files name predefined roles by id, so their display names only serve suggestions.
  const predefined = new Map(
    live.flatMap((role) => (role.predefined ? [[role.name.toLowerCase(), role.id] as const] : [])),
  );
  const suggest = (role: string): string | null =>
    predefined.get(role.toLowerCase()) ?? nearest(role) ?? predefinedRole(role);
  // Only for display: nobody can be given an ignored role.
  const ignoredNames = new Map(ignoredLiveRoles.map(({ id, name }) => [id, name]));
  const refOf = (id: string): RoleRef => ({ id, name: names.get(id) ?? ignoredNames.get(id) ?? id });
  const declaredRef = (name: string, id: string | null): RoleRef => (id === null ? { id, name } : refOf(id));

  const successorOf = (id: string): RoleRef => {
    const name = plan.replaced.get(id);
    return name === undefined ? refOf(id) : declaredRef(name, plan.declared.get(name) ?? null);
  };

  const lookUp = (role: string): Resolved => {
    const declared = plan.declared.get(role);
    if (declared !== undefined) return declared === null ? declaredRef(role, null) : successorOf(declared);
    if (ignoredRoles.has(role)) return (name) => ({ code: "member-role-ignored", name, role });
    // The error is reported at the role's entry.
    if (plan.unmatched.has(role)) return () => null;
    // Ids come before names: otherwise, a role whose name looks like an id could replace the role with that id.
    const [id, ...more] = names.has(role) ? [role] : (idsByName.get(role) ?? []);
    if (id === undefined) {
      const near = suggest(role);
      return (name) => ({ code: "member-role-unknown", name, role, near });
    }
    if (more.length > 0) {
      return (name) => ({ code: "member-role-ambiguous", name, role, ids: [id, ...more] });
    }
    if (removed.has(id)) return (name) => ({ code: "member-role-removed", name, role });
    return successorOf(id);
  };
  // Thousands of members hold a handful of roles.
  const cache = new Map<string, Resolved>();
  const resolveOne = (role: string): Resolved => {
    const cached = cache.get(role);
    if (cached !== undefined) return cached;
    const resolved = lookUp(role);
    cache.set(role, resolved);
    return resolved;
  };

  return {
    refOf,
    successorOf,
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
          const roles = resolved(member);
          if (roles !== null) report(roles);
          complete = false;
        } else {
          refs.set(resolved.id ?? `new ${resolved.name}`, resolved);
        }
      }
      return complete ? [...refs.values()] : null;
    },
  };
}
