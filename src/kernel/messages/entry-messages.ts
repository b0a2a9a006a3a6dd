import { counted, listText } from "../../lib/text.ts";
import type { EntryProblem, IncludeProblem, PolicyProblem, ProjectProblem } from "../problems/problem.ts";
import { RULE_SECTIONS } from "../schema/project-schema.ts";
import {
  didYouMean,
  judgedMessage,
  type MessageTable,
  type MessageText,
  quote,
  subject,
} from "./message-phrases.ts";

/** Messages for problems between files, and between the entries of a merchant. */
export const ENTRY_MESSAGES: MessageTable<IncludeProblem["code"] | EntryProblem["code"]> = {
  "duplicate-include": ({ name }, first) => ({
    message: `${quote(name)} is included twice; the first time is at ${first}.`,
    hint: "Remove one of the two.",
  }),
  "include-cycle": ({ chain }) => ({
    message:
      chain.length <= 2
        ? "The file includes itself."
        : `The files include one another in a cycle: ${shortened(chain).join(" → ")}.`,
    hint: "Remove one of these includes, or move the shared sections to a third file.",
  }),
  "include-identity": ({ key }) => ({
    message: `An included file cannot have ${quote(key)}.`,
    hint: "Move it to the file that has the merchant code.",
  }),
  "include-merchant": ({ name, merchant }) => ({
    message: `${quote(name)} cannot be included: it is the file of merchant ${quote(merchant)}.`,
    hint: "Move the shared sections to a file without a merchant code, and include that file in both.",
  }),
  "include-not-read": () => ({
    message: "The files included here were not loaded.",
    hint: "Use loadMerchants or the command line, which also load included files.",
  }),
  "conflicting-member": ({ email, field }, first) =>
    field === "roles"
      ? {
          message: `The member ${quote(email)} has no roles here, but has some at ${first}.`,
          hint: 'Roles of a member are combined across files. Remove "roles:" here, or the roles there.',
        }
      : {
          message: `The member ${quote(email)} has a different ${quote(field)} at ${first}.`,
          hint: "Only a member's roles are combined across files; everything else must agree. Set it in only one file.",
        },
  "conflicting-setting": ({ path }, first) => ({
    message: `${path.map(quote).reverse().join(" under ")} has a different value at ${first}.`,
    hint:
      path[0] === "guards"
        ? "A count and a percentage cannot be compared. Write both as counts or both as percentages; the stricter one then applies."
        : "Settings must agree across files. Set it in only one file.",
  }),
  "looser-setting": ({ path, value, limit, stricter }, first) => ({
    message: `${quote(path.at(-1))} under ${quote(path.at(-2))} is looser here (${settingText(value)}) than at ${first} (${settingText(limit)}).`,
    hint: `A merchant's file can only be stricter than what it includes: write ${settingText(limit)} or ${stricter}, or remove the line here.`,
  }),
  "adjust-form": ({ key }) =>
    key === null
      ? {
          message: "The adjustment changes nothing.",
          hint: 'Add "add" or "remove" with permissions, or remove the entry.',
        }
      : {
          message: `An entry with "adjust" cannot have ${quote(key)}.`,
          hint: 'It can only have "name" and "adjust". To declare a role for this merchant only, remove "adjust".',
        },
  "adjust-included": ({ role }) => ({
    message: `The role ${quote(role)} is adjusted in a file that others include.`,
    hint: "Adjust it in the merchant's own file, or change the role itself.",
  }),
  "adjust-no-effect": ({ role, permission, list }, first) =>
    list === "add"
      ? {
          message: `The role ${quote(role)} already has the permission ${quote(permission)}, at ${first}.`,
          hint: 'Remove it from "add".',
        }
      : {
          message: `The role ${quote(role)}, declared at ${first}, does not have the permission ${quote(permission)}.`,
          hint: 'Correct it, or remove it from "remove".',
        },
  "adjust-unknown-role": ({ role, near }, first) =>
    first === ""
      ? {
          message: `No included file declares a role called ${quote(role)}.`,
          hint: near === null ? "Correct the name, or include the file that declares it." : didYouMean(near),
        }
      : {
          message: `The role ${quote(role)} is declared in this file, at ${first}.`,
          hint: "Only included roles can be adjusted. Change the permissions there.",
        },
  "adjust-unmanaged": ({ role }, first) => ({
    message: `The role ${quote(role)}, declared at ${first}, has no "permissions", so they are not managed.`,
    hint: 'Add "permissions" to the role, or remove the adjustment.',
  }),
  "conflicting-grant": ({ role }, first) => ({
    message: `The member has the role ${quote(role)} with different dates at ${first}.`,
    hint: "Keep the correct one.",
  }),
  "duplicate-entry": ({ text, path }, first) => ({
    message: `${subject(path)} has ${quote(text)} twice; the first is at ${first}.`,
    hint: "Remove one of the two.",
  }),
  "duplicate-role": ({ name }, first) => ({
    message: `The role ${quote(name)} is listed twice; the first is at ${first}.`,
    hint: "Merge the two, or rename one of them.",
  }),
  "ignored-entry": ({ kind, name }, first) => ({
    message:
      kind === "grant"
        ? `The role ${quote(name)} is granted here, and ignored at ${first}: no plan can grant it.`
        : `The ${kind} ${quote(name)} is declared here, and ignored at ${first}: no plan can apply the entry.`,
    hint: kind === "grant" ? "Remove the grant, or the pattern." : "Remove the entry, or the pattern.",
  }),
  "duplicate-role-id": ({ id }, first) => ({
    message: `Two roles are pinned to ${quote(id)}; the other is at ${first}.`,
    hint: "A live role can have only one entry. Remove the id from one of the two.",
  }),
  "duplicate-member": ({ email }, first) => ({
    message: `The member ${quote(email)} is listed twice; the first is at ${first}.`,
    hint: "Merge the two. E-mail addresses are case-insensitive.",
  }),
  "duplicate-member-id": ({ id }, first) => ({
    message: `Two members are pinned to ${quote(id)}; the other is at ${first}.`,
    hint: "A live member can have only one entry. Remove the id from one of the two.",
  }),
  "duplicate-permission": ({ permission }, first) => ({
    message: `The role has the permission ${quote(permission)} twice; the first is at ${first}.`,
    hint: "Remove one of the two.",
  }),
  "duplicate-member-role": ({ role }, first) => ({
    message: `The member has the role ${quote(role)} twice; the first is at ${first}.`,
    hint: "Remove one of the two.",
  }),
  "previous-address": ({ email, kind }, first) => ({
    message:
      kind === "listed"
        ? `The previous address ${quote(email)} is that of the member at ${first}.`
        : `The previous address ${quote(email)} is also that of another member, at ${first}.`,
    hint: "An address can only change to one new address. Remove the entry of the old address, or correct the address.",
  }),
  "duplicate-previously": ({ name }, first) => ({
    message: `Two roles have the previous name ${quote(name)}; the other is at ${first}.`,
    hint: 'A live role can only be renamed to one name. Remove "previously" from one of the two.',
  }),
  "previously-declared": ({ name, kind }, first) => PREVIOUSLY[kind](name, first),
  "rare-permission": ({ permission, near }) => ({
    message: `The permission ${quote(permission)} is used only once, while ${quote(near)} is used often.`,
    hint: didYouMean(near),
  }),
  "similar-role-id": ({ role, near }) => ({
    message: `The role id ${quote(role)} is similar to the predefined role ${quote(near)}.`,
    hint: didYouMean(near),
  }),
  "role-name-like-id": ({ name }) => ({
    message: `The role's name ${quote(name)} looks like the id of a role.`,
    hint: "It would be ambiguous in a member's roles. Give the role another name.",
  }),
  "service-limit": ({ what, count, limit }) => ({
    message:
      what === "roles"
        ? `The member has ${count} roles; the service accepts at most ${limit}.`
        : `The ${what} has ${count} characters; the service accepts at most ${limit}.`,
    hint: "Reduce it: the service will probably reject it.",
  }),
  "unheld-role": ({ names }) => {
    const [first = "", ...otherNames] = names.slice(0, MAX_NAMED).map((name) => quote(name));
    return otherNames.length === 0
      ? { message: `Nobody holds the role ${first}.`, hint: "Grant it to someone, or remove it." }
      : {
          message: `Nobody holds ${names.length} roles of this file: ${[first, ...otherNames].join(", ")}${names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : ""}.`,
          hint: "Grant them to someone, or remove them.",
        };
  },
  "previous-role-name": ({ role, name, places: { length } }) => ({
    message: `The role ${quote(role)} is now called ${quote(name)}${length > 1 ? `; this file has the old name ${length} times` : ""}.`,
    hint: `Write ${quote(name)}, or run "rolecall lint --fix": the old name stops working when "previously" is removed.`,
  }),
  "unknown-role": ({ role, near }) => ({
    message: `No role is called ${quote(role)}.`,
    hint: unknownRoleHint(near),
  }),
  "unknown-shared-role": ({ role, near, open }) => ({
    message: open
      ? `No merchant that includes this file declares a role called ${quote(role)}, so this rule has an effect only where such a role is live.`
      : `None of the given merchants that include this file has a role called ${quote(role)}, so this rule has no effect on them.`,
    hint: near === null ? "Check the name, or validate all merchants together." : didYouMean(near),
  }),
  "unassignable-role": ({ role, when }) => ({
    message: `The service may refuse to assign ${quote(role)} through its API${when === "begins" ? " when this grant begins" : " when this suspension ends"}.`,
    hint: "Current holders keep it. Assign it at the service, or use another role.",
  }),
  "leaver-listed": ({ email, from }, first) => ({
    message: `${email} left on ${from}, according to ${first}.`,
    hint: "Remove it here.",
  }),
  "unknown-protected-role": ({ role, near }) => ({
    message: `No declared role is called ${quote(role)}, so this only has an effect if such a role is live.`,
    hint: near === null ? "Correct the name, or declare the role." : didYouMean(near),
  }),
  "unknown-member": ({ email, near }) => ({
    message: `No member is declared as ${quote(email)}, so this has no effect.`,
    hint: near === null ? "Remove it, or declare the member." : didYouMean(near),
  }),
  "until-after-membership": ({ until, membership }, first) => ({
    message: `The role ends at ${until}, after the membership, which ends at ${membership} (${first}).`,
    hint: "Remove the end date of the role, or correct one of the two.",
  }),
  "from-after-until": ({ from, until }, first) => ({
    message: `This begins at ${from}, and ends at ${until} (${first}), so it never takes effect.`,
    hint: "Correct one of the two.",
  }),
  "until-past": ({ until, what }) => PAST[what](until),
};

