import type { LiveRole } from "../../model/live.ts";
import type { RoleChange } from "../../model/plan.ts";

/** What tells a change apart from the others of one undo. */
export function keyOf({ id, name }: { readonly id: string | null; readonly name: string }): string {
  return id ?? `new ${name}`;
}

/** The keys of changes that would take a name which another role keeps, or takes as well. */
export function namesTaken(
  changes: readonly RoleChange[],
  custom: readonly LiveRole[],
  setAside: ReadonlySet<string>,
): readonly string[] {
  const moving = new Set(
    changes.flatMap((change) => (change.before?.name === change.after?.name ? [] : (change.id ?? []))),
  );
  const resumed = new Set(
    changes.flatMap((change) => (change.kind === "replace" ? (change.resumed ?? []) : [])),
  );
  const replaced = new Set(changes.flatMap((change) => (change.kind === "replace" ? change.id : [])));
  const names = new Set(
    custom
      .filter(({ id }) => !moving.has(id) && !resumed.has(id) && !replaced.has(id) && !setAside.has(id))
      .map(({ name }) => name),
  );
  return changes.flatMap((change) => {
    if (change.after === null || (change.kind === "update" && !moving.has(change.id))) return [];
    const { name } = change.after;
    if (names.has(name)) return [keyOf(change)];
    names.add(name);
    return [];
  });
}
