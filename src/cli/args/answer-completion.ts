import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Complete, type Command as Described, RootCommand, script } from "@bomb.sh/tab";
import type { Command, Option } from "commander";
import { ExitCode, type Io } from "../../app/io/io.ts";
import { beginningOf, EXTENSION } from "../../app/journal/read-journals.ts";
import { defaultPath } from "../../app/project/find-files.ts";
import { projectRoot } from "../../app/project/project-root.ts";

/** Prints a shell's completion script. */
export function printCompletionScript(shell: "bash" | "zsh" | "fish", io: Io): ExitCode {
  if (shell === "bash") io.stdout.write(BEFORE_BASH);
  // The library prints the completions itself.
  script(shell, "rolecall", "rolecall");
  if (shell === "bash") io.stdout.write(AFTER_BASH);
  return ExitCode.ok;
}

/** Hides the errors of the script, whose constants another script of the same library may have declared before. */
const BEFORE_BASH = `# Without the package bash-completion, something simpler does.
declare -F _get_comp_words_by_ref > /dev/null || _get_comp_words_by_ref() {
  words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
  cur=\${words[cword]} prev=\${words[cword - 1]}
}
{
`;
const AFTER_BASH = `} 2> /dev/null

# Bash takes --format=m for three words, and completes the last one.
__rolecall_tab() {
  local COMP_WORDS=("\${COMP_WORDS[@]}") COMP_CWORD=$COMP_CWORD COMP_LINE=$COMP_LINE
  if [[ \${COMP_WORDS[COMP_CWORD]} == = ]]; then
    COMP_WORDS[COMP_CWORD]= COMP_LINE=\${COMP_LINE//=/ }
  elif ((COMP_CWORD > 1)) && [[ \${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    COMP_WORDS=("\${COMP_WORDS[@]:0:COMP_CWORD-1}" "\${COMP_WORDS[@]:COMP_CWORD}")
    COMP_CWORD=$((COMP_CWORD - 1)) COMP_LINE=\${COMP_LINE//=/ }
  fi
  __rolecall_complete "$@"
}
complete -F __rolecall_tab rolecall
`;

/** Prints the completions of the last of these words. */
export function answerCompletion(words: readonly string[], program: Command, io: Io): ExitCode {
  const root = new RootCommand();
  describe(root, program, completionWords(io.cwd, words.at(-1) ?? ""));
  root.parse([...words]);
  return ExitCode.ok;
}

function describe(root: RootCommand, program: Command, words: CompletionWords): void {
  describeOne(root, program, words);
  for (const command of program.createHelp().visibleCommands(program)) {
    describeOne(root.command(command.name(), command.summary()), command, words);
  }
}

function describeOne(target: Described, command: Command, words: CompletionWords): void {
  for (const option of command.createHelp().visibleOptions(command)) {
    const [long, short] = [option.long?.replace(/^--/, ""), option.short?.replace(/^-/, "")];
    if (long === undefined) continue;
    if (option.required || option.optional) {
      target.option(long, option.description, suggest(valuesOf(option, words)), short);
    } else if (short === undefined) target.option(long, option.description);
    else target.option(long, option.description, short);
  }
  for (const argument of command.registeredArguments) {
    const { argChoices, variadic } = argument;
    const values = argChoices
      ? () => argChoices
      : argument.name() === "path"
        ? words.merchantFiles
        : argument.name() === "run"
          ? words.runs
          : () => [];
    target.argument(argument.name(), suggest(values), variadic);
  }
}

/** Returns the known values of an option, by its choices or its placeholder. */
function valuesOf({ argChoices, flags, long }: Option, words: CompletionWords): () => readonly string[] {
  if (argChoices) return () => argChoices;
  if (long === "--merchant") return words.merchants;
  if (flags.includes("<file>")) return () => words.files(".json", ".yaml", ".yml");
  return () => [];
}

function suggest(values: () => readonly string[]): (complete: Complete) => void {
  return (complete) => {
    for (const value of values()) complete(value, "");
  };
}

/** Limits the suggestions, so that a large folder does not block the shell. */
const MAX_SUGGESTIONS = 500;

/** Deepest level of folders that is searched. */
const MAX_DEPTH = 4;

/** The completions of a word, from the files in a folder; unreadable files are skipped. */
interface CompletionWords {
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
function completionWords(cwd: string, current: string): CompletionWords {
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
