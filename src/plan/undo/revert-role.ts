import { sortedSet } from "../../lib/order.ts";
import type { LiveRole } from "../../model/live.ts";
import { type RoleChange, type RoleImage, TEMPORARY_SUFFIX } from "../../model/plan.ts";
import { roleFields, roleImageOf } from "../changes/role-changes.ts";
import { seal } from "../fingerprint.ts";
import { back, backSet } from "./revert-value.ts";
import { noteNameTaken, type RolePass } from "./role-revert-context.ts";

/** The change that brings a live role back from what the run left to what it was before; what others changed stays. */
export function changeRoleBack(
  live: LiveRole,
  before: RoleImage,
  after: RoleImage,
  pass: RolePass,
): RoleChange | null {
  const { scope, refs, note } = pass;
  if (live.predefined) return null;
  const image = roleImageOf(live);
  const is = scope.setAside.has(live.id) ? { ...image, name: `${image.name}${TEMPORARY_SUFFIX}` } : image;
  const stays = (field: string): void =>
    note("changed-since", live.name, `The ${field} of the role "${live.name}" was changed since, and stays.`);
  // What was set aside has a name for a moment only, whichever the run went on to give it.
  const aside = is.name !== image.name && before.name !== after.name;
  const wantedName = aside ? before.name : back(before.name, after.name, is.name, () => stays("name"));
  const taken = wantedName !== is.name && pass.nameless.has(live.id);
  const name = taken ? is.name : wantedName;
  if (taken) noteNameTaken(live.name, before.name, pass);
  const text = (one: string | null): string => one ?? "";
  const description = back(text(before.description), text(after.description), text(is.description), () =>
    stays("description"),
  );
  const wanted: RoleImage = {
    name,
    description: description === text(is.description) ? is.description : description,
    permissions: sortedSet(backSet(before.permissions, after.permissions, is.permissions)),
    metadata: is.metadata,
  };
  const fields = [...roleFields(is, wanted)];
  if (fields.length === 0) return null;
  refs.stands(live.id, { id: live.id, name });
  return seal<RoleChange>({
    resource: "role",
    name,
    kind: "update",
    id: live.id,
    before: is,
    after: wanted,
    fields,
    reason: "undone",
  });
}
