import { withFingerprint } from "../kernel/diff/fingerprint.ts";
import { memberImageOf } from "../kernel/diff/member-changes.ts";
import { addressOf } from "../kernel/diff/scope.ts";
import {
  MEMBER_FIELDS,
  memberDiffs,
  memberImage,
  memberValues,
  withValues,
} from "../kernel/fields/member.ts";
import type { MemberValues, RoleRef } from "../model/field-values.ts";
import type { LiveMember } from "../model/live.ts";
import type { MemberChange, MemberImage } from "../model/plan.ts";
import type { Effect } from "./net-effects.ts";
import {
  type AddNote,
  differsFromImage,
  findByAddress,
  keysOf,
  type MemberRevertContext,
  noteRoleGone,
} from "./revert-context.ts";
import { revertedValues } from "./reverted-values.ts";

/** Returns the change that reverts a live member; fields that others changed since the run stay. */
export function revertMember(
  live: LiveMember,
  before: MemberImage,
  after: MemberImage,
  context: MemberRevertContext,
): MemberChange | null {
  const { note } = context;
  const current = memberImageOf(live, context);
  const name = addressOf(live) ?? live.id;
  const images = { before: memberValues(before), after: memberValues(after), live: memberValues(current) };
  const values = revertedValues<MemberValues>(MEMBER_FIELDS, images, {
    changedSince: (field, part) =>
      note(
        "changed-since",
        name,
        `The ${field}${part === null ? "" : ` "${part}"`} of ${name} has been changed since, so it is left as it is.`,
      ),
    cannotClear: (field) =>
      note(
        `${field}-stays`,
        name,
        `${name} had no ${field} before, but the service cannot remove one, so it is kept.`,
      ),
  });
  const reverted = withValues(current, {
    ...values,
    roles: revertedRoles(name, live, { before, after }, context),
  });
  const fields = memberDiffs(current, reverted);
  if (fields.length === 0) return null;
  return withFingerprint<MemberChange>({
    resource: "member",
    name,
    kind: "update",
    id: live.id,
    before: current,
    after: reverted,
    fields,
    reason: "undone",
  });
}

function revertedRoles(
  name: string,
  live: LiveMember,
  { before, after }: { readonly before: MemberImage; readonly after: MemberImage },
  context: MemberRevertContext,
): readonly RoleRef[] {
  const { scope, refs } = context;
  const keyOf = keysOf(context);
  const touchable = ({ id }: RoleRef): boolean => id === null || !scope.ignoredRoles.has(id);
  const [held, became] = [before.roles.filter(touchable), after.roles.filter(touchable)];
  const ofRun = new Set([...before.roles, ...after.roles].map(keyOf));
  const refsByKey = new Map<string, RoleRef>();
  const revertedKey = (ref: RoleRef): string => {
    const now = refs.revertedRef(ref);
    if (now !== null) refsByKey.set(keyOf(ref), now.id === null ? now : context.refOf(now.id));
    return keyOf(ref);
  };
  // A held role that has no counterpart after the undo keeps its own reference, so that it is seen to be held.
  const heldKey = (id: string): string => {
    const ref = { id, name: id };
    if (ofRun.has(keyOf(ref)) && refs.revertedRef(ref) !== null) return revertedKey(ref);
    const key = ofRun.has(keyOf(ref)) ? keyOf(ref) : id;
    refsByKey.set(key, context.refOf(id));
    return key;
  };
  const keys = revertSet(
    held.map(revertedKey),
    became.map(revertedKey),
    [...new Set(live.roles)].map(heldKey),
  );
  for (const role of held) {
    if (keys.includes(keyOf(role)) && !refsByKey.has(keyOf(role))) noteRoleGone(name, role.name, context);
  }
  return keys.flatMap((key) => refsByKey.get(key) ?? []);
}

/** Returns the live values without those that the run added, and with those that it removed. */
function revertSet(
  before: readonly string[],
  after: readonly string[],
  live: readonly string[],
): readonly string[] {
  const [former, given] = [new Set(before), new Set(after)];
  const added = new Set(after.filter((key) => !former.has(key)));
  const removed = before.filter((key) => !given.has(key));
  return [...new Set([...live.filter((key) => !added.has(key)), ...removed])];
}

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
        `${name} is a member again, but with different access, and is left as it is.`,
      );
    }
    return null;
  }
  const passwordEnv = passwordOf(name, before, context);
  const obstacle = lost ? null : obstacleToRecreation(name, before, passwordEnv);
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
    after: memberImage({ email, status: null, passwordEnv }, { ...memberValues(before), roles }),
    fields: [],
    reason: "undone",
  });
}

/** Returns the file's or the journal's variable with the password of a managed user; `undefined` without one. */
function passwordOf(
  name: string,
  { managed }: MemberImage,
  { declared }: MemberRevertContext,
): string | undefined {
  if (managed === null) return undefined;
  const entry = declared.find(({ email }) => email.toLowerCase() === name.toLowerCase());
  return entry?.managed?.passwordEnv ?? managed.passwordEnv ?? undefined;
}

function obstacleToRecreation(
  name: string,
  { email, status, managed }: MemberImage,
  passwordEnv: string | undefined,
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
  if (managed !== null && passwordEnv === undefined) {
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
      `The run removed the expired invitation of ${name} and could not renew it: a new invitation with the same content is sent.`,
    ];
  }
  if (managed !== null) {
    return [
      "new-id",
      name,
      `${name} is created again as a managed user, with a new id and the password from the environment.`,
    ];
  }
  const message =
    status === "accepted"
      ? `${name} is invited again, and has no access until the invitation is accepted.`
      : `${name} had a pending invitation, and is sent a new one.`;
  return ["invited-again", name, message];
}
