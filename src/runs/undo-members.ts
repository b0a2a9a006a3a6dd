import { activeAt, isInForce } from "../kernel/diff/active-member.ts";
import { deleteMember, memberCreation, memberImageOf, memberUpdate } from "../kernel/diff/member-changes.ts";
import { addressesOf, addressOf, matchesAny } from "../kernel/diff/scope.ts";
import { fieldDiffs } from "../kernel/fields/field.ts";
import {
  isManaged,
  liveValues,
  MEMBER_FIELDS,
  memberImage,
  memberValues,
  withValues,
} from "../kernel/fields/member.ts";
import { addressesOfPerson } from "../kernel/values/person.ts";
import type { UndoNote } from "../model/apply.ts";
import type { DesiredMember } from "../model/desired.ts";
import type { MemberValues, RoleRef } from "../model/field-values.ts";
import type { LiveMember } from "../model/live.ts";
import type { MemberChange, MemberImage } from "../model/plan.ts";
import type { Effect } from "./net-effects.ts";
import {
  type AddNote,
  createNotes,
  revertedValues,
  type Undoable,
  type UndoContext,
  undoEffect,
} from "./undo-effect.ts";
import type { UndoneRoles } from "./undo-roles.ts";

/** The undo of members. */
export interface UndoneMembers {
  readonly changes: readonly MemberChange[];
  readonly notes: readonly UndoNote[];
}

interface MemberUndo extends UndoContext {
  readonly refs: UndoneRoles["refs"];
  readonly note: AddNote;
  /** Live members by address, in lower case. */
  readonly byAddress: ReadonlyMap<string, LiveMember>;
}

/** Computes the changes that undo a run's effects on members. */
export function undoMembers(context: UndoContext, { refs }: UndoneRoles): UndoneMembers {
  const { scope, effects } = context;
  const { notes, note } = createNotes("member");
  const byAddress = new Map(
    scope.members.flatMap((member) =>
      addressesOf(member).map((address) => [address.toLowerCase(), member] as const),
    ),
  );
  const kind = undoableMembers({ ...context, refs, note, byAddress });
  return { changes: effects.members.flatMap((effect) => undoEffect(effect, kind) ?? []), notes };
}

function undoableMembers(undo: MemberUndo): Undoable<LiveMember, MemberImage, MemberChange> {
  const { scope, ignore, matches, note, byAddress } = undo;
  return {
    note,
    byId: new Map(scope.members.map((member) => [member.id, member])),
    describe: (name) => name,
    isIgnored: ({ id, name }) =>
      matchesAny(ignore.members, [name, id ?? name], matches) ||
      scope.ignoredMembers.some((member) => member.id === id),
    restorable: (effect) => restorable(effect, undo),
    nameOf,
    findCreated: (name) => {
      const live = byAddress.get(name.toLowerCase());
      return live && (live.status === "pending" || isManaged(live)) ? live : undefined;
    },
    isAsAfter: (live, after) => isSame(live, after, undo),
    isRemovable: () => true,
    revert: (live, before, effect) => revertMember(live, before, effect, undo),
    recreate: (effect, before) => recreateMember(effect, before, undo),
    deletion: (live) => deleteMember(live, undo.refs, "undone"),
  };
}

function nameOf(live: LiveMember): string {
  return addressOf(live) ?? live.id;
}

/** Returns an effect without what dates, suspensions and leavers in the file forbid to restore. */
function restorable(effect: Effect<MemberImage>, undo: MemberUndo): Effect<MemberImage> | null {
  const { id, name, before } = effect;
  const { declared, effects, note } = undo;
  if (before === null) {
    // The renewal of a lost invitation stays: it gives no access, and the lost one is not sent a second time.
    return id === null && effects.members.some((other) => other.lost && other.name === name) ? null : effect;
  }
  const entry = declared.find(
    (member) => member.id === id || addressesOfPerson(member).includes(name.toLowerCase()),
  );
  const obstacle = obstacleToAccess(name, before, entry, undo);
  if (obstacle === null) return { ...effect, before: inTerm(before, effect, entry, undo) };
  note(...obstacle);
  return null;
}

/** Returns a note on why the file does not let a person have access; `null` if it does. */
function obstacleToAccess(
  name: string,
  { email }: MemberImage,
  entry: DesiredMember | undefined,
  { left, now }: MemberUndo,
): Parameters<AddNote> | null {
  if ([name, email ?? name].some((address) => left.has(address.toLowerCase()))) {
    return ["left", name, `${name} has left ("leavers" in the file), so nothing is restored.`];
  }
  if (entry === undefined) return null;
  const { suspended, absent } = activeAt(entry, now);
  if (suspended) return ["suspended", name, `${name} is suspended in the file, so nothing is restored.`];
  if (absent === null) return null;
  const why = absent === "ended" ? "has ended" : "has not begun";
  return ["out-of-term", name, `The access of ${name} ${why} by a date in the file, so nothing is restored.`];
}

/**
 * Returns an image without the roles that the run took and whose grants have ended, or have not begun, according to
 * dates in the file.
 */
