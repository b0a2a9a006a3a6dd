import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";

/**
 * `npm run test:nodes -- [--only VERSION…] [PATH…]`: runs the tests of the built program, or those of the paths, on each
 * Node.js that is supported. They come from npm, into a folder in the user's cache; ROLECALL_NODES names another folder.
 */
const VERSIONS = ["20.19", "22", "24", "26"];
const root = resolve(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  options: { only: { type: "string", multiple: true, default: VERSIONS } },
  allowPositionals: true,
});
const unknown = values.only.filter((version) => !VERSIONS.includes(version));
if (unknown.length > 0) {
  console.error(`--only takes ${VERSIONS.join(", ")}, not ${unknown.join(", ")}.`);
  process.exit(1);
}
const folder = process.env.ROLECALL_NODES ?? join(homedir(), ".cache/rolecall-nodes");

const results = [];
for (const version of values.only) {
  const node = nodeOf(version);
  const result = node === null ? { version, failed: ["could not be installed"] } : testOn(node);
  results.push(result);
  console.log(lineOf(result));
}
console.log(["", ...results.map(lineOf)].join("\n"));
process.exitCode = results.some(({ failed }) => failed.length > 0) ? 1 : 0;

/** Returns the path of a Node.js, which is installed first if it is not there; null where it cannot be. */
function nodeOf(version) {
  const own = join(folder, version);
  const node = join(own, "node_modules/node/bin/node");
  if (existsSync(node)) return node;
  mkdirSync(own, { recursive: true });
  const install = ["install", "--prefix", own, "--no-save", "--no-package-lock", `node@${version}`];
  const { status } = spawnSync("npm", install, { stdio: "inherit" });
  return status === 0 && existsSync(node) ? node : null;
}

/** Runs the tests, and with them every program that they start, on a Node.js. */
function testOn(node) {
  const own = mkdtempSync(join(tmpdir(), "rolecall-nodes-"));
  const file = join(own, "results.json");
  const begun = performance.now();
  try {
    const { stdout } = spawnSync(node, ["-p", "process.version"], { encoding: "utf8" });
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const args = [vitest, "run", "--project", "program", ...reporters, ...positionals];
    const { status } = spawnSync(node, args, { cwd: root, stdio: "inherit" });
    return {
      version: stdout.trim(),
      seconds: Math.round((performance.now() - begun) / 1000),
      ...resultsIn(file, status),
    };
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** Returns what passed and failed; a run that left no results, or a file that does not load, has failed. */
function resultsIn(file, status) {
  if (!existsSync(file)) return { passed: 0, failed: [`the tests ended with ${status}`] };
  const { numPassedTests, testResults } = JSON.parse(readFileSync(file, "utf8"));
  const failed = testResults.flatMap(({ name, assertionResults, status: end }) => {
    const tests = assertionResults.filter((one) => one.status === "failed");
    const path = relative(root, name);
    if (end === "failed" && tests.length === 0) return [path];
    return tests.map(({ fullName }) => `${path}: ${fullName}`);
  });
  return { passed: numPassedTests, failed: failed.length === 0 && status !== 0 ? ["vitest"] : failed };
}

function lineOf({ version, seconds, passed, failed }) {
  const ended = failed.length === 0 ? "ok" : `FAILED: ${failed.join("; ")}`;
  return `Node.js ${version}: ${passed ?? 0} passed in ${seconds ?? 0} s, ${ended}`;
}
