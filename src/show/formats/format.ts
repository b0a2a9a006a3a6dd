import type { DiagnosticRule } from "../../kernel/problems/rule-table.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { FailureJson } from "../../model/events.ts";
import type { Plan } from "../../model/plan.ts";
import type { Drift } from "../../model/reports.ts";
import type { Document } from "../blocks/block.ts";
import type { PageMerchantInput } from "../html/page-data.ts";
import type { PageOrigin } from "../html/page-frame.ts";
import type { UnmanagedMerchant, UnplannedView } from "../markdown/review-sections.ts";
import type { Style, Verbosity } from "../style.ts";
import type { LaterView } from "../view/date-lines.ts";
import type { PlaceOf, PlanCommand, PlanView } from "../view/plan-view.ts";
import type { RuleLine } from "../view/rules-view.ts";
import type { Table } from "../view/table.ts";

/** The plans of a run, and the merchants without one. */
export interface PlansDocument {
  readonly plans: readonly Plan[];
  readonly placeOf: PlaceOf;
  readonly unplanned: readonly UnplannedView[];
  /** Number of errors in the files. */
  readonly fileErrors: number;
  readonly failures: readonly FailureJson[];
  readonly unmanaged?: readonly UnmanagedMerchant[];
  /** The rules that are looser than at the commit that the files are compared with. */
  readonly rules?: readonly RuleLine[];
  /** Upcoming effects of dates in the files. */
  readonly later?: readonly LaterView[];
  /** The command that applies the plans; `apply` if absent. */
  readonly command?: PlanCommand;
  /** Reads the access before and after the plans; absent if that cannot be shown. */
  readonly access?: () => Promise<{
    readonly reports: readonly Omit<PageMerchantInput, "view">[];
    readonly origin: PageOrigin;
    /** In ms since the epoch. */
    readonly now: number;
  }>;
}

/**
 * Returns the views of a document's plans; loads the code for them on demand, since commands without plans do not need
 * it.
 */
export async function viewsOf({
  plans,
  placeOf,
  later = [],
  command,
}: PlansDocument): Promise<readonly PlanView[]> {
  const { planView } = await import("../view/plan-view.ts");
  const { withLaterRisks } = await import("../view/date-lines.ts");
  return plans.map((plan) => withLaterRisks(planView(plan, placeOf, [], command), later));
}

/** The drifts of merchants, and those that could not be read. */
export interface DriftsDocument
  extends Pick<PlansDocument, "placeOf" | "unplanned" | "fileErrors" | "failures"> {
  readonly drifts: readonly Drift[];
}

/** Problems of files, with the files that were checked. */
export interface ProblemsDocument {
  readonly diagnostics: readonly Diagnostic[];
  /** The same with paths from the root of the project. */
  readonly inProject: readonly Diagnostic[];
  /** The files that were checked, from the root of the project. */
  readonly files: readonly string[];
  readonly rules: readonly Pick<DiagnosticRule, "code" | "severity" | "summary">[];
  /** The text if there are no problems. */
  readonly none: string;
  readonly command: "validate" | "lint";
  /** The version of the program. */
  readonly version: string;
}

/** A result that is either data or a report; each is made when it is printed. */
export interface ResultDocument {
  readonly json: () => string;
  readonly report: (isVerbose: boolean) => Document;
}

/** The answer to a question; its report includes the caveats. */
export interface AnswerDocument extends ResultDocument {
  /** Everything in the answer, with one fact per row. */
  readonly table: () => Table;
  /** Sentences about what the table leaves out. */
  readonly caveats: readonly string[];
}

/** An answer that can also be a page to print. */
export interface EvidenceDocument extends AnswerDocument {
  readonly page: () => Promise<string>;
}

/** What commands print, by the kind of document. */
export interface Documents {
  readonly plans: PlansDocument;
  readonly drifts: DriftsDocument;
  readonly problems: ProblemsDocument;
  readonly answer: AnswerDocument;
  readonly evidence: EvidenceDocument;
  readonly result: ResultDocument;
}

/** The destination and the extent of the output. */
export interface Paper {
  readonly style: Style;
  readonly verbosity: Verbosity;
  /** Limit in UTF-16 units, for formats that have one. */
  readonly maxSize?: number;
}

/** A format, as listed in the docs. */
export interface FormatRow {
  /** The name that `--format` takes. */
  readonly name: string;
  /** What displays the format, or what it is for, in a few words. */
  readonly use: string;
}

/** A format, with a printer for each kind of document that it can show. */
export interface Format extends FormatRow {
  /** True if the format cannot contain the caveats of an answer, which then go to stderr. */
  readonly tablesOnly?: true;
  readonly prints: {
    readonly [Kind in keyof Documents]?: (
      document: Documents[Kind],
      paper: Paper,
    ) => string | Promise<string>;
  };
}
