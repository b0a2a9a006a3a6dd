import type { PastRun, PastWrite } from "../../model/journal.ts";
import type { Metadata } from "../../model/json.ts";
import type { MemberImage, RoleRef } from "../../model/plan.ts";

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
