import { Argument, Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { warnIfOffline, withQuestionOptions } from "../../args/service-options.ts";
import type { QuestionOptions } from "../../questions/answer-question.ts";

/** Declares `why`. */
export function whyCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("why")
    .summary("show every way to a permission, and what ends it")
    .description(
      "Shows each role through which somebody can use a permission, with the lines that grant the role to the " +
        "member and the permission to the role, and what has to change to end that. Changes nothing.",
    )
    .argument("<who>", "an address or an id, or a glob of these")
    .addArgument(new Argument("<can>", "the word can").choices(["can"]))
    .argument("<what>", "a permission, or a glob of permissions")
    .argument("[path...]", "files or folders (default: access/)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall why ada@example.com can refunds_create
                                        at every merchant, from the files
  rolecall why ada@example.com can 'payouts_*' access/shop.yaml
                                        each permission that matches
  rolecall why ada@example.com can refunds_create --live
                                        as it is at the service now

A permission ends for somebody when every role that grants it is taken: all of
the lines that are named. --at answers from git, as with rolecall who.

Exits 0, also if the answer is that they cannot, or 1 if a file has an error or
a merchant could not be read.
`,
    )
    .action(
      async (
        member: string,
        _can: string,
        permission: string,
        paths: readonly string[],
        options: QuestionOptions,
        command: Command,
      ) => {
        warnIfOffline(command, options.live === true, io.stderr.write);
        const { explainQuestion } = await import("../../questions/answer-question.ts");
        done(await explainQuestion({ member, permission }, paths, options, io));
      },
    );
  return withQuestionOptions(command, ["text", "json", "csv"]);
}
