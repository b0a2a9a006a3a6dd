import { Argument, Command } from "commander";
import type { ExitCode, Io } from "../../app/io/io.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** Declares `completion`. */
export function completionCommand(io: Io, done: (code: ExitCode) => void): Command {
  return new Command("completion")
    .summary("print a shell script that completes commands, options, files and merchants")
    .description(
      "Prints a script that completes commands, options and their values, files, and the codes of the merchants below access/ with the Tab key.",
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
      const { printCompletionScript } = await import("../args/answer-completion.ts");
      done(printCompletionScript(shell, io));
    });
}

/** Declares `complete`, which the script of `completion` runs at each Tab. */
export function completeCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("complete")
    .summary("answer a completion request")
    .description("Answers a completion request of a shell.")
    .argument("[words...]", "the words so far, of which the last is completed")
    .action(async (words: readonly string[]) => {
      const { answerCompletion } = await import("../args/answer-completion.ts");
      done(answerCompletion(words, command.parent ?? command, io));
    });
  return command;
}
