import { describe, expect, test } from "vitest";
import { main } from "../../src/cli/main.ts";
import { testIo } from "../support/io.ts";

const COMMANDS = [
  "validate",
  "plan",
  "apply",
  "drift",
  "report",
  "runs",
  "undo",
  "fmt",
  "list",
  "sandbox",
  "schema",
  "completion",
];

async function run(...argv: readonly string[]) {
  const { io, written } = testIo();
  const code = await main(argv, io);
  return { code, ...written };
}

describe("help", () => {
  test.each([[], ...COMMANDS.map((command) => [command])])(
    "of %s fits into 80 columns",
    async (...command) => {
      const { code, stdout } = await run(...command, "--help");
      expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
      expect(code).toBe(0);
    },
  );

  test("names every command", async () => {
    const { stdout } = await run("help");
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, "m"));
  });

  test.each([
    ["plan", "--help"],
    ["help", "plan"],
    ["--help", "plan"],
  ])("of a command: %s %s", async (...argv) => {
    const { code, stdout } = await run(...argv);
    expect(stdout).toMatch(/^Usage: rolecall plan /);
    expect(code).toBe(0);
  });

  test.each([["help"], ["--help"], ["help", "help"], ["help", "--help"]])(
    "of the program: %j",
    async (...argv) => {
      const { code, stdout } = await run(...argv);
      expect(stdout).toMatch(/^Usage: rolecall \[options\] \[command\]/);
      expect(code).toBe(0);
    },
  );
});

test.each([
  ["plann"],
  ["plann", "--help"],
  ["plann", "--format", "json"],
  ["help", "plann"],
  ["--help", "plann"],
])("a command that does not exist is a mistake, also beside help: %s %s", async (...argv) => {
  const { code, stdout, stderr } = await run(...argv);
  expect(stderr).toContain("error: unknown command 'plann'\n(Did you mean plan?)\n");
  expect(stdout).toBe("");
  expect(code).toBe(1);
});

test("running out of file handles or memory is reported, and not as a bug", async () => {
  for (const [thrown, code, told] of [
    [
      Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" }),
      1,
      "Raise the limit (ulimit -n)",
    ],
    [
      new RangeError("WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance"),
      1,
      "Raise the address space limit (ulimit -v); before version 24, Node.js reserves 10 GB",
    ],
    [new RangeError("Array buffer allocation failed"), 1, "(ulimit -v)"],
    [new Error("Oh."), 70, "This is a bug in rolecall"],
  ] as const) {
    const { io, written } = testIo();
    const broken = Object.defineProperty({ ...io }, "cwd", {
      get: () => {
        throw thrown;
      },
    });
    expect(await main(["validate"], broken)).toBe(code);
    expect(written.stderr).toContain(told);
  }
});
