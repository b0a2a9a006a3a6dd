import type { DesiredState } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type { Change, FieldDiff, MemberChange, Plan, RoleChange } from "../../model/plan.ts";
import { roleImageOf } from "../changes/role-changes.ts";
import { seal } from "../fingerprint.ts";

/** Refusals of a difference in a role's metadata, of which the plan has no change. */
const METADATA_REFUSALS: ReadonlySet<string> = new Set([
  "role-metadata-fixed",
  "role-replace-named",
  "role-replace-pinned",
]);

/**
 * Returns a plan as a list of differences: with the metadata of roles that the plan refuses to change, and without the
 * roles that members only hold anew because a role is replaced.
 */
export function differencesOf(plan: Plan, desired: DesiredState, live: LiveState): Plan {
  const refused = plan.refusals.flatMap(({ code, name }) =>
    METADATA_REFUSALS.has(code) ? (name ?? []) : [],
  );
  const replaced = new Map(
    plan.changes.flatMap(({ resource, kind, id, name }) =>
      resource === "role" && kind === "replace" ? [[id, name] as const] : [],
    ),
  );
  if (refused.length + replaced.size === 0) return plan;
  const metadata = new Map(
    refused.flatMap((name) => {
      const change = metadataChange(name, plan.changes, desired, live);
      return change === null ? [] : [[name, change] as const];
    }),
  );
  const others = plan.changes.filter(({ resource, name }) => resource !== "role" || !metadata.has(name));
  return {
    ...plan,
    changes: [
      ...metadata.values(),
      ...others.map((change) => (change.resource === "member" ? withoutMoves(change, replaced) : change)),
    ],
  };
}

function metadataChange(
  name: string,
  changes: readonly Change[],
  { roles = [] }: DesiredState,
  { roles: live }: LiveState,
): RoleChange | null {
  const declared = roles.find((role) => role.name === name);
  const planned = changes.find((change) => change.resource === "role" && change.name === name);
  const keys = [planned?.id, declared?.id, name, declared?.previously];
  const role = keys.flatMap(
    (key) => live.find((one) => key && (one.id === key || one.name === key)) ?? [],
  )[0];
  if (declared?.metadata === undefined || role === undefined) return null;
  if (planned !== undefined && (planned.resource !== "role" || planned.kind !== "update")) return null;
  const before = roleImageOf(role);
  const field: FieldDiff = { field: "metadata", before: before.metadata, after: declared.metadata };
  return seal<RoleChange>({
    resource: "role",
    kind: "update",
    id: role.id,
    name,
    before,
    after: { ...(planned?.after ?? before), metadata: declared.metadata },
    fields: [...(planned?.fields ?? []), field],
    reason: "declared",
  });
}

/** A member who moves to the successor of a replaced role has it before and after. */
function withoutMoves(change: MemberChange, replaced: ReadonlyMap<string | null, string>): MemberChange {
  if (change.kind !== "update" || change.reason === "immutable-field") return change;
  const fields = change.fields.flatMap((diff): readonly FieldDiff[] => {
    if (diff.field !== "roles") return [diff];
    const left = new Set(diff.removed.flatMap(({ id }) => replaced.get(id) ?? []));
    const moved = new Set(diff.added.flatMap(({ name }) => (left.has(name) ? name : [])));
    const added = diff.added.filter(({ name }) => !moved.has(name));
    const removed = diff.removed.filter(({ id }) => !moved.has(replaced.get(id) ?? ""));
    return added.length + removed.length === 0 ? [] : [{ ...diff, added, removed }];
  });
  return fields.length === 0 ? { ...change, reason: "immutable-field" } : { ...change, fields };
}
