import { writeFileSync } from "node:fs";

/** Loaded ahead of the program where its memory or processor time is measured: writes what was used to a file at the end. */
process.on("exit", () =>
  writeFileSync(process.env.ROLECALL_BENCH_USAGE, JSON.stringify(process.resourceUsage())),
);
