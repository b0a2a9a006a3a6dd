import type { DesiredMember } from "../model/desired.ts";
import type { Metadata } from "../model/json.ts";
import type { LiveMember } from "../model/live.ts";
import type { UndoNote } from "../model/past-run.ts";
import type { MemberChange, MemberImage, RoleRef } from "../model/plan.ts";
import { canonicalJson } from "./canonical.ts";
import { seal } from "./fingerprint.ts";
import { memberFields, memberImageOf, sortRefs } from "./member-changes.ts";
import type { Effect } from "./net-effects.ts";
import { addressesOf, addressOf, matchesAny } from "./scope.ts";
import { noteTaker, type TakeNote, type UndoContext } from "./undo-context.ts";
import { back, backSet, type RolesBack } from "./undo-roles.ts";

interface MembersContext extends UndoContext {
  readonly roles: RolesBack;
  /** The file's members: what they say of a managed user's password, nothing else. */
  readonly declared: readonly DesiredMember[];
}

interface Backwards extends MembersContext {
  readonly note: TakeNote;
  readonly byId: ReadonlyMap<string, LiveMember>;
  readonly byAddress: ReadonlyMap<string, LiveMember>;
  /** The reference as an image of this plan has it. */
  refOf(id: string): RoleRef;
}

/** Takes back what a run did to members. */
export function undoMembers(context: MembersContext): {
  readonly changes: readonly MemberChange[];
  readonly notes: readonly UndoNote[];
} {
  const { roles, scope } = context;
  const { notes, note } = noteTaker("member");
  const names = new Map(scope.roles.map(({ id, name }) => [id, name]));
  for (const { id, after } of roles.plan.changes)
    if (id !== null && after !== null) names.set(id, after.name);
  const refOf = (id: string): RoleRef => ({ id, name: names.get(id) ?? id });
  const byId = new Map(scope.members.map((member) => [member.id, member]));
  const byAddress = new Map(
    scope.members.flatMap((member) =>
      addressesOf(member).map((address) => [address.toLowerCase(), member] as const),
    ),
  );
  const backwards = { ...context, note, byId, byAddress, refOf };
  const changes = context.effects.members.flatMap((effect) => undo(effect, backwards) ?? []);
  return { changes, notes };
}

function undo(effect: Effect<MemberImage>, context: Backwards): MemberChange | null {
  const { id, name, before, after } = effect;
  const { note } = context;
  if (isIgnored(effect, context)) {
    note("ignored", name, `${name} is to be ignored, and stays as it is.`);
    return null;
  }
  const live = id === null ? madeUnknown(effect, context) : context.byId.get(id);
  if (before === null) return live && after ? remove(live, after, context) : null;
  if (after === null) return live ? null : putBack(name, before, context);
  if (live) return change(live, before, after, context);
  note("gone-since", name, `${name} is not a member any more, so nothing of it goes back.`);
  return null;
}

function isIgnored({ id, name }: Effect<MemberImage>, { ignore, matches, scope }: Backwards): boolean {
  return (
    matchesAny(ignore.members, [name, id ?? name], matches) ||
    scope.ignoredMembers.some((member) => member.id === id)
  );
}

/** What a create of which nobody knows the end has left behind: only what looks exactly like it. */
function madeUnknown({ name, after }: Effect<MemberImage>, context: Backwards): LiveMember | undefined {
  const live = findByAddress(name, context);
  if (live === undefined || after === null) return undefined;
  if (live.status === "pending" || live.user?.virtual === true) {
    if (!isChanged(live, after, context)) return live;
  }
  context.note(
    "not-sure",
    name,
    `It is not known whether the run made ${name} a member; the membership there is looks different, and stays.`,
  );
  return undefined;
}

function findByAddress(email: string, { byAddress }: Backwards): LiveMember | undefined {
  return byAddress.get(email.toLowerCase());
}

function remove(live: LiveMember, after: MemberImage, context: Backwards): MemberChange {
  const name = addressOf(live) ?? live.id;
  if (isChanged(live, after, context)) {
    context.note(
      "changed-since",
      name,
      `${name} was changed since; the membership goes all the same, because the run made it.`,
    );
  }
  return seal<MemberChange>({
    resource: "member",
    name,
    kind: "delete",
    id: live.id,
    before: memberImageOf(live, context),
    after: null,
    fields: [],
    reason: "undone",
  });
}

function isChanged(live: LiveMember, after: MemberImage, context: Backwards): boolean {
  const keys = (refs: readonly RoleRef[]): string =>
    [...new Set(refs.map(keysOf(context)))].sort().join("\n");
  const held = live.roles.map((id) => ({ id, name: id }));
  return keys(held) !== keys(after.roles) || canonicalJson(live.metadata) !== canonicalJson(after.metadata);
}

/** One text for each role, however it is called before, after and now. */
function keysOf({ roles }: Backwards): (ref: RoleRef) => string {
  return (ref) => {
    const now = roles.refBack(ref);
    if (now === null) return `gone ${roles.idOf(ref) ?? ref.name}`;
    return now.id ?? `new ${now.name}`;
  };
}

