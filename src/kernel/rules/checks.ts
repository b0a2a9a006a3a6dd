import type { Check } from "../../model/desired.ts";
import type { DiagnosticRule } from "../problems/rule-table.ts";
import { openAddresses } from "../values/person.ts";
import { granting } from "./access.ts";
import type { CheckContext, CheckFacts, CheckForm } from "./check.ts";
import { atMostCheck } from "./check-at-most.ts";
import { cannotCheck } from "./check-cannot.ts";
import { onlyCheck } from "./check-only.ts";
import { indexAccess, type Judged, type Rules, type Violation } from "./judged.ts";
import { reaching } from "./reach.ts";
import type { LintOfRule } from "./rule.ts";
import { permissionsInCheck, subjectOfCheck } from "./settings/every-check-setting.ts";

/** The forms of checks: everything that deals with checks loops over these. */
const FORMS = { only: onlyCheck, "at-most": atMostCheck, cannot: cannotCheck } as const satisfies {
  readonly [Kind in Check["kind"]]: CheckForm<Extract<Check, { readonly kind: Kind }>>;
};

/** Returns the diagnostics of checks, by code. */
export function diagnosticsOfChecks(): readonly DiagnosticRule[] {
  return Object.entries(FORMS).map(([kind, { diagnostic }]) => ({ code: `check-${kind}`, ...diagnostic }));
}

// The table types each form by its checks; the form of a check gets this check and no other.
function formOf({ kind }: Check): CheckForm<Check> {
  return FORMS[kind] as unknown as CheckForm<Check>;
}

/** Returns the violations of the file's checks in an access; members count whatever their status. */
export function checkViolations(rules: Rules, judged: Judged): readonly Violation[] {
  const { checks } = rules;
  if (checks.length === 0) return [];
  const context = contextOf(judged, rules);
  return checks.flatMap((check) => {
    const text = checkText(check);
    return formOf(check)
      .judge(check, context)
      .map((violation): Violation => {
        const { subject, extent, refusal } = violation;
        return {
          ...violation,
          rule: `check ${text} ${subject === null ? "" : extent.join()}`,
          check,
          refusal: (tense) => ({ ...refusal(tense), check: text }),
        };
      });
  });
}

/** A role with unknown permissions, which may make the result of a check wrong. */
export interface UnknownToCheck {
  readonly name: string;
  readonly permission: string;
}

/** Returns the distinct roles with unknown permissions, which may make the results of checks wrong. */
export function unknownToChecks(rules: Rules, judged: Judged): readonly UnknownToCheck[] {
  return [...unknownToEach(rules, judged).values()].flat();
}

/** Returns, for each check, the distinct roles with unknown permissions which may make its result wrong. */
export function unknownToEach(rules: Rules, judged: Judged): ReadonlyMap<Check, readonly UnknownToCheck[]> {
  const { checks } = rules;
  if (checks.length === 0) return new Map();
  const context = contextOf(judged, rules);
  const { granted, index } = context;
  const unknownTo = (check: Check): readonly UnknownToCheck[] =>
    permissionsInCheck(check).flatMap((permission) => {
      const roles = new Set(
        formOf(check)
          .subjects(check, index.people, context)
          .flatMap((person) => (granted(person).permissions.has(permission) ? [] : granted(person).unknown)),
      );
      return [...roles].sort().map((name) => ({ name, permission }));
    });
  return new Map(checks.map((check) => [check, unknownTo(check)]));
}

function contextOf(judged: Judged, { policies: { escalation }, members, enforcedBy }: Rules): CheckContext {
  const { access, settled } = judged;
  const reach = reaching(access, escalation);
  const reachSettled = settled === access ? reach : reaching(settled, escalation);
  const index = indexAccess(access);
  const counted = settled === access ? index : indexAccess(settled);
  const granted = granting(access, () => true);
  return {
    ...judged,
    granted,
    reach,
    reachSettled,
    index,
    counted,
    addressesOf: openAddresses(members),
    enforcedBy,
  };
}

/** Returns a check in one line, in a fixed order of keys, to serve as its name. */
export function checkText(check: Check): string {
  return formOf(check).text(check, reachText(check));
}

function reachText({ reach }: Check): string {
  return reach ? " reach" : "";
}

/** Returns why a check cannot fail; `null` if it can. */
export function lintOfCheck(check: Check, facts: CheckFacts): Omit<LintOfRule, "code"> | null {
  return formOf(check).lint(check, facts);
}

/** Describes how some checks are looser than others. */
export function looserChecks(before: readonly Check[], after: readonly Check[]): readonly string[] {
  return before.flatMap((check) => {
    // A check of what people can reach is stricter than one of what they hold.
    const others = after.filter(
      (other) =>
        other.kind === check.kind &&
        subjectOfCheck(other) === subjectOfCheck(check) &&
        (other.reach === true || check.reach !== true),
    );
    return formOf(check).looser(check, others, reachText(check));
  });
}
