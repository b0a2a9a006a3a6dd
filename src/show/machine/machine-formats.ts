import { visibleJson } from "../../lib/json-text.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { type Failure, RolecallError } from "../../model/errors.ts";
import type { FailureJson, StreamEvent } from "../../model/events.ts";
import type { Plan } from "../../model/plan.ts";
import type { LaterView } from "../view/date-lines.ts";
import type { RiskyDrift } from "../view/drift-view.ts";
import type { ShownRun } from "../view/run-view.ts";

/** Returns a merchant's failure for other programs. */
export function failureJson(merchant: string | null, { code, message, hint }: Failure): FailureJson {
  return { merchant, file: null, line: null, column: null, code, message, hint: hint ?? null };
}

/** Returns an error in a file for other programs. */
export function diagnosticFailure({ code, message, hint, file, span }: Diagnostic): FailureJson {
  const { line = null, column = null } = span ?? {};
  return { merchant: null, file, line, column, code, message, hint: hint ?? null };
}

/** Far more than other programs read at once, and less than the maximum length of a string. */
const MAX_JSON = 200_000_000;

/** Returns JSON that is safe to print to a terminal; throws RolecallError if it would be too large. */
export function safeJson(value: unknown, indent = 0): string {
  if (jsonSize(value) > MAX_JSON) {
    throw new RolecallError("too-many-items", `The JSON would have more than ${MAX_JSON / 1_000_000} MB.`, {
      hint: "Use another format, or select fewer merchants with --merchant.",
    });
  }
  return visibleJson(value, indent);
}

/** Returns the approximate length of a value as JSON; counts shared objects once. */
function jsonSize(value: unknown): number {
  const sizes = new Map<object, number>();
  const sizeOf = (part: unknown): number => {
    if (typeof part === "string") return part.length + 2;
    if (typeof part !== "object" || part === null) return 5;
    const known = sizes.get(part);
    if (known !== undefined) return known;
    let size = 2;
    for (const [key, item] of Object.entries(part)) size += key.length + sizeOf(item);
    sizes.set(part, size);
    return size;
  };
  return sizeOf(value);
}

/** Returns a document as JSON that is safe to print, with the version of its format. */
export function documentJson(document: object): string {
  return `${safeJson({ format: 1, ...document }, 2)}\n`;
}

/** Returns the plans of all merchants as JSON, with the failures of the others. */
export function plansJson(
  plans: readonly Plan[],
  failures: readonly FailureJson[] = [],
  later: readonly LaterView[] = [],
): string {
  const days = later.map(({ merchant, moment, dates, refusals, gains }) => ({
    merchant,
    at: moment,
    dates: dates.map(({ text, email, what, roles }) => ({ date: text, member: email, what, roles })),
    refusals: refusals.map(({ rule, code, message }) => ({ rule, code, message })),
    gains: gains.map(({ name, gained }) => ({ member: name, gained })),
  }));
  return documentJson({ plans, failures, ...(days.length > 0 && { later: days }) });
}

/** Returns the drift of merchants as JSON, with its risks. */
export function driftsJson(drifts: readonly RiskyDrift[], failures: readonly FailureJson[] = []): string {
  return documentJson({ drifts, failures });
}

/** Returns diagnostics as JSON. */
export function diagnosticsJson(diagnostics: readonly Diagnostic[]): string {
  return documentJson({ diagnostics });
}

/** Returns past runs as JSON: the journal of each merchant, and the status of the run. */
export function runsJson(runs: readonly ShownRun[]): string {
  const shown = runs.map(({ name, status, journals, record = null }) => ({
    name,
    status: status ?? "unreadable",
    record,
    merchants: journals.map((journal) =>
      "past" in journal
        ? {
            merchant: journal.past.run.merchant,
            journal: journal.name,
            status: journal.status,
            ...journal.past,
          }
        : { merchant: null, journal: journal.name, status: "unreadable", reason: journal.unreadable },
    ),
  }));
  return documentJson({ runs: shown });
}

/** Returns an event as a line of the JSON stream; `at` is ISO 8601. */
export function eventJson(event: StreamEvent, time: string): string {
  const { type, ...rest } = event;
  return `${safeJson({ type, at: time, ...rest })}\n`;
}
