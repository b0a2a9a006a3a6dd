import { Command } from "commander";
import type { ExitCode, Io } from "../../app/io/io.ts";
import type { DemoCommandOptions } from "../demo/run-demo.ts";

/** Declares `demo`. */
export function demoCommand(io: Io, done: (code: ExitCode) => void): Command {
  return new Command("demo")
    .summary("plan and apply an example, without an account")
    .description(
      "Writes an example project to a temporary folder, and plans and applies it against a sandbox of the service on this machine. Needs no account, key or network, and says how to continue in the folder.",
    )
    .option("-y, --yes", "do not ask before the apply, as without a terminal")
    .option("--no-color", "print without colours (also: NO_COLOR)")
    .addHelpText(
      "after",
      `
Exits 0 if the example is applied. Otherwise exits as apply does, and leaves
nothing behind.
`,
    )
    .action(async (options: DemoCommandOptions) => {
      const { runDemo } = await import("../demo/run-demo.ts");
      done(await runDemo(options, io));
    });
}
