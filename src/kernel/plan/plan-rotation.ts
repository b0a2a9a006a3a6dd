import type { PasswordChange } from "../../model/apply.ts";
import type { DesiredMember, DesiredState } from "../../model/desired.ts";
import type { LiveMember, LiveState } from "../../model/live.ts";
import type { MemberChange, Plan } from "../../model/plan.ts";
import { activeAt, leftAt } from "../diff/active-member.ts";
import { planFingerprint, withFingerprint } from "../diff/fingerprint.ts";
import { memberImageOf } from "../diff/member-changes.ts";
import { toFinding } from "../findings/findings.ts";
import { toRefusal } from "../findings/refusals.ts";
import { buildPlan, type PlanInput } from "./build-plan.ts";

/** Selects, by address, the managed users whose passwords are set. */
export interface RotationTargets {
  /** Returns whether an address is given, or matched by a glob. */
  readonly includes: (email: string) => boolean;
  /** Returns whether an address is given literally. */
  readonly names: (email: string) => boolean;
}

/** A managed user whose password is set, with its live membership; `null` if there is none. */
export interface RotatedMember {
  readonly member: DesiredMember & Required<Pick<DesiredMember, "managed">>;
  readonly live: LiveMember | null;
}

/** Returns the chosen managed members that a file lists at a time, in ms since the epoch. */
export function rotatedMembers(
  { members = [], leavers }: Pick<DesiredState, "members" | "leavers">,
  live: LiveState,
  { includes }: Pick<RotationTargets, "includes">,
  now: number,
): readonly RotatedMember[] {
  const leftBy = leftAt(leavers, now);
  return members.flatMap((member): readonly RotatedMember[] => {
    const { email, managed } = member;
    if (managed === undefined || !includes(email) || leftBy.has(email.toLowerCase())) return [];
    if (activeAt(member, now).absent !== null) return [];
    return [
      {
        member: { ...member, managed },
        live: live.members.find((liveMember) => isMeant(member, liveMember)) ?? null,
      },
    ];
  });
}

function isMeant({ id, email }: DesiredMember, live: LiveMember): boolean {
  if (id !== undefined) return live.id === id;
  // An expired invitation of the same address may exist beside the membership.
  return live.status !== "expired" && live.user?.email?.toLowerCase() === email.toLowerCase();
}

/**
 * Plans new passwords for a merchant's managed users, and no other change. A new password enables a disabled user, so
 * these are left out unless they are named, which needs an override.
 */
export function planRotation(input: PlanInput, targets: RotationTargets): Plan {
  const { desired, live, now } = input;
  const { roles: _roles, members: _members, ...rest } = desired;
  const plan = buildPlan({ ...input, desired: { ...rest, leavers: [] } });
  const disabled = rotatedMembers(desired, live, targets, now).filter(({ live }) => isDisabled(live));
  const emails = disabled.map(({ member }) => member.email);
  const asTargets = emails.filter(targets.names);
  const byGlob = emails.filter((email) => !targets.names(email));
  return {
    ...plan,
    // The override is bound to the users that the plan would enable.
    fingerprint: planFingerprint(
      plan,
      asTargets.map((email) => ({ fingerprint: email.toLowerCase() })),
    ),
    refusals: asTargets.map((name) => toRefusal({ code: "password-enables", name })),
    findings:
      byGlob.length === 0 ? [] : [toFinding({ code: "passwords-left", name: byGlob[0] ?? "", left: byGlob })],
  };
}

function isDisabled(live: LiveMember | null): boolean {
  return live?.status === "disabled";
}

/** Returns the change that sets a member's password and nothing else. */
export function passwordChange(
  { member, live }: RotatedMember & { readonly live: LiveMember },
  { roles }: Pick<LiveState, "roles">,
): PasswordChange {
  const names = new Map(roles.map(({ id, name }) => [id, name]));
  const image = memberImageOf(live, { refOf: (id) => ({ id, name: names.get(id) ?? id }) });
  const update = withFingerprint<MemberChange>({
    resource: "member",
    name: member.email,
    kind: "update",
    id: live.id,
    before: image,
    after: isDisabled(live) ? { ...image, status: "accepted" } : image,
    fields: [],
    reason: "declared",
  }) as MemberChange & { readonly kind: "update" };
  return { ...update, passwordEnv: member.managed.passwordEnv };
}

/** Returns whether a password is set only if the user is named. */
export function isLeftToName({ live, member }: RotatedMember, { names }: RotationTargets): boolean {
  return isDisabled(live) && !names(member.email);
}
