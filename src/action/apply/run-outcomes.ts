import { by } from "../../lib/text.ts";
import type { MerchantOutcome } from "../../model/apply.ts";
import type { LeftMerchant, ReportedMerchant, UndeclaredMerchant } from "../../review/apply-run.ts";
import type { OpenStore } from "../../review/merchant-state.ts";
import { type ApplyDecision, quietIn, withUnmade } from "./apply-decision.ts";
import type { MergedFiles } from "./merged-files.ts";
import type { NewerCommit } from "./newer-commit.ts";

/** The outcomes of a run at all merchants, and what it reports. */
export interface RunOutcomes {
  /** Sorted by merchant, without what an earlier run has reported. */
  readonly outcomes: readonly MerchantOutcome[];
  /** Outcomes of approved changes that a newer commit has overtaken. */
  readonly tooLate: readonly MerchantOutcome[];
  /** The merchants that the run has looked at, without those left to a newer commit. */
  readonly looked: readonly ReportedMerchant[];
  /** Merchants whose failure an earlier run has reported. */
  readonly quiet: ReadonlyMap<string, string>;
  /** Sentences about them. */
  readonly earlier: readonly string[];
}

/** Joins the outcomes of what was applied with those of what was left. */
export function runOutcomes(
  merged: MergedFiles,
  decision: ApplyDecision,
  ran: readonly MerchantOutcome[],
  superseded: NewerCommit,
  { seal }: Pick<OpenStore, "seal">,
): RunOutcomes {
  // The run for the newer commit asks for an approval of its own.
  const tooLate = lateOutcomes(merged, superseded);
  const isHere = ({ merchant }: { readonly merchant: string }): boolean =>
    !superseded.merchants.has(merchant);
  const unmade = new Set(ran.flatMap(({ merchant, status }) => (status === "applied" ? [] : merchant)));
  const looked = withUnmade(decision.looked, unmade, merged, seal).filter(isHere);
  const quiet = quietIn(looked, decision.unread);
  const planned = new Set([...ran, ...decision.unchanged].map(({ merchant }) => merchant));
  const gone = merged.gone.filter(({ merchant }) => !planned.has(merchant));
  const outcomes = [...ran, ...decision.unchanged]
    .map((outcome) => withObjections(outcome, decision.objections))
    .concat(decision.left, goneOutcomes(gone))
    .filter(isHere)
    .concat(tooLate)
    .flatMap((outcome) => (quiet.has(outcome.merchant) ? madeBesides(outcome) : outcome))
    .sort(by(({ merchant }) => merchant));
  const earlier = [...quiet.values(), ...merged.undeclared.flatMap(undeclaredNote)];
  return { outcomes, tooLate, looked, quiet, earlier };
}

/** Returns the outcomes of merchants whose approved changes a newer commit has overtaken. */
function lateOutcomes(
  { records: { waiting } }: MergedFiles,
  { sha, merchants }: NewerCommit,
): readonly MerchantOutcome[] {
  if (waiting === null) return [];
  const reason = `the approval came too late: the newer commit ${sha.slice(0, 7)} changes the merchant, and its run asks for approval again.`;
  return [...merchants].map((merchant) => ({ merchant, status: "refused", reasons: [reason] }));
}

function goneOutcomes(gone: readonly LeftMerchant[]): readonly MerchantOutcome[] {
  return gone.map(({ merchant, sentence }) => ({ merchant, status: "refused", reasons: [sentence] }));
}

/** Returns the outcome of a merchant where something was not approved. */
function withObjections(
  outcome: MerchantOutcome,
  objections: ReadonlyMap<string, readonly string[]>,
): MerchantOutcome {
  const sentences = objections.get(outcome.merchant);
  if (sentences === undefined) return outcome;
  const status =
    outcome.status === "unchanged" ? "refused" : outcome.status === "applied" ? "partial" : outcome.status;
  return { ...outcome, status, reasons: [...outcome.reasons, ...sentences] };
}

/** Returns the outcome of a merchant whose failure is reported elsewhere: the changes that were made anyway. */
function madeBesides(outcome: MerchantOutcome): readonly MerchantOutcome[] {
  const isMade = outcome.status === "applied" || outcome.status === "partial";
  return isMade ? [{ ...outcome, status: "applied", reasons: [] }] : [];
}

function undeclaredNote({ merchant, since }: UndeclaredMerchant): readonly string[] {
  return since === null
    ? [`${merchant}: to keep it that way, run the apply workflow by hand.`]
    : [`${merchant}: no file declares it any longer, as reported for ${since.slice(0, 7)}.`];
}
