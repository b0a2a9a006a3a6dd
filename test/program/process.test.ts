import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rolecall, startSandbox } from "../support/program.ts";

const SHOP = `version: 1
merchant: MC0DEMO1
sync: { roles: additive, members: additive }
roles:
  - { name: Shift Lead, permissions: [catalog_view, refunds_create] }
members:
  - { email: new@example.com, roles: [Shift Lead, role_employee] }
`;

const BIN = resolve(import.meta.dirname, "../../dist/bin.js");

let cwd = "";

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-process-"));
  await writeFile(join(cwd, "shop.yaml"), SHOP);
});

afterAll(async () => {
  await rm(cwd, { recursive: true });
});

test("plan and apply work against a sandbox process, with exit codes for a pipeline", async () => {
  const sandbox = await startSandbox();
  const options = { cwd, env: sandbox.env };
  const plan = await rolecall(["plan", "shop.yaml", "--detailed-exitcode"], options);
  expect(plan.stdout).toContain("+ create new@example.com (invitation)");
  expect([plan.code, plan.stderr]).toEqual([2, ""]);
  const apply = await rolecall(["apply", "shop.yaml", "--yes"], options);
  expect(apply.stdout).toContain("Verified: no changes remain");
  expect(apply.code).toBe(0);
  const again = await rolecall(["plan", "shop.yaml", "--detailed-exitcode"], options);
  expect(again.stdout).toContain("no changes");
  expect(again.code).toBe(0);
  expect((await sandbox.stop("SIGTERM")).code).toBe(0);
});

test("a working directory that was removed is told without a stack", () => {
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$1" --version';
  const { status, stderr } = spawnSync("sh", ["-c", script, process.execPath, BIN], {
    cwd,
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([
    1,
    "error: The working directory no longer exists.\n  → Change to another one.\n",
  ]);
});

test("too little address space for HTTP is told without a stack", async () => {
  const sandbox = await startSandbox();
  const script = 'ulimit -v 8000000 && exec "$0" "$@"';
  const { status, stderr } = spawnSync("sh", ["-c", script, process.execPath, BIN, "plan", "shop.yaml"], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...sandbox.env },
  });
  await sandbox.stop("SIGTERM");
  // Later versions reserve less where there is a limit.
  const isReserved = Number.parseInt(process.versions.node, 10) < 24;
  expect([status, stderr]).toEqual(
    isReserved ? [1, expect.stringMatching(/^error: There is not enough memory .* for HTTP\.\n$/)] : [0, ""],
  );
});

test("too little address space for the sandbox is told without a stack", async () => {
  const script = 'ulimit -v 8000000 && exec "$0" "$@"';
  const args = ["-c", script, process.execPath, BIN, "sandbox", "--port", "0"];
  const sandbox = spawn("sh", args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  sandbox.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  if (Number.parseInt(process.versions.node, 10) < 24) {
    const [code] = await once(sandbox, "close");
    expect(stderr).toMatch(/^error: There is not enough memory .* for HTTP\.\n$/);
    expect(code).toBe(1);
  } else {
    await once(sandbox.stdout, "data");
    sandbox.kill("SIGTERM");
    await once(sandbox, "close");
    expect(stderr).toBe("");
  }
});

test("what goes wrong is told on stderr, and the process exits with 1", async () => {
  const env = { ROLECALL_BASE_URL: "http://127.0.0.1:9", ROLECALL_API_KEY: "sk_test_x" };
  for (const args of [
    ["plan", "--nope"],
    ["plan", "shop.yaml", "--retry-for", "0"],
  ]) {
    const { code, stdout, stderr } = await rolecall(args, { cwd, env });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).not.toContain("    at ");
    expect(stderr.trim()).not.toBe("");
  }
});

test("the sandbox ends cleanly on SIGINT", async () => {
  const sandbox = await startSandbox();
  expect((await sandbox.stop("SIGINT")).code).toBe(0);
});

test.each([
  ["stdout", ["schema"]],
  ["stderr", ["plan", "shop.yaml", "--verbose"]],
] as const)("a reader of %s that leaves early is no crash", async (deaf, args) => {
  const sandbox = await startSandbox();
  const env = { ...sandbox.env, ROLECALL_PROGRESS: "auto" };
  const { code, stderr } = await rolecall(args, { cwd, env, deaf });
  expect(stderr).toBe("");
  expect(code).toBe(0);
  await sandbox.stop();
});
