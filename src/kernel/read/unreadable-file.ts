import type { FileProblem, LocatedProblem } from "../problems/problem.ts";
import { MAX_LENGTH } from "../values/limits.ts";
import type { ReadFailure } from "./load-sources.ts";

/** Returns the problem of a file that cannot be read, by its name. */
export function unreadableFile(name: string, reason: ReadFailure): LocatedProblem<FileProblem> {
  const location = { at: "file", file: name } as const;
  return reason === "too-large"
    ? { code: "file-too-large", limit: MAX_LENGTH, location }
    : { code: `file-${reason}`, name, location };
}
