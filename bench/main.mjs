import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

/**
 * `npm run bench -- [--node VERSION] [--only NAME]… [--runs N] [--seconds N]`: installs a version of Node (24 by default,
 * which the targets are for) from npm into a temporary folder, and measures with it; `--node own` uses the current one.
 */
const { values, tokens } = parseArgs({
  options: {
    node: { type: "string", default: "24" },
    only: { type: "string", multiple: true },
    runs: { type: "string" },
    seconds: { type: "string" },
  },
  tokens: true,
});
const passed = tokens.flatMap(({ name, value }) => (name === "node" ? [] : [`--${name}`, value]));
const run = (node) =>
  spawnSync(node, [resolve(import.meta.dirname, "run.mjs"), ...passed], { stdio: "inherit" }).status ?? 1;

if (values.node === "own") {
  process.exitCode = run(process.execPath);
} else {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-node-"));
  try {
    const options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--prefer-offline"];
    execFileSync("npm", ["install", "--prefix", folder, ...options, `node@${values.node}`], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    process.exitCode = run(join(folder, "node_modules", "node", "bin", "node"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
