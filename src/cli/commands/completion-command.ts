import type { Complete, Command as Described, RootCommand } from "@bomb.sh/tab";
import { Argument, Command, type Option } from "commander";
import { type CompletionWords, completionWords } from "../args/completion-words.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** `completion`: what a shell needs to complete rolecall's words. */
export function completionCommand(io: Io, done: (code: ExitCode) => void): Command {
  return new Command("completion")
    .summary("print what a shell needs to complete commands, options, files and merchants")
    .description(
      "Prints a script with which the Tab key completes commands, options and their values, files, and the " +
        "codes of the merchants below access/.",
    )
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .addHelpText(
      "after",
      `
Examples:
  source <(rolecall completion bash)        in ~/.bashrc
  source <(rolecall completion zsh)         in ~/.zshrc, below compinit
  rolecall completion fish > ~/.config/fish/completions/rolecall.fish
`,
    )
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { script } = await import("@bomb.sh/tab");
      if (shell === "bash") io.stdout.write(BEFORE_BASH);
      // The library prints by itself; only its caller's shell ever reads it.
      script(shell, "rolecall", "rolecall");
      if (shell === "bash") io.stdout.write(AFTER_BASH);
      done(ExitCode.ok);
    });
}

/** The script makes constants, which a second tool of its kind, or reading it again, would complain of. */
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

/** `complete`: what the script of `completion` asks with each Tab; for no one else. */
export function completeCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("complete")
    .summary("answer a shell")
    .description("Answers what a shell asks at the Tab key.")
    .argument("[words...]", "the words so far, the last one to be completed")
    .action(async (words: readonly string[]) => {
      const { RootCommand } = await import("@bomb.sh/tab");
      const root = new RootCommand();
      if (command.parent) describe(root, command.parent, completionWords(io.cwd, words.at(-1) ?? ""));
      root.parse([...words]);
      done(ExitCode.ok);
    });
  return command;
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

/** What an option's value can be, as far as that can be known: told by the placeholder that its help shows. */
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
