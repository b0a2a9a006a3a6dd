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
  expect(await complete("schema", "")).toEqual(["merchant", "plan"]);
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
  expect(stdout).toBe("MC10\nMC2\ncomplete -F __rolecall_complete rolecall\n");
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
