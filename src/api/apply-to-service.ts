import { parseOverrides, skippedMerchants } from "../app/apply/approval.ts";
import { createCancellation } from "../app/apply/cancellation.ts";
import { passwordsFor } from "../app/apply/passwords.ts";
import type { ApplyReporter } from "../app/apply/reporter.ts";
import { runApply } from "../app/apply/run-apply.ts";
import { fileJournals } from "../app/journal/write-journal.ts";
import type { MerchantOutcome, Outcome } from "../model/apply.ts";
import type { DesiredState } from "../model/desired.ts";
import { RolecallError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { RemoteService } from "./remote-service.ts";

/** Options for an apply. */
export interface ApplyPlanOptions {
  /** Overrides of refusals, as plans print them; each is for one plan. */
  readonly allow?: readonly string[];
  /** Rechecks each resource before it is written; absent: `true`. */
  readonly recheck?: boolean;
}

/** The result of an apply. */
export interface AppliedPlan extends MerchantOutcome {
  /** One for each planned change, in the plan's order; empty if the plan is refused. */
  readonly outcomes: readonly Outcome[];
  /** Path of the journal, for `rolecall undo`; `null` if nothing was started. */
  readonly journal: string | null;
}

/**
 * Applies a plan in the order that keeps access intact, writes its journal, and verifies the result. A refused plan,
 * or one with errors, changes nothing. The first change that fails stops the apply; the result says what was done.
 *
 * @throws RolecallError if the plan is another merchant's, there is no base URL or key, an override is not for this plan,
 * a password is missing, or the journal cannot be written.
 */
export async function applyToService(
  service: RemoteService,
  merchant: DesiredState,
  plan: Plan,
  options: ApplyPlanOptions = {},
): Promise<AppliedPlan> {
  const { allow = [], recheck = true } = options;
  const { io, concurrency, signal } = service;
  if (plan.merchant !== merchant.merchant) {
    // Invitations refer to no id of the merchant, so those of another merchant's plan would be sent.
    throw new RolecallError("usage", `The plan is for ${plan.merchant}, not for ${merchant.merchant}.`, {
      hint: "Apply each plan with the merchant that it was made for.",
    });
  }
  const session = service.session(merchant);
  const [skipped] = skippedMerchants([{ status: "planned", plan }], parseOverrides(allow), new Map());
  if (skipped) return { ...skipped, outcomes: [], journal: null };
  if (plan.changes.length === 0) {
    return { merchant: plan.merchant, status: "unchanged", reasons: [], outcomes: [], journal: null };
  }
  const cancellation = createCancellation(() => undefined, io);
  const onAbort = (): void => cancellation.halt({ by: "signal", signal: "an AbortSignal" });
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const result: { outcomes: readonly Outcome[]; journal: string | null } = { outcomes: [], journal: null };
  const reporter: ApplyReporter = {
    ...SILENT,
    event: service.emit,
    applied: ({ ends, journals }) => {
      result.outcomes = ends.flatMap(({ result }) => result.outcomes);
      result.journal = journals[0] ?? null;
    },
  };
  try {
    const password = passwordsFor([plan], [], io.env);
    const openJournal = fileJournals(io);
    const means = { password, concurrency, recheck, cancellation, openJournal, sleep: io.sleep };
    const [outcome] = await runApply([{ session, plan }], means, reporter);
    if (outcome === undefined) throw new Error("an apply of one plan has no outcome");
    return { ...outcome, ...result };
  } finally {
    signal?.removeEventListener("abort", onAbort);
    cancellation.close();
  }
}

const ignore = (): void => undefined;

/** Reports nothing: the result contains it. */
const SILENT: ApplyReporter = {
  plans: ignore,
  failed: ignore,
  compared: ignore,
  skipped: ignore,
  passwords: ignore,
  event: ignore,
  verified: ignore,
  applied: ignore,
  ended: ignore,
  say: ignore,
};
