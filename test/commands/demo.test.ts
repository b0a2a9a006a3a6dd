import { rm } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { ExitCode, type Io } from "../../src/app/io/io.ts";
import { runDemo } from "../../src/cli/demo/run-demo.ts";
import { realIo } from "../support/rolecall.ts";

/** Runs the demo on a terminal, and types this answer. */
async function answered(answer: string, yes?: true) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, ref: () => stdin });
  const { io, written } = realIo({ env: { TERM: "xterm", ROLECALL_PROGRESS: "auto" } });
  const write = (text: string) => {
    io.stderr.write(text);
    if (text.includes("Type yes to continue")) stdin.write(`${answer}\n`);
  };
  const terminal = { ...io.terminal, stdin } as unknown as Io["terminal"];
  const world = { ...io, stdinIsTTY: true, terminal, stderr: { write, isTTY: true, columns: 80 } };
  const code = await runDemo({ color: false, ...(yes && { yes }) }, world);
  const left = /The files are in (.*)/.exec(written.stdout)?.[1];
  if (left !== undefined) await rm(left, { recursive: true });
  return { code, ...written };
}

test("on a terminal, the demo asks before it applies", async () => {
  const { code, stdout, stderr } = await answered("yes");
  expect(code).toBe(ExitCode.ok);
  expect(stdout).toContain("$ rolecall apply\n");
  expect(stderr).toContain("Apply 4 changes at MC9Q3T8X");
  expect(stdout).toContain("To continue,");
});

test("if the apply is declined, the demo ends with its exit code, and leaves nothing", async () => {
  const { code, stdout, stderr } = await answered("no");
  expect(code).toBe(ExitCode.failed);
  expect(stderr).toContain("Not confirmed.");
  expect(stdout).not.toContain("To continue,");
});

test("with --yes, the demo never asks", async () => {
  const { code, stdout, stderr } = await answered("no", true);
  expect(code).toBe(ExitCode.ok);
  expect(stdout).toContain("$ rolecall apply --yes\n");
  expect(stderr).not.toContain("Type yes");
});
