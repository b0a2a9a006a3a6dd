import type { RoleChange } from "../../model/plan.ts";
import type { Access } from "./access.ts";
import type { Discovery } from "./findings.ts";
import { holdersOf } from "./impact.ts";

/** A role that goes and one that comes with the same permissions or the same holders: a rename, more often than not. */
export function likelyRenames(
  changes: readonly RoleChange[],
  before: Access,
  after: Access,
): readonly Discovery[] {
  const gone = changes.flatMap((change) => (change.kind === "delete" ? [change] : []));
  const come = changes.flatMap((change) => (change.kind === "create" ? [change] : []));
  return come.flatMap((created): readonly Discovery[] => {
    const holders = holderNames(after, `new ${created.name}`);
    const twins = gone.filter(
      (removed) =>
        same(removed.before.permissions, created.after.permissions) ||
        same(holderNames(before, removed.id), holders),
    );
    const [twin, ...others] = twins;
    if (twin === undefined || others.length > 0) return [];
    return [{ code: "role-likely-renamed", name: created.name, previously: twin.name }];
  });
}

function holderNames(access: Access, key: string): readonly string[] {
  return holdersOf(access, key).map(({ name }) => name);
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length > 0 && a.length === b.length && a.every((item, index) => item === b[index]);
}
