import { by, counted } from "../../lib/text.ts";
import type { MemberStatus } from "../../model/live.ts";
import type { Change, Finding } from "../../model/plan.ts";
import { list } from "./refusals.ts";

/** The data of a finding about a role or member; `toFinding` words it. */
export type FindingData =
  | {
      readonly code: "role-ambiguous";
      readonly name: string;
      readonly live: readonly { readonly id: string; readonly name: string }[];
    }
  | { readonly code: "role-pin-missing"; readonly name: string; readonly id: string }
  | { readonly code: "role-pin-predefined"; readonly name: string; readonly id: string }
  | { readonly code: "caller-unknown" | "environment-unknown"; readonly name: string }
  | {
      readonly code: "metadata-rounded";
      readonly name: string;
      readonly resource: Finding["resource"];
      readonly kind: Change["kind"];
      readonly properties: readonly string[];
    }
  | { readonly code: "role-not-retrieved"; readonly name: string }
  | { readonly code: "role-needs-permissions"; readonly name: string; readonly near: string | null }
  | {
      readonly code: "role-previously-unknown";
      readonly name: string;
      readonly previously: string;
      readonly near: string;
    }
  | { readonly code: "role-previously-left"; readonly name: string; readonly previously: string }
  | { readonly code: "role-name-taken"; readonly name: string; readonly id: string }
  | { readonly code: "role-name-case"; readonly name: string; readonly live: string }
  | { readonly code: "rule-role-ambiguous"; readonly name: string; readonly ids: readonly string[] }
  | {
      readonly code: "rule-role-unknown";
      readonly name: string;
      readonly near: string | null;
      /** True if only rules of included files name it. */
      readonly shared: boolean;
      /** The name of the live role with this id, which the plan removes. */
      readonly removed: string | null;
    }
  | { readonly code: "rule-member-unknown"; readonly name: string; readonly near: string | null }
  | { readonly code: "rule-permission-unknown"; readonly name: string; readonly near: string }
  | {
      readonly code: "permission-misspelt";
      readonly name: string;
      readonly permission: string;
      readonly near: string;
    }
  | {
      readonly code: "override-left-over";
      readonly name: string;
      readonly why: "other-plan" | "no-changes" | "not-refused" | "enforced";
    }
  | { readonly code: "member-likely-renamed"; readonly name: string; readonly previously: string }
  | { readonly code: "member-same-user"; readonly name: string; readonly previously: string }
  | { readonly code: "role-likely-renamed"; readonly name: string; readonly previously: string }
  | {
      readonly code: "role-few-holders";
      readonly name: string;
      readonly holders: number;
      readonly min: number;
    }
  | { readonly code: "check-unknown"; readonly name: string; readonly permission: string }
  | { readonly code: "member-ambiguous"; readonly name: string; readonly ids: readonly string[] }
  | { readonly code: "member-pin-missing"; readonly name: string; readonly id: string }
  | { readonly code: "member-needs-roles"; readonly name: string }
  | {
      readonly code: "member-role-unknown";
      readonly name: string;
      readonly role: string;
      readonly near: string | null;
    }
  | {
      readonly code: "member-role-ambiguous";
      readonly name: string;
      readonly role: string;
      readonly ids: readonly string[];
    }
  | {
      readonly code: "member-role-conflict";
      readonly name: string;
      readonly role: string;
      /** What the entry calls the same role in another grant. */
      readonly again: string;
    }
  | { readonly code: "member-role-removed"; readonly name: string; readonly role: string }
  | { readonly code: "member-disabled"; readonly name: string }
  | {
      readonly code: "member-status-changed";
      readonly name: string;
      readonly was: MemberStatus;
      readonly is: MemberStatus;
    }
  | { readonly code: "passwords-left"; readonly name: string; readonly left: readonly string[] }
  | { readonly code: "member-not-managed"; readonly name: string }
  | { readonly code: "member-without-address"; readonly name: string; readonly moves: boolean }
  | {
      readonly code: "member-service-account";
      readonly name: string;
      readonly type: string;
      /** True if it holds a replaced role and moves to the successor. */
      readonly moves: boolean;
    }
  | {
      readonly code: "member-pin-other";
      readonly name: string;
      readonly id: string;
      readonly address: string;
    }
  | { readonly code: "member-roles-lost"; readonly name: string; readonly roles: readonly string[] }
  | {
      readonly code: "member-pin-former";
      readonly name: string;
      readonly id: string;
      readonly previously: string;
    }
  | { readonly code: "member-pin-left"; readonly name: string; readonly id: string }
  | {
      readonly code: "due-left-out";
      readonly name: string;
      /** Other differences at the member, a password that is needed, roles to create, or the messages of refusals. */
      readonly because:
        | "mixed"
        | "password"
        | { readonly roles: readonly string[] }
        /** Each refusal, with its override for these people, if it has one. */
        | readonly { readonly message: string; readonly override: string | null }[];
    }
  | {
      readonly code: "due-kept";
      readonly name: string;
      /** The refusals, or the error. */
      readonly because: readonly { readonly message: string; readonly hint: string }[];
    }
  | { readonly code: "member-address-gap"; readonly name: string; readonly previously: string }
  | { readonly code: "member-former-disabled"; readonly name: string; readonly previously: string }
  | {
      readonly code: "member-former-differs";
      readonly name: string;
      /** The address of the entry. */
      readonly email: string;
      /** Roles in quotes, and other fields, such as "its metadata". */
      readonly lacking: readonly string[];
    }
  | {
      readonly code: "member-pinned-elsewhere";
      readonly name: string;
      readonly id: string;
      readonly by: string;
    }
  | { readonly code: "member-ignored"; readonly name: string }
  | { readonly code: "role-ignored"; readonly name: string }
  | { readonly code: "roles-ignored"; readonly name: string; readonly roles: readonly string[] }
  | {
      readonly code: "members-ignored";
      readonly name: string;
      readonly count: number;
      /** Members by their roles. */
      readonly groups: readonly { readonly held: string; readonly members: readonly string[] }[];
    }
  | { readonly code: "member-role-unassignable"; readonly name: string; readonly role: string }
  | { readonly code: "member-role-ignored"; readonly name: string; readonly role: string }
  | { readonly code: "member-status-unknown"; readonly name: string }
  | { readonly code: "member-expired"; readonly name: string }
  | {
      readonly code: "member-departed";
      readonly name: string;
      /** The time of the record, ISO 8601. */
      readonly at: string;
    }
  | { readonly code: "member-overdue"; readonly name: string; readonly expiresAt: string }
  | {
      readonly code: "member-not-accepted";
      readonly name: string;
      /** The day on which its entry was last committed. */
      readonly since: string;
      readonly period: string;
    }
  | { readonly code: "member-pin-renewed"; readonly name: string; readonly id: string; readonly now: string }
  | {
      readonly code: "member-mfa-unknown";
      readonly name: string;
      readonly role: string;
      /** True if the member has not accepted yet, so that there is no user with a setting. */
      readonly invited: boolean;
    };

