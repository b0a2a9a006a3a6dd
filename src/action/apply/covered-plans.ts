import { failedOutcome, skippedMerchants } from "../../app/apply/approval.ts";
import { lackingPasswords, withoutPasswords } from "../../app/apply/passwords.ts";
import {
  type Planned,
  type PlannedMerchant,
  plannedOnly,
  withRunOverrides,
} from "../../app/session/session.ts";
import type { Comparison } from "../../kernel/approval/compare-reviewed.ts";
import { endedInstead } from "../../kernel/plan/due.ts";
import type { Override } from "../../kernel/rules/overrides.ts";
import type { MerchantOutcome } from "../../model/apply.ts";
import { type LookedMerchant, lookedAt, openReviews, reviewedRuns } from "../../review/apply-run.ts";
import { type JudgedMerchant, judgeMerchant } from "../../review/judge-merchant.ts";
import type { OpenStore } from "../../review/merchant-state.ts";
import type { ActionContext } from "../context/action-context.ts";
import { placeTexts } from "../review/entry-places.ts";
import type { PlannedFiles } from "../review/load-and-plan.ts";
import { passwordEnvironment } from "../review/secret-policy.ts";
import type { MergedFiles } from "./merged-files.ts";

/** The plans of a run beside their reviews. */
export interface CoveredPlans {
  readonly looked: readonly LookedMerchant[];
  /** The parts that may be applied. */
  readonly planned: readonly Planned[];
  /** Outcomes of the merchants where nothing may be applied. */
  readonly skipped: readonly MerchantOutcome[];
  /** The refusals of the merchants where only ended access is taken, as outcomes. */
  readonly limited: readonly MerchantOutcome[];
}

/** Compares plans with their reviews, and judges what these cover. */
export async function coverPlans(
  context: ActionContext,
  { run, records, loaded, keys, pullOf }: MergedFiles,
  { planned: whole, planEnded }: Pick<PlannedFiles, "planned" | "planEnded">,
  { seal }: Pick<OpenStore, "seal">,
  overrides: readonly Override[],
): Promise<CoveredPlans> {
  const placeOf = placeTexts(loaded.sources);
  const compare = (look: PlannedMerchant): JudgedMerchant => {
    const reviews = openReviews(records, look.plan.merchant, run);
    return judgeMerchant(look, reviews, seal, placeOf);
  };
  const env = passwordEnvironment(context, keys);
  const judge = (parts: readonly Planned[]) => {
    const unapplied = lackingPasswords(plannedOnly(parts), [], { env, now: context.io.now() });
    const planned = withRunOverrides(parts, loaded.project, { runOf: reviewedRuns(looked), unapplied });
    return { planned, skipped: skippedMerchants(planned, overrides, new Map()) };
  };
  const looked = await lookedAt(run, records, plannedOnly(whole).map(compare), pullOf, seal);
  const comparisons = new Map(looked.map(({ merchant, comparison }) => [merchant, comparison]));
  const judged = judge(whole.map((one) => coveredPart(one, comparisons)));
  const hasPlan = new Set(plannedOnly(whole).map(({ plan }) => plan.merchant));
  const lacking = withoutPasswords(
    plannedOnly(judged.planned).map(({ plan }) => ({ plan, passwords: [] })),
    { env },
  );
  const refused = [
    ...judged.skipped.filter(({ merchant }) => hasPlan.has(merchant)),
    ...lacking.map(failedOutcome),
  ];
  const unseen = new Map(
    looked.flatMap(({ merchant, refusals }) => (refusals.length > 0 ? [[merchant, refusals] as const] : [])),
  );
  const held = new Set([...refused.map(({ merchant }) => merchant), ...unseen.keys()]);
  if (!run.isDue || held.size === 0 || overrides.length > 0) return { looked, ...judged, limited: [] };
  // Neither what dates give or lack, nor what is wrong or not reviewed elsewhere, may keep access that has ended.
  const ended = new Map(
    plannedOnly(planEnded(held)).map((look) => {
      const { merchant } = look.plan;
      return [merchant, coveredPart(look, new Map([[merchant, compare(look).comparison]]))] as const;
    }),
  );
  const parts = judged.planned.map((one) => endedPart(one, ended, unseen, refused));
  const without = judge(parts);
  const replaced = new Set(
    plannedOnly(parts.filter((one) => !judged.planned.includes(one))).map(({ plan }) => plan.merchant),
  );
  const limited = refused.filter(
    ({ merchant }) =>
      replaced.has(merchant) && !without.skipped.some((outcome) => outcome.merchant === merchant),
  );
  return { looked, ...without, limited };
}

/** Returns the part of a plan that may be applied; its verification leaves out the rest. */
function coveredPart<Outcome extends Planned>(
  planned: Outcome,
  comparisons: ReadonlyMap<string, Comparison>,
): Outcome {
  if (planned.status !== "planned") return planned;
  const { session, plan } = planned;
  const comparison = comparisons.get(plan.merchant);
  if (comparison === undefined) return planned;
  const { covered, leaveOut } = comparison;
  return { ...planned, plan: covered, session: { ...session, plan: () => session.plan(leaveOut) } };
}

/**
 * Returns what takes ended access in place of a part that is refused, or that lacks some of it because of what is `unseen`,
 * if it takes any.
 */
function endedPart(
  planned: Planned,
  ended: ReadonlyMap<string, PlannedMerchant>,
  unseen: ReadonlyMap<string, readonly string[]>,
  refused: readonly MerchantOutcome[],
): Planned {
  const other = planned.status === "planned" ? ended.get(planned.plan.merchant) : undefined;
  if (planned.status !== "planned" || other === undefined || other.plan.changes.length === 0) return planned;
  const { merchant, refusals, changes } = planned.plan;
  const taken = new Set(changes.map(({ fingerprint }) => fingerprint));
  const isWhole = other.plan.changes.every(({ fingerprint }) => taken.has(fingerprint));
  const isRefused = refused.some((outcome) => outcome.merchant === merchant);
  if (!isRefused && isWhole) return planned;
  const others = refused.flatMap((outcome) => (outcome.merchant === merchant ? outcome.reasons : []));
  const messages = refusals.length > 0 ? [] : [...(unseen.get(merchant) ?? []), ...others];
  const reasons = messages.map((message) => ({ message, override: null }));
  return { ...other, plan: endedInstead(planned.plan, [...refusals, ...reasons], other.plan) };
}
