import { type Format, viewsOf } from "./format.ts";

/** A test report. */
export const junitFormat: Format = {
  name: "junit",
  use: "every CI system, as tests, with a suite for each file or merchant",
  prints: {
    plans: async (document) =>
      (await report()).plansJunit(await viewsOf(document), document.failures, document.later),
    drifts: async ({ drifts, placeOf, failures }) => {
      const { driftView } = await import("../view/drift-view.ts");
      return (await report()).driftsJunit(
        drifts.map((drift) => driftView(drift, placeOf)),
        failures,
      );
    },
    problems: async ({ inProject, files, command }) =>
      (await report()).diagnosticsJunit(inProject, files, `rolecall ${command}`),
  },
};

const report = () => import("../machine/junit-report.ts");
