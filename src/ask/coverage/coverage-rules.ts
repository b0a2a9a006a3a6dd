import type { ListedRule } from "../../model/coverage.ts";
import type { Check, DesiredState, Escalation, RemovalLimit } from "../../model/desired.ts";
import { enforcedSets, ownRules } from "../../rules/base-rules.ts";
import { checkText } from "../../rules/checks.ts";
import { policiesIn, type RuleItem } from "../../rules/every-rule.ts";
import { DEFAULT_MIN_HOLDERS } from "../../rules/holders.ts";

/** A rule by itself, with what it takes to judge it. */
export type CoverageRule = {
  readonly listed: ListedRule;
  /** What the violations name the rule by; `null` for a guard. */
  readonly violated: Check | string | null;
} & (
  | RuleItem
  | { readonly kind: "check"; readonly check: Check; readonly escalation: Partial<Escalation> }
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
    violated: null,
  });
  const { protect, minHolders } = guards;
  return [
    ...checks.map(
      (check): CoverageRule => ({
        ...listed("checks", checkText(check), { keys: [], origin: check.origin }),
        violated: check,
        kind: "check",
        check,
        escalation: policies.escalation ?? {},
      }),
    ),
    ...policiesIn(policies).flatMap(({ policy: { section, key, list }, value }) =>
      list(value).map(
        ({ text, keys, entry, violated, item }): CoverageRule => ({
          ...listed(section, text, { keys: [section, key, ...keys], entry }),
          violated,
          ...item,
        }),
      ),
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
