import { addressesOf } from "../../kernel/diff/scope.ts";
import { byCodeUnit, counted, quoted } from "../../lib/text.ts";
import type { LiveMember } from "../../model/live.ts";
import type { AccessSnapshot } from "../../model/questions.ts";
import type { LintContext, LintFinding, LintMerchant } from "./lint-context.ts";
import { knownPermissions } from "./role-rules.ts";

/** Finds members who alone can use sensitive permissions. */
export function soleHolders({ merchants, isSensitive }: LintContext): readonly LintFinding[] {
  return merchants.flatMap((merchant) => {
    const access = merchant.live?.access ?? merchant.declared;
    const originOf = originFinder(merchant, access);
    const alone = new Map<string, string[]>();
    for (const [permission, names] of holdersOf(merchant, access) ?? []) {
      const [name = ""] = names;
      if (names.size === 1 && isSensitive(permission)) {
        const permissions = alone.get(name);
        if (permissions) permissions.push(permission);
        else alone.set(name, [permission]);
      }
    }
    return [...alone].map(([name, permissions]) => ({
      message: `Only ${name} can use ${firstOf(permissions.sort(byCodeUnit))}${merchant.live ? "" : ", according to the files"}.`,
      hint: "Grant them to a second member, so that work can continue if one is absent.",
      origin: originOf(name),
      merchants: [merchant.state.merchant],
    }));
  });
}

/** Returns the names of those who have each permission; `null` if others may have it. */
function holdersOf(
  merchant: LintMerchant,
  { complete, roles, members }: AccessSnapshot,
): ReadonlyMap<string, ReadonlySet<string>> | null {
  const permissions =
    merchant.live === null
      ? knownPermissions(merchant)
      : new Map(roles.map((role) => [role.key, new Set(role.permissions ?? [])]));
  const holdings = members.flatMap(({ name, held }) =>
    held.flatMap(({ role, effective }) => (effective ? [{ name, permissions: permissions.get(role) }] : [])),
  );
  const isKnown =
    members.every(({ rolesKnown }) => rolesKnown) &&
    holdings.every((holding) => holding.permissions !== undefined);
  const isListed = merchant.live !== null || merchant.state.ignore.members.length === 0;
  if (!complete || !isListed || !isKnown) return null;
  const holders = new Map<string, Set<string>>();
  for (const { name, permissions: granted = [] } of holdings) {
    for (const permission of granted) {
      holders.set(permission, (holders.get(permission) ?? new Set()).add(name));
    }
  }
  return holders;
}

const MAX_NAMED = 3;

function firstOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  const first = names.slice(0, MAX_NAMED).join(", ");
  return more > 0 ? `${first}, and ${counted(more, "more sensitive permission")}` : first;
}

/** Finds members with sensitive permissions and without MFA, of those who are live. */
export function administratorsWithoutMfa({ merchants, isSensitive }: LintContext): readonly LintFinding[] {
  return merchants.flatMap((merchant) => {
    const { live } = merchant;
    if (live === null) return [];
    const roles = new Map(live.access.roles.map((role) => [role.key, role]));
    const [isDeclared, originOf] = [declaredNames(merchant), originFinder(merchant, live.access)];
    const held = new Map(live.access.members.map(({ id, held: heldRoles }) => [id, heldRoles]));
    return live.state.members.flatMap(({ id, user, status }): readonly LintFinding[] => {
      if (status !== "accepted" || user?.mfaOnLogin !== false || user.type !== "user") return [];
      const role = (held.get(id) ?? [])
        .map((heldRole) => roles.get(heldRole.role))
        .find((role) => role?.permissions?.some(isSensitive));
      if (role === undefined) return [];
      const name = user.email ?? id;
      return [
        {
          message: `${isDeclared(name) ? "This member" : name} holds ${quoted(role.name)}, which controls access or money, but has no MFA on login.`,
          hint: `Ask them to turn it on. If "require_mfa" under "policies" lists the role, every plan reports holders without MFA.`,
          origin: originOf(name),
          merchants: [merchant.state.merchant],
        },
      ];
    });
  });
}

const SOON_MS = 3 * 24 * 60 * 60 * 1000;

/** Finds live invitations that have expired, or will within three days. */
export function expiringInvitations({ merchants, now, timeOf }: LintContext): readonly LintFinding[] {
  return merchants.flatMap((merchant) => {
    const [isDeclared, originOf] = [
      declaredNames(merchant),
      originFinder(merchant, merchant.live?.access ?? merchant.declared),
    ];
    return (merchant.live?.state.members ?? []).flatMap((member): readonly LintFinding[] => {
      const expiry = member.invite?.expiresAt ?? "";
      const state = invitationState(member.status, timeOf(expiry), now);
      if (state === null) return [];
      const name = addressesOf(member)[0] ?? member.id;
      const whom = isDeclared(name) ? "this member" : name;
      return [
        {
          ...invitationText(state, whom, expiry, renewalHint(isDeclared(name))),
          origin: originOf(name),
          merchants: [merchant.state.merchant],
        },
      ];
    });
  });
}

function invitationState(
  status: LiveMember["status"],
  ends: number,
  now: number,
): "expired" | "overdue" | "soon" | null {
  if (status === "expired") return "expired";
  if (status !== "pending" || !(ends - now <= SOON_MS)) return null;
  return ends <= now ? "overdue" : "soon";
}

function invitationText(
  state: "expired" | "overdue" | "soon",
  whom: string,
  moment: string,
  renewal: string,
): Pick<LintFinding, "message" | "hint"> {
  switch (state) {
    case "expired":
      return { message: `The invitation of ${whom} has expired.`, hint: renewal };
    case "overdue":
      return {
        message: `The invitation of ${whom} expired at ${moment}, but the service still lists it as pending.`,
        hint: "To invite them again, remove the invitation at the service, and apply.",
      };
    case "soon":
      return {
        message: `The invitation of ${whom} expires soon, at ${moment}.`,
        hint: "Remind them: nobody can accept an expired invitation.",
      };
    default:
      return state satisfies never;
  }
}

function renewalHint(isDeclared: boolean): string {
  return isDeclared
    ? 'The next plan shows whether "sync.reinvite" renews it; "rolecall apply --reinvite" does in any case. Or remove the entry.'
    : "No file lists them: the next plan removes them, unless the files ignore them or leave alone whom they do not list. To invite them again, list them.";
}

/** Returns whether files list somebody: a finding does not name them, so that equal ones of many members are shown once. */
function declaredNames({ state: { members = [] } }: LintMerchant): (name: string) => boolean {
  const names = new Set(members.map(({ email }) => email.toLowerCase()));
  return (name) => names.has(name.toLowerCase());
}

/** Returns a function that returns the place of a member's entry, else of the merchant. */
function originFinder(
  { state }: LintMerchant,
  { members }: AccessSnapshot,
): (name: string) => LintFinding["origin"] {
  const origins = new Map(members.map(({ name, origin }) => [name.toLowerCase(), origin]));
  const merchantOrigin = { file: state.origin.file, path: ["merchant"] };
  return (name) => origins.get(name.toLowerCase()) ?? merchantOrigin;
}