function change(
  live: LiveMember,
  before: MemberImage,
  after: MemberImage,
  context: Backwards,
): MemberChange | null {
  const { note } = context;
  const is = memberImageOf(live, context);
  const name = addressOf(live) ?? live.id;
  const nickname = nicknameBack(name, { before, after, is }, note);
  const wanted: MemberImage = {
    ...is,
    roles: rolesBack(name, live, { before, after }, context),
    metadata: metadataBack(name, { before, after, is }, note),
    managed: is.managed && { ...is.managed, nickname },
  };
  const fields = [...memberFields(is, wanted)];
  if (fields.length === 0) return null;
  return seal<MemberChange>({
    resource: "member",
    name,
    kind: "update",
    id: live.id,
    before: is,
    after: wanted,
    fields,
    reason: "undone",
  });
}

interface Images {
  readonly before: MemberImage;
  readonly after: MemberImage;
  readonly is: MemberImage;
}

function rolesBack(
  name: string,
  live: LiveMember,
  { before, after }: Pick<Images, "before" | "after">,
  context: Backwards,
): readonly RoleRef[] {
  const { scope, roles } = context;
  const keyOf = keysOf(context);
  const touchable = ({ id }: RoleRef): boolean => id === null || !scope.ignoredRoles.has(id);
  const [was, became] = [before.roles.filter(touchable), after.roles.filter(touchable)];
  const ofRun = new Set([...before.roles, ...after.roles].map(keyOf));
  const known = new Map<string, RoleRef>();
  const keyOfBack = (ref: RoleRef): string => {
    const now = roles.refBack(ref);
    if (now !== null) known.set(keyOf(ref), now.id === null ? now : context.refOf(now.id));
    return keyOf(ref);
  };
  // A role that the run did not move for this member is not moved back either; that it goes shows that it is held.
  const keyOfHeld = (id: string): string => {
    const ref = { id, name: id };
    if (ofRun.has(keyOf(ref)) && roles.refBack(ref) !== null) return keyOfBack(ref);
    const key = ofRun.has(keyOf(ref)) ? keyOf(ref) : id;
    known.set(key, context.refOf(id));
    return key;
  };
  const wanted = backSet(was.map(keyOfBack), became.map(keyOfBack), [...new Set(live.roles)].map(keyOfHeld));
  for (const one of was) {
    if (wanted.includes(keyOf(one)) && !known.has(keyOf(one))) roleGone(name, one.name, context.note);
  }
  return sortRefs(wanted.flatMap((one) => known.get(one) ?? []));
}

function roleGone(name: string, role: string, note: TakeNote): void {
  note("role-gone", name, `${name} does not get the role "${role}" back: it is not there any more.`);
}

function metadataBack(name: string, { before, after, is }: Images, note: TakeNote): Metadata {
  const keys = new Set([before, after, is].flatMap(({ metadata }) => Object.keys(metadata)));
  const value = (metadata: Metadata, key: string) => (Object.hasOwn(metadata, key) ? [metadata[key]] : []);
  return Object.fromEntries(
    [...keys].flatMap((key) => {
      const [now] = back(
        value(before.metadata, key),
        value(after.metadata, key),
        value(is.metadata, key),
        () => note("changed-since", name, `The metadata "${key}" of ${name} was changed since, and stays.`),
      ).map((one) => [key, one] as const);
      return now ? [now] : [];
    }),
  ) as Metadata;
}

function nicknameBack(name: string, { before, after, is }: Images, note: TakeNote): string | null {
  const live = is.managed?.nickname ?? null;
  const was = before.managed?.nickname ?? null;
  const wanted = back(was, after.managed?.nickname ?? null, live, () =>
    note("changed-since", name, `The nickname of ${name} was changed since, and stays.`),
  );
  if (wanted !== null || live === null) return wanted;
  note(
    "nickname-stays",
    name,
    `${name} had no nickname before, and the service cannot take one away: it stays.`,
  );
  return live;
}

function putBack(name: string, before: MemberImage, context: Backwards): MemberChange | null {
  const { note, roles } = context;
  const { email } = before;
  // The run may have put a new invitation in the place of an expired one: that is not this one.
  const there = email === null || before.status === "expired" ? undefined : findByAddress(email, context);
  if (there) {
    if (isChanged(there, before, context)) {
      note(
        "there-again",
        name,
        `${name} is a member again, with other roles or metadata; that stays as it is.`,
      );
    }
    return null;
  }
  const managed = managedBack(name, before, context);
  const obstacle = obstacleTo(name, before, managed);
  if (obstacle) {
    note(...obstacle);
    return null;
  }
  const refs = before.roles.flatMap((ref) => {
    const now = roles.refBack(ref);
    if (now === null) roleGone(name, ref.name, note);
    return now === null ? [] : now.id === null ? now : context.refOf(now.id);
  });
  note(...comesBack(name, before));
  return seal<MemberChange>({
    resource: "member",
    name,
    kind: "create",
    id: null,
    before: null,
    after: { email, roles: sortRefs(refs), metadata: before.metadata, managed, status: null },
    fields: [],
    reason: "undone",
  });
}

/** A managed user with the password of the file; null where the file has none. */
function managedBack(
  name: string,
  { managed }: MemberImage,
  { declared }: Backwards,
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

function comesBack(name: string, { status, managed }: MemberImage): Parameters<TakeNote> {
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
