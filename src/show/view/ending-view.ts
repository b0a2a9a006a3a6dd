import { oneLine } from "../../lib/escape.ts";
import { groupByKey } from "../../lib/text.ts";
import type { ApplyResult, MerchantOutcome, Outcome, PasswordChange, StopCause } from "../../model/apply.ts";
import type { Failure } from "../../model/errors.ts";
import type { Change, Finding, Plan } from "../../model/plan.ts";
import type { FleetView } from "./fleet-view.ts";
import type { PlanCommand } from "./plan-view.ts";

/** The differences that remain after an apply, and the problems that hide others. */
export interface RemainingChanges {
  readonly left: readonly Change[];
  readonly errors: readonly Finding[];
  /** Declared members without roles in the file, who cannot be created; they count as no difference. */
  readonly notCreated: readonly string[];
}

/** Returns the changes that remain in a plan made after an apply, without deferred ones. */
export function remainingChanges(plan: Plan): RemainingChanges {
  return {
    left: plan.changes,
    errors: plan.findings.filter(({ severity }) => severity === "error"),
    notCreated: plan.findings.filter(({ code }) => code === "member-needs-roles").map(({ name }) => name),
  };
}

/** The result of the verification at one merchant. */
export type Verification =
  /** `plan` holds what unexpectedly remains, and `refused` counts what was refused for now. */
  | {
      readonly status: "verified";
      readonly plan: Plan;
      readonly leftOut: number;
      readonly refused: number;
      /** Why the journal does not hold the verification; `null` if it does. */
      readonly unrecorded: string | null;
    }
  | { readonly status: "unverified"; readonly why: Failure | string };

/** The end of an apply at one merchant where it was begun. */
export interface MerchantEnd {
  readonly plan: Plan;
  readonly result: ApplyResult;
  /** `null` if nothing was verified, such as after a stop. */
  readonly verification: Verification | null;
}

/** The merchants where an apply was begun, with the journals of the run. */
export interface AppliedRun {
  readonly run: string;
  /** Paths of the journals; without any, the ending names neither them nor how to undo the run. */
  readonly journals: readonly string[];
  /** The cause that stopped the run; `null` if nothing has. */
  readonly cause: StopCause | null;
  readonly ends: readonly MerchantEnd[];
}

/** The end of an apply, for its last lines. */
export interface Ending {
  readonly command: PlanCommand;
  /** `null` if the apply was not begun anywhere. */
  readonly applied: AppliedRun | null;
  /** By merchant, including those where it was not begun. */
  readonly outcomes: readonly MerchantOutcome[];
  /** Number of changes that the user left out. */
  readonly leftOut: number;
  /** Changes that were not made for lack of approval at merchants that were applied; absent: none. */
  readonly unapproved?: readonly MerchantOutcome[];
  /** The refusals of the plans, to name their rules and what overrides them; absent: none. */
  readonly refusals?: EndingRefusals;
  /** True if a list of what was done, printed before, is cut. */
  readonly isCutAbove?: boolean;
}

/** The plans' texts about their refusals. */
export interface EndingRefusals {
  /** The kind and code of the rule by the message of a refusal. */
  readonly rules: ReadonlyMap<string, string>;
  /** The commands that override them. */
  readonly overrides: readonly string[];
}

/** Returns the text of the ending about the refusals in the plans of these merchants. */
export function endingRefusals(fleet: FleetView, merchants: ReadonlySet<string>): EndingRefusals {
  const refused = fleet.views.filter(({ merchant }) => merchants.has(merchant));
  const ownViews = fleet.own.filter(({ view }) => merchants.has(view.merchant));
  return {
    rules: new Map(
      refused.flatMap(({ refusals }) =>
        refusals.map(({ rule, code, message }) => [oneLine(message), `${rule} ${code}`] as const),
      ),
    ),
    overrides: [
      ...new Set([
        ...fleet.overrides.commands,
        ...ownViews.flatMap(({ view }) => view.refusals.flatMap(({ override }) => override ?? [])),
      ]),
    ],
  };
}