const PAST: Readonly<Record<"grant" | "membership" | "suspension", (until: string) => MessageText>> = {
  grant: (until) => ({
    message: `This grant has ended: ${until} is in the past. It is treated as absent.`,
    hint: "Remove the entry, or set a future end date.",
  }),
  membership: (until) => ({
    message: `This membership has ended: ${until} is in the past. The member is treated as absent.`,
    hint: "Remove the entry once an apply has removed the member, or set a future end date.",
  }),
  suspension: (until) => ({
    message: `This suspension has ended: ${until} is in the past. The roles are restored.`,
    hint: 'Remove "suspended" once an apply has restored the roles, or set a future end date.',
  }),
};

const MAX_NAMED = 5;

const MAX_CHAIN = 6;

/** Returns a chain with its middle left out if it is long. */
function shortened(chain: readonly string[]): readonly string[] {
  return chain.length <= MAX_CHAIN ? chain : [...chain.slice(0, 3), "…", ...chain.slice(-2)];
}

function unknownRoleHint(near: string | null): string {
  return near === null
    ? 'Add it to "roles". For a predefined role, use its id, such as role_employee.'
    : didYouMean(near);
}

const PREVIOUSLY = {
  own: (name: string) => ({
    message: `The role is still called ${quote(name)}.`,
    hint: 'Change "name" to rename the role, or remove "previously".',
  }),
  kept: (name: string, first: string) => ({
    message: `A role called ${quote(name)} is still declared, at ${first}.`,
    hint: 'Remove the entry of the old name, or this "previously".',
  }),
  swapped: (name: string, first: string) => ({
    message: `This role was called ${quote(name)}, and the role at ${first} had the name of this one: they swap names.`,
    hint: 'A swap looks the same before and after an apply. Pin each role by its "id" instead.',
  }),
} as const;

