import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-package-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const npm = (...args) => execFileSync("npm", args, { cwd: root, encoding: "utf8" });

// npm run bench builds the package first.
const [packed] = Object.values(
  JSON.parse(npm("pack", "--ignore-scripts", "--json", "--pack-destination", folder)),
);
npm("install", "--prefix", folder, "--offline", "--no-audit", "--no-fund", join(folder, packed.filename));

/** Path of the program, packed and installed into an empty folder as by a user. */
export const BIN = join(folder, "node_modules", "rolecall", "dist", "bin.js");
