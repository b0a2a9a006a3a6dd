import type { MemberChange, MemberImage } from "../../model/plan.ts";
import { sortRefs } from "../changes/member-changes.ts";
import { withFingerprint } from "../fingerprint.ts";
import type { Effect } from "./net-effects.ts";
import type { TakeNote } from "./revert-context.ts";
import { findByAddress, isChanged, type MemberRevertContext, noteRoleGone } from "./revert-context.ts";

/** The change that invites again, or makes again, whom the run removed; null where that is not needed, or cannot be. */
export function recreateMember(
  effect: Pick<Effect<MemberImage>, "name" | "lost">,
  before: MemberImage,
  pass: MemberRevertContext,
): MemberChange | null {
  const { note, refs } = pass;
  const { name } = effect;
  const { email } = before;
  const lost = effect.lost === true;
  // The run may have put a new invitation in the place of an expired one: that is not this one.
  const other = before.status === "expired" && !lost;
  const there = email === null || other ? undefined : findByAddress(email, pass);
  if (there) {
    if (isChanged(there, before, pass)) {
      note(
        "there-again",
        name,
        `${name} is a member again, with other roles or metadata; that stays as it is.`,
      );
    }
    return null;
  }
  const managed = managedBack(name, before, pass);
  const obstacle = lost ? null : obstacleTo(name, before, managed);
  if (obstacle) {
    note(...obstacle);
    return null;
  }
  const roles = before.roles.flatMap((ref) => {
    const now = refs.refBack(ref);
    if (now === null) noteRoleGone(name, ref.name, pass);
    return now === null ? [] : now.id === null ? now : pass.refOf(now.id);
  });
  note(...comesBack(name, before, lost));
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

/** A managed user with the password of the file; null where the file has none. */
function managedBack(
  name: string,
  { managed }: MemberImage,
  { declared }: MemberRevertContext,
): MemberImage["managed"] {
  if (managed === null) return null;
  const entry = declared.find(({ email }) => email.toLowerCase() === name.toLowerCase());
  const passwordEnv = entry?.managed?.passwordEnv ?? managed.passwordEnv;
  return passwordEnv === null ? null : { nickname: managed.nickname, passwordEnv };
}

function obstacleTo(
  name: string,
  { email, status, managed: was }: MemberImage,
  managed: MemberImage["managed"],
): Parameters<TakeNote> | null {
  if (email === null) {
    return ["no-address", name, `${name} had no e-mail address, so nobody can be invited in its place.`];
  }
  if (status === "expired") {
    return [
      "invitation-expired",
      name,
      `The expired invitation of ${name} does not come back; it gave no access.`,
    ];
  }
  if (status === "disabled" || status === "unknown") {
    return [
      "was-disabled",
      name,
      `${name} was ${status === "disabled" ? "disabled" : "of unknown status"}; a new invitation would give more access than there was, so none is sent.`,
    ];
  }
  if (was !== null && managed === null) {
    return [
      "password-needed",
      name,
      `${name} was a managed user: only a file that names its managed.password_env can bring it back.`,
    ];
  }
  return null;
}

function comesBack(name: string, { status, managed }: MemberImage, lost: boolean): Parameters<TakeNote> {
  if (lost) {
    return [
      "invited-again",
      name,
      `The run removed the expired invitation of ${name} and could not renew it: it comes back as a new invitation, with the roles and metadata that it held.`,
    ];
  }
  if (managed !== null) {
    return [
      "new-id",
      name,
      `${name} comes back as another managed user, with another id and the password of the environment.`,
    ];
  }
  const message =
    status === "accepted"
      ? `${name} is invited again, has to accept again, and has no access until then.`
      : `${name} was invited, and gets a new invitation.`;
  return ["invited-again", name, message];
}
