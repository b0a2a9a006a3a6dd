import type { DesiredMember } from "../../model/desired.ts";
import type { LiveMember } from "../../model/live.ts";
import type { Deferred, MemberChange } from "../../model/plan.ts";
import { undeclaredFields } from "../fields/member.ts";
import { roleKey } from "../fields/set.ts";
import { type ActiveMember, reasonOf } from "./active-member.ts";
import { isDisabled } from "./entry-memberships.ts";
import type { Match } from "./match.ts";
import { deleteMember, updateMember } from "./member-changes.ts";
import type { ReportFinding, RoleResolver } from "./resolve.ts";
import { addressOf } from "./scope.ts";

/** The changes of former members, some of which are deferred. */
export interface FormerChanges {
  readonly changes: readonly MemberChange[];
  readonly waiting: readonly Deferred[];
}

const UNCHANGED: FormerChanges = { changes: [], waiting: [] };

/**
 * Plans the members of an entry's previous addresses. They are removed once the entry's own membership is accepted, and
 * until then keep what the entry grants, unless it ends or suspends all access.
 */
export function planFormer(
  active: ActiveMember,
  match: Match<LiveMember>,
  former: readonly LiveMember[],
  { roles }: { readonly roles: RoleResolver },
  report: ReportFinding,
): FormerChanges {
  const { member, absent, suspended } = active;
  if (former.length === 0 || match.found === "many" || match.found === "pin-missing") return UNCHANGED;
  if (absent !== null) {
    const reason = absent === "ended" ? "access-ended" : "access-not-begun";
    for (const live of absent === "ended" ? [] : former.filter(isAccepted)) {
      report({ code: "member-address-gap", name: member.email, previously: addressOf(live) ?? live.id });
    }
    return { changes: former.map((live) => deleteMember(live, roles, reason)), waiting: [] };
  }
  const isMoved = match.found === "one" && isAccepted(match.live);
  if (suspended && !isMoved) {
    const changes = former.flatMap(
      (live) =>
        updateMember(
          { ...member, email: addressOf(live) ?? member.email },
          live,
          roles,
          report,
          "suspended",
        ) ?? [],
    );
    return { changes, waiting: [] };
  }
  const waiting: Deferred[] = [];
  const isOnlyDisabled = former.every(isDisabled);
  const waits = !isOnlyDisabled || (match.found === "one" && match.live.status === "pending");
  const changes = former.flatMap((live): readonly MemberChange[] => {
    // Only a member with access can lose it. A disabled membership stays as long as nothing else shows that the person
    // is disabled.
    const isKept = givesAccess(live) || isOnlyDisabled;
    if (isMoved || !isKept) return [deleteMember(live, roles, "address-changed")];
    const lacking = lackingIn(live, member, roles);
    if (lacking.length > 0 && !isOnlyDisabled) {
      const name = addressOf(live) ?? live.id;
      report({ code: "member-former-differs", name, email: member.email, lacking });
    }
    const narrowed = updateMember(grantsOf(live, member, roles), live, roles, report, reasonOf(active));
    const removal = deleteMember(live, roles, "address-changed", narrowed?.after ?? undefined);
    if (waits) waiting.push({ change: removal, role: null, waitsFor: [member.email] });
    return narrowed !== null ? [narrowed] : waits ? [removal] : [];
  });
  return { changes, waiting };
}

/** Returns whether a membership gives access, or may do so. */
export function givesAccess({ status }: LiveMember): boolean {
  return status === "accepted" || status === "unknown";
}

function isAccepted({ status }: LiveMember): boolean {
  return status === "accepted";
}

/** Returns the roles and other fields that an entry declares and that the membership of its previous address lacks. */
function lackingIn(live: LiveMember, member: DesiredMember, roles: RoleResolver): readonly string[] {
  const held = new Set(live.roles.map((id) => roleKey(roles.successorOf(id))));
  const isHeld = (role: string): boolean =>
    (roles.resolve("", [role], () => undefined) ?? []).every((ref) => held.has(roleKey(ref)));
  const missing = member.roles?.filter(({ role }) => !isHeld(role)) ?? [];
  return [
    ...missing.map(({ role }) => JSON.stringify(role)),
    ...undeclaredFields(live, member).map((field) => `its ${field}`),
  ];
}

/**
 * Returns an entry for a former member with those of the membership's roles that the entry of the new address grants.
 */
function grantsOf(
  live: LiveMember,
  { email, origin, roles: grants }: DesiredMember,
  roles: RoleResolver,
): DesiredMember {
  const bare = { email: addressOf(live) ?? email, origin };
  const granted =
    grants &&
    roles.resolve(
      email,
      grants.map(({ role }) => role),
      () => undefined,
    );
  if (!granted) return bare;
  const kept = new Set(granted.map(roleKey));
  return {
    ...bare,
    roles: live.roles.filter((id) => kept.has(roleKey(roles.successorOf(id)))).map((role) => ({ role })),
  };
}