const NOT_DONE: Readonly<Record<Change["kind"], string>> = {
  create: "created",
  update: "changed",
  replace: "replaced",
  delete: "removed",
};

const SERVICE_ACCOUNTS: Readonly<Record<string, string | undefined>> = {
  service_account: "a service account",
  system_account: "a system account",
};

const LEFT_OVER = {
  "other-plan": "it is for another plan",
  "no-changes": "this plan has no changes",
  "not-refused": "this plan is not refused for this reason",
} as const;

function acceptedHolders(count: number): string {
  return count === 0 ? "no accepted holder" : counted(count, "accepted holder");
}

function mfaHint(invited: boolean): string {
  return invited
    ? "It will be known once the invitation is accepted."
    : "The service does not report it; check it there before you rely on the policy.";
}

function stays(moves: boolean): string {
  return moves
    ? "it moves to the successor of a replaced role, but is otherwise left alone"
    : "it is left alone";
}

const IGNORED_HINT = "No plan changes or removes what is ignored, but policies and checks still apply to it.";

/** Returns the texts about an entry that several live roles match, by its name or by its previous names. */
function ambiguousRoleTexts({ name, live }: Extract<FindingData, { readonly code: "role-ambiguous" }>): {
  readonly message: string;
  readonly hint: string;
} {
  if (live.every((role) => role.name === name)) {
    return {
      message: `Two or more live roles are called "${name}": ${list(live.map(({ id }) => id))}.`,
      hint: `To select one, add "id: ${live[0]?.id}" (or another of them) to the role.`,
    };
  }
  const sorted = [...live].sort(by((role) => role.name));
  return {
    message: `Several live roles have previous names of "${name}": ${list(sorted.map((role) => `"${role.name}" (${role.id})`))}.`,
    hint: `To select one, leave only its name in "previously", or add its id to the role, such as "id: ${sorted[0]?.id}". The others are then roles without an entry.`,
  };
}

