import { groupByKey } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import { runFingerprint } from "../diff/fingerprint.ts";
import { type FindingData, toFinding } from "../findings/findings.ts";
import { sortRefusals } from "../findings/refusals.ts";
import { judgeAcross } from "./across-merchants.ts";
import type { PlanInRun } from "./people-across.ts";
import { limitRun } from "./run-limits.ts";
import { overrideKind } from "./settings/every-setting.ts";

/** A person's decision to override one refusal of one plan, or of equal refusals of all plans in a run. */
export interface Override {
  /** The argument as typed. */
  readonly text: string;
  /** The guard and its value. */
  readonly what: string;
  /** The beginning of the plan's fingerprint, or of the run's. */
  readonly fingerprint: string;
}

/** Number of characters of a fingerprint that an override needs. */
export const MIN_FINGERPRINT_LENGTH = 12;

/** Parses an override, such as `EXAMPLE_OVERRIDE`; `null` if malformed. */
export function parseOverride(text: string): Override | null {
  const separator = text.lastIndexOf("@");
  const [what, fingerprint] = [text.slice(0, separator), text.slice(separator + 1)];
  const valid =
    separator > 0 &&
    what.includes("=") &&
    /^[0-9a-f]+$/.test(fingerprint) &&
    fingerprint.length >= MIN_FINGERPRINT_LENGTH;
  return valid ? { text, what, fingerprint } : null;
}

/** The refusals that remain, those that the file's overrides remove, and the overrides that remove none. */
export interface FileOverrides {
  readonly refusals: readonly Refusal[];
  readonly overridden: readonly Refusal[];
  readonly findingData: readonly FindingData[];
}

/**
 * Applies the overrides of a merchant's file to the refusals of its plan; it cannot override refusals by enforced
 * rules. With `othersGain`, an override for people may concern people who gain in another part of the plan, or later.
 */
export function applyFileOverrides(
  plan: Pick<Plan, "fingerprint" | "refusals" | "changes">,
  texts: readonly string[],
  enforced: readonly Refusal[] = [],
  othersGain = false,
): FileOverrides {
  const overrides = texts.flatMap((text) => parseOverride(text) ?? []);
  const { refusals, overridden, used } = applyOverrides(plan, overrides);
  const leftOver = overrides.flatMap((override): readonly FindingData[] => {
    const effective = used.includes(override) && isForOne(override, overridden);
    if (effective || (othersGain && isBoundToPeople(override.what))) return [];
    if (used.includes(override)) {
      const why = isForOne(override, enforced) ? "enforced" : "not-refused";
      return [{ code: "override-left-over", name: override.text, why }];
    }
    const why = plan.changes.length === 0 ? "no-changes" : "other-plan";
    return [{ code: "override-left-over", name: override.text, why }];
  });
  return { refusals, overridden, findingData: leftOver };
}

/** Returns whether an override applies to any of the refusals. */
function isForOne({ what }: Override, refusals: readonly Refusal[]): boolean {
  return refusals.some(({ override }) => override !== null && covers(what, override));
}

/**
 * Splits a plan's refusals into those that remain and those overridden, and returns the overrides of this plan. `run`
 * is the fingerprint over all plans of the run, if there are others.
 */
export function applyOverrides(
  plan: Pick<Plan, "fingerprint" | "refusals">,
  overrides: readonly Override[],
  run: string = plan.fingerprint,
): {
  readonly refusals: readonly Refusal[];
  readonly overridden: readonly Refusal[];
  readonly used: readonly Override[];
} {
  const used = overrides.filter((one) => isForPlan(one, plan, run));
  const overridden = plan.refusals.filter(
    ({ override }) => override !== null && used.some(({ what }) => covers(what, override)),
  );
  const refusals = plan.refusals.filter((refusal) => !overridden.includes(refusal));
  return { refusals, overridden, used };
}

/**
 * Judges plans that are applied together: first against the limits of a run, then against the rules across merchants.
 * Overrides in files count if they are bound to the whole run. `declared` are all merchants of the project: for one
 * without a plan, the declared access counts. With `runOf`, the plans belong to several runs.
 */
export function judgeRun(
  all: readonly PlanInRun[],
  declared: readonly DesiredState[] = [],
  runOf: (merchant: string) => string = () => "",
): readonly Plan[] {
  const limited = new Map(
    groupByKey(all, ({ plan }) => runOf(plan.merchant)).flatMap((run) =>
      limitedRun(run).map((plan) => [plan.merchant, plan] as const),
    ),
  );
  return judgeAcross(
    all.map((part) => ({ ...part, plan: limited.get(part.plan.merchant) ?? part.plan })),
    declared,
  );
}

