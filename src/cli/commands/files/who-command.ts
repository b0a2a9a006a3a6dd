import { Argument, Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { warnIfOffline, withQuestionOptions } from "../../args/service-options.ts";
import type { QuestionOptions } from "../../questions/answer-question.ts";

/** Declares `who`. */
export function whoCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("who")
    .summary("show who can do what, has a role, or what somebody has")
    .description(
      "Answers who can use a permission, who has a role, or what a member has, at every merchant of the files, " +
        "with the line that grants it. Changes nothing.",
    )
    .addArgument(new Argument("<question>", "what is asked").choices(["can", "has", "is"]))
    .argument("<name>", "a permission, a role's name or id, or an address; or a glob of these")
    .argument("[path...]", "files or folders (default: access/)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall who can refunds_create       who may give refunds, and why
  rolecall who can 'payouts_*'          each permission that matches
  rolecall who has 'Shift Lead'         by name, previous name or id
  rolecall who is ada@example.com       what she has at every merchant
  rolecall who is '*' --format csv -o access.csv
                                        a sheet of all grants and their lines
  rolecall who can refunds_create --live
                                        who may do so now, at the service
  rolecall who can refunds_create --at 2026-05-01
                                        as the files stood then, by git

The answer is what the files declare, without the network. They do not say what
predefined roles grant; the answer names those. With --live it is what the
service says, with the lines of the files that grant it. One grant at several
merchants is one line; --verbose and --format json list every merchant, and
grants that give no access: ended, expired or disabled.

With --at, it is what was merged on the current branch by the end of that day
(UTC) or that moment, and not what was live. Ends are those of that time.

Exits 0, also if the answer is nobody, or 1 if a file has an error or a merchant
could not be read.
`,
    )
    .action(
      async (
        question: "can" | "has" | "is",
        name: string,
        paths: readonly string[],
        options: QuestionOptions,
        command: Command,
      ) => {
        warnIfOffline(command, options.live === true, io.stderr.write);
        const { answerQuestion } = await import("../../questions/answer-question.ts");
        done(await answerQuestion(question, name, paths, options, io));
      },
    );
  return withQuestionOptions(command, ["text", "json", "csv"]);
}
