import { type Format, viewsOf } from "./format.ts";

/** Markdown for comments. */
export const markdownFormat: Format = {
  name: "markdown",
  use: "a comment or a note",
  prints: {
    plans: async (document, { maxSize }) => {
      const { renderReview } = await import("../markdown/render-review.ts");
      const { runFingerprint } = await import("../../kernel/diff/fingerprint.ts");
      const { plans, unplanned, fileErrors, unmanaged = [], rules = [], later = [] } = document;
      const run = runFingerprint(plans);
      const views = await viewsOf(document);
      return renderReview(
        { command: "plan", views, unplanned, fileErrors, unmanaged, rules, run, later },
        maxSize,
      );
    },
    drifts: async ({ drifts, placeOf, unplanned, fileErrors }, { maxSize }) => {
      const { renderReview } = await import("../markdown/render-review.ts");
      const { driftView } = await import("../view/drift-view.ts");
      const views = drifts.map((drift) => driftView(drift, placeOf));
      return renderReview({ command: "drift", views, unplanned, fileErrors }, maxSize);
    },
    answer: async ({ table, caveats }) => {
      const { markdownTable, plainText } = await import("../markdown/markdown-blocks.ts");
      return `${[markdownTable(table()), ...caveats.map(plainText)].join("\n\n")}\n`;
    },
  },
};
