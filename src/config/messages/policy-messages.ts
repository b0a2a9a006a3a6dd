import type { PolicyProblem, Who } from "../diagnostics/problem.ts";
import { listed, quote, type Words } from "./phrases.ts";

/** The words for what the file refuses by its own policies and checks. */
export const POLICY_WORDS: Words<PolicyProblem["code"]> = {
  "check-at-most": ({ can, limit, who }) => ({
    message: `${count(who.count, "member")} can ${quote(can)}, and this check allows ${limit}: ${people(who)}.`,
    hint: "Take the permission from some of them, or allow more.",
  }),
  "check-cannot": ({ member, permission, role }) => ({
    message: `${quote(member)} can ${quote(permission)}, through the role ${quote(role)}.`,
    hint: "Take the role from the member or the permission from the role, or correct the check.",
  }),
  "check-only": ({ can, who }) => ({
    message: `${people(who)} can ${quote(can)} too, which this check does not allow.`,
    hint: "Take the permission from them, or list them here.",
  }),
  "holders-contradiction": ({ role, min, max }, first) => ({
    message: `${quote(role)} may have ${max} holders at most, but must keep ${min}, says ${first}.`,
    hint: 'No access can meet both: raise "max_holders", or lower "min_holders".',
  }),
  "too-much-to-judge": () => ({
    message: "So many roles, members, policies and checks stand here that judging them takes too long.",
    hint: "Use fewer checks, and fewer sets of separate roles.",
  }),
  "policy-email-domain": ({ email, domains }) => ({
    message: `The address ${quote(email)} is of no allowed domain.`,
    hint:
      domains.length === 0
        ? 'Under "policies", "email_domains" allows none. Leave it out to allow all.'
        : `Allowed ${domains.length === 1 ? "is" : "are"} ${listed(domains.slice(0, 5), "and")}${domains.length > 5 ? " and more" : ""}.`,
  }),
  "policy-forbidden-permission": ({ permission, role }) => ({
    message: `The role ${quote(role)} grants ${quote(permission)}, which no custom role may.`,
    hint: 'Remove the permission. "forbid_permissions" under "policies" forbids it.',
  }),
  "policy-max-holders": ({ role, limit, who }) => ({
    message: `The role ${quote(role)} may have ${count(limit, "holder")}, and has ${who.count}: ${people(who)}.`,
    hint: "Take the role from some of them, or allow more.",
  }),
  "policy-require-until": ({ role }) => ({
    message: `The role ${quote(role)} is only granted with an end, and this grant has none.`,
    hint: `Write { role: ${role}, until: 2027-01-31 } with the date that is right.`,
  }),
  "policy-separate": ({ email, roles: [first, second] }, place) => ({
    message: `${quote(email)} holds ${quote(second)} beside ${quote(first)} (${place}); nobody may hold both.`,
    hint: 'Take one of them away. "separate" under "policies" keeps them apart.',
  }),
};

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function people({ names, count: all }: Who): string {
  return all > names.length ? `${names.join(", ")} and ${all - names.length} more` : listed(names, "and");
}
