import { activeAt, isInForce, leftAt } from "../kernel/diff/active-member.ts";
import { withFingerprint } from "../kernel/diff/fingerprint.ts";
import { memberImageOf } from "../kernel/diff/member-changes.ts";
import { addressesOf, addressOf, matchesAny, scopeOf } from "../kernel/diff/scope.ts";
import {
  filledMemberFields,
  isManaged,
  memberValues,
  withoutFields,
  withValues,
} from "../kernel/fields/member.ts";
import { withRestoredViolations } from "../kernel/findings/refusals.ts";
import { type PlanInput, planChanges } from "../kernel/plan/build-plan.ts";
import { addressesOfPerson } from "../kernel/values/person.ts";
import type { PastRun, UndoNote } from "../model/apply.ts";
import type { DesiredMember, Grant } from "../model/desired.ts";
import type { RoleRef } from "../model/field-values.ts";
import type { LiveMember } from "../model/live.ts";
import type { MemberChange, MemberImage, Plan, RoleChange } from "../model/plan.ts";
import { type Effect, netEffects } from "./net-effects.ts";
import {
  type AddNote,
  createNotes,
  differsFromImage,
  findByAddress,
  type MemberRevertContext,
  type UndoContext,
} from "./revert-context.ts";
import { recreateMember, revertMember } from "./revert-member.ts";
import { type RevertedRoles, undoRoles } from "./undo-roles.ts";

/** The plan that undoes a run, with notes on what it does not restore. */
export interface Undo {
  readonly plan: Plan;
  readonly notes: readonly UndoNote[];
}

/**
 * Computes the plan that undoes a run, from the run's effects and the live state. What others changed since the run stays,
 * and is noted.
 */
export function undoPlan(run: PastRun, input: PlanInput): Undo {
  const { desired, live, matches, now } = input;
  const leftBy = leftAt(desired.leavers, now);
  const scope = scopeOf(live, desired.ignore, matches);
  const effects = netEffects(run);
  const context = { scope, live, effects, ignore: desired.ignore, matches };
  const kept = new Set<string>();
  // A role that cannot be removed may keep others from being reverted, so repeat until no more are found.
  for (;;) {
    const roles = undoRoles(context, kept);
    const members = undoMembers({ ...context, roles, left: leftBy, now, declared: desired.members ?? [] });
    const held = stillHeld(roles, members.changes, live.members);
    if (held.length > 0) {
      for (const id of held) kept.add(id);
      continue;
    }
    const plan = planChanges(input, {
      scope,
      byFile: false,
      roles: { ...roles.plan, refusalData: [], findingData: [] },
      members: {
        changes: members.changes,
        unchanged: scope.members.length - touched(members.changes),
        unlisted: 0,
        findingData: [],
        laterFindingData: [],
        waiting: [],
      },
    });
    return { plan: withRestoredViolations(plan), notes: [...roles.notes, ...members.notes] };
  }
}

/** Returns the ids of the roles to remove that members would still hold. */
function stillHeld(
  { plan }: RevertedRoles,
  members: readonly MemberChange[],
  live: PlanInput["live"]["members"],
): readonly string[] {
  const after = new Map(members.flatMap((change) => (change.id === null ? [] : [[change.id, change]])));
  const held = new Set(
    live.flatMap((member) => {
      const change = after.get(member.id);
      if (change === undefined) return member.roles;
      return change.after?.roles.flatMap(({ id }) => id ?? []) ?? [];
    }),
  );
  return plan.changes.flatMap((change) =>
    (change.kind === "delete" || change.kind === "replace") && held.has(change.id) ? [change.id] : [],
  );
}

function touched(changes: readonly (RoleChange | MemberChange)[]): number {
  return changes.filter(({ kind }) => kind !== "create").length;
}

/** Computes the changes that undo a run's effects on members. */
function undoMembers({
  roles,
  ...context
}: UndoContext &
  Pick<MemberRevertContext, "declared" | "left" | "now"> & { readonly roles: RevertedRoles }): {
  readonly changes: readonly MemberChange[];
  readonly notes: readonly UndoNote[];
} {
  const { scope } = context;
  const { notes, note } = createNotes("member");
  const names = new Map([...scope.ignoredLiveRoles, ...scope.roles].map(({ id, name }) => [id, name]));
  for (const { id, after } of roles.plan.changes)
    if (id !== null && after !== null) names.set(id, after.name);
  const refOf = (id: string): RoleRef => ({ id, name: names.get(id) ?? id });
  const byId = new Map(scope.members.map((member) => [member.id, member]));
  const byAddress = new Map(
    scope.members.flatMap((member) =>
      addressesOf(member).map((address) => [address.toLowerCase(), member] as const),
    ),
  );
  const memberContext: MemberRevertContext = { ...context, refs: roles.refs, note, byId, byAddress, refOf };
  const changes = context.effects.members.flatMap((effect) => undoMember(effect, memberContext) ?? []);
  return { changes, notes };
}

