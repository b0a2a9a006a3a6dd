import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Nobody reads more suggestions than this, and a folder of everything shall not hold a shell up. */
const MOST = 500;

/** Merchants' files are looked for this many folders deep. */
const DEEPEST = 4;

/** What a shell can complete a word to, from the files in a folder; whatever cannot be read is left out. */
export interface CompletionWords {
  /** Codes of the merchants whose files are below `access/`. */
  merchants(): readonly string[];
  /** YAML files below the folder, and the folders that hold some. */
  merchantFiles(): readonly string[];
  /** Files of the folder itself with one of these endings. */
  files(...endings: readonly string[]): readonly string[];
}

/** Words for completion in a working directory. */
export function completionWords(cwd: string): CompletionWords {
  const yamlFiles = (): readonly string[] => filesBelow(cwd, "", 0).filter((file) => /\.ya?ml$/i.test(file));
  return {
    merchants() {
      const codes = yamlFiles()
        .filter((file) => file.startsWith("access/"))
        .flatMap((file) => merchantIn(join(cwd, file)) ?? []);
      return [...new Set(codes)].sort();
    },
    merchantFiles() {
      const files = yamlFiles();
      const folders = files.flatMap((file) =>
        file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : [],
      );
      return [...new Set([...folders, ...files])].sort();
    },
    files: (...endings) =>
      filesBelow(cwd, "", DEEPEST)
        .filter((file) => endings.some((ending) => file.endsWith(ending)))
        .sort(),
  };
}

function filesBelow(root: string, folder: string, depth: number): readonly string[] {
  try {
    const entries = readdirSync(join(root, folder), { withFileTypes: true }).filter(
      ({ name }) => !name.startsWith(".") && name !== "node_modules",
    );
    const path = (name: string): string => (folder === "" ? name : `${folder}/${name}`);
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => path(name));
    const below = entries
      .filter((entry) => entry.isDirectory() && depth < DEEPEST)
      .flatMap(({ name }) => filesBelow(root, path(name), depth + 1));
    return [...files, ...below].slice(0, MOST);
  } catch {
    return [];
  }
}

/** Enough for a suggestion: what the file really says is for the parser to tell. */
function merchantIn(file: string): string | null {
  try {
    return /^merchant:\s*["']?([\w-]+)/m.exec(readFileSync(file, "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}