/** Returns the finding for some data: all messages of findings are here. */
export function toFinding(data: FindingData): Finding {
  const { code, name } = data;
  const role = "role" in data ? { role: data.role } : {};
  const error = (resource: Finding["resource"], message: string, hint: string): Finding => ({
    code,
    severity: "error",
    resource,
    name,
    ...role,
    message,
    hint,
  });
  const warning = (resource: Finding["resource"], message: string, hint: string | null): Finding => ({
    code,
    severity: "warning",
    resource,
    name,
    ...role,
    message,
    hint,
  });
  switch (data.code) {
    case "role-ambiguous": {
      const { message, hint } = ambiguousRoleTexts(data);
      return error("role", message, hint);
    }
    case "role-pin-missing":
      return error(
        "role",
        `Role "${name}" is pinned to ${data.id}, which does not exist.`,
        "Correct the id, or remove it to match the role by name or create it.",
      );
    case "role-pin-predefined":
      return error(
        "role",
        `Role "${name}" is pinned to ${data.id}, a predefined role, which cannot be changed.`,
        'Remove it from "roles:"; grant it to members by its id.',
      );
    case "caller-unknown":
      return warning(
        "member",
        "It is unknown which member the API key belongs to, so the self-lockout guard cannot protect it.",
        "A user's key with the scope user.profile_readonly can find it; --verbose shows why it failed.",
      );
    case "environment-unknown":
      return warning(
        "member",
        `The service did not report whether this is a ${data.name} account, as the file or the key says.`,
        "Run the command again; --verbose shows why it failed.",
      );
    case "metadata-rounded":
      return warning(
        data.resource,
        `A number in the metadata of ${name} cannot be represented exactly (${data.properties
          .map((property) => JSON.stringify(property))
          .join(", ")}) and would be written back changed, so ${name} is not ${NOT_DONE[data.kind]}.`,
        "Change the number at the service, or put it in quotes to declare it as text.",
      );
    case "role-not-retrieved":
      return warning(
        "role",
        `The service does not return the role ${name}; its id is used as given, and its permissions are unknown.`,
        "If the id is wrong, correct it; otherwise the service will reject it.",
      );
    case "role-needs-permissions":
      return error(
        "role",
        `Role "${name}" does not exist yet, and the file declares no permissions for it.`,
        data.near === null
          ? 'Add "permissions:" to the role; an empty list is allowed.'
          : `Did you mean "${data.near}"? Otherwise add "permissions:" to the role; an empty list is allowed.`,
      );
    case "role-previously-unknown":
      return warning(
        "role",
        `No live role is called "${data.previously}", so none is renamed to "${name}".`,
        `Did you mean "previously: ${data.near}"?`,
      );
    case "role-previously-left":
      return warning(
        "role",
        `A live role is already called "${name}", so "${data.previously}" is not renamed.`,
        `Remove "previously: ${data.previously}"; to merge both roles, pin the right one with its id.`,
      );
    case "role-name-taken":
      return error(
        "role",
        `The name "${name}" belongs to the live role ${data.id}, which this plan leaves alone.`,
        "Choose another name, or also list that role.",
      );
    case "role-name-case":
      return error(
        "role",
        `"${name}" would be created, but differs from the live role "${data.live}" only in ${name.normalize("NFC") === data.live.normalize("NFC") ? "how accents are encoded (Unicode NFC and NFD)" : "upper and lower case"}.`,
        `If the live role is meant, write "${data.live}", or add "previously: ${data.live}" to rename it. If they are different roles, list "${data.live}" as well, or choose another name.`,
      );
    case "rule-role-ambiguous":
      return error(
        "role",
        `A policy, guard or check names "${name}", but two or more live roles have that name: ${list(data.ids)}.`,
        `Use the id of the intended role in the rule, or list the role with "id: ${data.ids[0]}" (or another of them).`,
      );
    case "rule-role-unknown": {
      const { message, hint } = unknownRoleTexts(data);
      return data.shared ? warning("role", message, hint) : error("role", message, hint);
    }
    case "rule-member-unknown":
      return warning(
        "member",
        `A guard or check names ${name}, who is not declared or live: the rule has no effect.`,
        data.near === null ? "Correct the address, or remove it." : `Did you mean "${data.near}"?`,
      );
    case "permission-misspelt":
      return error(
        "role",
        `The role "${name}" has the permission "${data.permission}", which no live role has.`,
        `Did you mean "${data.near}"? If both exist, list "${data.permission}" under "permissions" in rolecall.yaml.`,
      );
    case "rule-permission-unknown":
      return warning(
        "role",
        `A guard, policy or check names the permission "${name}", which no role has.`,
        `Did you mean "${data.near}"?`,
      );
    case "override-left-over":
      return data.why === "enforced"
        ? warning(
            "member",
            `The override ${name} in the file has no effect: the rule is enforced, and can only be overridden in its own file.`,
            "Move it to guards.overrides in the rule file.",
          )
        : warning(
            "member",
            `The override ${name} in the file has no effect: ${LEFT_OVER[data.why]}.`,
            "Remove it from guards.overrides.",
          );
    case "member-likely-renamed":
      return warning(
        "member",
        `${name} would be invited, and ${data.previously} would be removed: this is probably the same person, who would have no access until the invitation is accepted.`,
        `Write "previously: ${data.previously}" in the entry of ${name}, to keep the old membership until the new one is accepted. If the address has changed at the service instead, write "email: ${data.previously}".`,
      );
    case "member-same-user":
      return warning(
        "member",
        `${data.previously} would be removed, but has the same user as ${name}: this is probably the same person.`,
        `Write "previously: ${data.previously}" in the entry of ${name}: this then counts as a removal only if ${name} holds less.`,
      );
    case "role-likely-renamed":
      return warning(
        "role",
        `"${name}" would be created and "${data.previously}" removed, with the same permissions or holders.`,
        `If this is a rename, add "previously: ${data.previously}" to the new role.`,
      );
    case "role-few-holders":
      return warning(
        "role",
        `The role "${name}" has ${acceptedHolders(data.holders)}; it needs ${data.min}.`,
        "This plan does not make it worse. Grant the role to somebody else, or wait until invited members have accepted.",
      );
    case "check-unknown":
      return warning(
        "role",
        `The permissions of "${name}" are unknown, so a check of ${data.permission} may miss its holders.`,
        null,
      );
    case "member-ambiguous":
      return error(
        "member",
        `Two or more live members have the address ${name}: ${list(data.ids)}.`,
        `To select one, add "id: ${data.ids[0]}" (or another of them) to the member.`,
      );
    case "member-pin-missing":
      return error(
        "member",
        `Member ${name} is pinned to ${data.id}, which does not exist.`,
        "Correct the id, or remove it to match the member by address or invite the person.",
      );
    case "member-needs-roles":
      return warning(
        "member",
        `${name} is not a member, and cannot be created: the file declares no roles for this member.`,
        'Add "roles:" to the member; an empty list is allowed. If an apply could not renew an expired invitation, the journal of that run has its roles.',
      );
    case "member-role-unknown":
      return error(
        "member",
        `The file grants "${data.role}" to ${name}, but neither the file nor the service has such a role.`,
        data.near === null
          ? 'Correct the name, declare the role under "roles:", or use the id of a predefined role.'
          : `Did you mean "${data.near}"? Otherwise declare the role under "roles:".`,
      );
    case "member-role-ambiguous":
      return error(
        "member",
        `The file grants "${data.role}" to ${name}, but two or more live roles have that name: ${list(data.ids)}.`,
        "Use the id of the intended role.",
      );
    case "member-role-conflict":
      return error(
        "member",
        `The file grants the same role to ${name} as "${data.role}" and as "${data.again}", with different dates.`,
        "Remove one of the two grants.",
      );
    case "member-role-removed":
      return error(
        "member",
        `The file grants "${data.role}" to ${name}, but this plan would delete that role, because "roles:" does not list it.`,
        "List the role, or remove it from the member.",
      );
    case "member-disabled":
      return warning("member", `${name} is disabled at the service; plans do not enable members.`, null);
    case "member-status-changed":
      return error(
        "member",
        `${name} was ${data.was} when this was planned, and is ${data.is} now.`,
        "Plans do not change this: find out who did, and correct it at the service.",
      );
    case "passwords-left":
      return warning(
        "member",
        `Skipped, since a new password would enable them: ${counted(data.left.length, "disabled user")} (${list(data.left)}).`,
        "To enable one, specify the address instead of a pattern.",
      );
    case "member-not-managed":
      return warning(
        "member",
        `${name} is declared as a managed user, but is an ordinary user at the service; the settings under "managed" cannot be applied.`,
        'Remove "managed:", or remove the member and create it again.',
      );
    case "member-without-address":
      return warning(
        "member",
        `Member ${name} has no e-mail address, so the file cannot name it; ${stays(data.moves)}.`,
        null,
      );
    case "member-service-account":
      return warning(
        "member",
        SERVICE_ACCOUNTS[data.type] === undefined
          ? `${name} is not listed, and its user type "${data.type}" is unknown; ${stays(data.moves)}.`
          : `${name} is ${SERVICE_ACCOUNTS[data.type]} that the file does not list; ${stays(data.moves)}.`,
        'List it under "members:" to manage it, or under "ignore.members" to keep it out of plans.',
      );
    case "member-pin-other":
      return warning(
        "member",
        `The entry of ${name} is pinned to ${data.id}, whose address is ${data.address}.`,
        "If these are different people, remove the id. If the address has changed, ignore this warning.",
      );
    case "member-roles-lost":
      return warning(
        "member",
        `${name} is suspended, and no file lists the roles (${list(data.roles)}), so they will not return.`,
        `List them under "roles:" of the member.`,
      );
    case "due-left-out": {
      const { reason, hint } = leftOutTexts(data.because);
      return warning("member", `Access that a date would give ${name} is left out: ${reason}`, hint);
    }
    case "due-kept":
      return warning(
        "member",
        `Access of ${name} that has ended is kept: ${data.because.map(({ message }) => message).join(" ")}`,
        [...new Set(data.because.map(({ hint }) => hint))].join(" "),
      );
    case "member-address-gap":
      return warning(
        "member",
        `${data.previously} is removed now, since the access of ${name}, the new address, has not begun.`,
        'To keep the old membership until the new one is accepted, remove "from" from the entry.',
      );
    case "member-former-differs":
      return warning(
        "member",
        `${name}, the previous address of ${data.email}, lacks what the entry declares: ${list(data.lacking)}.`,
        "The old membership gains nothing; it is removed once the invitation to the new address is accepted.",
      );
    case "member-former-disabled":
      return warning(
        "member",
        `${name} is not invited, since ${data.previously}, the previous address, is disabled at the service; plans do not enable members.`,
        `To give access to ${name} anyway, remove "previously: ${data.previously}" from the entry; to remove the disabled membership, remove the entry.`,
      );
    case "member-pin-former":
      return error(
        "member",
        `The entry of ${name} is pinned to ${data.id}, the membership of the previous address ${data.previously}.`,
        `To move the person to ${name}, remove the id. To keep that membership, write "email: ${data.previously}", and remove "previously".`,
      );
    case "member-pin-left":
      return warning(
        "member",
        `The entry of ${name} is pinned to ${data.id}, which has an address under "leavers:", so the entry has no effect.`,
        "If these are different people, remove the id; otherwise remove the entry.",
      );
    case "member-pinned-elsewhere":
      return error(
        "member",
        `${name} is the address of ${data.id}, which the entry of ${data.by} is pinned to.`,
        "The service accepts an address only once. Remove the id from that entry, or remove one of the two.",
      );
    case "member-ignored":
      return error(
        "member",
        `${name} is declared, but "ignore.members" excludes that address, or its live member, from every plan.`,
        "Remove the entry, or the pattern.",
      );
    case "role-ignored":
      return error(
        "role",
        `The role "${name}" is declared, but "ignore.roles" excludes that name, or its live role, from every plan.`,
        "Remove the entry, or the pattern.",
      );
    case "roles-ignored": {
      const what = data.roles.length === 1 ? "1 live role is" : `${data.roles.length} live roles are`;
      return warning("role", `${what} ignored: ${list(data.roles)}.`, IGNORED_HINT);
    }
    case "members-ignored": {
      const what = data.count === 1 ? "1 live member is" : `${data.count} live members are`;
      const who = data.groups.map(({ held, members }) => `${held} (${list(members)})`);
      return warning("member", `${what} ignored: ${list(who, "; ")}.`, IGNORED_HINT);
    }
    case "member-role-unassignable":
      return warning(
        "member",
        `${name} would newly hold "${data.role}", which the service may refuse to assign through its API.`,
        "If it refuses, assign the role at the service; the next plan then omits this change.",
      );
    case "member-role-ignored":
      return error(
        "member",
        `The file grants "${data.role}" to ${name}, but "ignore.roles" excludes that role from every plan.`,
        "Remove the role from the member, or from the ignored patterns.",
      );
    case "member-status-unknown":
      return warning("member", `The status of ${name} at the service is unknown.`, null);
    case "member-expired":
      return warning(
        "member",
        `The invitation of ${name} has expired, and no new one is sent.`,
        `Remove "reinvite: false", or send one with --reinvite ${name}.`,
      );
    case "member-overdue":
      return warning(
        "member",
        `The invitation of ${name} expired at ${data.expiresAt}, but the service still lists it as pending.`,
        "It counts as pending, and is left as it is. To invite them again, remove the invitation at the service and apply.",
      );
    case "member-departed":
      return warning(
        "member",
        `${name} is no longer a member, although no run has removed them (recorded state of ${data.at.slice(0, 10)}). They are not invited again.`,
        `Remove the entry to keep them out. To invite them again, use --reinvite ${name}, or change the entry.`,
      );
    case "member-not-accepted":
      return warning(
        "member",
        `${name} has not accepted an invitation since the entry was last changed, on ${data.since}; after ${data.period}, no new one is sent.`,
        `Remove the entry, or send another one with --reinvite ${name}.`,
      );
    case "member-pin-renewed":
      return warning(
        "member",
        `The entry of ${name} is pinned to ${data.id}, an expired invitation; it now refers to ${data.now}.`,
        `Write "id: ${data.now}", or remove the id.`,
      );
    case "member-mfa-unknown":
      return warning(
        "member",
        `It is unknown whether ${name}, who would hold "${data.role}", has MFA on login.`,
        mfaHint(data.invited),
      );
    default:
      return data satisfies never;
  }
}

