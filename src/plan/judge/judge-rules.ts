import type { Finding, Refusal } from "../../model/plan.ts";
import type { Access } from "./access.ts";
import { checkText, checkViolations, unknownToChecks } from "./checks.ts";
import type { FindingData } from "./findings.ts";
import { mfaUnknown, policyViolations } from "./policies.ts";
import { alreadySo, type Tense, toRefusal } from "./refusals.ts";
import type { Judged, Rules, Violation } from "./violation.ts";

/** The verdict of policies and checks on a plan. */
export interface Judgement {
  readonly refusals: readonly Refusal[];
  /** Rules that are broken already and do not get worse. */
  readonly findings: readonly Finding[];
  readonly findingData: readonly FindingData[];
}

/** Returns everything in an access that the rules do not allow. */
export function violationsIn(rules: Rules, judged: Judged): readonly Violation[] {
  return [...policyViolations(rules, judged), ...checkViolations(rules.checks, judged)];
}

/** Access that a plan is compared with; `declared` returns what the files break by themselves. */
export interface Comparison {
  readonly before: Access;
  readonly declared: () => readonly Violation[];
}

/**
 * Judges what a plan leaves behind: what it makes worse, and what the files break by themselves, is refused; what is
 * live already, and not touched or improved, is only a warning.
 */
export function judgePlan(rules: Rules, after: Judged, { before, declared }: Comparison): Judgement {
  const findingData = [
    ...mfaUnknown(rules, after).map((found): FindingData => ({ code: "member-mfa-unknown", ...found })),
    ...unknownToChecks(rules.checks, after).map(
      (found): FindingData => ({ code: "check-unknown", ...found }),
    ),
  ];
  const violations = violationsIn(rules, after);
  if (violations.length === 0) return { refusals: [], findings: [], findingData };
  const was = byKey(violationsIn(rules, { access: before, settled: before, find: after.find }));
  const own = byKey(declared());
  const isOld = (violation: Violation): boolean => {
    const old = was.get(keyOf(violation));
    const isOwn = keysOf(violation).some((key) => own.has(key));
    return old !== undefined && !isOwn && isNoWorse(violation, old);
  };
  return {
    refusals: violations.flatMap((one) => (isOld(one) ? [] : [refusalOf(one, "plan")])),
    findings: violations.flatMap((one) => (isOld(one) ? [alreadySo(refusalOf(one, "live"))] : [])),
    findingData,
  };
}

/** Returns what is live and not allowed, as refusals in the words of what is so. */
export function judgeLive(rules: Rules, judged: Judged): readonly Refusal[] {
  return violationsIn(rules, judged).map((violation) => refusalOf(violation, "live"));
}

function refusalOf({ data, check }: Violation, tense: Tense): Refusal {
  return { ...toRefusal(data, tense), check: check && checkText(check) };
}

function isNoWorse({ extent }: Violation, old: Violation): boolean {
  return extent.length < old.extent.length || extent.every((item) => old.extent.includes(item));
}

function byKey(violations: readonly Violation[]): ReadonlyMap<string, Violation> {
  return new Map(violations.flatMap((one) => keysOf(one).map((key) => [key, one] as const)));
}

/** Somebody who is not there yet has no id; somebody whom only the files know, neither. */
function keyOf(violation: Violation): string {
  return keysOf(violation)[0] ?? "";
}

function keysOf({ rule, subject }: Violation): readonly string[] {
  if (subject === null) return [rule];
  const keys = [subject.id, subject.name?.toLowerCase() ?? null].filter((key) => key !== null);
  return keys.map((key) => `${rule}\n${key}`);
}
