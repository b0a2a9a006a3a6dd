import { diagnosticsGitlab } from "../machine/diagnostic-formats.ts";
import type { Format } from "./format.ts";

/** A Code Quality report. */
export const gitlabFormat: Format = {
  name: "gitlab",
  use: "GitLab, on the lines of a merge request",
  prints: { problems: ({ inProject }) => diagnosticsGitlab(inProject) },
};
