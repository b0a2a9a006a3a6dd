import { enforcedSets, ownRules } from "../../kernel/rules/base-rules.ts";
import { checkText } from "../../kernel/rules/checks.ts";
import { listRules, type RuleItem } from "../../kernel/rules/every-rule.ts";
import type { ListedRule } from "../../model/coverage.ts";
import type { Check, DesiredState, Escalation } from "../../model/desired.ts";

/** A rule by itself, with what it takes to judge it. */
export type CoverageRule = {
  readonly listed: ListedRule;
  /** Name of the rule in its violations; `null` for a guard. */
  readonly violated: Check | string | null;
} & (RuleItem | { readonly kind: "check"; readonly check: Check; readonly escalation: Partial<Escalation> });

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
    { rules: declared, each: rulesOfSet(declared, desired, null) },
    ...enforced.map(({ origin, rules }) => ({
      rules,
      each: rulesOfSet(rules, origin, origin.files[0]),
    })),
  ];
}

type Sections = Pick<DesiredState, "guards" | "policies" | "checks">;

function rulesOfSet(
  rules: Sections,
  // A set of rules beside others has no defaults of some guards.
  written: Pick<Sections, "guards">,
  enforcedBy: string | null,
): readonly CoverageRule[] {
  const ofChecks = rules.checks.map((check): CoverageRule => {
    const listed = { section: "checks", text: checkText(check), origin: check.origin } as const;
    return {
      listed: { ...listed, keys: [], entry: null, enforcedBy },
      violated: check,
      kind: "check",
      check,
      escalation: rules.policies.escalation ?? {},
    };
  });
  return [
    ...ofChecks,
    ...listRules(rules, written.guards).map(
      ({ section, key, entry: { text, keys, entry, violated, item } }): CoverageRule => ({
        listed: { section, text, origin: null, keys: [section, key, ...keys], entry, enforcedBy },
        violated,
        ...item,
      }),
    ),
  ];
}
