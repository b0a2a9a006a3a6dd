import { enforcedSets, ownRules } from "../../kernel/rules/base-rules.ts";
import { checkText } from "../../kernel/rules/checks.ts";
import { type GuardItem, listRules } from "../../kernel/rules/every-rule.ts";
import { namesInCheck } from "../../kernel/rules/settings/every-check-setting.ts";
import type { SettingName } from "../../kernel/rules/settings/setting-kinds.ts";
import type { ListedRule } from "../../model/coverage.ts";
import { type Check, DEFAULT_ESCALATION, type DesiredState, type Policies } from "../../model/desired.ts";

/** A single rule, with everything needed to judge it. */
export type CoverageRule = {
  readonly listed: ListedRule;
  /** Name of the rule in its violations; `null` for a guard. */
  readonly violated: Check | string | null;
  /** The roles, permissions and patterns that the rule names. */
  readonly names: readonly RuleName[];
} & ({ readonly kind: "check"; readonly check: Check } | { readonly kind: "policy" } | GuardItem);

/** A name in a rule. */
export type RuleName = Pick<SettingName, "what" | "text">;

type Rules = Pick<DesiredState, "guards" | "policies" | "checks">;

/** The rules of a merchant's own files, or of a file that the project enforces, together and each by itself. */
export interface RuleSet {
  readonly rules: DesiredState;
  readonly each: readonly CoverageRule[];
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

function rulesOfSet(
  { checks, policies, guards }: Rules,
  // A set of rules beside others does not have the defaults of some guards.
  written: Pick<Rules, "guards">,
  enforcedBy: string | null,
): readonly CoverageRule[] {
  const ofChecks = checks.map((check): CoverageRule => {
    const listed = { section: "checks", text: checkText(check), origin: check.origin } as const;
    return {
      listed: { ...listed, keys: [], entry: null, enforcedBy },
      violated: check,
      names: namesOf(check, policies),
      kind: "check",
      check,
    };
  });
  return [
    ...ofChecks,
    ...listRules({ guards, policies }, written.guards).map(
      ({ section, key, entry: { text, keys, entry, violated }, item, names }): CoverageRule => ({
        listed: { section, text, origin: null, keys: [section, key, ...keys], entry, enforcedBy },
        violated,
        names,
        ...(item ?? { kind: "policy" }),
      }),
    ),
  ];
}

function namesOf(check: Check, { escalation }: Policies): readonly RuleName[] {
  const ways = Object.values({ ...DEFAULT_ESCALATION, ...escalation }).flat();
  return [
    ...namesInCheck(check).map(({ what, text }) => ({
      what: what === "member" ? ("member-pattern" as const) : what,
      text,
    })),
    ...(check.reach ? ways : []).map((text) => ({ what: "permission" as const, text })),
  ];
}
