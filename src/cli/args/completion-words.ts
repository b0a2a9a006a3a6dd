import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { defaultPath, projectRoot } from "../files/find-files.ts";
import { beginningOf } from "../journal/find-run.ts";
import { EXTENSION } from "../journal/read-journals.ts";

/** Limits the suggestions, so that a large folder does not block the shell. */
const MAX_SUGGESTIONS = 500;

/** Deepest level of folders that is searched. */
const MAX_DEPTH = 4;

/** The completions of a word, from the files in a folder; unreadable files are skipped. */
export interface CompletionWords {
  /** Codes of the merchants whose files are below `access/`. */
  merchants(): readonly string[];
  /** YAML files below the folder, and the folders that hold some. */
  merchantFiles(): readonly string[];
  /** Files of the folder itself with one of these endings. */
  files(...endings: readonly string[]): readonly string[];
  /** Ids of past runs, the newest first, and "latest". */
  runs(): readonly string[];
}

/** Returns the completions in a working directory; `current` is the word so far, which may name another folder. */
export function completionWords(cwd: string, current: string): CompletionWords {
  // Only the value of "--output=../x".
  const word = current.replace(/^--[\w-]+=/, "");
  const elsewhere = /^(?:\.{0,2}\/|~\/)/.test(word);
  const yamlFiles = (): readonly string[] => filesBelow(cwd, "", 0).filter((file) => /\.ya?ml$/i.test(file));
  return {
    merchants() {
      const access = resolve(cwd, defaultPath(cwd));
      const codes = filesBelow(access, "", 1)
        .filter((file) => /\.ya?ml$/i.test(file))
        .flatMap((file) => merchantIn(join(access, file)) ?? []);
      return [...new Set(codes)].sort();
    },
    merchantFiles() {
      if (elsewhere) return entriesAt(cwd, word, [".yaml", ".yml"]);
      const files = yamlFiles();
      const folders = files.flatMap((file) =>
        file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : [],
      );
      return [...new Set([...folders, ...files])].sort();
    },
    files: (...endings) =>
      elsewhere
        ? entriesAt(cwd, word, endings)
        : filesBelow(cwd, "", MAX_DEPTH)
            .filter((file) => endings.some((ending) => file.endsWith(ending)))
            .sort(),
    runs: () => ["latest", ...runIds(cwd)],
  };
}

/**
 * Returns folders, and files with one of these extensions, in the folder that a word names, such as `../` or `/srv/ac`.
 */
function entriesAt(cwd: string, word: string, endings: readonly string[]): readonly string[] {
  const before = word.slice(0, word.lastIndexOf("/") + 1);
  try {
    return readdirSync(resolve(cwd, before.replace(/^~(?=\/)/, homedir())), { withFileTypes: true })
      .filter(({ name }) => !name.startsWith("."))
      .flatMap((entry) => {
        if (entry.isDirectory()) return `${before}${entry.name}/`;
        return endings.some((ending) => entry.name.endsWith(ending)) ? `${before}${entry.name}` : [];
      })
      .slice(0, MAX_SUGGESTIONS)
      .sort();
  } catch {
    return [];
  }
}

function filesBelow(root: string, folder: string, depth: number): readonly string[] {
  try {
    const entries = readdirSync(join(root, folder), { withFileTypes: true }).filter(
      ({ name }) => !name.startsWith(".") && name !== "node_modules",
    );
    const path = (name: string): string => (folder === "" ? name : `${folder}/${name}`);
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => path(name));
    const below = entries
      .filter((entry) => entry.isDirectory() && depth < MAX_DEPTH)
      .flatMap(({ name }) => filesBelow(root, path(name), depth + 1));
    return [...files, ...below].slice(0, MAX_SUGGESTIONS);
  } catch {
    return [];
  }
}

function runIds(cwd: string): readonly string[] {
  try {
    const names = readdirSync(join(projectRoot(cwd, cwd), ".rolecall", "runs")).filter((name) =>
      name.endsWith(EXTENSION),
    );
    const ids = names.map((name) => beginningOf(name.slice(0, -EXTENSION.length)));
    return [...new Set(ids)].sort().reverse().slice(0, MAX_SUGGESTIONS);
  } catch {
    return [];
  }
}

/** Reads the merchant code without parsing the file, which is enough for a suggestion. */
function merchantIn(file: string): string | null {
  try {
    return /^merchant:\s*["']?([\w-]+)/m.exec(readFileSync(file, "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}
