import { oneLine } from "../../lib/escape.ts";
import { counted, grouped } from "../../lib/text.ts";
import type { ApplyResult, Outcome, PasswordChange, StopCause } from "../../model/apply.ts";
import type { Failure } from "../../model/errors.ts";
import type { ApplyEvent } from "../../model/events.ts";
import type { Change, Plan } from "../../model/plan.ts";
import type { Paint, Style } from "../style.ts";
import { adoptedText } from "../view/change-view.ts";
import { nextStepFor, renderFailures } from "./failure-text.ts";
import { hangingLines, wrapIfNarrow, wrapText } from "./wrap.ts";

const DONE = { create: "created", update: "updated", replace: "replaced", delete: "deleted" } as const;
const WAS_SO = {
  create: "already existed",
  update: "was already up to date",
  replace: "was already replaced",
  delete: "was already gone",
} as const;

/** Formats an event for a log; `null` for events that a log omits. */
export function renderApplyEvent(event: ApplyEvent, style: Style): string | null {
  switch (event.type) {
    case "fields-emptied": {
      const { merchant, change, fields } = event;
      const text = `${oneLine(merchant)}  ${nameOf(change)}: the service emptied ${fields.join(" and ")}, which the update did not send. They are restored now; the rest of this run sends whole members.`;
      return wrapIfNarrow(text, style, `${style.yellow("!")} `, "  ").join("\n");
    }
    case "change-ended":
      return outcomeLine(event.merchant, event.outcome, style);
    case "apply-started":
    case "phase-started":
    case "change-started":
      return null;
    // The result of each merchant is printed when all have ended.
    case "apply-stopped":
    case "apply-ended":
      return null;
    default:
      return event satisfies never;
  }
}

function outcomeLine(merchant: string, outcome: Outcome, style: Style): string | null {
  const what = `${oneLine(merchant)}  ${nameOf(outcome.change)}`;
  const marked = (mark: string, text: string): string =>
    wrapIfNarrow(`${what} ${text}`, style, `${mark} `, "  ").join("\n");
  switch (outcome.status) {
    case "done":
      return marked(
        style.green("✓"),
        `${doneWord(outcome)}${outcome.adopted ? ` (${adoptedText(isPassword(outcome.change))})` : ""}`,
      );
    case "stale":
      return marked(style.red("✗"), `stale: ${oneLine(outcome.failure.message)}`);
    case "failed":
      if (refusalOf(outcome))
        return wrapIfNarrow(
          oneLine(`${merchant}  ${outcome.failure.message}`),
          style,
          `${style.yellow("!")} `,
          "  ",
        ).join("\n");
      return marked(style.red("✗"), `failed: ${oneLine(outcome.failure.message)}`);
    case "unknown":
      return marked(style.yellow("?"), `unknown: ${oneLine(outcome.failure.message)}`);
    case "unfinished":
      return outcome.failure
        ? marked(style.red("✗"), `unfinished: ${oneLine(outcome.failure.message)}`)
        : null;
    case "not-started":
      return null;
    default:
      return outcome satisfies never;
  }
}

function doneWord({ change, already }: Outcome & { readonly status: "done" }): string {
  if (isPassword(change)) return `password set from ${oneLine(change.passwordEnv)}`;
  return (already ? WAS_SO : DONE)[change.kind];
}

/** The passwords that an apply sets at one merchant, in addition to its plan. */
export interface MerchantPasswords {
  readonly plan: Pick<Plan, "merchant">;
  readonly passwords: readonly PasswordChange[];
}

/** Maximum number of passwords with a line each, and of names in the one line for more. */
const MAX_PASSWORD_LINES = 10;
const MAX_NAMED = 3;

/** Formats the passwords that an apply will set: one line each, or one for all if they are many. */
export function renderPasswords(due: readonly MerchantPasswords[], style: Style): string {
  const all = due.filter(({ passwords }) => passwords.length > 0);
  const names = all.flatMap(({ passwords }) => passwords.map(({ name }) => oneLine(name)));
  if (names.length > MAX_PASSWORD_LINES) {
    const named = `${names.slice(0, MAX_NAMED).join(", ")} and ${grouped(names.length - MAX_NAMED)} more`;
    const [first, ...others] = all;
    const where = others.length > 0 ? counted(all.length, "merchant") : oneLine(first?.plan.merchant ?? "");
    const text = `The passwords of ${grouped(names.length)} managed users at ${where} will be set: ${named}.`;
    return `${hangingLines(text, style.columns, "", "  ").join("\n")}\n\n`;
  }
  return all
    .map(({ plan, passwords }) => {
      const lines = passwords.flatMap(({ name, passwordEnv }) => {
        const text = `${oneLine(plan.merchant)}: the password of ${oneLine(name)} will be set from ${oneLine(passwordEnv)}.`;
        return wrapIfNarrow(text, style, "", "  ");
      });
      return `${lines.join("\n")}\n\n`;
    })
    .join("");
}

