import { join } from "node:path";
import { isBound, matchedFiles, type ProjectAccess, placeIn } from "../../kernel/read/bound-files.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import { fieldsOf, listOf, textOf, unique } from "../../kernel/values/values.ts";
import { parseYaml } from "../../kernel/yaml/parse-yaml.ts";
import { projectAccess } from "./project-access.ts";
import { openIndex } from "./project-index.ts";

/** Returns the files of rules that projects enforce on a file, by its path; each below the root of its project. */
export type RulesOn = (file: string) => readonly string[];

/** Reads which rules the projects of some files enforce, without reading the rules. */
export async function boundRules(files: readonly string[], access: ProjectAccess): Promise<RulesOn> {
  const roots = unique(files.flatMap((file) => access.placesOf(file).map(({ root }) => root)));
  const projects = await Promise.all(
    roots.map(async (root) => ({ root, entries: await entriesOf(root, access) })),
  );
  return (file) =>
    unique(
      projects.flatMap(({ root, entries }) => {
        const place = placeIn(root, file, [], access);
        if (place === null) return [];
        return entries.flatMap(({ rules, globs }) =>
          isBound(place, globs, access) ? join(root, rules) : [],
        );
      }),
    );
}

/** Returns the files of the rules that a project enforces, with what they include; absolute paths without links. */
export async function enforcedRuleFiles(root: string): Promise<readonly string[]> {
  const index = openIndex(root);
  const accesses = await projectAccess([join(root, PROJECT_FILE)], root);
  const rules = (await Promise.all(accesses.map((access) => entriesOf(root, access)))).flat();
  const closures = await Promise.all(rules.map((entry) => index.closure(join(root, entry.rules))));
  return unique(closures.flatMap((closure) => [...closure]));
}

async function entriesOf(root: string, access: ProjectAccess) {
  const names = await access.namesIn(root);
  const read = names.includes(PROJECT_FILE) ? await access.readIn(root, PROJECT_FILE) : null;
  if (!read?.ok) return [];
  const { value } = await parseYaml(read.text);
  const entries = listOf(fieldsOf(value)["enforce"]).flatMap((entry) => {
    const { rules, files } = fieldsOf(entry);
    const path = textOf(rules);
    return path === null ? [] : [{ rules: path, globs: listOf(files).flatMap((glob) => textOf(glob) ?? []) }];
  });
  return Promise.all(
    entries.map(async ({ rules, globs }) => ({
      rules,
      globs: await Promise.all(
        globs.map(async (glob) => ({ glob, matched: await matchedFiles(root, glob, access) })),
      ),
    })),
  );
}
