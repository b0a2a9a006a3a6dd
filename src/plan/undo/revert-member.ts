import { canonicalJson } from "../../lib/json-text.ts";
import type { Metadata } from "../../model/json.ts";
import type { LiveMember } from "../../model/live.ts";
import type { MemberChange, MemberImage, RoleRef } from "../../model/plan.ts";
import { memberFields, memberImageOf, sortRefs } from "../changes/member-changes.ts";
import { withFingerprint } from "../fingerprint.ts";
import { addressOf } from "../scope.ts";
import { type AddNote, keysOf, type MemberRevertContext, noteRoleGone } from "./revert-context.ts";

/** Returns the change that reverts a live member; fields that others changed since the run stay. */
export function revertMember(
  live: LiveMember,
  before: MemberImage,
  after: MemberImage,
  context: MemberRevertContext,
): MemberChange | null {
  const { note } = context;
  const is = memberImageOf(live, context);
  const name = addressOf(live) ?? live.id;
  const nickname = revertedNickname(name, { before, after, is }, note);
  const wanted: MemberImage = {
    ...is,
    roles: revertedRoles(name, live, { before, after }, context),
    metadata: revertedMetadata(name, { before, after, is }, note),
    managed: is.managed && { ...is.managed, nickname },
  };
  const fields = [...memberFields(is, wanted)];
  if (fields.length === 0) return null;
  return withFingerprint<MemberChange>({
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

function revertedRoles(
  name: string,
  live: LiveMember,
  { before, after }: Pick<Images, "before" | "after">,
  context: MemberRevertContext,
): readonly RoleRef[] {
  const { scope, refs } = context;
  const keyOf = keysOf(context);
  const touchable = ({ id }: RoleRef): boolean => id === null || !scope.ignoredRoles.has(id);
  const [was, became] = [before.roles.filter(touchable), after.roles.filter(touchable)];
  const ofRun = new Set([...before.roles, ...after.roles].map(keyOf));
  const known = new Map<string, RoleRef>();
  const revertedKey = (ref: RoleRef): string => {
    const now = refs.revertedRef(ref);
    if (now !== null) known.set(keyOf(ref), now.id === null ? now : context.refOf(now.id));
    return keyOf(ref);
  };
  // A held role that has no counterpart after the undo keeps its own reference, so that it is seen to be held.
  const heldKey = (id: string): string => {
    const ref = { id, name: id };
    if (ofRun.has(keyOf(ref)) && refs.revertedRef(ref) !== null) return revertedKey(ref);
    const key = ofRun.has(keyOf(ref)) ? keyOf(ref) : id;
    known.set(key, context.refOf(id));
    return key;
  };
  const wanted = revertSet(
    was.map(revertedKey),
    became.map(revertedKey),
    [...new Set(live.roles)].map(heldKey),
  );
  for (const one of was) {
    if (wanted.includes(keyOf(one)) && !known.has(keyOf(one))) noteRoleGone(name, one.name, context);
  }
  return sortRefs(wanted.flatMap((one) => known.get(one) ?? []));
}

function revertedMetadata(name: string, { before, after, is }: Images, note: AddNote): Metadata {
  const keys = new Set([before, after, is].flatMap(({ metadata }) => Object.keys(metadata)));
  const value = (metadata: Metadata, key: string) => (Object.hasOwn(metadata, key) ? [metadata[key]] : []);
  return Object.fromEntries(
    [...keys].flatMap((key) => {
      const [now] = revertValue(
        value(before.metadata, key),
        value(after.metadata, key),
        value(is.metadata, key),
        () =>
          note(
            "changed-since",
            name,
            `The metadata "${key}" of ${name} has been changed since, so it is left as it is.`,
          ),
      ).map((one) => [key, one] as const);
      return now ? [now] : [];
    }),
  ) as Metadata;
}

function revertedNickname(name: string, { before, after, is }: Images, note: AddNote): string | null {
  const live = is.managed?.nickname ?? null;
  const was = before.managed?.nickname ?? null;
  const wanted = revertValue(was, after.managed?.nickname ?? null, live, () =>
    note("changed-since", name, `The nickname of ${name} has been changed since, so it is left as it is.`),
  );
  if (wanted !== null || live === null) return wanted;
  note(
    "nickname-stays",
    name,
    `${name} had no nickname before, but the service cannot remove one, so it is kept.`,
  );
  return live;
}

/** Returns the value before the run if the live one is still the run's, else the live one. */
export function revertValue<T>(before: T, after: T, live: T, changedSince: () => void): T {
  const same = (a: T, b: T): boolean => canonicalJson(a as never) === canonicalJson(b as never);
  if (same(before, after) || same(live, before)) return live;
  if (same(live, after)) return before;
  changedSince();
  return live;
}

/** Returns the live values without those that the run added, and with those that it removed. */
export function revertSet(
  before: readonly string[],
  after: readonly string[],
  live: readonly string[],
): readonly string[] {
  const [was, is] = [new Set(before), new Set(after)];
  const added = new Set(after.filter((one) => !was.has(one)));
  const removed = before.filter((one) => !is.has(one));
  return [...new Set([...live.filter((one) => !added.has(one)), ...removed])];
}
