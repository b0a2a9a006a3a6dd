import type { ChangePart, PastRun, PastWrite } from "../../model/apply.ts";
import type { MemberField } from "../../model/field-values.ts";
import type { MemberImage } from "../../model/plan.ts";
import { filledMemberFields, memberDiffs, memberValues } from "../fields/member.ts";

/** A write after which the service may have emptied the fields that the write left out. */
interface UnrestoredWrite {
  readonly write: PastWrite;
  readonly fields: readonly MemberField[];
}

/**
 * Returns the writes of a run that may have left fields of a member empty: failed restores, and updates with an unknown
 * outcome, unless another update showed that the service keeps such fields.
 */
function unrestoredWrites({ writes }: Pick<PastRun, "writes">): readonly UnrestoredWrite[] {
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
  readonly fields: readonly MemberField[];
  /** `restore` if the service is known to have emptied them. */
  readonly part: ChangePart;
  /** The member before the update. */
  readonly before: MemberImage;
}

/** Returns the members whose fields a run may have left empty. */
export function unrestoredMembers(past: Pick<PastRun, "run" | "writes">): readonly UnrestoredMember[] {
  const { run } = past.run;
  return unrestoredWrites(past).flatMap(({ write: { intent }, fields }) => {
    const { id, name, part } = intent;
    const [former, whole] = imagesOf(intent);
    const before = part === "restore" ? whole : former;
    if (id === null || before === null || fields.length === 0) return [];
    return [{ run, id, name, fields, part, before }];
  });
}

/** Returns the fields that an update left out although they were not empty. */
function omittedFields({ intent }: PastWrite): readonly MemberField[] {
  const [before, after] = imagesOf(intent);
  if (intent.kind !== "update" || intent.part !== "whole" || before === null || after === null) return [];
  const changed = differingFields({ intent });
  return filledMemberFields(memberValues(before)).filter((field) => !changed.includes(field));
}

function differingFields({ intent }: Pick<PastWrite, "intent">): readonly MemberField[] {
  const [before, after] = imagesOf(intent);
  return before === null || after === null ? [] : memberDiffs(before, after).map(({ field }) => field);
}

function imagesOf(
  intent: Pick<PastWrite["intent"], "before" | "after">,
): readonly [MemberImage | null, MemberImage | null] {
  const { before, after } = intent;
  return [before && "email" in before ? before : null, after && "email" in after ? after : null];
}
