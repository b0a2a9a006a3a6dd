import { execFileSync } from "node:child_process";

/** Builds the program once, so that the tests of the whole process run what a user would run. */
export function setup(): void {
  execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });
}
