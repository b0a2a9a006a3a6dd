import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkProject } from "../../kernel/schema/check-file.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import { parseYaml } from "../../kernel/yaml/parse-yaml.ts";
import { RolecallError } from "../../model/errors.ts";
import type { RecordMode } from "../../model/record-modes.ts";
import { projectRoot } from "../project/project-root.ts";

/** Returns where the project's file says that runs are recorded; undefined if it does not. Throws RolecallError. */
export async function recordSetting(cwd: string): Promise<RecordMode | undefined> {
  const text = await readFile(join(projectRoot(cwd, cwd), PROJECT_FILE), "utf8").catch(
    (error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? undefined : null),
  );
  if (text === undefined) return undefined;
  const content = text === null ? null : checkProject((await parseYaml(text)).value).content;
  if (content !== null) return content.records;
  throw new RolecallError(
    "file-invalid",
    `${PROJECT_FILE} cannot be read, or has errors, so it is not known where to record the run.`,
    {
      hint: '"rolecall validate" shows them. --records overrides the file.',
    },
  );
}