/** Messages for violations of checks, as worded by the planner, and for policies that cannot be judged. */
export const POLICY_MESSAGES: MessageTable<PolicyProblem["code"]> = {
  "across-merchants": judgedMessage,
  "holders-contradiction": ({ role, min, max, keys }, first) => ({
    message: `${quote(role)} may have at most ${counted(max, "holder")}, but must keep ${min} (${first}).`,
    hint: `Both cannot hold: raise ${quote(keys.max)}, or lower ${quote(keys.min)}.`,
  }),
  "too-much-to-judge": () => ({
    message:
      "Evaluating the policies and checks would take too long: there are too many roles, members and rules.",
    hint: 'Use fewer checks, and fewer sets under "separate".',
  }),
};

/** Messages for a project's file, and for files that are not as it demands. */
export const PROJECT_MESSAGES: MessageTable<ProjectProblem["code"]> = {
  "project-file-name": ({ name }) => ({
    message: `${quote(name)} is ignored: the project's file must be named "rolecall.yaml".`,
    hint: "Rename it, or remove it.",
  }),
  "rules-section": ({ key }) => ({
    message: `A file under enforced rules cannot have ${quote(key)}.`,
    hint: `It may have ${listText(
      RULE_SECTIONS.map((section) => quote(section)),
      "and",
    )}, and include files that have them.`,
  }),
  "rules-in-reach": ({ name, glob }) => ({
    message: `${quote(name)} is subject to its own rules: ${quote(glob)} matches it.`,
    hint: "Anyone who can change those files could change the rules. Move the rules to a folder that no glob of this entry matches.",
  }),
  "glob-without-file": ({ glob }) => ({
    message: `${quote(glob)} matches no YAML file, so it enforces nothing.`,
    hint: "Paths are relative to the project's root. Correct the glob, or remove it.",
  }),
  "file-not-enforced": ({ project }) => ({
    message: `No glob of ${project} matches this file.`,
    hint: 'With "enforce_all: true", an entry of "enforce" must match every merchant\'s file. An entry may have only "files".',
  }),
  "section-not-allowed": ({ key, allowed, rulesFile }) => ({
    message: `This file must not have ${quote(key)}.`,
    hint: [
      allowed.length === 0
        ? 'Only "version", "merchant" and "environment" are allowed.'
        : `Allowed here: ${allowed.join(", ")}.`,
      ...(rulesFile === null
        ? []
        : [
            `A file that a merchant's file includes may have no other sections either. Move ${quote(key)} to ${rulesFile} if it is for all merchants, or add it to "allow".`,
          ]),
    ].join(" "),
  }),
  "enforced-setting": ({ path, value }) => ({
    message: `${path.map(quote).reverse().join(" under ")} differs from the rules that apply to this file, which set it to ${JSON.stringify(value)}.`,
    hint: "Remove it here: the rules apply without it.",
  }),
  "across-not-counted": ({ files }) => ({
    message: `These rules do not count the merchants of ${listText(files.slice(0, MAX_NAMED))}${files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : ""}, which have errors.`,
    hint: "Correct these files: rolecall validate lists their errors.",
  }),
};

function settingText(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(String).join(", ")}]` : String(value);
}