/**
 * Formats how an apply ended at one merchant: the totals, and after a stop its cause, the changes that were not made, and
 * the next step. If nothing failed there and it is one of several merchants, only the total says the cause and next step.
 */
export function renderApplyResult(
  merchant: string,
  result: ApplyResult,
  cause: StopCause | null,
  style: Style,
  oneOfSeveral = false,
): string {
  const { of, sums } = sumUp(result.outcomes);
  if (result.status === "done") return `${style.bold(oneLine(merchant))}: ${sums}.\n`;
  if (result.status === "incomplete") return incompleteText(merchant, sums, result, style);

  const failures = failuresOf(result);
  // The plan has just listed the changes of a merchant that was not begun.
  const isUntouched =
    oneOfSeveral && failures.length === 0 && of("not-started").length === result.outcomes.length;
  if (isUntouched) return `${style.bold(oneLine(merchant))}: stopped. ${sums}.\n`;
  return [
    `\n${style.bold(oneLine(merchant))}: stopped. ${sums}.\n`,
    ...listing("failed", of("failed"), style.red),
    ...listing("stale (changed since it was planned; left as it is)", of("stale"), style.red),
    ...listing("unknown (may have taken effect)", of("unknown"), style.yellow),
    ...listing("unfinished (the next run continues them)", of("unfinished"), style.yellow),
    ...listing("not started", of("not-started"), style.dim),
    ...withoutRecord(result, style),
    ...(failures.length === 0
      ? oneOfSeveral
        ? []
        : ["\n", ending(`${causeText(cause)}${howToGoOn(result, false)}`, style)]
      : ["\n", renderFailures(failures, style), "\n", ending(howToGoOn(result, true), style)]),
  ].join("");
}

/** Formats the result of an apply in which only invitations were refused. */
function incompleteText(merchant: string, sums: string, { outcomes }: ApplyResult, style: Style): string {
  const unfinished = outcomes.filter(({ status }) => status === "unfinished");
  const rest = outcomes.filter(({ status }) => status === "not-started");
  const refusals = outcomes.flatMap((outcome) => refusalOf(outcome) ?? []);
  // Each address is listed; the service's own account differs in no more than that: once for each kind.
  const kinds = new Map(refusals.toReversed().map((one) => [one.request?.problem?.type, one]));
  const message = "The service refused invitations for the time being (429).";
  return [
    `\n${style.bold(oneLine(merchant))}: incomplete. ${sums}.\n`,
    `  refused for the time being${rest.length === 0 ? " (everything else is done)" : ""}:\n`,
    ...refusals.map((failure) => `    ${style.yellow(oneLine(failure.message))}\n`),
    ...listing("unfinished (the next run continues them)", unfinished, style.yellow),
    ...listing("not started (their holders have not been invited yet)", rest, style.dim),
    "\n",
    renderFailures(
      [...kinds.values()].map((failure) => ({ ...failure, message })),
      style,
    ),
  ].join("");
}

/** Returns the refusal of an invitation for its address alone; `null` for any other outcome. */
function refusalOf(outcome: Outcome): Failure | null {
  const failure = "failure" in outcome ? outcome.failure : undefined;
  return failure?.code === "invitation-limited" ? failure : null;
}

/** Formats the total of several merchants: the counts, and after a stop its cause and the next step. */
export function renderApplyTotal(
  results: readonly ApplyResult[],
  cause: StopCause | null,
  style: Style,
): string {
  const outcomes = results.flatMap((result) => result.outcomes);
  const { sums } = sumUp(outcomes);
  const merchants = style.bold(counted(results.length, "merchant"));
  const stopped = results.some(({ status }) => status === "stopped");
  if (!stopped) {
    const done = results.every(({ status }) => status === "done");
    return done ? `${merchants}: ${sums}.\n` : `\n${merchants}: incomplete. ${sums}.\n`;
  }
  // The other merchants went on: the end of the run says what is left where.
  if (cause === null) return `\n${merchants}: ${sums}.\n`;
  const writes = results.reduce((all, result) => all + result.writes, 0);
  const failed = results.some((result) => failuresOf(result).length > 0);
  return [
    `\n${merchants}: stopped. ${sums}.\n`,
    ending(`${causeText(cause)}${howToGoOn({ outcomes, writes }, failed)}`, style),
  ].join("");
}

function ending(text: string, { columns }: Style): string {
  return wrapText(text, columns)
    .map((line) => `${line}\n`)
    .join("");
}

interface Sums {
  of(status: Outcome["status"]): readonly Outcome[];
  /** "2 changes done, 1 failed". */
  readonly sums: string;
}

function sumUp(outcomes: readonly Outcome[]): Sums {
  const of: Sums["of"] = (status) => outcomes.filter((outcome) => outcome.status === status);
  // "0 changes done" would be wrong if a change is half done.
  const half = outcomes.some((outcome) => outcome.status === "unfinished" || "removed" in outcome);
  const noneDone = of("done").length === 0 && half;
  const sums = [
    ...(noneDone ? [] : [`${counted(of("done").length, "change")} done`]),
    ...sumOf(of("failed").length, "failed"),
    ...sumOf(of("stale").length, "stale"),
    ...sumOf(of("unknown").length, "unknown"),
    ...sumOf(of("unfinished").length, "unfinished"),
    ...sumOf(of("not-started").length, "not started"),
  ].join(", ");
  return { of, sums };
}