function inTerm(
  before: MemberImage,
  { name, after }: Effect<MemberImage>,
  { roles: grants = [] }: Pick<DesiredMember, "roles"> = {},
  { refs, note, now, declaredRoles }: MemberUndo,
): MemberImage {
  const namesOf = (role: string): readonly string[] => {
    const names = declaredRoles.map(({ name, id, previously = [] }) => [
      name,
      ...previously,
      ...(id ? [id] : []),
    ]);
    return names.find((all) => all.includes(role)) ?? [role];
  };
  const current = new Set(grants.flatMap((grant) => (isInForce(grant, now) ? namesOf(grant.role) : [])));
  const outside = new Set(grants.flatMap(({ role }) => (current.has(role) ? [] : namesOf(role))));
  const kept = new Set(after?.roles.map(({ id }) => id));
  const out = before.roles.filter(
    (ref) =>
      !kept.has(ref.id) &&
      [ref.id ?? ref.name, ref.name, refs.current(ref).name].some((role) => outside.has(role)),
  );
  for (const role of out) {
    note(
      "out-of-term",
      name,
      `The role ${role.name} of ${name} is outside its dates in the file, so it is not restored.`,
    );
  }
  return out.length === 0
    ? before
    : withValues(before, { roles: before.roles.filter((ref) => !out.includes(ref)) });
}

/** Reverts a live member; fields that others changed since the run stay. */
function revertMember(
  live: LiveMember,
  before: MemberImage,
  effect: Effect<MemberImage>,
  undo: MemberUndo,
): MemberChange | null {
  if (effect.after === null) return null;
  const { scope, refs, note } = undo;
  const name = nameOf(live);
  const current = memberImageOf(live, refs);
  const ofRun = (image: MemberImage): MemberValues => {
    const roles = image.roles.filter(({ id }) => id === null || !scope.ignoredRoles.has(id));
    return afterUndo(withValues(image, { roles }), undo);
  };
  const images = {
    before: ofRun(before),
    after: ofRun(effect.after),
    live: afterUndo(current, undo),
  };
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
  const isThere = (ref: RoleRef): boolean =>
    ref.id === null || refs.find(ref) !== null || live.roles.includes(ref.id);
  const gone = values.roles.filter((ref) => !isThere(ref));
  for (const role of gone) noteRoleGone(name, role, note, gone);
  const restored = values.roles.filter(isThere);
  const isMade = ({ id }: RoleRef): boolean =>
    undo.effects.roles.some((other) => other.id === id && other.before === null);
  // Nobody loses the roles that they have in place of those that cannot be restored.
  const kept = gone.length > 0 && restored.length === 0 ? current.roles.filter((ref) => !isMade(ref)) : [];
  for (const { name: role } of kept) {
    note("role-gone", name, `${name} keeps the role "${role}": no role from before the run can be restored.`);
  }
  const reverted = withValues(current, { ...values, roles: kept.length > 0 ? kept : restored });
  return memberUpdate(name, live.id, { before: current, after: reverted }, "undone");
}

/** Returns the values of an image, with the roles that exist after the undo. */
function afterUndo(image: MemberImage, { refs }: MemberUndo): MemberValues {
  const values = memberValues(image);
  return { ...values, roles: values.roles.map(refs.current) };
}

/** Returns whether a live member has the values of an image. */
function isSame(live: LiveMember, image: MemberImage, undo: MemberUndo): boolean {
  const values = liveValues(live);
  const held = { ...values, roles: values.roles.map(undo.refs.current) };
  return fieldDiffs<MemberValues>(MEMBER_FIELDS, held, afterUndo(image, undo)).length === 0;
}

/** Invites or creates a removed member again; `null` if not needed or not possible. */
function recreateMember(
  effect: Effect<MemberImage>,
  before: MemberImage,
  undo: MemberUndo,
): MemberChange | null {
  const { refs, note, byAddress } = undo;
  const { name } = effect;
  const lost = effect.lost === true;
  const { email } = before;
  // The run may have renewed this expired invitation: the new one is another membership.
  const other = before.status === "expired" && !lost;
  const there = email === null || other ? undefined : byAddress.get(email.toLowerCase());
  if (there) {
    if (!isSame(there, before, undo)) {
      note(
        "there-again",
        name,
        `${name} is a member again, but with different access, and is left as it is.`,
      );
    }
    return null;
  }
  const passwordEnv = passwordOf(name, before, undo);
  const obstacle = lost ? null : obstacleToRecreation(name, before, passwordEnv);
  if (obstacle) {
    note(...obstacle);
    return null;
  }
  const roles = before.roles.flatMap((ref) => {
    const now = refs.find(ref);
    if (now === null) noteRoleGone(name, ref, note, before.roles);
    return now ?? [];
  });
  note(...recreationNote(name, before, lost));
  const after = memberImage({ email, status: null, passwordEnv }, { ...memberValues(before), roles });
  return memberCreation(name, after, "undone");
}

/** Returns the file's or the journal's variable with the password of a managed user; `undefined` without one. */
function passwordOf(name: string, { managed }: MemberImage, { declared }: MemberUndo): string | undefined {
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

/** Adds a note that a member's role no longer exists, with its id if another of `roles` has its name. */
function noteRoleGone(member: string, { id, name }: RoleRef, note: AddNote, roles: readonly RoleRef[]): void {
  const which = roles.some((other) => other.name === name && other.id !== id) ? ` (${id})` : "";
  note("role-gone", member, `${member} does not get the role "${name}"${which} again: it no longer exists.`);
}
