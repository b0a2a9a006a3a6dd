import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rolecall } from "../support/program.ts";

const run = promisify(execFile);
const BIN = resolve(import.meta.dirname, "../../dist/bin.js");

let cwd = "";

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-completion-"));
  await mkdir(join(cwd, "access", "north"), { recursive: true });
  await writeFile(join(cwd, "access", "shop.yaml"), "version: 1\nmerchant: MC2\n");
  await writeFile(join(cwd, "access", "north", "stall.yml"), 'merchant: "MC10" # with a comment\n');
  await writeFile(join(cwd, "access", "broken.yaml"), "merchant: {{\n");
  await writeFile(join(cwd, "plan.json"), "{}");
});

afterAll(async () => {
  await rm(cwd, { recursive: true });
});

/** What a shell is answered for a line whose last word is to be completed. */
async function complete(...words: readonly string[]): Promise<readonly string[]> {
  const { stdout, code } = await rolecall(["complete", "--", ...words], { cwd });
  expect(code).toBe(0);
  return stdout
    .split("\n")
    .filter((text) => text !== "" && !text.startsWith(":"))
    .map((text) => String(text.split("\t")[0]));
}

test("commands are completed, and options of the command", async () => {
  expect(await complete("pl")).toEqual(["plan"]);
  expect(await complete("")).toEqual(expect.arrayContaining(["plan", "apply", "validate", "sandbox"]));
  expect(await complete("")).not.toContain("complete");
  expect(await complete("plan", "--as")).toEqual(["--as-of"]);
  expect(await complete("apply", "--app")).toEqual(["--approved"]);
});

test("option values are completed: choices, files, and the merchants below access/", async () => {
  expect(await complete("plan", "--format", "")).toEqual(expect.arrayContaining(["text", "json"]));
  expect(await complete("plan", "--merchant", "")).toEqual(["MC10", "MC2"]);
  expect(await complete("plan", "-m", "MC1")).toEqual(["MC10"]);
  expect(await complete("apply", "--approved", "pl")).toEqual(["plan.json"]);
});

test("paths are completed to merchants' files and their folders", async () => {
  expect(await complete("plan", "access/")).toEqual([
    "access/broken.yaml",
    "access/north",
    "access/north/stall.yml",
    "access/shop.yaml",
  ]);
  expect(await complete("schema", "")).toEqual(["merchant", "project", "plan"]);
});

test("paths elsewhere are completed step by step, and so are past runs", async () => {
  await mkdir(join(cwd, ".rolecall", "runs"), { recursive: true });
  await writeFile(join(cwd, ".rolecall", "runs", "2026-11-21T13-05-00-123Z-MC2.jsonl"), "");
  // A run of several merchants is one word.
  await writeFile(join(cwd, ".rolecall", "runs", "2026-11-21T13-05-00-123Z-MC10.jsonl"), "");
  const from = async (folder: string, ...words: readonly string[]) =>
    (await rolecall(["complete", "--", ...words], { cwd: join(cwd, folder) })).stdout
      .split("\n")
      .flatMap((line) => (line === "" || line.startsWith(":") ? [] : String(line.split("\t")[0])));
  expect(await from("access/north", "plan", "../")).toEqual(["../broken.yaml", "../north/", "../shop.yaml"]);
  expect(await from("", "plan", `${cwd}/acc`)).toEqual([`${cwd}/access/`]);
  expect(await from("access", "apply", "--approved", "../pl")).toEqual(["../plan.json"]);
  expect(await from("", "undo", "2026")).toEqual(["2026-11-21T13-05-00-123Z"]);
  expect(await from("", "runs", "")).toEqual(["latest", "2026-11-21T13-05-00-123Z"]);
  expect(await from("", "plan", "--format=m")).toEqual(["markdown"]);
});

test.each([
  ["--format = m", 4, "markdown"],
  ["--merchant =", 3, "MC10\nMC2"],
])("bash completes the value after an equals sign: %s", async (words, at, expected) => {
  const script = `
    rolecall() { "${process.execPath}" "${BIN}" "$@"; }
    compopt() { :; }
    source <(rolecall completion bash)
    COMP_WORDS=(rolecall plan ${words}) COMP_CWORD=${at}
    __rolecall_tab
    printf '%s\\n' "\${COMPREPLY[@]}"
  `;
  const { stdout, stderr } = await run("bash", ["--norc", "--noprofile", "-c", script], { cwd });
  expect([stderr, stdout]).toEqual(["", `${expected}\n`]);
});

test("a bash that reads the script completes, also where bash-completion is not installed, and twice", async () => {
  const script = `
    rolecall() { "${process.execPath}" "${BIN}" "$@"; }
    compopt() { :; }
    source <(rolecall completion bash)
    source <(rolecall completion bash)
    COMP_WORDS=(rolecall plan --merchant "") COMP_CWORD=3
    __rolecall_complete
    printf '%s\\n' "\${COMPREPLY[@]}"
    complete -p rolecall
  `;
  const { stdout, stderr } = await run("bash", ["--norc", "--noprofile", "-c", script], { cwd });
  expect(stderr).toBe("");
  expect(stdout).toBe("MC10\nMC2\ncomplete -F __rolecall_tab rolecall\n");
});

test.each([
  ["zsh", "#compdef rolecall"],
  ["fish", "complete -c rolecall"],
])("%s gets a script of its own", async (shell, line) => {
  const { stdout, code } = await rolecall(["completion", shell]);
  expect(code).toBe(0);
  expect(stdout).toContain(line);
});

test("another shell is refused with those that are known", async () => {
  const { stderr, code } = await rolecall(["completion", "tcsh"]);
  expect(code).toBe(1);
  expect(stderr).toContain("bash, zsh, fish");
});
