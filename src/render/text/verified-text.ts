import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { Failure } from "../../model/errors.ts";
import type { Change, Deferred, Finding, Plan } from "../../model/plan.ts";
import type { Style } from "../style.ts";
import { renderFailure } from "./failure-text.ts";

/** What stands in the way of saying that nothing is left: what still differs, and what cannot be told. */
export interface RemainingChanges {
  readonly left: readonly Change[];
  readonly errors: readonly Finding[];
  /** Declared members who cannot be created, since the file does not say which roles to give; no difference either. */
  readonly notCreated: readonly string[];
}

/** What a plan that was made after an apply says is left; what is deferred is no part of it. */
export function remainingChanges(plan: Plan): RemainingChanges {
  return {
    left: plan.changes,
    errors: plan.findings.filter(({ severity }) => severity === "error"),
    notCreated: plan.findings.filter(({ code }) => code === "member-needs-roles").map(({ name }) => name),
  };
}

/**
 * The result of the verification: that nothing is left but what was left out or refused for now, or what
 * is, by name, and what waits for whom.
 */
export function renderVerified(plan: Plan, leftOut: number, style: Style, refused = 0): string {
  const { left, errors, notCreated } = remainingChanges(plan);
  const merchant = oneLine(plan.merchant);
  const deferred = plan.deferred.map(deferredLine);
  const missing = notCreated.map(
    (name) => `    member ${oneLine(name)}: not created, since the file does not say which roles to give\n`,
  );
  if (left.length + errors.length === 0) {
    const rest = [
      ...(plan.deferred.length === 0 ? [] : [`what waits (${plan.deferred.length})`]),
      ...(leftOut === 0 ? [] : [`what was left out (${leftOut})`]),
      ...(refused === 0 ? [] : [`what was refused (${refused})`]),
      ...(missing.length === 0 ? [] : [`what cannot be created (${missing.length})`]),
    ];
    const but = rest.length === 0 ? "" : ` except ${rest.join(" and ")}`;
    return [
      `${style.green("✓")} ${merchant}: verified, no changes remain${but}.\n`,
      ...deferred,
      ...missing,
    ].join("");
  }
  const counts = [
    ...(left.length > 0 ? [counted(left.length, "change")] : []),
    ...(errors.length > 0 ? [counted(errors.length, "problem")] : []),
  ].join(" and ");
  const are = left.length + errors.length === 1 ? "is" : "are";
  return [
    `\n${style.red("✗")} ${merchant}: read again, and ${counts} ${are} left; somebody else may have changed something meanwhile:\n`,
    ...left.map((change) => `    ${changeText(change)}\n`),
    ...errors.map(({ message }) => `    error: ${oneLine(message)}\n`),
    ...missing,
    ...(deferred.length > 0 ? ["  Besides, what waits:\n", ...deferred] : []),
    'Run "rolecall plan" to see more, and apply again.\n',
  ].join("");
}

/** What to say where everything was done, and it is not known whether anything is left. */
export function renderUnverified(merchant: string, why: Failure | string, style: Style): string {
  const [reason, details] =
    typeof why === "string"
      ? [uncapital(oneLine(why)), ""]
      : ["it could not be read again.", renderFailure(why, style)];
  return [
    `\n${style.yellow("?")} ${oneLine(merchant)}: the changes are done, but not verified: ${reason}\n`,
    details,
    'Run "rolecall plan" to see whether anything is left.\n',
  ].join("");
}

function uncapital(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

/** A change in short: its kind, resource and name. */
export function summaryOf({ kind, resource, name }: Change): string {
  return `${kind} ${resource} ${name}`;
}

function changeText(change: Change): string {
  const fields = change.fields.map(({ field }) => field);
  return `${oneLine(summaryOf(change))}${fields.length > 0 ? `: ${fields.join(", ")}` : ""}`;
}

function deferredLine({ change, role, waitsFor }: Deferred): string {
  const who = waitsFor.map(oneLine).join(" or ");
  return `    ${oneLine(summaryOf(change))}: waits until ${who} has accepted, so that "${oneLine(role)}" keeps enough holders\n`;
}
