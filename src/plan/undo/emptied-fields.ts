import { isSameJson } from "../../lib/canonical-json.ts";
import type { LiveState } from "../../model/live.ts";
import type { PastRun, PastWrite } from "../../model/past-run.ts";
import type { MemberImage } from "../../model/plan.ts";

/** A field that an update of a member may leave out. */
export type OmittableField = "roles" | "metadata" | "nickname";

/** A write after which the service may have emptied fields that it did not hold, not restored for certain. */
export interface UnrestoredWrite {
  readonly write: PastWrite;
  readonly fields: readonly OmittableField[];
}

/**
 * Returns the writes of a run that may have left fields of a member empty: restores without success, and updates without
 * an outcome while the run had not seen yet that the service keeps such fields.
 */
export function unrestoredWrites({ writes }: Pick<PastRun, "writes">): readonly UnrestoredWrite[] {
  // Once the run had found out that the service empties fields, it sent members whole.
  const restores = writes.filter(({ intent }) => intent.part === "restore");
  if (restores.length > 0) {
    return restores
      .filter(({ outcome }) => outcome?.status !== "done")
      .map((write) => ({ write, fields: differingFields(write) }));
  }
  const isUnknown = ({ outcome }: PastWrite): boolean => outcome === null || outcome.status === "unknown";
  const kept = new Set(
    writes.flatMap((write) => (write.outcome?.status === "done" ? omittedFields(write) : [])),
  );
  return writes.flatMap((write) => {
    const fields = isUnknown(write) ? omittedFields(write).filter((field) => !kept.has(field)) : [];
    return fields.length === 0 ? [] : [{ write, fields }];
  });
}

/** Returns the members of a run with such fields that are empty now. */
export function unrestoredMembers(
  run: Pick<PastRun, "writes">,
  { members }: Pick<LiveState, "members">,
): readonly { readonly name: string; readonly fields: readonly OmittableField[] }[] {
  const byId = new Map(members.map((member) => [member.id, member]));
  return unrestoredWrites(run).flatMap(({ write: { intent }, fields }) => {
    const live = byId.get(intent.id ?? "");
    if (live === undefined) return [];
    const { roles, metadata, user } = live;
    const holds: Readonly<Record<OmittableField, boolean>> = {
      roles: roles.length > 0,
      metadata: Object.keys(metadata).length > 0,
      nickname: (user?.nickname ?? "") !== "",
    };
    const empty = fields.filter((field) => !holds[field]);
    return empty.length === 0 ? [] : [{ name: intent.name, fields: empty }];
  });
}

/** Returns a member's image without the content of some fields. */
export function withoutFields(image: MemberImage, fields: readonly OmittableField[]): MemberImage {
  return {
    ...image,
    ...(fields.includes("roles") && { roles: [] }),
    ...(fields.includes("metadata") && { metadata: {} }),
    ...(fields.includes("nickname") && image.managed && { managed: { ...image.managed, nickname: null } }),
  };
}

/** Returns which fields of an image hold nothing. */
export function emptyFields({ roles, metadata, managed }: MemberImage): readonly OmittableField[] {
  return [
    ...(roles.length === 0 ? (["roles"] as const) : []),
    ...(Object.keys(metadata).length === 0 ? (["metadata"] as const) : []),
    ...((managed?.nickname ?? "") === "" ? (["nickname"] as const) : []),
  ];
}

const FIELDS: readonly OmittableField[] = ["roles", "metadata", "nickname"];

/** The fields that an update of a member left out although the member had something there. */
function omittedFields({ intent }: PastWrite): readonly OmittableField[] {
  const [before, after] = imagesOf(intent);
  if (intent.kind !== "update" || intent.part !== "whole" || before === null || after === null) return [];
  const empty = emptyFields(before);
  return FIELDS.filter(
    (field) => !empty.includes(field) && isSameJson(fieldValue(before, field), fieldValue(after, field)),
  );
}

function differingFields({ intent }: PastWrite): readonly OmittableField[] {
  const [before, after] = imagesOf(intent);
  if (before === null || after === null) return [];
  return FIELDS.filter((field) => !isSameJson(fieldValue(before, field), fieldValue(after, field)));
}

function imagesOf(intent: PastWrite["intent"]): readonly [MemberImage | null, MemberImage | null] {
  const { before, after } = intent;
  return [before && "email" in before ? before : null, after && "email" in after ? after : null];
}

function fieldValue(image: MemberImage, field: OmittableField): unknown {
  return field === "nickname" ? (image.managed?.nickname ?? null) : image[field];
}
