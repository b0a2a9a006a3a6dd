import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { openShop, type Shop } from "../support/shop.ts";

const SEED = `merchants:
  - code: MC1
    roles:
      - { name: Cashier, permissions: [catalog_view] }
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: till-7@example.com, roles: [Cashier], managed: { nickname: Till 7 } }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;
const FILE = `version: 1
merchant: MC1
roles:
  - { name: Cashier, permissions: [catalog_view, refunds_create] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - email: till-7@example.com
    managed: { nickname: Till 7, password_env: TILL_7 }
    roles: [Cashier]
  - { email: cleo@example.com, roles: [Cashier] }
`;
const PASSWORD = { TILL_8: "long enough" };
const APPLY = ["apply", "mc1.yaml", "--yes", "--concurrency", "1"];

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
  await shop.write("mc1.yaml", FILE);
});

afterEach(async () => {
  await shop.stop();
});

const faults = (...rules: readonly object[]) => shop.control("PUT", "/faults", { rules });

/** Starts a command, sends a signal once it has told something, or something else is so, and waits for its end. */
async function interrupted(
  told: string | (() => Promise<void>),
  signal: NodeJS.Signals,
  args = APPLY,
  { folder, sandbox } = shop,
  env: Readonly<Record<string, string>> = {},
) {
  const bin = resolve(import.meta.dirname, "../../dist/bin.js");
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...sandbox.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // Apart, since a chunk of one may end within a line: on a busy machine the plans of sixty merchants come in two.
  const chunks: Record<"stdout" | "stderr", string[]> = { stdout: [], stderr: [] };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (chunk: string) => chunks[name].push(chunk));
  const text = (): string => [...chunks.stdout, ...chunks.stderr].join("");
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  await eventually(typeof told === "string" ? () => expect(text()).toContain(told) : told);
  child.kill(signal);
  const [code, endedBy] = await ended;
  return { code, endedBy, text: text() };
}

test("SIGTERM during a long wait while it reads ends at once: nothing was changed", async () => {
  await faults({ kind: "status", status: 429, operation: "members.list", wait: 100 });
  const { code, text } = await interrupted("waiting 100.0 s", "SIGTERM");
  expect(text).toMatch(/\nInterrupted: 0 of 1 merchant was read\. Nothing was changed\.\n$/);
  expect(code).toBe(1);
});

test("a signal while it only reads ends it with one last sentence, also with --quiet", async () => {
  await faults({ kind: "status", status: 429, operation: "members.list", wait: 100 });
  const asked = async () =>
    expect(JSON.stringify(await shop.control("GET", "/requests"))).toContain("/members");
  const wait = "waiting 100.0 s: rate limit\n";
  const counted = "Interrupted: 0 of 1 merchant was read. Nothing was changed.\n";
  for (const [command, signal, told] of [
    ["plan", "SIGINT", "waiting"],
    ["drift", "SIGTERM", "waiting"],
    ["plan --quiet", "SIGTERM", asked],
  ] as const) {
    await shop.control("DELETE", "/requests");
    const args = [...command.split(" "), "mc1.yaml"];
    const { text, code, endedBy } = await interrupted(told, signal, args);
    expect([code, endedBy]).toEqual([null, signal]);
    // The first request may be sent before the files are read.
    if (told === asked)
      expect(text).toMatch(/^Interrupted(: 0 of 1 merchant was read)?\. Nothing was changed\.\n$/);
    else expect(text.replace(/^waiting.*\n/, wait)).toBe(wait + counted);
  }
});

test("Ctrl-C during a long wait while it writes ends at once, and tells what was done", async () => {
  // Not an invitation, which would wait beside everything else.
  const managed = "email: till-8@example.com, managed: { nickname: Till 8, password_env: TILL_8 }";
  await shop.write("mc1.yaml", FILE.replace("email: cleo@example.com", managed));
  await faults({ kind: "status", status: 429, operation: "members.create", wait: 100 });
  const { code, text } = await interrupted("waiting 100.0 s", "SIGINT", APPLY, shop, PASSWORD);
  expect(text).toContain("✗ Apply stopped at MC1: 1 change done, 1 not started.\n");
  expect(text).toContain(
    "The run was stopped by SIGINT. Completed changes remain. To continue, run the\ncommand again.\n",
  );
  expect(code).toBe(4);
  await shop.control("DELETE", "/faults");
  expect((await shop.run(APPLY, PASSWORD)).stdout).toContain("✓ Apply complete at MC1: 1 change done.");
});

test("Ctrl-C at sixty merchants sends nothing more: only what was in flight ends, the rest is not started", async () => {
  const codes = Array.from({ length: 60 }, (_, index) => `MC${index + 100}`);
  const many = await openShop(`merchants:
${codes.map((code) => `  - { code: ${code}, members: [{ email: ada@example.com, roles: [role_owner] }] }`).join("\n")}
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`);
  try {
    await mkdir(join(many.folder, "access"));
    const members = ["ada", "b", "c", "d", "e", "f"].map(
      (name) =>
        `  - { email: ${name}@example.com, roles: [${name === "ada" ? "role_owner" : "role_employee"}] }\n`,
    );
    for (const code of codes) {
      await many.write(`access/${code}.yaml`, `version: 1\nmerchant: ${code}\nmembers:\n${members.join("")}`);
    }
    await many.control("PUT", "/faults", {
      rules: [{ kind: "latency", operation: "members.create", ms: 1000 }],
    });
    const { code, text } = await interrupted("created\n", "SIGINT", ["apply", "--yes", "--verbose"], many);
    const sent = (await many.writes()).length;
    expect(text.match(/^✓ /gm)).toHaveLength(sent);
    // Ten are in flight at once, for a second each; all 300 wait for their turn.
    expect(sent).toBeLessThan(150);
    expect(text).not.toContain("failed");
    expect(text).not.toContain("error:");
    expect(text).toContain(
      `✗ Apply stopped at 60 merchants: ${sent} changes done, ${300 - sent} not started.\n`,
    );
    expect(text).toMatch(
      /^ {2}Merchants: (?:\d+ applied, not verified; )?(?:\d+ partly applied[;,] )?\d+ not started\.$/m,
    );
    expect(text.match(/The run was stopped by SIGINT/g)).toHaveLength(1);
    expect(code).toBe(4);
  } finally {
    await many.stop();
  }
});

test("a concurrent change between plan and write is kept, and makes the planned one stale", async () => {
  const { items } = (await shop.control("GET", "/v0.1/merchants/MC1/roles")) as {
    readonly items: readonly { readonly id: string }[];
  };
  const path = `/v0.1/merchants/MC1/roles/${items[0]?.id}`;
  const request = { method: "PATCH", path, body: { permissions: ["catalog_view", "payouts_edit"] } };
  await faults({ kind: "concurrent-edit", operation: "roles.retrieve", request });
  const apply = await shop.run(APPLY);
  expect(apply.stderr).toContain("permissions: now also payouts_edit.\n");
  expect(apply.stderr).toContain("Nothing was changed.");
  expect(apply.code).toBe(1);
  expect(await shop.writes()).toEqual([]);
});

test("a managed user's password is set on request, and is written nowhere", async () => {
  await shop.run(APPLY);
  const before = (await shop.writes()).length;
  const rotate = [...APPLY, "--rotate-password", "till-7@example.com"];
  const unset = await shop.run(rotate);
  expect(unset.stderr).toContain(
    "Passwords of --rotate-password come from the environment: TILL_7 is not set.",
  );
  expect(unset.code).toBe(1);
  const { stdout, stderr, code } = await shop.run(rotate, { TILL_7: "s3cr3t-of-till" });
  expect(stdout).toContain("MC1: the password of till-7@example.com will be set from TILL_7.\n");
  expect(stdout).toContain("✓ MC1  member till-7@example.com password set from TILL_7\n");
  expect(code).toBe(0);
  expect((await shop.writes()).slice(before)).toEqual([
    expect.stringMatching(/^PUT \/v0\.1\/merchants\/MC1\/members\/mem_/),
  ]);
  expect(stdout + stderr + shop.sandbox.log()).not.toContain("s3cr3t");
  const stray = await shop.run([...APPLY, "--rotate-password", "ada@example.com"], { TILL_7: "long enough" });
  expect(stray.stderr).toContain("--rotate-password ada@example.com: no file lists this address as managed.");
  expect(stray.code).toBe(1);
});

/** Runs the program with a stream that a full disk is behind. */
async function onFullDisk(stream: "stdout" | "stderr", args: readonly string[]) {
  const bin = resolve(import.meta.dirname, "../../dist/bin.js");
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: shop.folder,
    env: { PATH: process.env["PATH"], ...shop.sandbox.env },
    stdio: stream === "stdout" ? ["ignore", full, "pipe"] : ["ignore", "pipe", full],
  });
  closeSync(full);
  let text = "";
  (child.stdout ?? child.stderr)?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, text };
}

test.runIf(process.platform === "linux")(
  "a full disk behind stdout is reported, and nothing is changed",
  async () => {
    const told = "error: stdout cannot be written: no space left on the device.\n";
    for (const args of [
      ["--version"],
      ["--help"],
      ["validate", "mc1.yaml"],
      ["plan", "mc1.yaml"],
      ["drift", "mc1.yaml"],
      ["plan", "mc1.yaml", "--detailed-exitcode"],
      ["fmt", "."],
    ]) {
      expect(await onFullDisk("stdout", args)).toEqual({ code: 1, text: told });
    }
    const { code, text } = await onFullDisk("stdout", APPLY);
    expect(text).toBe(`${told}Nothing was changed, because the plan could not be shown completely.\n`);
    expect(code).toBe(1);
    expect(await shop.writes()).toEqual([]);
  },
);

test.runIf(process.platform === "linux")("a full disk behind stderr is no crash", async () => {
  const { code, text } = await onFullDisk("stderr", ["plan", "mc1.yaml", "--verbose"]);
  expect(text).toContain("Plan: 1 to create, 1 to update");
  expect(code).toBe(1);
  const apply = await onFullDisk("stderr", APPLY);
  expect(apply.text).toContain("Verified: no changes remain");
  // Nothing is lost, since a complete apply says nothing there.
  expect(apply.code).toBe(0);
});

test("an apply whose reader closes the pipe finishes the writes in flight, records them, and exits with 4", async () => {
  let closePipe: () => Promise<void> = async () => undefined;
  const slow = await openShop(SEED, { sleep: () => closePipe() });
  await slow.write("mc1.yaml", FILE);
  await slow.control("PUT", "/faults", { rules: [{ kind: "latency", operation: "roles.update", ms: 1000 }] });
  const bin = resolve(import.meta.dirname, "../../dist/bin.js");
  const child = spawn(process.execPath, [bin, ...APPLY], {
    cwd: slow.folder,
    env: { PATH: process.env["PATH"], ...slow.sandbox.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.resume();
  closePipe = async () => {
    const closed = once(child.stdout, "close");
    child.stdout.destroy();
    await closed;
  };
  let told = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    told += chunk;
  });
  const [code] = (await once(child, "close")) as [number | null];
  expect(told).toContain("stdout is closed: nothing new starts; requests in flight finish first.\n");
  expect(code).toBe(4);
  expect(await slow.writes()).toHaveLength(1);
  expect((await slow.run(["runs", "latest"])).stdout).toContain("Stopped: stdout could not be written to.");
  await slow.stop();
});
