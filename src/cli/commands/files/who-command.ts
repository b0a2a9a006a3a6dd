import { Argument, Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { warnIfOffline, withQuestionOptions } from "../../args/service-options.ts";
import type { QuestionOptions } from "../../questions/answer-question.ts";

/** Declares `who`. */
export function whoCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("who")
    .summary("show who has a permission or a role, or what somebody has")
    .description(
      "Shows who can use a permission, who has a role, or what a member has, at every merchant of the files, with the line that grants it. Changes nothing.",
    )
    .addArgument(new Argument("<question>", "the question").choices(["can", "has", "is"]))
    .argument("<name>", "a permission, a role's name or id, or an address; or a glob of these")
    .argument("[path...]", "files or folders (default: access/)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall who can refunds_create       who can refund, through which role
  rolecall who can 'payouts_*'          each permission that matches
  rolecall who has 'Shift Lead'         by name, previous name or id
  rolecall who is ada@example.com       her roles at every merchant
  rolecall who is '*' --format csv -o access.csv
                                        all grants with their lines, as CSV
  rolecall who can refunds_create --live
                                        who can do so now, at the service
  rolecall who can refunds_create --at 2026-05-01
                                        from the files in git at that time

The answer comes from the files, without the network. They do not contain the
permissions of predefined roles; the answer lists those roles. With --live, it
comes from the service, with the lines of the files that grant it. One grant at
several merchants is one line; --verbose and --format json list every merchant,
and also grants that give no access: ended, expired or disabled.

With --at, the answer is what was merged on the current branch by the end of
that day (UTC) or by that time, which may differ from what was live. End dates
are compared with that time. With --at and --live, it is what was live by
then, according to the last record in the branch rolecall-live.

Exits 0, even if the answer is nobody, or 1 if a file has an error or a merchant
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
  return withQuestionOptions(command);
}
