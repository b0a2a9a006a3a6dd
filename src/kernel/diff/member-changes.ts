import type { DesiredMember } from "../../model/desired.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { LiveMember } from "../../model/live.ts";
import type { MemberChange, MemberImage, Reason } from "../../model/plan.ts";
import {
  declaredValues,
  isManaged,
  liveValues,
  memberDiffs,
  memberImage,
  memberValues,
  newMemberValues,
  withValues,
} from "../fields/member.ts";
import { withFingerprint } from "./fingerprint.ts";
import type { ReportFinding, RoleResolver } from "./resolve.ts";
import { addressOf } from "./scope.ts";

/**
 * Returns the change that invites or creates a member, with the ignored roles of the membership that it replaces;
 * `null` if its roles are not known.
 */
export function createMember(
  member: DesiredMember,
  former: LiveMember | undefined,
  resolver: RoleResolver,
  report: ReportFinding,
  reason: Reason,
): MemberChange | null {
  const { email, roles, managed } = member;
  if (roles === undefined) {
    report({ code: "member-needs-roles", name: email });
    return null;
  }
  const declaredRoles = roles.map(({ role }) => role);
  const refs = resolver.resolve(email, declaredRoles, report);
  if (refs === null) return null;
  const after = memberImage(
    { email, status: null, passwordEnv: managed?.passwordEnv },
    newMemberValues({ ...declaredValues(member), roles: [...refs, ...ignoredRoles(former, resolver)] }),
  );
  return memberCreation(email, after, reason === "suspension-ended" ? reason : "declared");
}

/** Returns the change that invites or creates a member with an image. */
export function memberCreation(name: string, after: MemberImage, reason: Reason): MemberChange {
  const parts = { id: null, before: null, after, fields: [], reason } as const;
  return withFingerprint<MemberChange>({ resource: "member", name, kind: "create", ...parts });
}

/** Returns the change of a live member; `null` if nothing differs or a role cannot be resolved. */
export function updateMember(
  member: DesiredMember,
  live: LiveMember,
  resolver: RoleResolver,
  report: ReportFinding,
  reason: Reason,
): MemberChange | null {
  const images = imagesOf(member, live, resolver, report);
  if (images === null) return null;
  return memberUpdate(member.email, live.id, images, reason);
}

/** Returns the change from one image of a member to another; `null` if nothing differs. */
export function memberUpdate(
  name: string,
  id: string,
  { before, after }: MemberImages,
  reason: Reason,
): MemberChange | null {
  const fields = memberDiffs(before, after);
  return fields.length === 0
    ? null
    : withFingerprint<MemberChange>({
        resource: "member",
        name,
        kind: "update",
        id,
        before,
        after,
        fields,
        reason,
      });
}

/**
 * Returns the change that replaces an expired invitation, with the reason `back` after a suspension; `null` if a role
 * cannot be resolved.
 */
export function reinviteMember(
  member: DesiredMember,
  live: LiveMember,
  resolver: RoleResolver,
  report: ReportFinding,
  back: boolean,
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
    after: memberImage(
      { email: member.email, status: after.status, passwordEnv: member.managed?.passwordEnv },
      newMemberValues({ ...memberValues(after), ...declaredValues(member), roles: after.roles }),
    ),
    fields: memberDiffs(before, after),
    reason: back ? "suspension-ended" : "invitation-expired",
    resumed: null,
  });
}

/** Returns the change that removes a live member, in its current state or in the state after an earlier change. */
export function deleteMember(
  live: LiveMember,
  resolver: Pick<RoleResolver, "refOf">,
  reason: Reason,
  before: MemberImage = memberImageOf(live, resolver),
): MemberChange {
  return withFingerprint<MemberChange>({
    resource: "member",
    name: addressOf(live) ?? live.id,
    kind: "delete",
    id: live.id,
    before,
    after: null,
    fields: [],
    reason,
  });
}

/** Returns the change that moves a member to the successors of replaced roles; `null` if it holds none. */
export function moveMember(live: LiveMember, resolver: RoleResolver): MemberChange | null {
  if (!live.roles.some(resolver.isReplaced)) return null;
  const before = memberImageOf(live, resolver);
  const after = withValues(before, { roles: live.roles.map(resolver.successorOf) });
  return memberUpdate(addressOf(live) ?? live.id, live.id, { before, after }, "immutable-field");
}

/** A member before and after a change. */
interface MemberImages {
  readonly before: MemberImage;
  readonly after: MemberImage;
}

function imagesOf(
  member: DesiredMember,
  live: LiveMember,
  resolver: RoleResolver,
  report: ReportFinding,
): MemberImages | null {
  const { email, roles } = member;
  const declaredRoles = roles?.map(({ role }) => role);
  const refs = declaredRoles
    ? resolver.resolve(email, declaredRoles, report)
    : live.roles.map(resolver.successorOf);
  if (refs === null) return null;
  // A write sends all roles, so ignored ones have to be included, or the member would lose them.
  const ignored = declaredRoles ? ignoredRoles(live, resolver) : [];
  const before = memberImageOf(live, resolver);
  const after = withValues(before, { ...declaredValues(member), roles: [...refs, ...ignored] });
  return { before, after };
}

function ignoredRoles(live: LiveMember | undefined, resolver: RoleResolver): readonly RoleRef[] {
  return live?.roles.filter(resolver.isIgnored).map(resolver.refOf) ?? [];
}

/** Returns the image of a live member. */
export function memberImageOf(live: LiveMember, resolver: Pick<RoleResolver, "refOf">): MemberImage {
  const passwordEnv = isManaged(live) ? null : undefined;
  return memberImage(
    { email: addressOf(live), status: live.status, passwordEnv },
    liveValues(live, resolver.refOf),
  );
}
