import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { main } from "../../src/cli/main.ts";
import { eventually } from "../support/eventually.ts";
import { runStarted } from "../support/past-run.ts";
import { realIo } from "../support/rolecall.ts";
import { openShop, type Shop } from "../support/shop.ts";

const SEED = `merchants:
  - code: MC1
    members: [{ email: ada@example.com, roles: [role_owner] }]
  - code: MC2
    members: [{ email: ada@example.com, roles: [role_owner] }]
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

let shop: Shop;
let other: ChildProcess;
let journal: string;

beforeEach(async () => {
  shop = await openShop(SEED);
  for (const code of ["MC1", "MC2"]) {
    await shop.write(
      `${code}.yaml`,
      `version: 1\nmerchant: ${code}\nmembers:\n  - { email: ada@example.com, roles: [role_owner] }\n  - { email: cleo@example.com, roles: [role_employee] }\n`,
    );
  }
  other = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1e6)"], { stdio: "ignore" });
  await once(other, "spawn");
  const runs = join(shop.folder, ".rolecall", "runs");
  await mkdir(runs, { recursive: true });
  const run = "2026-01-01T00-00-00-000Z";
  journal = join(runs, `${run}-MC1.jsonl`);
  const started = runStarted({
    run,
    service: shop.sandbox.url,
    host: hostname(),
    ...(other.pid !== undefined && { pid: other.pid }),
  });
  await writeFile(journal, `${JSON.stringify({ at: new Date().toISOString(), ...started })}\n`);
});

afterEach(async () => {
  other.kill("SIGKILL");
  await shop.stop();
});

const flat = (text: string): string => text.replaceAll(/\s+/g, " ");
const locked = () => `Another apply of MC1 is running: process ${other.pid} of ada on ${hostname()}, for`;

test("a second apply of a merchant stops before its first write, and names the first", async () => {
  const { code, stderr } = await shop.run(["apply", "MC1.yaml", "--yes"]);
  expect(flat(stderr)).toContain(locked());
  expect(flat(stderr)).toContain("--lock-timeout 5m");
  expect(code).toBe(1);
  expect(await shop.writes()).toEqual([]);
});

test("the other merchants of a run are applied all the same", async () => {
  const { code, stdout, stderr } = await shop.run(["apply", "MC1.yaml", "MC2.yaml", "--yes"]);
  expect(flat(stdout + stderr)).toContain(locked());
  expect(code).toBe(4);
  expect(await shop.writes()).toEqual(["POST /v0.1/merchants/MC2/members"]);
});

test("with --lock-timeout it waits, and plans again when the first has ended", async () => {
  const { io, written } = realIo({ cwd: shop.folder, env: shop.sandbox.env, waitFactor: 0.1 });
  const apply = main(["apply", "MC1.yaml", "--yes", "--lock-timeout", "5m"], io);
  await eventually(() => expect(written.stderr).toContain("--lock-timeout"));
  await shop.control("POST", "/v0.1/merchants/MC1/members", {
    email: "cleo@example.com",
    roles: ["role_employee"],
  });
  await rm(journal);
  expect(await apply).toBe(0);
  // What the first one did is not done again.
  expect(await shop.writes()).toEqual([]);
});

test("with --lock-timeout it gives up in the end", async () => {
  const { code, stderr } = await shop.run(["apply", "MC1.yaml", "--yes", "--lock-timeout", "1s"], {}, 0.1);
  expect(flat(stderr)).toContain(locked());
  expect(code).toBe(1);
  expect(await shop.writes()).toEqual([]);
});
