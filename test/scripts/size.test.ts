import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const SCRIPT = join(ROOT, "scripts/size.mjs");

const SOURCES = {
  "bin.ts": 'await import("./cli/plan-command.ts");\n',
  "cli/plan-command.ts":
    'import { diff } from "../plan/diff.ts";\nimport type { Rule } from "../plan/rule.ts";\nexport const run = (rule: Rule) => diff(rule);\n',
  "cli/drift-command.ts": 'import "./plan-command.ts";\nexport const drift = `$ {{ }} // no comment`;\n',
  "plan/diff.ts":
    '/** Not a word of\n * this counts. */\nexport const diff = (rule) => rule.maxHolders ?? "max holders";\n',
  "plan/rule.ts":
    'import { word } from "../cli/word.ts";\nexport interface Rule { readonly max_holders: word }\n',
  "cli/word.ts": "export type word = string;\n",
};

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "rolecall-size-test-"));
  for (const [path, text] of Object.entries(SOURCES)) write(`src/${path}`, text);
  cpSync(join(ROOT, "schemas"), join(folder, "schemas"), { recursive: true });
  git("init", "-q");
  git("add", ".");
  git("commit", "-q", "-m", "first");
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function git(...args: readonly string[]): void {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgSign=false"];
  execFileSync("git", [...identity, ...args], { cwd: folder });
}

function size(...args: readonly string[]) {
  return spawnSync(process.execPath, [SCRIPT, ...args], { cwd: folder, encoding: "utf8" });
}

test("npm run size measures files, folders and commands, and who knows a rule or a field", () => {
  const { total, medianFile, largestFile, folders, commands, mutualImports, ...naming } = JSON.parse(
    size("--json").stdout,
  );
  expect({ total, medianFile, largestFile }).toEqual({
    total: { files: 6, lines: 12, tokens: 81 },
    medianFile: 2,
    largestFile: 3,
  });
  expect(folders).toEqual({
    cli: { files: 3, lines: 6, tokens: 45 },
    plan: { files: 2, lines: 5, tokens: 30 },
    ".": { files: 1, lines: 1, tokens: 6 },
  });
  // Neither what it imports for types only, nor another command.
  expect(commands).toEqual({
    plan: { files: 2, lines: 6, tokens: 44 },
    drift: { files: 1, lines: 2, tokens: 9 },
  });
  expect(mutualImports).toEqual(["cli (2) ⇄ (1) plan"]);
  expect(naming.filesNamingRule).toMatchObject({ max_holders: 2, require_mfa: 0 });
  expect(naming.filesNamingField).toMatchObject({ nickname: 0, metadata: 0 });
});

test("npm run size -- --since prints what differs from another commit, and nothing else", () => {
  write("src/plan/rule.ts", "export interface Rule { readonly nickname: string }\n");
  expect(size("--since", "HEAD").stdout).toBe(`\
6 files, 11 (−1) lines, 74 (−7) tokens, median file 2 lines, largest 3

Folder  files   lines   tokens
plan        2  4 (−1)  23 (−7)

Folders that import one another: 0 (−1)
- cli (2) ⇄ (1) plan

Rule          files
max_holders  1 (−1)

Field      files
nickname  1 (+1)
`);
});

test("npm run size -- --since fails without a stack trace if the clone does not have the commit", () => {
  const { status, stdout, stderr } = size("--since", "HEAD^");
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: "",
    stderr: "HEAD^ is not a commit that this clone has.\n",
  });
});

test("npm run size -- --put counts the functions that run for one PUT, on a Node.js that runs sources", () => {
  const node = process.env["ROLECALL_NODE24"] ?? process.execPath;
  const runsSources = execFileSync(node, ["-p", "Boolean(process.features.typescript)"], {
    encoding: "utf8",
  });
  const { status, stdout, stderr } = spawnSync(node, [SCRIPT, "--put", "--json"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  if (runsSources.trim() === "true") {
    expect(stderr).toBe("");
    const { files, functions } = JSON.parse(stdout).put;
    expect(files).toBeGreaterThan(20);
    expect(functions).toBeGreaterThan(files);
  } else {
    expect([status, stderr]).toEqual([1, "--put needs Node.js 24, which runs sources without a build.\n"]);
  }
});
