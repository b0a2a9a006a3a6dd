import { posix } from "node:path";
import { pathMatcher } from "../../src/app/project/project-access.ts";
import type { ProjectAccess } from "../../src/kernel/read/bound-files.ts";
import type { ReadSource } from "../../src/kernel/read/load-sources.ts";
import { isProjectFile } from "../../src/kernel/schema/project-file.ts";

const ROOT = "/project";

/** The access to the project of these files, by their paths from its root. */
export async function memoryProject(
  names: readonly string[],
  read: ReadSource,
  by?: "base",
): Promise<ProjectAccess> {
  return {
    placesOf: (file) => [{ root: ROOT, path: posix.normalize(file) }],
    namesIn: async () => names.filter(isProjectFile),
    readIn: (_root, path) => read(path, "rolecall.yaml"),
    read,
    listIn: async (_root, folder) =>
      names.filter((name) => name.startsWith(folder === "" ? "" : `${folder}/`)).map((path) => ({ path })),
    matches: pathMatcher(),
    ...(by && { by }),
  };
}
