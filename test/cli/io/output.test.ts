import { link, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkOutputs, standardStream, styleFor, terminalOf } from "../../../src/cli/io/output.ts";
import { testIo } from "../../support/io.ts";

test("a colour within a colour does not end the outer one", () => {
  const { io } = testIo({ env: { FORCE_COLOR: "1" } });
  const { bold, dim, red, green } = styleFor(io.stdout, io, true);
  expect(red(`a${green("b")}c`)).toBe("\x1b[31ma\x1b[32mb\x1b[31mc\x1b[39m");
  expect(bold(`a${dim("b")}c`)).toBe("\x1b[1ma\x1b[2mb\x1b[22m\x1b[1mc\x1b[22m");
});

test("without colours text stays as it is", () => {
  const { io } = testIo({ env: { NO_COLOR: "1" } });
  expect(styleFor(io.stdout, io, true).red("a")).toBe("a");
});

let cwd = "";
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-outputs-"));
  await mkdir(join(cwd, "access"));
  await writeFile(join(cwd, "access/shop.yaml"), "version: 1\n");
});
afterEach(() => rm(cwd, { recursive: true }));

const check =
  (...outputs: readonly string[]) =>
  () =>
    checkOutputs(outputs, ["access/shop.yaml", undefined], cwd);

test("- is stdout, and so is every other name that it has", () => {
  for (const name of ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]) {
    expect(standardStream(name)).toBe("stdout");
  }
  expect(["/dev/stderr", "/dev/fd/2"].map(standardStream)).toEqual(["stderr", "stderr"]);
  expect(["./-", "out", "/dev/fd/3", "/dev/null"].map(standardStream)).toEqual([null, null, null, null]);
});

test("an input is never written over, under none of its names", async () => {
  await link(join(cwd, "access/shop.yaml"), join(cwd, "hard"));
  await symlink("access/shop.yaml", join(cwd, "soft"));
  for (const path of ["access/shop.yaml", "./access/../access/shop.yaml", "hard", "soft"]) {
    expect(check(path)).toThrow(`${path} is read by this command, and would be overwritten.`);
  }
});

test("two results do not go to one place", () => {
  expect(check("plan.json", "./plan.json")).toThrow("Two results would be written to ./plan.json.");
  expect(check("-", "/dev/stdout")).toThrow("Two results would be written to /dev/stdout.");
  expect(check("plan.json", "plan.html", "-")).not.toThrow();
  expect(check("/dev/null", "/dev/null")).not.toThrow();
});

test("an impossible output file is reported before the work begins", () => {
  expect(check("none/plan.json")).toThrow("none/plan.json cannot be written: its folder does not exist.");
  expect(check("")).toThrow("The name of a file to write is empty.");
  expect(check("access")).toThrow("access cannot be written: it is a folder.");
  expect(check("access/shop.yaml/plan.json")).toThrow("a part of its path is not a folder");
});

const at = (isTTY: boolean, stdinIsTTY: boolean, env: Record<string, string> = {}) =>
  terminalOf({ env, stdinIsTTY, stderr: { isTTY, columns: undefined, write: () => undefined } });

test("a terminal is drawn on and asked on, also where CI or NO_COLOR is set, and where stdout is piped away", () => {
  for (const env of [{}, { CI: "true" }, { NO_COLOR: "1" }, { TERM: "xterm" }])
    expect(at(true, true, env)).toEqual({ draws: true, asks: true });
});

test("a dumb terminal is asked on, but nothing is drawn over", () => {
  expect(at(true, true, { TERM: "dumb" })).toEqual({ draws: false, asks: true });
});

test("without a terminal nothing is drawn, and nobody is asked", () => {
  expect(at(false, false)).toEqual({ draws: false, asks: false });
  expect(at(true, false)).toEqual({ draws: true, asks: false });
  expect(at(false, true)).toEqual({ draws: false, asks: false });
});
