import { counted } from "../../lib/text.ts";
import type { Change, Finding } from "../../model/plan.ts";
import { list } from "./refusals.ts";

/** What the planner has found out about one role or member; `wording` turns it into a Finding. */
export type FindingData =
  | { readonly code: "role-ambiguous"; readonly name: string; readonly ids: readonly string[] }
  | { readonly code: "role-pin-missing"; readonly name: string; readonly id: string }
  | { readonly code: "role-pin-predefined"; readonly name: string; readonly id: string }
  | { readonly code: "caller-unknown"; readonly name: string }
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
  | {
      readonly code: "rule-role-unknown";
      readonly name: string;
      readonly near: string | null;
      /** Only rules of included files name it. */
      readonly shared: boolean;
    }
  | { readonly code: "rule-permission-unknown"; readonly name: string; readonly near: string }
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
  | { readonly code: "member-role-removed"; readonly name: string; readonly role: string }
  | { readonly code: "member-disabled"; readonly name: string }
  | { readonly code: "member-not-managed"; readonly name: string }
  | { readonly code: "member-without-address"; readonly name: string; readonly moves: boolean }
  | {
      readonly code: "member-service-account";
      readonly name: string;
      readonly type: string;
      /** Holds a role that is replaced, and moves to its successor. */
      readonly moves: boolean;
    }
  | {
      readonly code: "member-pin-other";
      readonly name: string;
      readonly id: string;
      readonly address: string;
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
      /** Members by what they hold. */
      readonly groups: readonly { readonly held: string; readonly members: readonly string[] }[];
    }
  | { readonly code: "member-role-ignored"; readonly name: string; readonly role: string }
  | { readonly code: "member-status-unknown"; readonly name: string }
  | { readonly code: "member-expired"; readonly name: string }
  | {
      readonly code: "member-not-accepted";
      readonly name: string;
      /** The day on which its entry was last committed. */
      readonly since: string;
      readonly period: string;
    }
  | { readonly code: "member-pin-renewed"; readonly name: string; readonly id: string; readonly now: string }
  | { readonly code: "member-invitation-lost"; readonly name: string; readonly run: string }
  | {
      readonly code: "member-fields-emptied";
      readonly name: string;
      readonly fields: readonly string[];
      readonly run: string;
      readonly merchant: string;
    }
  | { readonly code: "member-role-gone"; readonly name: string; readonly role: string }
  | {
      readonly code: "member-mfa-unknown";
      readonly name: string;
      readonly role: string;
      /** There is no user yet whom the service could tell it of. */
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

function acceptedHolders(count: number): string {
  return count === 0 ? "no accepted holder" : counted(count, "accepted holder");
}

function mfaHint(invited: boolean): string {
  return invited
    ? "It will be, once the invitation is accepted."
    : "The service does not tell; look it up there before you rely on the policy.";
}

function stays(moves: boolean): string {
  return moves ? "it moves along with a replaced role, and is left alone otherwise" : "it is left alone";
}

const IGNORED_HINT =
  "No plan changes or removes what is ignored, but policies and checks judge it all the same.";

/** Returns the finding of some data: all messages of findings are here. */
export function toFinding(found: FindingData): Finding {
  const { code, name } = found;
  const error = (resource: Finding["resource"], message: string, hint: string): Finding => ({
    code,
    severity: "error",
    resource,
    name,
    message,
    hint,
  });
  const warning = (resource: Finding["resource"], message: string, hint: string | null): Finding => ({
    code,
    severity: "warning",
    resource,
    name,
    message,
    hint,
  });
  switch (found.code) {
    case "role-ambiguous":
      return error(
        "role",
        `Two or more live roles are called "${name}": ${list(found.ids)}.`,
        `Say which one is meant: add "id: ${found.ids[0]}" (or another of them) to the role.`,
      );
    case "role-pin-missing":
      return error(
        "role",
        `Role "${name}" is pinned to ${found.id}, which does not exist.`,
        "Correct the id, or remove it: the role is then found by its name, or created.",
      );
    case "role-pin-predefined":
      return error(
        "role",
        `Role "${name}" is pinned to ${found.id}, which the service itself provides and nobody can change.`,
        'Take it out of "roles:"; members can hold it by its id.',
      );
    case "caller-unknown":
      return warning(
        "member",
        "The service does not tell which member the API key belongs to, so no guard keeps the key from locking itself out.",
        "The key of a user with the scope user.profile_readonly can ask for that; --verbose says why it failed.",
      );
    case "metadata-rounded":
      return warning(
        found.resource,
        `A number in the metadata of ${name} has more digits than can be kept (${found.properties
          .map((property) => JSON.stringify(property))
          .join(
            ", ",
          )}); it would be written back as another number, so ${name} is not ${NOT_DONE[found.kind]}.`,
        "Change it at the service, or declare the metadata with that number as text, in quotes.",
      );
    case "role-not-retrieved":
      return warning(
        "role",
        `The service does not answer for the role ${name}; its id is used as it stands, and what it grants is not known.`,
        "If the id is wrong, correct it: the service would refuse it.",
      );
    case "role-needs-permissions":
      return error(
        "role",
        `Role "${name}" does not exist yet, and the file does not say what it permits.`,
        found.near === null
          ? 'Add "permissions:" to the role; an empty list is allowed.'
          : `Did you mean "${found.near}"? Otherwise add "permissions:" to the role; an empty list is allowed.`,
      );
    case "role-previously-unknown":
      return warning(
        "role",
        `No live role is called "${found.previously}", so "${name}" is not a new name for one.`,
        `Did you mean "previously: ${found.near}"?`,
      );
    case "role-previously-left":
      return warning(
        "role",
        `A role called "${name}" is there already, so "${found.previously}" is not renamed to it.`,
        `Take "previously: ${found.previously}" out; if both are to be one role, pin the right one with its id.`,
      );
    case "role-name-taken":
      return error(
        "role",
        `The name "${name}" belongs to the live role ${found.id}, which this plan leaves alone.`,
        "Choose another name, or list that role as well.",
      );
    case "role-name-case":
      return error(
        "role",
        `"${name}" would be created, and differs from the live role "${found.live}" by upper and lower case alone.`,
        `If the live role is meant, write "${found.live}", or add "previously: ${found.live}" to rename it. If it is another role, list "${found.live}" as well, or choose another name.`,
      );
    case "rule-role-unknown": {
      const message = `A policy, guard or check names "${name}", which is neither declared nor live: it has no effect.`;
      const correct = found.shared
        ? "If another merchant that includes the rule has the role, leave it; else correct the name."
        : "Correct the name, or remove it.";
      const hint = found.near === null ? correct : `Did you mean "${found.near}"?`;
      return found.shared ? warning("role", message, hint) : error("role", message, hint);
    }
    case "rule-permission-unknown":
      return warning(
        "role",
        `A policy or check names the permission "${name}", which no role has.`,
        `Did you mean "${found.near}"?`,
      );
    case "role-likely-renamed":
      return warning(
        "role",
        `"${name}" would be created and "${found.previously}" removed, with the same permissions or holders.`,
        `If it is a new name for the same role, add "previously: ${found.previously}" to it.`,
      );
    case "role-few-holders":
      return warning(
        "role",
        `The role "${name}" has ${acceptedHolders(found.holders)}; it needs ${found.min}.`,
        "This plan does not make it worse. Give the role to somebody else, or let the invited accept.",
      );
    case "check-unknown":
      return warning(
        "role",
        `The service does not tell what "${name}" grants, so a check of ${found.permission} cannot be sure.`,
        null,
      );
    case "member-ambiguous":
      return error(
        "member",
        `Two or more live members have the address ${name}: ${list(found.ids)}.`,
        `Say which one is meant: add "id: ${found.ids[0]}" (or another of them) to the member.`,
      );
    case "member-pin-missing":
      return error(
        "member",
        `Member ${name} is pinned to ${found.id}, which does not exist.`,
        "Correct the id, or take it out to find the member by its address, or to invite it.",
      );
    case "member-needs-roles":
      return warning(
        "member",
        `${name} is not a member, and is not created: the file does not say which roles to give.`,
        'Add "roles:" to the member; an empty list is allowed. Where an apply could not renew an expired invitation, the journal of that run knows what it held.',
      );
    case "member-role-unknown":
      return error(
        "member",
        `${name} is to hold "${found.role}", but there is no such role in the file or at the service.`,
        found.near === null
          ? 'Correct the name, declare the role under "roles:", or use the id of a predefined role.'
          : `Did you mean "${found.near}"? Otherwise declare the role under "roles:".`,
      );
    case "member-role-ambiguous":
      return error(
        "member",
        `${name} is to hold "${found.role}", and two or more live roles have that name: ${list(found.ids)}.`,
        "Use the id of the intended role.",
      );
    case "member-role-removed":
      return error(
        "member",
        `${name} is to hold "${found.role}", which this plan would remove because "roles:" does not list it.`,
        "List the role, or take it from the member.",
      );
    case "member-disabled":
      return warning(
        "member",
        `${name} is disabled at the service; no change made here can enable it.`,
        null,
      );
    case "member-not-managed":
      return warning(
        "member",
        `${name} is written as a managed user, but at the service it is an ordinary one; its nickname cannot be set.`,
        'Take "managed:" out, or remove the member and have it created anew.',
      );
    case "member-without-address":
      return warning(
        "member",
        `Member ${name} has no e-mail address, so the file cannot name it; ${stays(found.moves)}.`,
        null,
      );
    case "member-service-account":
      return warning(
        "member",
        SERVICE_ACCOUNTS[found.type] === undefined
          ? `${name} is not listed, and its user type "${found.type}" is not known; ${stays(found.moves)}.`
          : `${name} is ${SERVICE_ACCOUNTS[found.type]} that the file does not list; ${stays(found.moves)}.`,
        'List it under "members:" to manage it, or under "ignore.members" to keep it out of plans.',
      );
    case "member-pin-other":
      return warning(
        "member",
        `The entry of ${name} is pinned to ${found.id}, whose address is ${found.address}.`,
        "If they are two people, take the id out; if the address has changed, this is right.",
      );
    case "member-pinned-elsewhere":
      return error(
        "member",
        `${name} is the address of ${found.id}, which the entry of ${found.by} is pinned to.`,
        "The service takes an address only once. Take the id out of that entry, or take one of the two out.",
      );
    case "member-ignored":
      return error(
        "member",
        `${name} is declared, and "ignore.members" keeps that address, or its live member, out of every plan.`,
        "Take the entry out, or the pattern.",
      );
    case "role-ignored":
      return error(
        "role",
        `The role "${name}" is declared, and "ignore.roles" keeps that name, or its live role, out of every plan.`,
        "Take the entry out, or the pattern.",
      );
    case "roles-ignored": {
      const what = found.roles.length === 1 ? "1 live role is" : `${found.roles.length} live roles are`;
      return warning("role", `${what} ignored: ${list(found.roles)}.`, IGNORED_HINT);
    }
    case "members-ignored": {
      const what = found.count === 1 ? "1 live member is" : `${found.count} live members are`;
      const who = found.groups.map(({ held, members }) => `${held} (${list(members)})`);
      return warning("member", `${what} ignored: ${list(who, "; ")}.`, IGNORED_HINT);
    }
    case "member-role-ignored":
      return error(
        "member",
        `${name} is to hold "${found.role}", which "ignore.roles" keeps out of every plan.`,
        "Take the role from the member, or out of the patterns to ignore.",
      );
    case "member-status-unknown":
      return warning("member", `The status of ${name} at the service is unknown.`, null);
    case "member-expired":
      return warning(
        "member",
        `The invitation of ${name} has expired, and no new one is sent.`,
        `Take "sync.reinvite: false" out, or send one with --reinvite ${name}.`,
      );
    case "member-not-accepted":
      return warning(
        "member",
        `${name} has not accepted since ${found.since}, when the entry was last changed, and no new invitation is sent after ${found.period}.`,
        `Remove the entry, or send one more with --reinvite ${name}.`,
      );
    case "member-pin-renewed":
      return warning(
        "member",
        `The entry of ${name} is pinned to ${found.id}, an invitation that has expired; it stands for ${found.now} now.`,
        `Write "id: ${found.now}", or take the id out.`,
      );
    case "member-invitation-lost":
      return warning(
        "member",
        `The expired invitation of ${name} is gone: run ${found.run} removed it, and could not send a new one.`,
        "It is sent now, with what the journal of that run says of roles and metadata that the file does not manage.",
      );
    case "member-fields-emptied": {
      const [what, it] = found.fields.length === 1 ? ["is", "it"] : ["are", "them"];
      return warning(
        "member",
        `The ${found.fields.join(" and ")} of ${name} ${what} empty: the service may have emptied ${it} on an update by the apply ${found.run} that did not send ${it}.`,
        `To restore ${it}, run "rolecall undo ${found.run} -m ${found.merchant}", then apply again.`,
      );
    }
    case "member-role-gone":
      return warning(
        "member",
        `The expired invitation of ${name} held "${found.role}", which is not there any more.`,
        "The new one is sent without it.",
      );
    case "member-mfa-unknown":
      return warning(
        "member",
        `It is not known whether ${name}, who is to hold "${found.role}", has MFA on login.`,
        mfaHint(found.invited),
      );
    default:
      return found satisfies never;
  }
}
