import type { Format } from "./format.ts";

/** JSON for other programs. */
export const jsonFormat: Format = {
  name: "json",
  use: "your own programs: [its format](plan-json.md)",
  prints: {
    plans: async ({ plans, failures, later }) => (await machine()).plansJson(plans, failures, later),
    drifts: async ({ drifts, failures }) => {
      const { withRisks } = await import("../view/drift-view.ts");
      return (await machine()).driftsJson(drifts.map(withRisks), failures);
    },
    problems: async ({ diagnostics }) => (await machine()).diagnosticsJson(diagnostics),
    answer: (document) => document.json(),
    evidence: (document) => document.json(),
    result: (document) => document.json(),
  },
};

const machine = () => import("../machine/machine-formats.ts");
