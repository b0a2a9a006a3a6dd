import { describeLoss, ExitCode, hasNoReader, type OutputLoss } from "../app/io/io.ts";
import { nodeIo } from "../app/io/node-io.ts";

const argv = process.argv.slice(2);
const io = nodeIo();
io.outputLost.addEventListener("abort", onOutputLost);
void run();

/** Makes a lost result a failure, unless its reader closed the pipe, as in `rolecall plan | head`. */
function onOutputLost(): void {
  const loss = io.outputLost.reason as OutputLoss;
  if (hasNoReader(loss)) return;
  if (loss.stream === "stdout") io.stderr.write(`error: ${describeLoss(loss)}.\n`);
  process.once("exit", () => {
    const { exitCode = ExitCode.ok } = process;
    if (exitCode === ExitCode.ok || exitCode === ExitCode.differences) process.exitCode = ExitCode.failed;
  });
}

async function run(): Promise<void> {
  // If the event loop drains before `main` settles, exit as a bug, not as success.
  const unfinished = (): void => {
    process.exitCode = ExitCode.bug;
  };
  process.once("beforeExit", unfinished);
  const { main, reportCrash } = await import("./main.ts");
  // Such as that of Node's own HTTP client, which is loaded on its own.
  process.once("uncaughtException", (error) => process.exit(reportCrash(error, io)));
  process.exitCode = await main(argv, io);
  process.off("beforeExit", unfinished);
}
