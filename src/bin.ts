#!/usr/bin/env node
import { ExitCode } from "./cli/exit-code.ts";
import { nodeIo } from "./cli/node-io.ts";
import { VERSION } from "./cli/version.ts";

const argv = process.argv.slice(2);
const io = nodeIo({ filesWorker: new URL("files-worker.js", import.meta.url) });
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  // Asked for by scripts again and again: not worth loading the commands.
  io.stdout.write(`${VERSION}\n`);
} else {
  // Should everything that it waits for end before it does, that is no success.
  process.exitCode = ExitCode.bug;
  void run();
}

async function run(): Promise<void> {
  const { main } = await import("./cli/main.ts");
  process.exitCode = await main(argv, io);
}
