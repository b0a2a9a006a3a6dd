import { renderDiagnosticsGithub } from "../machine/diagnostic-formats.ts";
import type { Format } from "./format.ts";

/** Workflow commands of GitHub. */
export const githubFormat: Format = {
  name: "github",
  use: "GitHub, on the lines of a pull request",
  prints: { problems: ({ inProject, command }) => renderDiagnosticsGithub(inProject, command) },
};
