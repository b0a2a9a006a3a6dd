import { type Complete, type Command as Described, RootCommand, script } from "@bomb.sh/tab";
import type { Command, Option } from "commander";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";
import { type CompletionWords, completionWords } from "./completion-words.ts";

/** Prints a shell's completion script. */
export function printCompletionScript(shell: "bash" | "zsh" | "fish", io: Io): ExitCode {
  if (shell === "bash") io.stdout.write(BEFORE_BASH);
  // The library prints by itself.
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

/** Prints what the last of these words can be completed to. */
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
