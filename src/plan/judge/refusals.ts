import type { Metadata } from "../../model/json.ts";
import type { Finding, Refusal } from "../../model/plan.ts";

/** What a guard, a policy or a check has against a plan; `toRefusal` turns it into a Refusal. */
export type RefusalData =
  | {
      readonly code: "max-removals";
      readonly resource: "role" | "member";
      readonly removals: number;
      readonly live: number;
      readonly allowed: number;
    }
  | {
      readonly code: "protect";
      readonly resource: "role" | "member";
      readonly name: string;
      readonly kind: string;
    }
  | {
      readonly code: "min-holders";
      readonly role: string;
      readonly name: string;
      readonly before: number;
      readonly after: number;
      readonly min: number;
      /** Service accounts that hold it as well, and do not count. */
      readonly uncounted: number;
    }
  | { readonly code: "min-holders-wait"; readonly name: string; readonly member: string }
  | {
      readonly code: "self-lockout";
      readonly name: string;
      readonly removed: boolean;
      readonly lost: readonly string[];
    }
  | {
      readonly code: "role-metadata-fixed";
      readonly name: string;
      readonly id: string;
      readonly live: Metadata;
    }
  | { readonly code: "role-replace-pinned"; readonly name: string; readonly id: string }
  | { readonly code: "role-replace-named"; readonly name: string; readonly id: string }
  | { readonly code: "role-still-held"; readonly name: string; readonly holders: readonly string[] }
  | { readonly code: "email-domains"; readonly name: string; readonly domains: readonly string[] }
  | { readonly code: "separate"; readonly name: string; readonly roles: readonly string[] }
  | {
      readonly code: "max-holders";
      readonly name: string;
      readonly holders: readonly string[];
      readonly max: number;
    }
  | {
      readonly code: "require-until";
      readonly name: string;
      readonly role: string;
      /** Coverage by the file: the grant, only the member, or nothing. */
      readonly listed: "grant" | "member" | null;
    }
  | { readonly code: "require-mfa"; readonly name: string; readonly role: string }
  | { readonly code: "forbid-permissions"; readonly name: string; readonly permissions: readonly string[] }
  | {
      readonly code: "check-only";
      readonly name: string;
      readonly permission: string;
      readonly through: readonly string[];
    }
  | {
      readonly code: "check-at-most";
      readonly permission: string;
      readonly most: number;
      readonly holders: readonly string[];
    }
  | {
      readonly code: "check-cannot";
      readonly name: string;
      readonly permission: string;
      readonly through: readonly string[];
    };

/** Whether a violation is told as what a plan would leave behind, or as what is so. */
export type Tense = "plan" | "live";

/** Returns a warning of what is broken already, and not made worse. */
export function alreadySo({ code, resource, name, check, message, hint }: Refusal): Finding {
  const what = check === null ? "" : ` (check: ${check})`;
  return {
    code,
    severity: "warning",
    resource: resource ?? "member",
    name: name ?? check ?? code,
    message: `Existing violation: ${message}${what}`,
    hint: `This plan does not make it worse. ${hint}`,
  };
}

const UNTIL_HINTS = {
  grant: (role: string): string => `Write { role: ${role}, until: 2027-01-31 }.`,
  member: (role: string): string =>
    `Add "until:" to the member, or list { role: ${role}, until: 2027-01-31 } among its roles.`,
  nothing: (): string => "The file gives no end date: list the member with one.",
};

