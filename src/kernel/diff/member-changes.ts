import { isSameJson } from "../../lib/json-text.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type { DesiredMember } from "../../model/desired.ts";
import type { LiveMember } from "../../model/live.ts";
import type { FieldDiff, MemberChange, MemberImage, Reason, RoleRef } from "../../model/plan.ts";
import { withFingerprint } from "./fingerprint.ts";
import type { ReportFinding, RoleResolver } from "./resolve.ts";
import { addressOf, isManaged } from "./scope.ts";

/** Returns the change that invites or creates a member; `null` if its roles are not known. */
export function createMember(
  member: DesiredMember,
  resolver: RoleResolver,
  report: ReportFinding,
): MemberChange | null {
  const { email, roles, metadata, managed: _____, id: _, origin: ___, ...rest } = member;
  const { from: ____, until: __, suspended: ______, setAt: _______, ...others } = rest;
  others satisfies Record<string, never>;
  if (roles === undefined) {
    report({ code: "member-needs-roles", name: email });
    return null;
  }
  const wanted = roles.map(({ role }) => role);
  const refs = resolver.resolve(email, wanted, report);
  if (refs === null) return null;
  const after: MemberImage = {
    email,
    roles: sortRefs(refs),
    metadata: metadata ?? {},
    managed: managedOf(member),
    status: null,
  };
  return withFingerprint<MemberChange>({
    resource: "member",
    name: email,
    kind: "create",
    id: null,
    before: null,
    after,
    fields: [],
    reason: "declared",
  });
}

/** Returns the change of a live member; `null` if nothing differs or a role cannot be resolved. */
export function updateMember(
  member: DesiredMember,
  live: LiveMember,
  resolver: RoleResolver,
  report: ReportFinding,
  reason: Reason,
): MemberChange | null {
  if (isAsDeclared(member, live, resolver)) return null;
  const images = imagesOf(member, live, resolver, report);
  if (images === null) return null;
  const { before, after } = images;
  const fields = [...memberFields(before, after)];
  if (fields.length === 0) return null;
  return withFingerprint<MemberChange>({
    resource: "member",
    name: member.email,
    kind: "update",
    id: live.id,
    before,
    after,
    fields,
    reason,
  });
}

/** Returns the change that replaces an expired invitation; `null` if a role cannot be resolved. */
export function reinviteMember(
  member: DesiredMember,
  live: LiveMember,
  resolver: RoleResolver,
  report: ReportFinding,
): MemberChange | null {
  const images = imagesOf(member, live, resolver, report);
  if (images === null) return null;
  const { before, after } = images;
  return withFingerprint<MemberChange>({
    resource: "member",
    name: member.email,
    kind: "replace",
    id: live.id,
    before,
    after: { ...after, email: member.email, managed: managedOf(member) },
    fields: [...memberFields(before, after)],
    reason: "invitation-expired",
    resumed: null,
  });
}

/** Returns the change that removes a live member. */
export function deleteMember(live: LiveMember, resolver: RoleResolver, reason: Reason): MemberChange {
  return withFingerprint<MemberChange>({
    resource: "member",
    name: addressOf(live) ?? live.id,
    kind: "delete",
    id: live.id,
    before: memberImageOf(live, resolver),
    after: null,
    fields: [],
    reason,
  });
}

/** Returns the change that moves a member to the successors of replaced roles; `null` if it holds none. */
export function moveMember(live: LiveMember, resolver: RoleResolver): MemberChange | null {
  if (!live.roles.some(resolver.isReplaced)) return null;
  const before = memberImageOf(live, resolver);
  const after = { ...before, roles: sortRefs(heldRoles(live).map(resolver.successorOf)) };
  const fields = [...memberFields(before, after)];
  if (fields.length === 0) return null;
  return withFingerprint<MemberChange>({
    resource: "member",
    name: addressOf(live) ?? live.id,
    kind: "update",
    id: live.id,
    before,
    after,
    fields,
    reason: "immutable-field",
  });
}

