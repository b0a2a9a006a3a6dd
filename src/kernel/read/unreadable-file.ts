import type { FileLocation, FileProblem, LocatedProblem } from "../problems/problem.ts";
import { MAX_LENGTH } from "../values/limits.ts";
import type { FailedRead, ReadFailure } from "./load-sources.ts";

/** Returns the problem of a file that cannot be read. */
export function unreadableFile(file: string, reason: ReadFailure): LocatedProblem<FileProblem> {
  const location = { at: "file", file } as const;
  return reason === "too-large"
    ? { code: "file-too-large", limit: MAX_LENGTH, location }
    : { code: `file-${reason}`, name: null, location };
}

/** Returns the problem of a file that cannot be read, at the location that names it; at the file itself if there is none. */
export function failedRead(
  { reason, path, file }: FailedRead,
  location: FileLocation | null,
): LocatedProblem<FileProblem> {
  const problem = unreadableFile(file, reason);
  return location === null ? problem : { ...problem, ...("name" in problem && { name: path }), location };
}