/** A change that was not done, with its merchant. */
export interface Hit {
  readonly merchant: string;
  readonly outcome: Outcome;
}

/** A cause of failures, and every change that it prevented. */
export interface EndingCause {
  readonly status: Outcome["status"];
  readonly failure: Failure;
  /** Empty if it is not about a change, as for a journal that cannot be written. */
  readonly hits: readonly Hit[];
  /** Number of failures. */
  readonly times: number;
  /** Numbers of attempts, each distinct one once. */
  readonly attempts: readonly number[];
}

interface FailedOutcome {
  readonly status: Outcome["status"];
  readonly failure: Failure;
  readonly merchant: string;
  readonly outcome: Outcome | null;
}

/** Groups failures by their cause: failures that differ only in merchant, name, path and instance are the same. */
export function endingCauses(ends: readonly MerchantEnd[]): readonly EndingCause[] {
  const failed: FailedOutcome[] = [];
  for (const { plan, result } of ends) {
    const { merchant } = plan;
    const failedHere = result.outcomes.flatMap((outcome) => {
      const failure = failureOf(outcome);
      return failure === null ? [] : [{ status: outcome.status, failure, merchant, outcome }];
    });
    failed.push(...failedHere);
    const { journalFailure } = result;
    if (journalFailure && !failedHere.some(({ failure }) => failure === journalFailure))
      failed.push({ status: "failed", failure: journalFailure, merchant, outcome: null });
  }
  return groupByKey(failed, failureKind).map((group) => {
    const [{ status, failure }] = group;
    const hits = group.flatMap(({ merchant, outcome }) => (outcome === null ? [] : [{ merchant, outcome }]));
    const attempts = attemptsOf(group.map((each) => each.failure));
    return { status, failure, hits, times: group.length, attempts };
  });
}

/** Returns the distinct numbers of attempts of failed requests, in ascending order. */
export function attemptsOf(failures: readonly Failure[]): readonly number[] {
  const attempts = failures.flatMap(({ request }) => request?.attempts ?? []);
  return [...new Set(attempts)].sort((a, b) => a - b);
}

function failureOf(outcome: Outcome): Failure | null {
  return "failure" in outcome ? (outcome.failure ?? null) : null;
}

/** Returns whether an outcome is the refusal of an invitation for its address alone, which only needs time. */
export function isInvitationLimited(outcome: Outcome): boolean {
  return failureOf(outcome)?.code === "invitation-limited";
}

/** Identifies what failures have in common. */
function failureKind({ status, failure, merchant, outcome }: FailedOutcome): string {
  const { code, message, hint, request } = failure;
  const { instance: _, extensions: __, ...problem } = request?.problem ?? { type: null };
  // Each address is listed; the service's messages differ only in the address.
  if (code === "invitation-limited") return JSON.stringify([status, code, problem.type]);
  const particulars = [request?.path, outcome?.change.name, outcome?.change.id, merchant];
  const shared = (text: string): string =>
    particulars.reduce<string>((rest, part) => (part ? rest.replaceAll(part, "…") : rest), text);
  const detail = problem.type === null ? null : { ...problem, detail: shared(problem.detail ?? "") };
  return JSON.stringify([status, code, shared(message), hint && shared(hint), detail]);
}

/** Returns whether a change only sets a password. */
export function isPassword(change: Change | PasswordChange): change is PasswordChange {
  return "passwordEnv" in change;
}

/** Returns whether an apply only set passwords. */
export function isRotation(ends: readonly MerchantEnd[]): boolean {
  const outcomes = ends.flatMap(({ result }) => result.outcomes);
  return outcomes.length > 0 && outcomes.every(({ change }) => isPassword(change));
}

/** Returns the kind, resource and name of a change. */
export function summaryOf({ kind, resource, name }: Change): string {
  return `${kind} ${resource} ${name}`;
}

/** Returns whether everything is as declared in the files. */
export function isComplete(outcomes: readonly MerchantOutcome[]): boolean {
  return outcomes.every(({ status }) => status === "applied" || status === "unchanged");
}
