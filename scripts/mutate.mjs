import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { mutantsOf, mutated, shuffled } from "./mutants.mjs";
import { readSources } from "./sources.mjs";

/**
 * `npm run mutate -- --runs N --seed S [PATH…]`: changes one place of the sources at a time, N times, in a copy of the
 * working tree, and prints the changes that no test notices. The same seed, by default the commit, repeats them.
 */
const ROOT = resolve(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  options: { runs: { type: "string", default: "300" }, seed: { type: "string" } },
  allowPositionals: true,
});
const git = (...args) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
const runs = Number(values.runs);
const seed = values.seed ?? git("rev-parse", "HEAD").trim();
const selected = positionals.length > 0 ? positionals : ["src/kernel", "src/review"];

const copy = mkdtempSync(join(tmpdir(), "rolecall-mutate-"));
process.on("exit", () => rmSync(copy, { recursive: true, force: true, maxRetries: 5 }));
process.on("SIGINT", () => process.exit(130)).on("SIGTERM", () => process.exit(143));

const inCopy = (path) => join(copy, path);
const read = (path) => readFileSync(inCopy(path), "utf8");

/** The seconds that each stage of tests takes. Most mutants meet only the first, with the nearest and quickest tests. */
const STAGES = [2, 8, 60, Number.POSITIVE_INFINITY];

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function main() {
  if (!Number.isSafeInteger(runs) || runs < 1) throw new Error("--runs takes a whole number.");
  copyProject();
  const graph = importGraph();
  const sources = [...graph.keys()].filter((path) => selected.some((part) => path.startsWith(part)));
  const mutants = compiling(
    shuffled(
      sources.flatMap((path) => mutantsOf(path, read(path))),
      seed,
    ),
  );
  if (mutants.length === 0) throw new Error("No source with that path has mutants.");
  const importers = new Map(sources.map((path) => [path, testsByDistance(graph, path)]));
  const tests = [...new Set(mutants.flatMap(({ path }) => [...importers.get(path).keys()]))];
  console.log(`mutate: ${mutants.length} mutants, ${tests.length} files of tests, seed ${seed}`);
  const seconds = await measure(tests);

  const survivors = [];
  for (const mutant of mutants) {
    if (!(await survives(mutant, stages(importers.get(mutant.path), seconds), seconds))) continue;
    survivors.push(mutant);
    console.log(line(mutant));
  }
  console.log(`\n${table(mutants, survivors)}`);
}

/** Copies what git would commit, and links the installed packages. */
function copyProject() {
  const paths = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0");
  for (const path of paths.filter((path) => path !== "" && existsSync(join(ROOT, path)))) {
    cpSync(join(ROOT, path), inCopy(path));
  }
  mkdirSync(inCopy("node_modules"));
  for (const name of readdirSync(join(ROOT, "node_modules")).filter((name) => !/^\.(?!bin)/.test(name))) {
    symlinkSync(join(ROOT, "node_modules", name), inCopy(join("node_modules", name)));
  }
  writeFileSync(
    inCopy("tsconfig.mutate.json"),
    JSON.stringify({
      extends: "./tsconfig.json",
      compilerOptions: { noUnusedLocals: false, noUnusedParameters: false, allowUnreachableCode: true },
      include: ["src"],
    }),
  );
}

/** Returns the paths of the files that each source and each test imports. */
function importGraph() {
  const files = ["src", "test"].flatMap((folder) =>
    readSources(ROOT, folder).map(({ path, imports }) => [
      posix.join(folder, path),
      imports.filter(({ typeOnly }) => !typeOnly).map(({ to }) => posix.join(folder, to)),
    ]),
  );
  return new Map(files);
}

/** Returns the tests that reach a source, with the number of imports on the shortest way, or 0 in the same folder. */
function testsByDistance(graph, source) {
  const distances = new Map([[source, 0]]);
  for (const [path, distance] of distances) {
    for (const [importer, imports] of graph) {
      if (imports.includes(path) && !distances.has(importer)) distances.set(importer, distance + 1);
    }
  }
  const folder = posix.dirname(source).replace(/^src/, "test");
  const tests = [...distances].filter(([path]) => /\.test\.tsx?$/.test(path));
  return new Map(tests.map(([path, distance]) => [path, posix.dirname(path) === folder ? 0 : distance]));
}

