import { byCodeUnit, counted, grouped } from "../../lib/text.ts";
import type { RoleImage } from "../../model/field-values.ts";
import type { Finding, Refusal } from "../../model/plan.ts";

/** The live values, at least one, that differ from the file and that the service cannot update in place. */
type FixedValues = Partial<RoleImage>;

/** The data of a refusal by a guard, a policy or a check; `toRefusal` words it. */
export type RefusalData =
  | {
      readonly code: "changed-addresses";
      readonly people: number;
      /** The addresses of the first of them. */
      readonly name: string;
      readonly previously: string;
    }
  | { readonly code: "password-enables"; readonly name: string }
  | {
      readonly code: "self-lockout";
      readonly name: string;
      readonly removed: boolean;
      readonly lost: readonly string[];
    }
  | {
      readonly code: "role-metadata-fixed";
      readonly name: string;
      readonly fixed: FixedValues;
    }
  | { readonly code: "restored-violations"; readonly rules: number }
  | {
      readonly code: "role-replace-pinned" | "role-replace-named";
      readonly name: string;
      readonly id: string;
      readonly fixed: FixedValues;
    }
  | {
      readonly code: "role-still-held";
      readonly name: string;
      readonly holders: readonly string[];
      /** Those who have to accept before the holders lose the role; empty if some holders keep it. */
      readonly waitsFor: readonly string[];
    };

/** The tense of a message: `plan` for access after a plan, `live` for current access. */
export type Tense = "plan" | "live";

/** Returns the warning of a violation that already exists and that the plan does not make worse. */
export function toExistingViolation({ code, resource, name, check, message, hint }: Refusal): Finding {
  const what = check === null ? "" : ` (check: ${check})`;
  return {
    code,
    severity: "warning",
    resource: resource ?? "member",
    name: name ?? check ?? code,
    ...(check !== null && { check }),
    message: `Existing violation: ${message}${what}`,
    hint: `This plan does not make it worse. ${hint}`,
  };
}

/** Returns the refusal of some data. */
export function toRefusal(data: RefusalData): Refusal {
  const { code } = data;
  switch (data.code) {
    case "changed-addresses":
      return guardRefusal(
        code,
        "member",
        null,
        `${data.people} members would be removed, and as many new addresses invited, probably of the same people, who would have no access until they accept.`,
        `Add the previous address to each entry, such as "previously: ${data.previously}" for ${data.name}: the old membership then stays until the new one is accepted.`,
        `changed-addresses=${data.people}`,
      );
    case "password-enables":
      return guardRefusal(
        code,
        "member",
        data.name,
        `${data.name} is disabled, and a new password would enable this user.`,
        "Omit the address to keep the user disabled.",
        `password-enables=${data.name}`,
      );
    case "self-lockout": {
      const { name, removed, lost } = data;
      const what = removed ? "your own membership" : `permissions that the next run needs: ${list(lost)}`;
      return guardRefusal(
        code,
        "member",
        name,
        `The API key belongs to ${name}, and this plan would remove ${what}.`,
        "Use a key that belongs to somebody else, or keep the access in the file.",
        `self-lockout=${name}`,
      );
    }
    case "role-metadata-fixed": {
      const { name, fixed } = data;
      const fields = fieldNames(fixed);
      const keys = Object.keys(fixed).map((field) => `"${field}:"`);
      return guardRefusal(
        code,
        "role",
        name,
        `The ${fields} of role "${name}" ${keys.length === 1 ? "differs" : "differ"}, and the service cannot change a role's ${fields} in place.`,
        `Declare the live ${fields}, ${list(
          Object.values(fixed).map((value) => JSON.stringify(value)),
          " and ",
        )}, or remove ${list(keys, " and ")}; or set "sync.replace_roles: true" to replace the role with a new one.`,
        null,
      );
    }
    case "restored-violations": {
      const { rules } = data;
      return guardRefusal(
        code,
        null,
        null,
        `The access that this undo restores breaks ${counted(rules, "rule")}, listed under the risks.`,
        "Check that this is the right run.",
        `restored-violations=${rules}`,
      );
    }
    case "role-replace-pinned": {
      const { name, id, fixed } = data;
      return guardRefusal(
        code,
        "role",
        name,
        `Role "${name}" must be replaced to change its ${fieldNames(fixed)}, but is pinned to ${id}, which would no longer exist.`,
        `Remove "id: ${id}" from the role.`,
        null,
      );
    }
    case "role-replace-named": {
      const { name, id, fixed } = data;
      return guardRefusal(
        code,
        "role",
        name,
        `Role "${name}" must be replaced to change its ${fieldNames(fixed)}, but the file refers to it by ${id}, which would no longer exist.`,
        `In grants, guards, policies and checks, refer to the role as "${name}" instead of ${id}.`,
        null,
      );
    }
    case "role-still-held": {
      const { name, holders, waitsFor } = data;
      return guardRefusal(
        code,
        "role",
        name,
        `The role "${name}" would be removed, but is still held by ${list(holders)}.`,
        waitsFor.length === 0
          ? "Remove the role from these members first, or list the role in the file."
          : `They lose the role once ${list(waitsFor, " or ")} has accepted: leave the role as it is in this plan, and change it in a later one.`,
        null,
      );
    }
    default:
      return data satisfies never;
  }
}

