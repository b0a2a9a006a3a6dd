import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Run } from "./story.ts";

/** Downloads the parts of jobs into a folder beside them, each into one of its own, as the last job of a workflow does. */
export async function downloadParts(jobs: readonly Run[]): Promise<string> {
  const paths = jobs.map(({ outputs }) => outputs["part-path"] ?? "");
  const plans = await mkdtemp(join(dirname(paths[0] ?? ""), "plans-"));
  for (const [index, path] of paths.entries()) {
    await mkdir(join(plans, `plan-${index}`));
    await writeFile(join(plans, `plan-${index}`, "part.json"), await readFile(path, "utf8"));
  }
  return plans;
}
