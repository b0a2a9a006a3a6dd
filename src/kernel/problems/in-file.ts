import type { LocatedProblem, Problem, ProblemData } from "./problem.ts";

/** Adds the file to the locations of a problem. */
export function inFile<Data extends ProblemData>(file: string, problem: Problem<Data>): LocatedProblem<Data> {
  const { location, first, hidden } = problem;
  return {
    ...problem,
    location: { ...location, file },
    ...(first && { first: { ...first, file } }),
    ...(hidden && { hidden: { ...hidden, file } }),
  } as LocatedProblem<Data>;
}