type Carried = Pick<ApplyResult, "outcomes" | "writes">;

/** Returns each failure with its next step in place of its hint. */
function failuresOf({ outcomes, journalFailure }: ApplyResult): readonly Failure[] {
  const failed = outcomes.flatMap((outcome) =>
    "failure" in outcome && outcome.failure ? [{ status: outcome.status, failure: outcome.failure }] : [],
  );
  const reported = journalFailure && failed.some(({ failure }) => failure === journalFailure);
  const unrecorded =
    journalFailure && !reported ? [{ status: "failed" as const, failure: journalFailure }] : [];
  return [...failed, ...unrecorded].map(({ status, failure }) => {
    const { hint: _, ...rest } = failure;
    const hint = nextStepFor(status, failure);
    return { ...rest, ...(hint !== null && { hint }) };
  });
}

/** Returns the cause of a stop at a merchant without failures. */
function causeText(cause: StopCause | null): string {
  if (cause === null) return "";
  switch (cause.by) {
    case "merchant":
      return `The run was stopped by the failure at ${oneLine(cause.merchant)}: the first failure stops it at every merchant. `;
    case "signal":
      return `The run was stopped by ${cause.signal}. `;
    case "output":
      return `The run was stopped because ${cause.stream} could not be written to. `;
    default:
      return cause satisfies never;
  }
}

function howToGoOn({ outcomes, writes }: Carried, hasFailures: boolean): string {
  const unknown = outcomes.filter(({ status }) => status === "unknown").length;
  const plan = 'run "rolecall plan"';
  if (unknown > 0) {
    const rest =
      writes > unknown ? "Completed changes remain." : "It is unknown whether anything was changed.";
    return `${rest} To continue, ${plan} to see what remains, and apply again.`;
  }
  const what = writes > 0 ? "Completed changes remain." : "Nothing was changed.";
  if (!hasFailures) return `${what} To continue, run the command again.`;
  if (outcomes.every(({ status }) => status === "done"))
    return `${what} ${capital(plan)} to verify that no changes remain.`;
  // A refused invitation only needs time.
  const isToFix = outcomes.some((outcome) => outcome.status === "failed" && refusalOf(outcome) === null);
  const first = isToFix ? "fix the problem, then " : "";
  return `${what} To continue, ${first}${plan} to see what ${writes > 0 ? "remains" : "would change"}, and apply again.`;
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function sumOf(count: number, word: string): readonly string[] {
  return count === 0 ? [] : [`${grouped(count)} ${word}`];
}

function listing(title: string, outcomes: readonly Outcome[], paint: Paint): readonly string[] {
  if (outcomes.length === 0) return [];
  const rows = outcomes.map((outcome) => {
    const { change } = outcome;
    if (isPassword(change)) return `    ${paint("set")} the password of ${nameOf(change)}\n`;
    return `    ${paint(change.kind)} ${nameOf(change)}\n${removalText(outcome)}`;
  });
  return [`  ${title}:\n`, ...rows];
}

/** Describes the roles and metadata of a removed invitation without a known successor. */
function removalText(outcome: Outcome): string {
  const { change, status } = outcome;
  if (!("removed" in outcome) || change.resource !== "member" || change.before === null) return "";
  const { roles, metadata } = change.before;
  const held = [
    roles.length === 0 ? "no roles" : roles.map(({ name }) => oneLine(name)).join(", "),
    ...(Object.keys(metadata).length === 0 ? [] : [`metadata ${oneLine(JSON.stringify(metadata))}`]),
  ].join("; ");
  const fate =
    outcome.removed === "unknown"
      ? "It is unknown whether the expired invitation was deleted; no new one was sent."
      : `The expired invitation was deleted, and ${status === "unknown" ? "it is unknown whether a new one was sent" : "no new one was sent"}.`;
  return [
    `      ${fate} It held: ${held}.\n`,
    "      The journal has this; the next plan that finds the journal sends a new invitation.\n",
  ].join("");
}

/** Lists the changes that were sent but are missing from the journal. */
function withoutRecord({ outcomes, unrecorded }: ApplyResult, style: Style): readonly string[] {
  const lost = new Set(unrecorded);
  const rows = outcomes.flatMap(({ status, change }) =>
    lost.has(change)
      ? [`    ${style.yellow(change.kind)} ${nameOf(change)}: ${status.replace("-", " ")}\n`]
      : [],
  );
  return rows.length === 0 ? [] : ["  not recorded (the outcome is not in the journal):\n", ...rows];
}

function isPassword(change: Change | PasswordChange): change is PasswordChange {
  return "passwordEnv" in change;
}

function nameOf(change: Change): string {
  return `${change.resource} ${oneLine(change.name)}`;
}
