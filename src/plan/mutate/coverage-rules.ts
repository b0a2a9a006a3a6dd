import type { ListedRule } from "../../model/coverage.ts";
import type { Check, DesiredState, Escalation, Policies, RemovalLimit } from "../../model/desired.ts";
import { enforcedSets, ownRules } from "../judge/base-rules.ts";
import { checkText } from "../judge/checks.ts";
import { DEFAULT_MIN_HOLDERS } from "../judge/holders.ts";

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

/** The rules of a merchant, its own and those that the project enforces; `min_holders` has its default. */
export function coverageRules(desired: DesiredState): readonly CoverageRule[] {
  const enforced = enforcedSets(desired, undefined);
  return [
    ...rulesIn(ownRules(desired, enforced), desired.guards.maxRemovals, null),
    ...enforced.flatMap(({ origin, rules }) => rulesIn(rules, origin.guards.maxRemovals, origin.files[0])),
  ];
}

function rulesIn(
  { guards, policies, checks }: Pick<DesiredState, "guards" | "policies" | "checks">,
  // Only if it is written: a set of rules beside others has no default.
  maxRemovals: RemovalLimit | undefined,
  enforcedBy: string | null,
): readonly CoverageRule[] {
  const listed = (section: ListedRule["section"], text: string, origin: ListedRule["origin"] = null) => ({
    listed: { section, text, origin, enforcedBy },
  });
  const { protect, minHolders } = guards;
  return [
    ...checks.map(
      (check): CoverageRule => ({
        ...listed("checks", checkText(check), check.origin),
        kind: "check",
        check,
        escalation: policies.escalation ?? {},
      }),
    ),
    ...policyRules(policies, (text) => listed("policies", text)),
    ...protect.roles.map(
      (glob): CoverageRule => ({ ...listed("guards", `protect role ${glob}`), kind: "protect-role", glob }),
    ),
    ...protect.members.map(
      (glob): CoverageRule => ({ ...listed("guards", `protect ${glob}`), kind: "protect-member", glob }),
    ),
    ...minimums(minHolders).map(
      ([role, min, written]): CoverageRule => ({
        ...listed("guards", `min_holders ${role}: ${min}`),
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
            ...listed("guards", `max_removals: ${limitText(maxRemovals)}`),
            kind: "max-removals",
            limit: maxRemovals,
          } as const,
        ]),
  ];
}

function policyRules(
  { emailDomains, separate, maxHolders, requireUntil, requireMfa, forbidPermissions }: Policies,
  listed: (text: string) => { readonly listed: ListedRule },
): readonly CoverageRule[] {
  return [
    ...(emailDomains === undefined
      ? []
      : [
          {
            ...listed(`email_domains: ${emailDomains.join(", ") || "none"}`),
            kind: "email-domains",
            domains: emailDomains,
          } as const,
        ]),
    ...separate.map(
      (roles): CoverageRule => ({ ...listed(`separate: ${roles.join(", ")}`), kind: "separate", roles }),
    ),
    ...Object.entries(maxHolders).map(
      ([role, max]): CoverageRule => ({
        ...listed(`max_holders ${role}: ${max}`),
        kind: "max-holders",
        role,
        max,
      }),
    ),
    ...requireUntil.map(
      (role): CoverageRule => ({ ...listed(`require_until: ${role}`), kind: "require-until", role }),
    ),
    ...requireMfa.map(
      (role): CoverageRule => ({ ...listed(`require_mfa: ${role}`), kind: "require-mfa", role }),
    ),
    ...(forbidPermissions.length === 0
      ? []
      : [
          {
            ...listed(`forbid_permissions: ${forbidPermissions.join(", ")}`),
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
  const own = Object.entries(settings ?? {}).map(([role, min]) => [role, min, true] as const);
  if (settings !== undefined && own.length === 0) return [];
  const missing = Object.entries(DEFAULT_MIN_HOLDERS).filter(
    ([role]) => !own.some(([named]) => named === role),
  );
  return [...own, ...missing.map(([role, min]) => [role, min, false] as const)];
}

function limitText(limit: RemovalLimit): string {
  return "count" in limit ? String(limit.count) : `${limit.percent}%`;
}
