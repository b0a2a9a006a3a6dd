import { Argument, Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { warnIfOffline, withQuestionOptions } from "../../args/service-options.ts";
import type { QuestionOptions } from "../../questions/answer-question.ts";

/** Declares `why`. */
export function whyCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("why")
    .summary("show why somebody has a permission, and what would end it")
    .description(
      "Shows each role through which somebody can use a permission, the lines that grant the role to the member and the permission to the role, and what to change to end it. Changes nothing.",
    )
    .argument("<who>", "an address or an id, or a glob of these")
    .addArgument(new Argument("<can>", "the literal word can").choices(["can"]))
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
                                        now, at the service

To take the permission away, take all roles that the answer lists last from the
person, not only one of them.
--at answers from git, and with --live from what was recorded as live, as with
rolecall who.

Exits 0, even if the answer is that they cannot, or 1 if a file has an error or
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
  return withQuestionOptions(command);
}
