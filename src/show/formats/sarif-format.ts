import { diagnosticsSarif } from "../machine/diagnostic-formats.ts";
import type { Format } from "./format.ts";

/** A SARIF log. */
export const sarifFormat: Format = {
  name: "sarif",
  use: "code scanning",
  prints: { problems: ({ inProject, version, rules }) => diagnosticsSarif(inProject, { version, rules }) },
};