/** Returns the refusal of some data: all messages of refusals are here. */
export function toRefusal(data: RefusalData, tense: Tense = "plan"): Refusal {
  const { code } = data;
  const isPlan = tense === "plan";
  const hold = isPlan ? "would hold" : "holds";
  const have = isPlan ? "would have" : "has";
  switch (data.code) {
    case "max-removals": {
      const { resource, removals, live, allowed } = data;
      return guard(
        code,
        resource,
        null,
        `${removals} of ${live} ${resource}s would be removed or lose something; ${allowed} at once are allowed.`,
        "Look whether the file is complete. A part that was left out by mistake is the usual cause.",
        `max-removals=${removals}`,
      );
    }
    case "protect": {
      const { resource, name, kind } = data;
      return guard(
        code,
        resource,
        name,
        `The ${resource} ${quoted(resource, name)} is protected, and this plan would ${kind} it.`,
        "Take the change out of the file, or the entry out of guards.protect.",
        `protect=${name}`,
      );
    }
    case "min-holders": {
      const { role, name, before, after, min, uncounted } = data;
      const besides = uncounted === 0 ? "" : ", service accounts not counted";
      return guard(
        code,
        "role",
        name,
        `The role "${name}" would ${keptOf(after, before)}${besides}; it needs ${min}.`,
        "Give the role to somebody else first, and let them accept.",
        // What is live can lower the number while the changes, and with them the fingerprint, stay the same.
        `min-holders=${role}:${after}`,
      );
    }
    case "min-holders-wait": {
      const { name, member } = data;
      return guard(
        code,
        "role",
        name,
        `${member} would leave "${name}" without enough holders, while those who are to follow wait for others.`,
        "Make the change in two steps: first give the roles, and take them away when everybody has accepted.",
        null,
      );
    }
    case "self-lockout": {
      const { name, removed, lost } = data;
      const what = removed ? "your own membership" : `what the next run needs: ${list(lost)}`;
      return guard(
        code,
        "member",
        name,
        `The API key belongs to ${name}, and this plan would take away ${what}.`,
        "Use a key that belongs to somebody else, or keep the access in the file.",
        `self-lockout=${name}`,
      );
    }
    case "role-metadata-fixed": {
      const { name, live } = data;
      return guard(
        code,
        "role",
        name,
        `The metadata of role "${name}" differs, and the service cannot change a role's metadata in place.`,
        `Write the live one, ${JSON.stringify(live)}, or leave "metadata:" out; or set "sync.replace_roles: true" to have a new role take its place.`,
        null,
      );
    }
    case "role-replace-pinned": {
      const { name, id } = data;
      return guard(
        code,
        "role",
        name,
        `Role "${name}" has to be replaced for its metadata, but is pinned to ${id}, which would be gone.`,
        `Take "id: ${id}" out of the role.`,
        null,
      );
    }
    case "role-replace-named": {
      const { name, id } = data;
      return guard(
        code,
        "role",
        name,
        `Role "${name}" has to be replaced for its metadata, but the file names it by ${id}, which would be gone.`,
        `Name the role "${name}" in grants, guards, policies and checks, instead of ${id}.`,
        null,
      );
    }
    case "role-still-held": {
      const { name, holders } = data;
      return guard(
        code,
        "role",
        name,
        `The role "${name}" would be removed, but is still held by ${list(holders)}.`,
        "Take the role from them first, or list the role in the file.",
        null,
      );
    }
    case "email-domains": {
      const { name, domains } = data;
      return policy(
        code,
        "member",
        name,
        `The address ${name} is in none of the allowed domains: ${list(domains) || "there are none"}.`,
        "Use another address, or add the domain to policies.email_domains.",
      );
    }
    case "separate": {
      const { name, roles } = data;
      return policy(
        code,
        "member",
        name,
        `${name} ${hold} ${list(roles.map((role) => `"${role}"`))} together.`,
        "policies.separate keeps them apart: take all but one of them away.",
      );
    }
    case "max-holders": {
      const { name, holders, max } = data;
      return policy(
        code,
        "role",
        name,
        `The role "${name}" ${have} ${holders.length} ${holders.length === 1 ? "holder" : "holders"}, and ${max} ${max === 1 ? "is" : "are"} allowed: ${list(holders)}.`,
        "Take it from somebody, or raise policies.max_holders.",
      );
    }
    case "require-until": {
      const { name, role, listed } = data;
      return policy(
        code,
        "member",
        name,
        `${name} ${hold} "${role}" without an end date.`,
        UNTIL_HINTS[listed ?? "nothing"](role),
      );
    }
    case "require-mfa": {
      const { name, role } = data;
      return policy(
        code,
        "member",
        name,
        `${name} ${hold} "${role}" without MFA on login.`,
        "Have them turn MFA on, or take the role from them.",
      );
    }
    case "forbid-permissions": {
      const { name, permissions } = data;
      return policy(
        code,
        "role",
        name,
        `The role "${name}" ${isPlan ? "would grant" : "grants"} ${list(permissions)}, which no custom role may.`,
        "Take it out of the role, or out of policies.forbid_permissions.",
      );
    }
    case "check-only": {
      const { name, permission, through } = data;
      return check(
        code,
        name,
        `${name} ${have} ${permission}, through ${list(through)}; a check allows it to others only.`,
      );
    }
    case "check-at-most": {
      const { permission, most, holders } = data;
      return check(
        code,
        null,
        `${holders.length === 1 ? "1 member" : `${holders.length} members`} ${isPlan || holders.length === 1 ? have : "have"} ${permission}, and a check allows ${most}: ${list(holders)}.`,
      );
    }
    case "check-cannot": {
      const { name, permission, through } = data;
      return check(
        code,
        name,
        `${name} ${have} ${permission}, through ${list(through)}; a check forbids it.`,
      );
    }
    default:
      return data satisfies never;
  }
}

function guard(
  code: string,
  resource: Refusal["resource"],
  name: string | null,
  message: string,
  hint: string,
  override: string | null,
): Refusal {
  return { rule: "guard", code, resource, name, check: null, message, hint, override };
}

function policy(
  code: string,
  resource: Refusal["resource"],
  name: string,
  message: string,
  hint: string,
): Refusal {
  return { rule: "policy", code, resource, name, check: null, message, hint, override: null };
}

function check(code: string, name: string | null, message: string): Refusal {
  const hint = "Change the roles or their permissions, or the check.";
  return {
    rule: "check",
    code,
    resource: name === null ? null : "member",
    name,
    check: null,
    message,
    hint,
    override: null,
  };
}

/** Returns what becomes of the accepted holders of a role that loses some. */
function keptOf(after: number, before: number): string {
  if (before === 1) return "lose its only accepted holder";
  return `keep ${after === 0 ? "none" : after} of its ${before} accepted holders`;
}

function quoted(resource: "role" | "member", name: string): string {
  return resource === "role" ? `"${name}"` : name;
}

const LIST_LIMIT = 5;

/** The first few of a list, and how many more there are. */
export function list(items: readonly string[], separator = ", "): string {
  const shown = items.slice(0, LIST_LIMIT).join(separator);
  return items.length > LIST_LIMIT ? `${shown} and ${items.length - LIST_LIMIT} more` : shown;
}
