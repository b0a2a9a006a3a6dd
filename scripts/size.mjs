import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measure } from "./measure.mjs";
import { functionsOfOnePut } from "./put-path.mjs";
import { sizeText } from "./size-text.mjs";

/**
 * Prints how large the sources of the project in this folder are, and how they hang together.
 *
 *     npm run size -- [--put] [--since REV] [--json]
 *     npm run size -- --list
 *
 * With --put it counts what runs for one PUT as well, and with --list it prints the names of these functions. With
 * --since it prints what differs from another commit.
 */
const { values: options } = parseArgs({
  options: {
    put: { type: "boolean" },
    list: { type: "boolean" },
    since: { type: "string" },
    json: { type: "boolean" },
  },
});

try {
  console.log(await output());
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function output() {
  if (options.list) {
    const functions = await functionsOfOnePut(process.cwd());
    return Object.entries(functions)
      .map(([path, names]) => `${path}: ${names.join(" ")}`)
      .join("\n");
  }
  const now = await sizeOf(process.cwd());
  const before = options.since === undefined ? undefined : await atRevision(options.since, sizeOf);
  return options.json ? JSON.stringify(before ? { now, before } : now, null, 2) : sizeText(now, before);
}

async function sizeOf(root) {
  const size = measure(root);
  if (!options.put) return size;
  const functions = await functionsOfOnePut(root);
  return {
    ...size,
    put: { files: Object.keys(functions).length, functions: Object.values(functions).flat().length },
  };
}

/** Checks a commit out into a temporary folder, with the packages that are installed here. */
async function atRevision(revision, use) {
  const { status } = spawnSync("git", ["rev-parse", "--quiet", "--verify", `${revision}^{commit}`]);
  if (status !== 0) throw new Error(`${revision} is not a commit that this clone has.`);
  const folder = mkdtempSync(join(tmpdir(), "rolecall-size-"));
  try {
    const git = { env: { ...process.env, GIT_INDEX_FILE: join(folder, "index") } };
    execFileSync("git", ["read-tree", revision], git);
    execFileSync("git", ["checkout-index", "--all", `--prefix=${folder}/project/`], git);
    symlinkSync(join(process.cwd(), "node_modules"), join(folder, "project/node_modules"));
    return await use(join(folder, "project"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
