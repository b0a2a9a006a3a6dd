import type { ApplyEvent, ApplyResult, Outcome } from "../model/apply.ts";
import type { Change } from "../model/plan.ts";
import { oneLine } from "./escape.ts";
import { renderFailures } from "./failure-text.ts";
import type { Paint, Style } from "./style.ts";
import { counted } from "./words.ts";

const DONE = { create: "created", update: "updated", replace: "replaced", delete: "deleted" } as const;

/** One line for an event that a log should show; null for the others. */
export function renderApplyEvent(event: ApplyEvent, style: Style): string | null {
  if (event.type !== "change-ended") return null;
  const { outcome, merchant } = event;
  const what = `${oneLine(merchant)}  ${nameOf(outcome.change)}`;
  switch (outcome.status) {
    case "done":
      return `${style.green("✓")} ${what} ${DONE[outcome.change.kind]}${outcome.adopted ? " (its answer was lost; it was found)" : ""}`;
    case "stale":
      return `${style.red("✗")} ${what} stale: ${oneLine(outcome.failure.message)}`;
    case "failed":
      return `${style.red("✗")} ${what} failed: ${oneLine(outcome.failure.message)}`;
    case "unknown":
      return `${style.yellow("?")} ${what} unknown: ${oneLine(outcome.failure.message)}`;
    case "unfinished":
    case "not-started":
      return null;
    default:
      return outcome satisfies never;
  }
}

/** What stopped a whole run: one of its merchants, or somebody. */
export type StopCause =
  | { readonly by: "merchant"; readonly merchant: string }
  | { readonly by: "signal"; readonly signal: string };

/** How an apply ended: the sum, and where it stopped, why, what was not done, and how to go on. */
export function renderApplyResult(
  merchant: string,
  result: ApplyResult,
  cause: StopCause | null,
  style: Style,
): string {
  const of = (status: Outcome["status"]): readonly Outcome[] =>
    result.outcomes.filter((outcome) => outcome.status === status);
  const sums = [
    `${counted(of("done").length, "change")} done`,
    ...sumOf(of("failed").length, "failed"),
    ...sumOf(of("stale").length, "stale"),
    ...sumOf(of("unknown").length, "unknown"),
    ...sumOf(of("unfinished").length, "unfinished"),
    ...sumOf(of("not-started").length, "not started"),
  ].join(", ");
  if (result.status === "done") return `${style.bold(oneLine(merchant))}: ${sums}.\n`;

  const failures = result.outcomes.flatMap((outcome) => ("failure" in outcome ? [outcome.failure] : []));
  return [
    `\n${style.bold(oneLine(merchant))}: stopped. ${sums}.\n`,
    ...listing("failed", of("failed"), style.red),
    ...listing("stale (not what was planned any more; nothing was sent)", of("stale"), style.red),
    ...listing(
      "unknown (look before you repeat it: the service may have done it)",
      of("unknown"),
      style.yellow,
    ),
    ...listing("unfinished (the next run goes on with it)", of("unfinished"), style.yellow),
    ...listing("not started", of("not-started"), style.dim),
    "\n",
    ...(failures.length === 0 ? [causeText(cause)] : [renderFailures(failures, style), "\n"]),
    `${nextStep(result)}\n`,
  ].join("");
}

/** Why a merchant stopped at which nothing failed. */
function causeText(cause: StopCause | null): string {
  if (cause === null) return "";
  return cause.by === "merchant"
    ? `It stopped because ${oneLine(cause.merchant)} did: the first failure stops the whole run. `
    : `It was stopped by ${cause.signal}. `;
}

function nextStep({ outcomes }: ApplyResult): string {
  const has = (status: Outcome["status"]): boolean => outcomes.some((outcome) => outcome.status === status);
  if (has("unknown")) {
    const first = has("failed") ? "Solve the problem, then run" : "Run";
    return `${first} "rolecall plan" to see what was done and what is left.`;
  }
  const what = has("done") ? "What was done stays done." : "Nothing was changed.";
  if (!has("failed")) return `${what} To go on, run it again.`;
  return `${what} Solve the problem, then run "rolecall plan" to see what is ${has("done") ? "left" : "to do"}.`;
}

function sumOf(count: number, word: string): readonly string[] {
  return count === 0 ? [] : [`${count.toLocaleString("en-US")} ${word}`];
}

function listing(title: string, outcomes: readonly Outcome[], paint: Paint): readonly string[] {
  if (outcomes.length === 0) return [];
  const rows = outcomes.map(({ change }) => `    ${paint(change.kind)} ${nameOf(change)}\n`);
  return [`  ${title}:\n`, ...rows];
}

function nameOf(change: Change): string {
  return `${change.resource} ${oneLine(change.name)}`;
}
