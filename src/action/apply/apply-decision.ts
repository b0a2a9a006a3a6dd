import { failedOutcome } from "../../app/apply/approval.ts";
import { passwordsFor, withoutPasswords } from "../../app/apply/passwords.ts";
import { type PlannedMerchant, plannedOnly } from "../../app/session/session.ts";
import { unplannedOf } from "../../app/show/show-plans.ts";
import type { MerchantOutcome } from "../../model/apply.ts";
import {
  failureReport,
  type LeftMerchant,
  type Report,
  type ReportedMerchant,
  withReports,
} from "../../review/apply-run.ts";
import type { OpenStore } from "../../review/merchant-state.ts";
import type { ActionContext } from "../context/action-context.ts";
import { passwordEnvironment } from "../review/secret-policy.ts";
import type { MerchantLine } from "../review/unplanned-lines.ts";
import type { CoveredPlans } from "./covered-plans.ts";
import type { MergedFiles } from "./merged-files.ts";

/** The merchants that a run applies, and why it leaves others as they are. */
export interface ApplyDecision extends Objections {
  readonly due: readonly PlannedMerchant[];
  readonly unready: ReadonlySet<string>;
  readonly unchanged: readonly MerchantOutcome[];
  /** Outcomes of merchants that are left, unless an earlier run has reported them. */
  readonly left: readonly MerchantOutcome[];
  readonly looked: readonly ReportedMerchant[];
  readonly unread: ReadonlyMap<string, Report>;
  readonly password: ReturnType<typeof passwordsFor>;
}

export function decideApply(
  context: ActionContext,
  merged: MergedFiles,
  { looked: judged, planned, skipped, limited }: CoveredPlans,
  { seal }: Pick<OpenStore, "seal">,
): ApplyDecision {
  const { run, records, keys, gone } = merged;
  const env = passwordEnvironment(context, keys);
  const out = new Set(skipped.map(({ merchant }) => merchant));
  const open = plannedOnly(planned).filter(({ plan }) => !out.has(plan.merchant));
  const changing = open.filter(({ plan }) => plan.changes.length > 0);
  const missing = withoutPasswords(
    changing.map(({ plan }) => ({ plan, passwords: [] })),
    { env },
  );
  const unready = new Set(missing.map(({ merchant }) => merchant));
  const due = changing.filter(({ plan }) => !unready.has(plan.merchant));
  const unread = new Map(
    unplannedOf(planned).map(({ merchant }) => [
      merchant,
      failureReport(run, records, merchant, [UNREAD], seal),
    ]),
  );
  const refusals = new Map(limited.map(({ merchant, reasons }) => [merchant, reasons]));
  const reported = withReports(run, records, judged, [...skipped, ...limited], seal).map((one) => ({
    ...one,
    objections: [...one.objections, ...(refusals.get(one.merchant) ?? [])],
  }));
  const looked = withUnmade(reported, unready, merged, seal);
  const known = quietIn(looked, unread);
  const leftOutcomes = [...skipped, ...missing.map(failedOutcome)];
  return {
    ...objectionsIn(looked, gone),
    due,
    unready,
    unchanged: open.flatMap(({ plan: { merchant, changes } }) =>
      changes.length === 0 ? { merchant, status: "unchanged", reasons: [] } : [],
    ),
    left: leftOutcomes.filter(({ merchant }) => !known.has(merchant)),
    looked,
    unread,
    password: passwordsFor(
      due.map(({ plan }) => plan),
      [],
      env,
    ),
  };
}

/** Placeholders for refusals by the service and for missing passwords, whose wording differs each time. */
const UNREAD = "unread";
const UNMADE = "unmade";

/** Adds to the report of merchants that their changes were not made. */
export function withUnmade(
  looked: readonly ReportedMerchant[],
  merchants: ReadonlySet<string>,
  { run, records }: MergedFiles,
  seal: OpenStore["seal"],
): readonly ReportedMerchant[] {
  return looked.map((one) =>
    merchants.has(one.merchant)
      ? { ...one, ...failureReport(run, records, one.merchant, [one.digest, UNMADE], seal) }
      : one,
  );
}

/** Objections to merchants that are not as reviewed, with the lines that report them. */
interface Objections {
  readonly objections: ReadonlyMap<string, readonly string[]>;
  readonly notes: readonly MerchantLine[];
}

function objectionsIn(reported: readonly ReportedMerchant[], gone: readonly LeftMerchant[]): Objections {
  const loud = reported.filter(({ since }) => since === null);
  const objected = loud.filter(({ objections }) => objections.length > 0);
  return {
    objections: new Map([
      ...objected.map(({ merchant, objections }) => [merchant, objections] as const),
      ...gone.map(({ merchant, sentence }) => [merchant, [sentence]] as const),
    ]),
    notes: [
      ...gone.map(({ merchant, sentence }) => ({ merchant, line: `${merchant}: ${sentence}` })),
      ...loud.flatMap(({ merchant, objections, remarks }) =>
        [...objections, ...remarks].map((one) => ({ merchant, line: `${merchant}: ${one}` })),
      ),
    ],
  };
}

/** Returns the merchants whose failure an earlier run has reported, with a line about each. */
export function quietIn(
  looked: readonly ReportedMerchant[],
  unread: ReadonlyMap<string, Report>,
): ReadonlyMap<string, string> {
  const all = [
    ...looked.map((one) => [one.merchant, one, "differs from its files"] as const),
    ...[...unread].map(([merchant, one]) => [merchant, one, "could not be read"] as const),
  ];
  return new Map(
    all.flatMap(([merchant, { since }, what]) =>
      since === null
        ? []
        : [[merchant, `${merchant}: ${what}, as reported for ${since.slice(0, 7)}.`] as const],
    ),
  );
}
