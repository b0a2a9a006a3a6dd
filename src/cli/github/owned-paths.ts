import { existsSync, realpathSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { enforcedRuleFiles } from "../../app/project/bound-rules.ts";
import { DEFAULT_PATH, defaultPath, findYamlFiles, ifAnyFiles } from "../../app/project/find-files.ts";
import { openIndex } from "../../app/project/project-index.ts";
import { projectRoot } from "../../app/project/project-root.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import { sortedSet } from "../../lib/text.ts";
import { codeOwners } from "./code-owners.ts";

/** Paths that decide which code runs with the keys: workflows and installed packages. */
const TOOLS = [".github/", "package.json", "package-lock.json"];

/**
 * Returns the paths whose change needs a review, relative to the repository, folders with a slash at the end: merchants'
 * files, what they include, the project's rules, and what runs with the keys.
 */
export async function ownedPaths(cwd: string): Promise<readonly string[]> {
  const root = realpathSync.native(resolve(cwd, defaultPath(cwd), ".."));
  const top = projectRoot(root, cwd);
  const pathOf = (file: string): string => relative(top, file).split(sep).join("/");
  const own = [
    `${pathOf(join(root, DEFAULT_PATH))}/`,
    `${pathOf(join(root, "shared"))}/`,
    pathOf(join(root, PROJECT_FILE)),
  ];
  const merchants = (await ifAnyFiles([], () => findYamlFiles([], cwd))) ?? [];
  const index = openIndex(root);
  const included = await Promise.all(merchants.map((file) => index.closure(file)));
  const rules = existsSync(join(root, PROJECT_FILE)) ? await enforcedRuleFiles(root) : [];
  const others = [...included.flatMap((files) => [...files]), ...rules]
    .map(pathOf)
    .filter((path) => !path.startsWith("../") && !isCovered(path, own));
  return [...own, ...sortedSet(others), ...TOOLS];
}

/** Returns whether the change of a file needs a review: in the folders of merchants, only that of YAML does. */
export function needsOwner(path: string, owned: readonly string[]): boolean {
  return isCovered(path, TOOLS) || (isCovered(path, owned) && /\.ya?ml$/.test(path));
}

/** Returns whether a path is one of some paths, or below a folder of them. */
function isCovered(path: string, paths: readonly string[]): boolean {
  return paths.some((each) => path === each || (each.endsWith("/") && path.startsWith(each)));
}

/** Returns the paths without an owner; of a folder, a file in it stands for all. */
export function unownedPaths(text: string, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => codeOwners(text, path.replace(/\/$/, "/file.yaml")).length === 0);
}
