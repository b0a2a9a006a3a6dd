import { writeFileSync } from "node:fs";

/** Preloaded into the measured program: writes its resource usage to a file at exit. */
process.on("exit", () =>
  writeFileSync(process.env.ROLECALL_BENCH_USAGE, JSON.stringify(process.resourceUsage())),
);
