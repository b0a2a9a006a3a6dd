import type { Finding } from "../../model/plan.ts";
import type { FindingData } from "./findings.ts";

/** The code of a finding of a plan. */
type FindingCode = FindingData["code"] | "restored-violation";

/** A code of a plan's findings, and its meaning. */
export interface FindingRule {
  readonly code: string;
  readonly severity: "error" | "warning" | "error or warning";
  readonly summary: string;
}

interface Row extends Omit<FindingRule, "code"> {
  /** What it counts, in one and in several words, if it describes what is live or declared rather than this plan. */
  readonly counts?: readonly [singular: string, plural?: string];
}
const error = (summary: string): Row => ({ severity: "error", summary });
const warning = (summary: string): Row => ({ severity: "warning", summary });
const standing = (summary: string, ...counts: NonNullable<Row["counts"]>): Row => ({
  ...warning(summary),
  counts,
});

const FINDINGS: Readonly<Record<FindingCode, Row>> = {
  "caller-unknown": warning(
    "The owner of the API key is unknown, so `self-lockout` does not protect their access.",
  ),
  "check-unknown": standing(
    "A role's permissions are unknown, so a check may overlook the members who hold it.",
    "role of unknown permissions",
    "roles of unknown permissions",
  ),
  "due-kept": warning(
    "`--only due` keeps access that has ended: a rule refuses to remove it, or its entry is ambiguous.",
  ),
  "due-left-out": warning("`--only due` could not grant access that begins on a date, and left it out."),
  "environment-unknown": warning(
    "The service did not report the account's environment. `apply` stops if the file declares one.",
  ),
  "member-address-gap": warning(
    "An entry with a new address and a future `from`: the member loses access until that date.",
  ),
  "member-ambiguous": error("Several live members have the address of an entry."),
  "member-departed": warning(
    "According to the recorded live state, a listed member has left, although no run has removed them. They are not invited again.",
  ),
  "member-disabled": standing(
    "A listed member is disabled at the service. No plan enables them.",
    "disabled member",
  ),
  "member-expired": standing(
    "An invitation has expired, and `reinvite: false` prevents a new one.",
    "expired invitation",
  ),
  "member-former-differs": standing(
    "Until the invitation to the new address is accepted, the old membership lacks what the entry declares.",
    "outdated membership",
  ),
  "member-former-disabled": warning(
    "A new address is not invited while the membership of the previous one is disabled.",
  ),
  "member-ignored": error("A member is listed although `ignore.members` matches it."),
  "member-likely-renamed": warning(
    "A removed member and an invited one are probably the same person with a new address.",
  ),
  "member-mfa-unknown": standing(
    "It is unknown whether the holder of a role with `require_mfa` uses MFA.",
    "person whose use of MFA is unknown",
    "people whose use of MFA is unknown",
  ),
  "member-needs-roles": warning("A person who is not a member yet is listed without `roles`."),
  "member-not-accepted": standing(
    "An expired invitation is older than the period of `sync.reinvite`.",
    "expired invitation",
  ),
  "member-not-managed": standing(
    "A member with `managed` is an ordinary user at the service.",
    "managed entry of an ordinary user",
    "managed entries of ordinary users",
  ),
  "member-overdue": standing(
    "The service lists an invitation as pending although its expiry has passed.",
    "overdue invitation",
  ),
  "member-pin-former": error("An entry is pinned to the membership of its previous address."),
  "member-pin-left": standing(
    "An entry is pinned to a member whose address is under `leavers`.",
    "pinned leaver",
  ),
  "member-pin-missing": error("The member that an entry is pinned to does not exist."),
  "member-pin-other": standing(
    "An entry is pinned to a member with another address.",
    "pin to another address",
    "pins to other addresses",
  ),
  "member-pin-renewed": standing(
    "An entry is pinned to an expired invitation that has been renewed.",
    "pin to a renewed invitation",
    "pins to renewed invitations",
  ),
  "member-pinned-elsewhere": error("An entry's address belongs to a member that another entry is pinned to."),
  "member-role-ambiguous": error("Several live roles have the name of a granted role."),
  "member-role-conflict": error("An entry grants one role by its name and by its id, with different dates."),
  "member-role-ignored": error("A granted role is matched by `ignore.roles`."),
  "member-role-removed": error("A granted role is one that the plan deletes."),
  "member-role-unassignable": warning("The service may refuse to assign a newly granted predefined role."),
  "member-role-unknown": error("A granted role is neither declared nor live."),
  "member-roles-lost": warning("A suspended member has roles that no file lists; they are not restored."),
  "member-same-user": warning("A removed member has the same user as one that stays."),
  "member-service-account": standing(
    "A service account is not listed. It is left alone.",
    "unlisted service account",
  ),
  "member-status-changed": error("A member's status has changed since the plan that is being verified."),
  "member-status-unknown": standing(
    "The service reports a status that rolecall does not know.",
    "member of unknown status",
    "members of unknown status",
  ),
  "member-without-address": standing(
    "A live member has no address, so no entry can refer to it.",
    "member without an address",
    "members without an address",
  ),
  "members-ignored": warning("`ignore.members` matches live members."),
  "metadata-rounded": warning(
    "Metadata has a number that JavaScript cannot represent exactly, so the change is left out.",
  ),
  "override-left-over": warning("An entry of `guards.overrides` has no effect on this plan."),
  "passwords-left": warning(
    "`--rotate-password` leaves out disabled users, whom a new password would enable.",
  ),
  "permission-misspelt": error(
    "A role has a permission that no live role has, and that differs from another one by a single typing error.",
  ),
  "restored-violation": warning(
    "An undo restores access that breaks a policy or check. It is one of the risks.",
  ),
  "role-ambiguous": error("Several live roles have the name, or the previous names, of a declared role."),
  "role-few-holders": standing(
    "A role has too few accepted holders already.",
    "role with too few holders",
    "roles with too few holders",
  ),
  "role-ignored": error("A role is declared and matched by `ignore.roles`."),
  "role-likely-renamed": warning("A deleted role and a created one have the same permissions or holders."),
  "role-name-case": error(
    "A role would be created whose name differs from a live one only in case or Unicode form.",
  ),
  "role-name-taken": error("A live role that the plan leaves alone has the same name as a declared one."),
  "role-needs-permissions": error("A role would be created, but is declared without `permissions`."),
  "role-not-retrieved": standing(
    "The service does not return a role that the file names by its id.",
    "role that the service does not return",
    "roles that the service does not return",
  ),
  "role-pin-missing": error("The role that an entry is pinned to does not exist."),
  "role-pin-predefined": error("A declared role is pinned to a predefined one, which cannot change."),
  "role-previously-left": warning(
    "One live role has the name of a declared role, and another has its previous name.",
  ),
  "role-previously-unknown": warning("No live role has the previous name, but one has a similar name."),
  "roles-ignored": warning("`ignore.roles` matches live roles."),
  "rule-member-unknown": warning("A guard or check names somebody who is neither declared nor a member."),
  "rule-permission-unknown": warning("A guard, policy or check names a permission that no role has."),
  "rule-role-ambiguous": error("A rule refers to a role by a name that several live roles share."),
  "rule-role-unknown": {
    severity: "error or warning",
    summary:
      "A rule names a role that is neither declared nor live: an error in a merchant's own file, a warning in a shared one.",
  },
};

/** Returns the codes of a plan's findings with their meaning, sorted by code. */
export function findingTable(): readonly FindingRule[] {
  return Object.entries(FINDINGS).map(([code, { severity, summary }]) => ({ code, severity, summary }));
}

/**
 * Returns what a warning counts if it describes what is live or declared, such as "disabled member"; `null` otherwise.
 * Those about rules have the rules' codes.
 */
export function standingNoun({ code, severity }: Pick<Finding, "code" | "severity">): Row["counts"] | null {
  const rows: Readonly<Record<string, Row | undefined>> = FINDINGS;
  const { counts = null } = rows[code] ?? { counts: ["rule violation"] as const };
  return severity === "warning" ? counts : null;
}
