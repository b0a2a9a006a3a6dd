import { isSameJson } from "../../lib/json-text.ts";
import type { PastRun, PastWrite } from "../../model/apply.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Metadata } from "../../model/json.ts";
import type { LiveState } from "../../model/live.ts";
import type { MemberImage, RoleRef } from "../../model/plan.ts";

/** A field that may be missing from an update of a member. */
export type OmittableField = "roles" | "metadata" | "nickname";

/** A write after which the service may have emptied the fields that the write left out. */
export interface UnrestoredWrite {
  readonly write: PastWrite;
  readonly fields: readonly OmittableField[];
}

/**
 * Returns the writes of a run that may have left fields of a member empty: failed restores, and updates with an unknown
 * outcome, unless another update showed that the service keeps such fields.
 */
export function unrestoredWrites({ writes }: Pick<PastRun, "writes">): readonly UnrestoredWrite[] {
  // After the first restore, the run sent all fields of a member.
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

/** A member whose fields a run may have left empty. */
export interface UnrestoredMember {
  /** The name of the run. */
  readonly run: string;
  readonly id: string;
  readonly name: string;
  readonly fields: readonly OmittableField[];
}

/** Returns the members whose fields a run may have left empty. */
export function unrestoredMembers(past: Pick<PastRun, "run" | "writes">): readonly UnrestoredMember[] {
  const { run } = past.run;
  return unrestoredWrites(past).flatMap(({ write: { intent }, fields }) =>
    intent.id === null || fields.length === 0 ? [] : [{ run, id: intent.id, name: intent.name, fields }],
  );
}

/** Keeps the fields that are empty in the live state and that the file does not manage, so that no plan shows them. */
export function stillEmpty(
  unrestored: readonly UnrestoredMember[],
  { members }: Pick<LiveState, "members">,
  { members: declared = [] }: Pick<DesiredState, "members">,
): readonly UnrestoredMember[] {
  return narrow(unrestored, ({ id, name }) => {
    const live = members.find((member) => member.id === id);
    if (live === undefined) return [];
    const entry = declared.find((one) => one.id === id || one.email.toLowerCase() === name.toLowerCase());
    return [
      ...(live.roles.length === 0 && entry?.roles === undefined ? (["roles"] as const) : []),
      ...(Object.keys(live.metadata).length === 0 && entry?.metadata === undefined
        ? (["metadata"] as const)
        : []),
      ...((live.user?.nickname ?? "") === "" && (entry?.managed?.nickname ?? null) === null
        ? (["nickname"] as const)
        : []),
    ];
  });
}

/** Leaves out the fields that a later run has set, or has found filled. */
export function withoutSettled(
  unrestored: readonly UnrestoredMember[],
  { writes }: Pick<PastRun, "writes">,
): readonly UnrestoredMember[] {
  return narrow(unrestored, ({ id, fields }) => {
    const its = writes.filter(({ intent, outcome }) => intent.id === id && outcome?.status === "done");
    const settled = its.flatMap(({ intent: { before, after, part } }) => {
      const [was, is] = imagesOf({ before, after });
      if (was === null) return [];
      const empty = emptyFields(was);
      return FIELDS.filter((field) => {
        const isSet = is !== null && !isSameJson(fieldValue(was, field), fieldValue(is, field));
        return isSet || (part !== "restore" && !empty.includes(field));
      });
    });
    return fields.filter((field) => !settled.includes(field));
  });
}

function narrow(
  unrestored: readonly UnrestoredMember[],
  keptOf: (member: UnrestoredMember) => readonly OmittableField[],
): readonly UnrestoredMember[] {
  return unrestored.flatMap((member) => {
    const kept = keptOf(member);
    const fields = member.fields.filter((field) => kept.includes(field));
    return fields.length === 0 ? [] : [{ ...member, fields }];
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

/** Returns the empty fields of an image. */
export function emptyFields({ roles, metadata, managed }: MemberImage): readonly OmittableField[] {
  return [
    ...(roles.length === 0 ? (["roles"] as const) : []),
    ...(Object.keys(metadata).length === 0 ? (["metadata"] as const) : []),
    ...((managed?.nickname ?? "") === "" ? (["nickname"] as const) : []),
  ];
}

const FIELDS: readonly OmittableField[] = ["roles", "metadata", "nickname"];

/** Returns the fields that an update left out although they were not empty. */
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

function imagesOf(
  intent: Pick<PastWrite["intent"], "before" | "after">,
): readonly [MemberImage | null, MemberImage | null] {
  const { before, after } = intent;
  return [before && "email" in before ? before : null, after && "email" in after ? after : null];
}

function fieldValue(image: MemberImage, field: OmittableField): unknown {
  return field === "nickname" ? (image.managed?.nickname ?? null) : image[field];
}

/** An expired invitation that a run removed but could not renew, with what the new one was to hold. */
export interface LostInvitation {
  /** The name of the run. */
  readonly run: string;
  /** The removed invitation's id. */
  readonly id: string | null;
  readonly roles: readonly RoleRef[];
  readonly metadata: Metadata;
}

/**
 * Returns the lost invitations after a run, by address in lower case; `null` for an address that the run invited or
 * removed as planned, no entry for one that it did not change.
 */
export function invitationsAfter({
  run: { run },
  writes,
}: Pick<PastRun, "run" | "writes">): ReadonlyMap<string, LostInvitation | null> {
  const after = new Map<string, LostInvitation | null>();
  /** The invitations to create, by fingerprint; `null` once created. */
  const wanted = new Map<string, MemberImage | null>();
  for (const { intent, outcome } of writes.filter((write) => write.intent.resource === "member")) {
    const { kind, part, name, fingerprint } = intent;
    const done = outcome?.status === "done";
    const key = name.toLowerCase();
    if (done && settles(intent)) after.set(key, null);
    if (kind !== "replace") continue;
    if (part === "create") {
      wanted.set(fingerprint, done ? null : memberImage(intent.after));
    } else if (mayBeDone(outcome)) {
      const held = wanted.has(fingerprint) ? wanted.get(fingerprint) : memberImage(intent.before);
      if (held) after.set(key, { run, id: intent.id, roles: held.roles, metadata: held.metadata });
    }
  }
  return after;
}

/** Returns whether a write invites an address or removes it for good; the removal of a leftover does neither. */
function settles({ kind, part, reason }: PastWrite["intent"]): boolean {
  if (kind === "delete") return reason !== "invitation-expired";
  return kind === "create" || (kind === "replace" && part === "create");
}

function mayBeDone(outcome: PastWrite["outcome"]): boolean {
  return outcome === null || outcome.status === "done" || outcome.status === "unknown";
}

function memberImage(image: PastWrite["intent"]["before"]): MemberImage | null {
  return image !== null && "email" in image ? image : null;
}
