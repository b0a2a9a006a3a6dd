import { readFileSync } from "node:fs";
import { ExitCode } from "./cli/exit-code.ts";
import { HELP_COLUMNS } from "./cli/help-columns.ts";
import type { OutputLoss } from "./cli/io.ts";
import { nodeIo } from "./cli/node-io.ts";
import { describeLoss, hasNoReader } from "./cli/output-loss.ts";
import { VERSION } from "./cli/version.ts";

const argv = process.argv.slice(2);
const io = nodeIo();
io.outputLost.addEventListener("abort", onOutputLost);
const answer = argv.length === 1 ? answerTo(argv[0]) : null;
if (answer !== null) {
  io.stdout.write(answer);
} else {
  void run();
}

/** A result that is not written whole is no success, unless whoever reads it has enough, as in `rolecall plan | head`. */
function onOutputLost(): void {
  const loss = io.outputLost.reason as OutputLoss;
  if (hasNoReader(loss)) return;
  if (loss.stream === "stdout") io.stderr.write(`error: ${describeLoss(loss)}.\n`);
  process.once("exit", () => {
    process.exitCode ||= ExitCode.failed;
  });
}

/** What is asked for again and again, without loading the commands; null where it takes them. */
function answerTo(asked: string | undefined): string | null {
  switch (asked) {
    case "-V":
    case "--version":
      return `${VERSION}\n`;
    case "-h":
    case "--help":
      return (io.stdout.columns ?? HELP_COLUMNS) < HELP_COLUMNS ? null : builtHelp();
    default:
      return null;
  }
}

/** The help as the build has kept it. */
function builtHelp(): string | null {
  try {
    return readFileSync(new URL("help.txt", import.meta.url), "utf8");
  } catch {
    return null;
  }
}

async function run(): Promise<void> {
  // Should everything that it waits for end before it does, that is no success.
  const unfinished = (): void => {
    process.exitCode = ExitCode.bug;
  };
  process.once("beforeExit", unfinished);
  const { main } = await import("./cli/main.ts");
  process.exitCode = await main(argv, io);
  process.off("beforeExit", unfinished);
}
