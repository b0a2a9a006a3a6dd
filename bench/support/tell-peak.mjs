import { writeFileSync } from "node:fs";

/** Loaded ahead of the program where its memory is measured: at the end it writes the peak, in KiB, to a file. */
process.on("exit", () =>
  writeFileSync(process.env.ROLECALL_BENCH_PEAK, String(process.resourceUsage().maxRSS)),
);