function undoMember(effect: Effect<MemberImage>, context: MemberRevertContext): MemberChange | null {
  const { id, name, after } = effect;
  const { note, declared } = context;
  if (isIgnored(effect, context)) {
    note("ignored", name, `${name} is ignored by the file, so the member is left as it is.`);
    return null;
  }
  const entry = declared.find(
    (member) => member.id === id || addressesOfPerson(member).includes(name.toLowerCase()),
  );
  const obstacle = effect.before && obstacleToRestoring(name, effect.before, entry, context);
  if (obstacle) {
    note(...obstacle);
    return null;
  }
  const before = effect.before && inTerm(effect.before, effect, entry?.roles, context);
  const isRenewal = context.effects.members.some((other) => other.lost && other.name === name);
  // Reverted with the invitation that it was to replace.
  if (isRenewal && isMaybeCreated(effect)) return null;
  const live = id === null ? findMaybeCreated(effect, context) : context.byId.get(id);
  if (before === null) return live && after ? remove(live, after, context) : null;
  if (after === null) {
    if (live) return null;
    const reverted = revertRenewal(effect, before, context);
    return reverted === undefined ? recreateMember(effect, before, context) : reverted;
  }
  if (live) return revertMember(live, before, emptiedWhereLiveIs(effect, live, after, context), context);
  note("gone-since", name, `${name} is no longer a member, so nothing is restored.`);
  return null;
}

/** Returns why the file lets a person have no access at all, as a note; `null` if it does. */
function obstacleToRestoring(
  name: string,
  { email }: MemberImage,
  entry: DesiredMember | undefined,
  { left: leftBy, now }: MemberRevertContext,
): Parameters<AddNote> | null {
  if ([name, email ?? name].some((address) => leftBy.has(address.toLowerCase()))) {
    return ["left", name, `${name} has left ("leavers" in the file), so nothing is restored.`];
  }
  if (entry === undefined) return null;
  const { suspended, absent } = activeAt(entry, now);
  if (suspended) return ["suspended", name, `${name} is suspended in the file, so nothing is restored.`];
  if (absent === null) return null;
  const why = absent === "ended" ? "has ended" : "has not begun";
  return ["out-of-term", name, `The access of ${name} ${why} by a date in the file, so nothing is restored.`];
}

/** Returns an image without the roles that the run took and whose grants have ended, or not begun, by dates in the file. */
function inTerm(
  before: MemberImage,
  { name, after }: Effect<MemberImage>,
  grants: readonly Grant[] = [],
  { note, now, refOf }: MemberRevertContext,
): MemberImage {
  const current = new Set(grants.flatMap((grant) => (isInForce(grant, now) ? grant.role : [])));
  const outside = new Set(grants.flatMap(({ role }) => (current.has(role) ? [] : role)));
  const namesOf = ({ id, name: role }: RoleRef): readonly string[] =>
    id === null ? [role] : [id, role, refOf(id).name];
  const kept = new Set(after?.roles.map(({ id }) => id));
  const isOut = (ref: RoleRef): boolean =>
    !kept.has(ref.id) && namesOf(ref).some((role) => outside.has(role));
  const out = before.roles.filter(isOut);
  for (const role of out) {
    note(
      "out-of-term",
      name,
      `The role ${role.name} of ${name} is outside its dates in the file, so it is not restored.`,
    );
  }
  return out.length === 0 ? before : withValues(before, { roles: before.roles.filter((ref) => !isOut(ref)) });
}

/**
 * Returns the change to the invitation that a renewal of unknown outcome has left in the place of the one it removed:
 * it stays, with the content of the removed one. `undefined` if there is none.
 */
function revertRenewal(
  { name, lost }: Effect<MemberImage>,
  before: MemberImage,
  context: MemberRevertContext,
): MemberChange | null | undefined {
  const renewal = context.effects.members.find((effect) => effect.name === name && isMaybeCreated(effect));
  if (!lost || !renewal?.after) return undefined;
  const live = findMaybeCreated(renewal, { ...context, note: () => undefined });
  if (live === undefined) return undefined;
  context.note(
    "invited-again",
    name,
    `The run removed the expired invitation of ${name} and sent a new one with the same content, which is kept.`,
  );
  return revertMember(live, before, renewal.after, context);
}

function isMaybeCreated({ id, before }: Effect<MemberImage>): boolean {
  return id === null && before === null;
}

/** Returns the image after the run, without fields that the service may have emptied and that are empty now. */
function emptiedWhereLiveIs(
  { maybeEmptied = [] }: Effect<MemberImage>,
  live: LiveMember,
  after: MemberImage,
  context: MemberRevertContext,
): MemberImage {
  const filled = filledMemberFields(memberValues(memberImageOf(live, context)));
  return withoutFields(
    after,
    maybeEmptied.filter((field) => !filled.includes(field)),
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

/** Finds the member that a create with an unknown outcome may have left: only an identical one counts. */
function findMaybeCreated(
  { name, after }: Effect<MemberImage>,
  context: MemberRevertContext,
): LiveMember | undefined {
  const live = findByAddress(name, context);
  if (live === undefined || after === null) return undefined;
  if (live.status === "pending" || isManaged(live)) {
    if (!differsFromImage(live, after, context)) return live;
  }
  context.note(
    "not-sure",
    name,
    `It is unknown whether the run made ${name} a member; the existing membership differs, so it is left as it is.`,
  );
  return undefined;
}

function remove(live: LiveMember, after: MemberImage, context: MemberRevertContext): MemberChange {
  const name = addressOf(live) ?? live.id;
  if (differsFromImage(live, after, context)) {
    context.note(
      "changed-since",
      name,
      `${name} has been changed since; the membership is still removed, because the run created it.`,
    );
  }
  return withFingerprint<MemberChange>({
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
