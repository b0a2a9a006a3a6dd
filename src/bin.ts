#!/usr/bin/env node
import { nodeIo } from "./cli/node-io.ts";
import { VERSION } from "./cli/version.ts";

const argv = process.argv.slice(2);
const io = nodeIo(new URL("files-worker.js", import.meta.url));
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  // Asked for by scripts again and again: not worth loading the commands.
  io.stdout.write(`${VERSION}\n`);
} else {
  const { main } = await import("./cli/main.ts");
  // With everything done and written, the engine need not take a large heap apart first.
  process.once("beforeExit", () => process.exit());
  process.exitCode = await main(argv, io);
}
