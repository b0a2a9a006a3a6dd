import { resolve } from "node:path";
import type { RolecallError } from "../../model/errors.ts";
import type { FailureJson } from "../../model/events.ts";
import type { Plan } from "../../model/plan.ts";
import { documentText } from "../../show/blocks/text-blocks.ts";
import { renderFailure, unreadDocument } from "../../show/documents/failure.ts";
import { plansJson } from "../../show/machine/machine-formats.ts";
import type { UnplannedView } from "../../show/markdown/review-sections.ts";
import { writeAtomically } from "../io/atomic-write.ts";
import type { Io } from "../io/io.ts";
import { standardStream } from "../io/output.ts";
import { styleFor } from "../io/terminal.ts";
import { type Planned, plannedOnly } from "../session/session.ts";

/** The plans of the merchants that could be planned; `complete` if every merchant has one. */
interface PlansOfRun {
  readonly plans: readonly Plan[];
  readonly complete: boolean;
}

/**
 * Prints which merchants could not be `done` and why, on stderr, ahead of the plans, so that totals never hide a
 * failure.
 */
export function printUnread(
  planned: readonly Planned[],
  options: { readonly color: boolean },
  io: Io,
  done: "planned" | "read" | "pulled" = "planned",
): PlansOfRun {
  const plans = plannedOnly(planned).map(({ plan }) => plan);
  const failed = planned.flatMap((outcome) => (outcome.status === "failed" ? [outcome] : []));
  const style = styleFor(io.stderr, io, options.color);
  if (failed.length > 0) io.stderr.write(`${documentText(unreadDocument(done, failed), style)}\n`);
  return { plans, complete: plans.length === planned.length };
}

/** Prints a merchant's failure on stderr. */
export function printFailure(
  merchant: string,
  what: string,
  { failure }: RolecallError,
  options: { readonly color: boolean },
  io: Io,
): void {
  const style = styleFor(io.stderr, io, options.color);
  io.stderr.write(`\n${style.bold(merchant)} ${what}.\n${renderFailure(failure, style)}`);
}

/** Returns the merchants without a plan, for a review. */
export function unplannedOf(planned: readonly Planned[]): readonly UnplannedView[] {
  return planned.flatMap((outcome) =>
    outcome.status === "planned" ? [] : [{ merchant: outcome.merchant, failure: outcome.error.failure }],
  );
}

/** Saves plans as JSON, atomically. */
export async function savePlans(
  plans: readonly Plan[],
  failures: readonly FailureJson[],
  out: string,
  io: Io,
): Promise<void> {
  const stream = standardStream(out);
  if (stream !== null) return io[stream].write(plansJson(plans, failures));
  await writeAtomically(resolve(io.cwd, out), plansJson(plans, failures), { shown: out });
  const besides =
    failures.length === 0 ? "" : plans.length === 0 ? ": no plan, only what failed" : ", with what failed";
  io.stderr.write(`Saved as ${out}${besides}.\n`);
}
