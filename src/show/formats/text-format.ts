import { documentText } from "../blocks/text-blocks.ts";
import { type Format, type Paper, type ResultDocument, viewsOf } from "./format.ts";

/** Text for people. */
export const textFormat: Format = {
  name: "text",
  use: "people, on a terminal or in a log",
  prints: {
    plans: async (document, { style, verbosity }) => {
      const { plans, later = [], rules = [], command } = document;
      if (plans.length === 0) return "";
      const { renderPlans } = await import("../text/plans-text.ts");
      const { renderDates, renderRules } = await import("../text/plan-text.ts");
      const { runFingerprint } = await import("../../kernel/diff/fingerprint.ts");
      const run = { run: runFingerprint(plans), ...(command && { command }) };
      const planText = renderPlans(await viewsOf(document), style, verbosity, run);
      if (verbosity === "quiet") return planText;
      return `${planText}${renderDates(later, style, verbosity)}${renderRules(rules, style)}`;
    },
    drifts: async ({ drifts, placeOf }, { style, verbosity }) => {
      if (drifts.length === 0) return "";
      const { renderDrifts } = await import("../text/drift-text.ts");
      const { driftView } = await import("../view/drift-view.ts");
      return renderDrifts(
        drifts.map((drift) => driftView(drift, placeOf)),
        style,
        verbosity,
      );
    },
    problems: async ({ diagnostics, none }, { style }) => {
      if (diagnostics.length === 0) return none;
      // Wrapping needs a library that takes as long to load as a small file to validate.
      const { renderDiagnostics } = await import("../text/diagnostics-text.ts");
      return renderDiagnostics(diagnostics, style);
    },
    answer: report,
    evidence: report,
    result: report,
  },
};

function report(document: ResultDocument, { style, verbosity }: Paper): string {
  return documentText(document.report(verbosity === "verbose"), style);
}