/** Marks a refusal as one by the rules of a base branch. */
export function refusalOfBase(refusal: Refusal): Refusal {
  const override = refusal.override === null ? "" : ", or override it for this plan";
  return {
    ...refusal,
    message: `${refusal.message} This is a rule of the base branch, which this pull request loosens.`,
    hint: `Loosen the rule first, in a separate pull request${override}.`,
    by: "base",
  };
}

/** The hint of a limit to the changes of an undo. */
export const PARTIAL_UNDO = "Check that this is the right run. To revert only a part of it, use --merchant.";

/** Hints of guards that no file sets, for an undo, whose changes come from a run instead of the file. */
export const UNDO_HINTS: Readonly<Record<string, string>> = {
  "self-lockout": "Use a key that belongs to somebody else.",
  "role-still-held": "Remove the role from these members first.",
};

function fieldNames(fixed: FixedValues): string {
  return list(Object.keys(fixed), " and ");
}

/** Returns the advice to change a rule, or to ask for it if the project enforces the rule by a file. */
export function ruleAdvice(change: string, enforcedBy: string | undefined): string {
  return enforcedBy === undefined ? change : `ask those who own ${enforcedBy}`;
}

/** Returns the refusal of a guard; `key` is the one below it in the file. */
export function guardRefusal(
  code: string,
  resource: Refusal["resource"],
  name: string | null,
  message: string,
  hint: string,
  override: string | null,
  key?: string,
): Refusal {
  const refusal = { rule: "guard", code, resource, name, check: null, message, hint, override } as const;
  return key === undefined ? refusal : { ...refusal, key };
}

const LIST_LIMIT = 5;

/** Joins the first few items of a list, and says how many more there are. */
export function list(items: readonly string[], separator = ", "): string {
  const shown = items.slice(0, LIST_LIMIT).join(separator);
  return items.length > LIST_LIMIT ? `${shown} and ${grouped(items.length - LIST_LIMIT)} more` : shown;
}

const RULES = ["guard", "policy", "check"] as const;

/**
 * Sorts refusals: guards first, then policies and checks, each by code, name and message. Equal ones, as of two memberships
 * with one address, are one.
 */
export function sortRefusals(refusals: readonly Refusal[]): readonly Refusal[] {
  const distinct = new Map(refusals.map((refusal) => [JSON.stringify(refusal), refusal]));
  return [...distinct.values()].sort(
    (a, b) =>
      RULES.indexOf(a.rule) - RULES.indexOf(b.rule) ||
      byCodeUnit(a.code, b.code) ||
      byCodeUnit(a.name ?? "", b.name ?? "") ||
      byCodeUnit(a.message, b.message),
  );
}