/**
 * Judges one run. As with a single plan, only the file that contains an enforced rule can override the rule's
 * refusals.
 */
function limitedRun(all: readonly PlanInRun[]): readonly Plan[] {
  const run = runFingerprint(all.map(({ plan }) => plan));
  const found = limitRun(all).map((plan, index) => {
    const { guards, enforced = [] } = (all[index] as PlanInRun).files;
    const sets = [
      { rules: undefined, guards },
      ...enforced.map((rules) => ({ rules: rules.files[0], guards: rules.guards })),
    ];
    const ofRun = sets.flatMap(({ rules, guards: { overrides = [] } }) =>
      overrides
        .flatMap((text) => parseOverride(text) ?? [])
        .filter((one) => isForPlan(one, plan, run))
        .map((override) => ({ ...override, rules })),
    );
    // The project sets the limits of the run, so the rule files that it enforces can override their refusals as well.
    const ofMerchant = new Set((all[index] as PlanInRun).plan.refusals);
    const covered = plan.refusals.filter((refusal) => {
      const { override, rules, by } = refusal;
      if (override === null || (rules !== undefined && by !== undefined)) return false;
      return ofRun.some(
        (given) => (given.rules === rules || !ofMerchant.has(refusal)) && covers(given.what, override),
      );
    });
    return { plan, ofRun, covered };
  });
  const effective = new Set(
    found.flatMap(({ ofRun, covered }) =>
      ofRun
        .filter(({ what }) => covered.some(({ override }) => covers(what, override ?? "")))
        .map(({ text }) => text),
    ),
  );
  return found.map(({ plan, ofRun, covered }): Plan => {
    const enforced = plan.refusals.filter(({ rules }) => rules !== undefined);
    const misplaced = new Set(
      ofRun.flatMap((given) => (given.rules === undefined && isForOne(given, enforced) ? given.text : [])),
    );
    const findings = plan.findings.flatMap((finding) => {
      const { code, name } = finding;
      if (code !== "override-left-over") return finding;
      // An override used by one merchant is not reported as unused by the others.
      if (effective.has(name)) return [];
      return misplaced.has(name) ? toFinding({ code, name, why: "enforced" }) : finding;
    });
    if (covered.length + misplaced.size === 0 && findings.length === plan.findings.length) return plan;
    const overridden = sortRefusals([...(plan.overridden ?? []), ...covered]);
    return {
      ...plan,
      refusals: plan.refusals.filter((refusal) => !covered.includes(refusal)),
      ...(overridden.length > 0 && { overridden }),
      findings,
    };
  });
}

/**
 * Returns whether an override, with or without its fingerprint, is bound to people and what they gain, rather than to
 * a plan.
 */
export function isBoundToPeople(override: string): boolean {
  const { code, kind } = partsOf(override);
  if (kind?.limit?.boundTo !== "people") return false;
  return new RegExp(`^${code}=${kind.value}(?:@|$)`).test(override);
}

function partsOf(override: string) {
  const separator = override.indexOf("=");
  const code = override.slice(0, separator);
  return { code, value: override.slice(separator + 1), kind: overrideKind(code) };
}

/**
 * Returns whether an override applies to a plan: one that is bound to people and what they gain applies whatever else
 * the plan changes.
 */
function isForPlan(
  { what, fingerprint }: Override,
  plan: Pick<Plan, "fingerprint" | "refusals">,
  run: string,
): boolean {
  if (isBoundToPeople(what)) return plan.refusals.some(({ override }) => override === what);
  return plan.fingerprint.startsWith(fingerprint) || run.startsWith(fingerprint);
}

/**
 * Returns whether an override applies to a refusal; one for a count also applies to every smaller count, and one for
 * the gains of a run also to those of each merchant.
 */
function covers(given: string, needed: string): boolean {
  if (given === needed) return true;
  const { code, value, kind } = partsOf(given);
  const other = partsOf(needed);
  const whole = new RegExp(`^${kind?.value}$`);
  if (kind === undefined || !whole.test(value)) return false;
  if (kind.alsoFor === other.code) return nameOf(value) === nameOf(other.value);
  return code === other.code && kind.limit?.boundTo === "count" && Number(value) >= Number(other.value);
}

/** Returns overrides without those that another override makes unnecessary. */
export function neededOverrides(whats: readonly string[]): readonly string[] {
  const distinct = [...new Set(whats)];
  return distinct.filter((what) => !distinct.some((other) => other !== what && covers(other, what)));
}

/** Returns what people gain, from the value of an override for people. */
function nameOf(value: string): string {
  return value.slice(0, value.lastIndexOf(":"));
}
