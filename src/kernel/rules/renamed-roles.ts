import type { DesiredRole, DesiredState } from "../../model/desired.ts";
import { isLikeRoleId } from "../../model/live.ts";

/** Returns a lookup of the name that a role of the base branch has in the head branch. */
export function currentNameIn(
  head: Pick<DesiredState, "roles">,
  base: Pick<DesiredState, "roles">,
): (role: string) => string {
  const current = currentNames(base.roles ?? [], head.roles ?? []);
  return (role) => current.get(role) ?? role;
}

function currentNames(
  base: readonly DesiredRole[],
  head: readonly DesiredRole[],
): ReadonlyMap<string, string> {
  const kept = new Set(head.map(({ name }) => name));
  const pinned = new Map(head.flatMap(({ id, name }) => (id === undefined ? [] : [[id, name] as const])));
  const renamed = new Map(
    head.flatMap(({ name, previously = [] }) =>
      // A role's id always refers to that role, whatever previous names other roles have.
      previously.filter((former) => !isLikeRoleId(former)).map((former) => [former, name] as const),
    ),
  );
  const names = base.flatMap(({ id, name }) => {
    const now = pinned.get(id ?? "") ?? (kept.has(name) ? undefined : renamed.get(name));
    return now === undefined || now === name ? [] : [[name, now] as const];
  });
  return new Map([...[...renamed].filter(([name]) => !kept.has(name)), ...names]);
}
