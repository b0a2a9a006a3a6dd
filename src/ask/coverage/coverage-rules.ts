import type { ListedRule } from "../../model/coverage.ts";
import type { Check, DesiredState, Escalation, Policies, RemovalLimit } from "../../model/desired.ts";
import { enforcedSets, ownRules } from "../../rules/base-rules.ts";
import { checkText } from "../../rules/checks.ts";
import { DEFAULT_MIN_HOLDERS } from "../../rules/holders.ts";

/** A rule by itself, with what it takes to judge it. */
export type CoverageRule = { readonly listed: ListedRule } & (
  | { readonly kind: "check"; readonly check: Check; readonly escalation: Partial<Escalation> }
  | { readonly kind: "email-domains"; readonly domains: readonly string[] }
  | { readonly kind: "separate"; readonly roles: readonly string[] }
  | { readonly kind: "max-holders"; readonly role: string; readonly max: number }
  | { readonly kind: "require-until"; readonly role: string }
  | { readonly kind: "require-mfa"; readonly role: string }
  | { readonly kind: "forbid"; readonly permissions: readonly string[] }
  | { readonly kind: "protect-role"; readonly glob: string }
  | { readonly kind: "protect-member"; readonly glob: string }
  | { readonly kind: "min-holders"; readonly role: string; readonly min: number; readonly written: boolean }
  | { readonly kind: "max-removals"; readonly limit: RemovalLimit }
);

/** The rules of a merchant's own files, or of a file that the project enforces, together and each by itself. */
export interface RuleSet {
  readonly rules: DesiredState;
  readonly each: readonly CoverageRule[];
}

/** The rules of a merchant, its own and those that the project enforces; `min_holders` has its default. */
export function coverageRules(desired: DesiredState): readonly CoverageRule[] {
  return ruleSets(desired).flatMap(({ each }) => each);
}

/** Returns the sets of rules of a merchant: its own, then those that the project enforces. */
export function ruleSets(desired: DesiredState): readonly RuleSet[] {
  const enforced = enforcedSets(desired, undefined);
  const declared = ownRules(desired, enforced);
  return [
    { rules: declared, each: rulesIn(declared, desired.guards.maxRemovals, null) },
    ...enforced.map(({ origin, rules }) => ({
      rules,
      each: rulesIn(rules, origin.guards.maxRemovals, origin.files[0]),
    })),
  ];
}

type Listed = Pick<ListedRule, "keys"> & Partial<Pick<ListedRule, "entry" | "origin">>;

function rulesIn(
  { guards, policies, checks }: Pick<DesiredState, "guards" | "policies" | "checks">,
  // Only if it is written: a set of rules beside others has no default.
  maxRemovals: RemovalLimit | undefined,
  enforcedBy: string | null,
): readonly CoverageRule[] {
  const listed = (section: ListedRule["section"], text: string, where: Listed) => ({
    listed: { section, text, origin: null, entry: null, enforcedBy, ...where },
  });
  const { protect, minHolders } = guards;
  return [
    ...checks.map(
      (check): CoverageRule => ({
        ...listed("checks", checkText(check), { keys: [], origin: check.origin }),
        kind: "check",
        check,
        escalation: policies.escalation ?? {},
      }),
    ),
    ...policyRules(policies, (text, [key = "", ...inner], entry = null) =>
      listed("policies", text, { keys: ["policies", key, ...inner], entry }),
    ),
    ...protect.roles.map(
      (glob): CoverageRule => ({
        ...listed("guards", `protect role ${glob}`, { keys: ["guards", "protect", "roles"], entry: glob }),
        kind: "protect-role",
        glob,
      }),
    ),
    ...protect.members.map(
      (glob): CoverageRule => ({
        ...listed("guards", `protect ${glob}`, { keys: ["guards", "protect", "members"], entry: glob }),
        kind: "protect-member",
        glob,
      }),
    ),
    ...minimums(minHolders).map(
      ([role, min, written]): CoverageRule => ({
        ...listed("guards", `min_holders ${role}: ${min}`, { keys: ["guards", "min_holders", role] }),
        kind: "min-holders",
        role,
        min,
        written,
      }),
    ),
    ...(maxRemovals === undefined
      ? []
      : [
          {
            ...listed("guards", `max_removals: ${limitText(maxRemovals)}`, {
              keys: ["guards", "max_removals"],
            }),
            kind: "max-removals",
            limit: maxRemovals,
          } as const,
        ]),
  ];
}

type ListPolicy = (
  text: string,
  keys: readonly string[],
  entry?: ListedRule["entry"],
) => { readonly listed: ListedRule };

function policyRules(
  { emailDomains, separate, maxHolders, requireUntil, requireMfa, forbidPermissions }: Policies,
  listed: ListPolicy,
): readonly CoverageRule[] {
  return [
    ...(emailDomains === undefined
      ? []
      : [
          {
            ...listed(`email_domains: ${emailDomains.join(", ") || "none"}`, ["email_domains"]),
            kind: "email-domains",
            domains: emailDomains,
          } as const,
        ]),
    ...separate.map(
      (roles): CoverageRule => ({
        ...listed(`separate: ${roles.join(", ")}`, ["separate"], roles),
        kind: "separate",
        roles,
      }),
    ),
    ...Object.entries(maxHolders).map(
      ([role, max]): CoverageRule => ({
        ...listed(`max_holders ${role}: ${max}`, ["max_holders", role]),
        kind: "max-holders",
        role,
        max,
      }),
    ),
    ...requireUntil.map(
      (role): CoverageRule => ({
        ...listed(`require_until: ${role}`, ["require_until"], role),
        kind: "require-until",
        role,
      }),
    ),
    ...requireMfa.map(
      (role): CoverageRule => ({
        ...listed(`require_mfa: ${role}`, ["require_mfa"], role),
        kind: "require-mfa",
        role,
      }),
    ),
    ...(forbidPermissions.length === 0
      ? []
      : [
          {
            ...listed(`forbid_permissions: ${forbidPermissions.join(", ")}`, ["forbid_permissions"]),
            kind: "forbid",
            permissions: forbidPermissions,
          } as const,
        ]),
  ];
}

/** Returns the minimums, with the default for owners unless the rules set it, or set `{}`. */
function minimums(
  settings: DesiredState["guards"]["minHolders"],
): readonly (readonly [role: string, min: number, written: boolean])[] {
  const listed = Object.entries(settings ?? {}).map(([role, min]) => [role, min, true] as const);
  if (settings !== undefined && listed.length === 0) return [];
  const missing = Object.entries(DEFAULT_MIN_HOLDERS).filter(
    ([role]) => !listed.some(([listedRole]) => listedRole === role),
  );
  return [...listed, ...missing.map(([role, min]) => [role, min, false] as const)];
}

function limitText(limit: RemovalLimit): string {
  return "count" in limit ? String(limit.count) : `${limit.percent}%`;
}