function leftOutTexts(because: Extract<FindingData, { code: "due-left-out" }>["because"]): {
  readonly reason: string;
  readonly hint: string;
} {
  if (because === "mixed") {
    return {
      reason: "the file also changes something else for this member.",
      hint: 'Run "rolecall apply" to make all changes.',
    };
  }
  if (because === "password") {
    return {
      reason: "a managed user needs a password.",
      hint: 'Run "rolecall apply" with the password in the environment.',
    };
  }
  if ("roles" in because) {
    const many = because.roles.length > 1;
    return {
      reason: `the ${many ? "roles" : "role"} ${list(because.roles.map((role) => `"${role}"`))} ${many ? "do" : "does"} not exist yet.`,
      hint: `Run "rolecall apply" without --only due: it creates and assigns the ${many ? "roles" : "role"}.`,
    };
  }
  const overrides = because.flatMap(({ override }) => override ?? []);
  const wayOut =
    overrides.length === because.length
      ? `If this is intended, add to guards.overrides: ${overrides.join(", ")}.`
      : "Change the files or the conflicting access.";
  return {
    reason: because.map(({ message }) => message).join(" "),
    hint: `Access is still removed. ${wayOut}`,
  };
}

function unknownRoleTexts({
  name,
  near,
  shared,
  removed,
}: Extract<FindingData, { code: "rule-role-unknown" }>): Readonly<Record<"message" | "hint", string>> {
  if (removed !== null) {
    return {
      message: `A policy, guard or check names "${name}", the role "${removed}", which this plan removes: the rule would have no effect.`,
      hint: "Also remove the rule, or list the role.",
    };
  }
  const correct = shared
    ? "If another merchant that includes the rule has the role, keep it; otherwise correct the name."
    : "Correct the name, or remove it.";
  return {
    message: `A policy, guard or check names "${name}", which is not declared or live: the rule has no effect.`,
    hint: near === null ? correct : `Did you mean "${near}"?`,
  };
}
