import type { LiveMember } from "../../model/live.ts";
import type { UndoNote } from "../../model/past-run.ts";
import type { MemberChange, MemberImage, RoleRef } from "../../model/plan.ts";
import { memberImageOf } from "../changes/member-changes.ts";
import { withFingerprint } from "../fingerprint.ts";
import { addressesOf, addressOf, isManaged, matchesAny } from "../scope.ts";

import { emptyFields, withoutFields } from "./emptied-fields.ts";
import type { Effect } from "./net-effects.ts";
import { recreateMember } from "./recreate-member.ts";
import {
  findByAddress,
  isChanged,
  type MemberRevertContext,
  noteTaker,
  type UndoContext,
} from "./revert-context.ts";
import { revertMember } from "./revert-member.ts";
import type { RolesBack } from "./undo-roles.ts";

/** Takes back what a run did to members. */
export function undoMembers({
  roles,
  ...context
}: UndoContext & Pick<MemberRevertContext, "declared"> & { readonly roles: RolesBack }): {
  readonly changes: readonly MemberChange[];
  readonly notes: readonly UndoNote[];
} {
  const { scope } = context;
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
  const pass: MemberRevertContext = { ...context, refs: roles.refs, note, byId, byAddress, refOf };
  const changes = context.effects.members.flatMap((effect) => undoMember(effect, pass) ?? []);
  return { changes, notes };
}

function undoMember(effect: Effect<MemberImage>, pass: MemberRevertContext): MemberChange | null {
  const { id, name, before, after } = effect;
  const { note } = pass;
  if (isIgnored(effect, pass)) {
    note("ignored", name, `${name} is to be ignored, and stays as it is.`);
    return null;
  }
  const live = id === null ? madeUnknown(effect, pass) : pass.byId.get(id);
  if (before === null) return live && after ? remove(live, after, pass) : null;
  if (after === null) return live ? null : recreateMember(effect, before, pass);
  if (live) return revertMember(live, before, emptiedWhereLiveIs(effect, live, after, pass), pass);
  note("gone-since", name, `${name} is not a member any more, so nothing of it goes back.`);
  return null;
}

/** Takes a field for emptied by the service if it may have been and is empty now. */
function emptiedWhereLiveIs(
  { maybeEmptied = [] }: Effect<MemberImage>,
  live: LiveMember,
  after: MemberImage,
  pass: MemberRevertContext,
): MemberImage {
  const empty = emptyFields(memberImageOf(live, pass));
  return withoutFields(
    after,
    maybeEmptied.filter((field) => empty.includes(field)),
  );
}

function isIgnored(
  { id, name }: Effect<MemberImage>,
  { ignore, matches, scope }: MemberRevertContext,
): boolean {
  return (
    matchesAny(ignore.members, [name, id ?? name], matches) ||
    scope.ignoredMembers.some((member) => member.id === id)
  );
}

/** What a create of which nobody knows the end has left behind: only what looks exactly like it. */
function madeUnknown(
  { name, after }: Effect<MemberImage>,
  pass: MemberRevertContext,
): LiveMember | undefined {
  const live = findByAddress(name, pass);
  if (live === undefined || after === null) return undefined;
  if (live.status === "pending" || isManaged(live)) {
    if (!isChanged(live, after, pass)) return live;
  }
  pass.note(
    "not-sure",
    name,
    `It is not known whether the run made ${name} a member; the membership there is looks different, and stays.`,
  );
  return undefined;
}

function remove(live: LiveMember, after: MemberImage, pass: MemberRevertContext): MemberChange {
  const name = addressOf(live) ?? live.id;
  if (isChanged(live, after, pass)) {
    pass.note(
      "changed-since",
      name,
      `${name} was changed since; the membership goes all the same, because the run made it.`,
    );
  }
  return withFingerprint<MemberChange>({
    resource: "member",
    name,
    kind: "delete",
    id: live.id,
    before: memberImageOf(live, pass),
    after: null,
    fields: [],
    reason: "undone",
  });
}