/** Returns the first mutants that compile. */
function compiling(candidates) {
  const valid = [];
  for (let next = 0; valid.length < runs && next < candidates.length; ) {
    const wave = candidates.slice(next, next + runs - valid.length);
    next += wave.length;
    const rejected = new Set();
    for (let rest = wave; rest.length > 0; ) {
      const batch = new Map(rest.map((mutant) => [mutant.path, mutant]));
      for (const path of filesWithErrors([...batch.values()])) rejected.add(batch.get(path));
      rest = rest.filter((mutant) => batch.get(mutant.path) !== mutant);
    }
    valid.push(...wave.filter((mutant) => !rejected.has(mutant)));
  }
  return valid;
}

/** Compiles the copy with one mutant in each of some files, and returns the paths of the files with errors. */
function filesWithErrors(mutants) {
  const restore = mutants.map(put);
  const { stdout } = spawnSync("npx", ["tsc", "-p", "tsconfig.mutate.json", "--pretty", "false"], {
    cwd: copy,
    encoding: "utf8",
  });
  for (const undo of restore) undo();
  return stdout.split("\n").map((line) => line.split("(")[0]);
}

/** Returns the seconds that each file of tests takes; files that fail without a mutant are left out. */
async function measure(tests) {
  const output = inCopy("tests.json");
  await vitest(["--reporter", "json", "--outputFile", output, ...tests], 3600);
  if (!existsSync(output)) throw new Error("The tests do not run in a copy of the working tree.");
  const { testResults } = JSON.parse(readFileSync(output, "utf8"));
  const seconds = new Map();
  for (const { name, status, startTime, endTime } of testResults) {
    const path = relative(copy, name);
    if (status === "passed") seconds.set(path, (endTime - startTime) / 1000);
    else console.log(`left out, because it fails without a mutant: ${path}`);
  }
  return seconds;
}

/** Divides the tests of a source, nearest and quickest first, into the stages. */
function stages(distances, seconds) {
  const cost = (path) => 2 ** distances.get(path) * (seconds.get(path) + 0.1);
  const divided = STAGES.map(() => []);
  let [stage, sum] = [0, 0];
  for (const path of [...distances.keys()]
    .filter((path) => seconds.has(path))
    .sort((a, b) => cost(a) - cost(b))) {
    sum += seconds.get(path);
    while (sum > STAGES[stage] && divided[stage].length > 0) {
      sum = seconds.get(path);
      stage += 1;
    }
    divided[stage].push(path);
  }
  return divided;
}

/** Tells whether the tests of every stage pass; tests that hang or crash have noticed the mutant. */
async function survives(mutant, divided, seconds) {
  const restore = put(mutant);
  let code = 0;
  for (const files of divided.filter((stage) => stage.length > 0)) {
    const expected = files.reduce((sum, path) => sum + seconds.get(path), 0);
    code = await vitest(["--bail", "1", "--reporter", "dot", ...files], 60 + 5 * expected);
    if (code !== 0) break;
  }
  restore();
  return code === 0;
}

/** Puts a mutant into the copy, and returns a function that restores the original. */
function put(mutant) {
  const text = read(mutant.path);
  writeFileSync(inCopy(mutant.path), mutated(text, mutant));
  return () => writeFileSync(inCopy(mutant.path), text);
}

/** Runs vitest in the copy and returns its exit code, or null if it took longer than the limit, in seconds. */
async function vitest(args, limit) {
  const child = spawn(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "--project", "sources", ...args],
    {
      cwd: copy,
      detached: true,
      stdio: "ignore",
      env: { ...process.env, CI: "true" },
    },
  );
  const kill = () => process.kill(-child.pid, "SIGKILL");
  process.prependOnceListener("exit", kill);
  const timer = setTimeout(kill, limit * 1000);
  const [code] = await once(child, "exit");
  clearTimeout(timer);
  process.off("exit", kill);
  return code;
}

function line({ path, start, original, replacement }) {
  const before = read(path).slice(0, start).split("\n");
  const change = `${original.trim()} → ${replacement.trim() || "(nothing)"}`.replaceAll(/\s+/g, " ");
  return `${path}:${before.length}:${before.at(-1).length + 1} ${change}`;
}

/** Returns the mutants by folder: how many, and how many the tests killed. */
function table(mutants, survivors) {
  const row = (name, isIn) => {
    const [all, left] = [mutants, survivors].map((list) => list.filter(({ path }) => isIn(path)).length);
    return `${name.padEnd(30)} ${`${all - left} of ${all}`.padStart(12)} ${(100 - (100 * left) / all).toFixed(1).padStart(6)} %`;
  };
  const folders = [...new Set(mutants.map(({ path }) => posix.dirname(path)))].sort();
  const rows = folders.map((folder) => row(folder, (path) => posix.dirname(path) === folder));
  return ["killed:", ...rows, row("all", () => true)].join("\n");
}
