import { join } from "node:path";
import { projectRoot } from "../project/project-root.ts";

/** Returns the folder of a project's journals: below the root of the repository, else below the working directory. */
export function runsFolder(cwd: string): string {
  return join(projectRoot(cwd, cwd), ".rolecall", "runs");
}
