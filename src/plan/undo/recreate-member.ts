import type { MemberChange, MemberImage } from "../../model/plan.ts";
import { sortRefs } from "../changes/member-changes.ts";
import { withFingerprint } from "../fingerprint.ts";
import type { Effect } from "./net-effects.ts";
import {
  type AddNote,
  differsFromImage,
  findByAddress,
  type MemberRevertContext,
  noteRoleGone,
} from "./revert-context.ts";

/** Returns the change that invites or creates a removed member again; `null` if not needed or not possible. */
export function recreateMember(
  effect: Pick<Effect<MemberImage>, "name" | "lost">,
  before: MemberImage,
  context: MemberRevertContext,
): MemberChange | null {
  const { note, refs } = context;
  const { name } = effect;
  const { email } = before;
  const lost = effect.lost === true;
  // The run may have renewed this expired invitation: the new one is another membership.
  const other = before.status === "expired" && !lost;
  const there = email === null || other ? undefined : findByAddress(email, context);
  if (there) {
    if (differsFromImage(there, before, context)) {
      note(
        "there-again",
        name,
        `${name} is a member again, with other roles or metadata, and is left as it is.`,
      );
    }
    return null;
  }
  const managed = revertedManaged(name, before, context);
  const obstacle = lost ? null : obstacleToRecreation(name, before, managed);
  if (obstacle) {
    note(...obstacle);
    return null;
  }
  const roles = before.roles.flatMap((ref) => {
    const now = refs.revertedRef(ref);
    if (now === null) noteRoleGone(name, ref.name, context);
    return now === null ? [] : now.id === null ? now : context.refOf(now.id);
  });
  note(...recreationNote(name, before, lost));
  return withFingerprint<MemberChange>({
    resource: "member",
    name,
    kind: "create",
    id: null,
    before: null,
    after: { email, roles: sortRefs(roles), metadata: before.metadata, managed, status: null },
    fields: [],
    reason: "undone",
  });
}

/** Returns the fields of a managed user with the file's or the journal's password variable; `null` without one. */
function revertedManaged(
  name: string,
  { managed }: MemberImage,
  { declared }: MemberRevertContext,
): MemberImage["managed"] {
  if (managed === null) return null;
  const entry = declared.find(({ email }) => email.toLowerCase() === name.toLowerCase());
  const passwordEnv = entry?.managed?.passwordEnv ?? managed.passwordEnv;
  return passwordEnv === null ? null : { nickname: managed.nickname, passwordEnv };
}

function obstacleToRecreation(
  name: string,
  { email, status, managed: was }: MemberImage,
  managed: MemberImage["managed"],
): Parameters<AddNote> | null {
  if (email === null) {
    return ["no-address", name, `${name} had no e-mail address, so no invitation can be sent.`];
  }
  if (status === "expired") {
    return [
      "invitation-expired",
      name,
      `The expired invitation of ${name} is not restored; it gave no access.`,
    ];
  }
  if (status === "disabled" || status === "unknown") {
    return [
      "was-disabled",
      name,
      `${name} was ${status === "disabled" ? "disabled" : "of unknown status"}; a new invitation would give more access than before, so none is sent.`,
    ];
  }
  if (was !== null && managed === null) {
    return [
      "password-needed",
      name,
      `${name} was a managed user: it can be created again only from a file that names its managed.password_env.`,
    ];
  }
  return null;
}

function recreationNote(name: string, { status, managed }: MemberImage, lost: boolean): Parameters<AddNote> {
  if (lost) {
    return [
      "invited-again",
      name,
      `The run removed the expired invitation of ${name} and could not renew it: a new invitation is sent with the roles and metadata that it held.`,
    ];
  }
  if (managed !== null) {
    return [
      "new-id",
      name,
      `${name} is created again as a managed user with a new id, and with the password from the environment.`,
    ];
  }
  const message =
    status === "accepted"
      ? `${name} is invited again, and has no access until the invitation is accepted.`
      : `${name} had a pending invitation, and is sent a new one.`;
  return ["invited-again", name, message];
}
