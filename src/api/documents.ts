import { VERSION } from "../app/io/io.ts";
import { libraryIo } from "../app/io/node-io.ts";
import { endsOfAccess } from "../ask/access/expiring-access.ts";
import { runFingerprint } from "../kernel/diff/fingerprint.ts";
import { diagnosticTable } from "../kernel/rules/every-rule.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Plan } from "../model/plan.ts";
import type { AccessSnapshot, ExpiringAccess } from "../model/questions.ts";
import type { AccessReport } from "../model/reports.ts";
import { renderPage } from "../show/html/html-page.ts";
import { diagnosticsSarif, renderDiagnosticsGithub } from "../show/machine/diagnostic-formats.ts";
import { plansJunit } from "../show/machine/junit-report.ts";
import { diagnosticsJson, plansJson } from "../show/machine/machine-formats.ts";
import { renderReview } from "../show/markdown/render-review.ts";
import { PLAIN } from "../show/style.ts";
import { renderDiagnostics } from "../show/text/diagnostics-text.ts";
import { renderPlans } from "../show/text/plans-text.ts";
import { planView } from "../show/view/plan-view.ts";

/** The formats of plans: text of 80 columns, Markdown for a comment, a JSON document, or a JUnit report. */
export type PlanDocumentFormat = "text" | "markdown" | "json" | "junit";

/** Options for the rendering of plans. */
export interface RenderPlanOptions {
  /** Absent: `text`. */
  readonly format?: PlanDocumentFormat;
  /** Maximum number of characters of Markdown, which keeps what matters most; absent: 60,000. */
  readonly maxSize?: number;
}

/**
 * Renders plans as `rolecall plan` does, without colours or the locations of rules. Hostile text is escaped.
 *
 * @throws RangeError for an unknown format.
 */
export function renderPlan(plans: readonly Plan[], options: RenderPlanOptions = {}): string {
  const { format = "text", maxSize } = options;
  const views = plans.map((plan) => planView(plan));
  const run = runFingerprint(plans);
  switch (format) {
    case "text":
      return renderPlans(views, PLAIN, "normal", { run });
    case "markdown":
      return renderReview({ command: "plan", views, unplanned: [], fileErrors: 0, run }, maxSize);
    case "json":
      return plansJson(plans);
    case "junit":
      return plansJunit(views, []);
    default:
      return unknownFormat(format);
  }
}

/** The formats of diagnostics. */
export type DiagnosticFormat = "text" | "json" | "github" | "sarif";

/**
 * Renders diagnostics as `rolecall validate` does, without colours.
 *
 * @throws RangeError for an unknown format.
 */
export function renderFileDiagnostics(
  diagnostics: readonly Diagnostic[],
  format: DiagnosticFormat = "text",
): string {
  switch (format) {
    case "text":
      return renderDiagnostics(diagnostics, PLAIN);
    case "json":
      return diagnosticsJson(diagnostics);
    case "github":
      return renderDiagnosticsGithub(diagnostics);
    case "sarif":
      return diagnosticsSarif(diagnostics, { version: VERSION, rules: diagnosticTable() });
    default:
      return unknownFormat(format);
  }
}

/** Throws for a format that only a caller without types can pass. */
function unknownFormat(format: never): never {
  throw new RangeError(`There is no format ${JSON.stringify(format)}.`);
}

/** Options for the rendering of a report. */
export interface RenderReportOptions {
  /** The access that the reports describe; absent: `live`. */
  readonly about?: "live" | "declared";
  /** Time that the page shows, in ms since the epoch; absent: now. */
  readonly now?: number;
}

/** Renders access reports as the self-contained HTML page of `rolecall report`. */
export function renderReport(reports: readonly AccessReport[], options: RenderReportOptions = {}): string {
  const { about = "live", now = libraryIo({}).now() } = options;
  const merchants = reports.map((report) => ({ report, view: null }));
  return renderPage({ about, fileErrors: 0, unplanned: [], merchants, now });
}

/** A period of time, in ms since the epoch. */
export interface ExpiringPeriod {
  /** Access that ends at that moment or earlier is past. Absent: now. */
  readonly now?: number;
  /** Access that ends at that moment or earlier is in the period. Absent: 30 days after `now`. */
  readonly last?: number;
}

const PERIOD_MS = 30 * 24 * 3_600_000;

/** Returns the end dates of access in a period, as `rolecall expiring` does, earliest first. */
export function expiringAccess(
  snapshots: readonly AccessSnapshot[],
  { now = libraryIo({}).now(), last = now + PERIOD_MS }: ExpiringPeriod = {},
): readonly ExpiringAccess[] {
  return endsOfAccess(snapshots, { now, last, timeOf: Date.parse });
}