/**
 * Returns whether nothing differs, without building images, since most members of a large merchant are unchanged. If
 * unsure, it returns `false`, and `memberFields` decides.
 */
function isAsDeclared(
  { roles, metadata, managed }: DesiredMember,
  { roles: held, metadata: has, user }: LiveMember,
  resolver: RoleResolver,
): boolean {
  if (managed?.nickname !== undefined && user?.type === "managed_user" && managed.nickname !== user.nickname)
    return false;
  if (metadata !== undefined && !isSameJson(metadata, has)) return false;
  if (roles === undefined) return !held.some(resolver.isReplaced);
  const wanted = roles.map(({ role }) => resolver.idOf(role));
  for (const id of wanted) if (id === null || !held.includes(id)) return false;
  for (const id of held) if (!wanted.includes(id) && !resolver.isIgnored(id)) return false;
  return true;
}

function managedOf({ managed }: DesiredMember): MemberImage["managed"] {
  return managed ? { nickname: managed.nickname ?? null, passwordEnv: managed.passwordEnv } : null;
}

function imagesOf(
  member: DesiredMember,
  live: LiveMember,
  resolver: RoleResolver,
  report: ReportFinding,
): { readonly before: MemberImage; readonly after: MemberImage } | null {
  const { email, roles, metadata, managed, id: _, origin: ___, ...rest } = member;
  const { from: ____, until: __, suspended: _____, setAt: ______, ...others } = rest;
  others satisfies Record<string, never>;
  const wanted = roles?.map(({ role }) => role);
  const refs = wanted ? resolver.resolve(email, wanted, report) : heldRoles(live).map(resolver.successorOf);
  if (refs === null) return null;
  // A write sends all roles, so ignored ones have to be included, or the member would lose them.
  const ignored = wanted ? heldRoles(live).filter(resolver.isIgnored).map(resolver.refOf) : [];
  const before = memberImageOf(live, resolver);
  const after: MemberImage = {
    email: before.email,
    roles: sortRefs([...refs, ...ignored]),
    metadata: metadata ?? before.metadata,
    managed: before.managed && { ...before.managed, nickname: managed?.nickname ?? before.managed.nickname },
    status: before.status,
  };
  return { before, after };
}

/** Returns the image of a live member. */
export function memberImageOf(live: LiveMember, resolver: Pick<RoleResolver, "refOf">): MemberImage {
  return {
    email: addressOf(live),
    roles: sortRefs(heldRoles(live).map(resolver.refOf)),
    metadata: live.metadata,
    managed: isManaged(live) ? { nickname: live.user?.nickname ?? null, passwordEnv: null } : null,
    status: live.status,
  };
}

function heldRoles(live: LiveMember): readonly string[] {
  return [...new Set(live.roles)];
}

/** Yields the differences between two images of a member. */
export function* memberFields(before: MemberImage, after: MemberImage): Generator<FieldDiff> {
  const was = new Set(before.roles.map((ref) => ref.id));
  const is = new Set(after.roles.map((ref) => ref.id));
  const added = after.roles.filter((ref) => ref.id === null || !was.has(ref.id));
  const removed = before.roles.filter((ref) => !is.has(ref.id));
  if (added.length + removed.length > 0) yield { field: "roles", added, removed };
  if (before.metadata !== after.metadata && !isSameJson(before.metadata, after.metadata)) {
    yield { field: "metadata", before: before.metadata, after: after.metadata };
  }
  const nickname = after.managed?.nickname ?? null;
  if (nickname !== null && nickname !== before.managed?.nickname) {
    yield { field: "nickname", before: before.managed?.nickname ?? null, after: nickname };
  }
}

/** Sorts role references by name, then by id. */
export function sortRefs(refs: readonly RoleRef[]): readonly RoleRef[] {
  return [...refs].sort((a, b) => byCodeUnit(a.name, b.name) || byCodeUnit(a.id ?? "", b.id ?? ""));
}
