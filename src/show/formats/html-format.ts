import { type Format, viewsOf } from "./format.ts";

/** A page with the access before and after. */
export const htmlFormat: Format = {
  name: "html",
  use: "a browser, as one page with the access before and after",
  prints: {
    plans: async (document) => {
      const { renderPage } = await import("../html/html-page.ts");
      const { runFingerprint } = await import("../../kernel/diff/fingerprint.ts");
      const { plans, unplanned, fileErrors, later = [], access } = document;
      if (access === undefined) throw new RangeError("A page needs the access of the plans.");
      const { reports, origin, now } = await access();
      const views = await viewsOf(document);
      const merchants = reports.map((report, index) => ({ ...report, view: views[index] ?? null }));
      const run = runFingerprint(plans);
      return renderPage({ about: "plan", merchants, unplanned, fileErrors, now, run, origin, later });
    },
    evidence: ({ page }) => page(),
  },
};
