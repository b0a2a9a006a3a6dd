import { liveReport } from "../../ask/report/build-access-report.ts";
import { liveRuleResults } from "../../ask/report/rule-results.ts";
import type { AccessReport, ReportedRule } from "../../model/reports.ts";
import type { PlacedRule } from "../../show/html/page-data.ts";
import { globMatcher, type PlannedMerchant } from "../session/session.ts";
import type { ListedPlaceOf } from "./rule-locations.ts";

/** Returns the access report of a merchant; with `planned`, also the access after its plan. */
export function reportOf({ session, live, plan }: PlannedMerchant, planned: boolean): AccessReport {
  const { state, environment } = session;
  return liveReport({
    live,
    desired: state,
    service: plan.service,
    environment,
    plan: planned ? plan : null,
  });
}

/** Returns the results of a merchant's rules in the live access; with `planned`, also in the access after its plan. */
export function rulesOf(
  { session: { state }, live, plan }: PlannedMerchant,
  placeOf: ListedPlaceOf,
  { planned, now }: { readonly planned: boolean; readonly now: number },
): readonly PlacedRule[] {
  const input = { live, desired: state, plan: planned ? plan : null, now, matches: globMatcher() };
  return placed(liveRuleResults(input), state.merchant, placeOf);
}

/** Adds the lines of rules. */
export function placed(
  rules: readonly ReportedRule[],
  merchant: string,
  placeOf: ListedPlaceOf,
): readonly PlacedRule[] {
  return rules.map((rule) => ({ ...rule, place: placeOf(merchant, rule.rule) }));
}
