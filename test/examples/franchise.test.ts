import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { type Ended, type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const EXAMPLE = resolve(import.meta.dirname, "../../examples/franchise");
const STATION = "access/kelly/station.yaml";

let sandbox: RunningSandbox;
let folder = "";

beforeAll(async () => {
  sandbox = await startSandbox(["--seed", join(EXAMPLE, "live.yaml")]);
  // A project of its own, which it is not within this repository.
  folder = await mkdtemp(join(tmpdir(), "rolecall-franchise-"));
  await cp(EXAMPLE, folder, { recursive: true });
});

afterAll(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true });
});

test("the example's files are valid and in the canonical style", async () => {
  const { code, stdout } = await rolecall(["validate", "--format", "json"], { cwd: folder });
  expect(code).toBe(0);
  expect(JSON.parse(stdout).diagnostics).toEqual([]);
  const fmt = await rolecall(["fmt", "--check", "access", "hq"], { cwd: folder });
  expect(fmt.code).toBe(0);
});

test("the first plan is the one that the example's README describes", async () => {
  const { code, stdout } = await rolecall(["plan", "--format", "json"], { cwd: folder, env: sandbox.env });
  expect(code).toBe(0);
  const plans: readonly Plan[] = JSON.parse(stdout).plans;
  const changes = plans.flatMap((plan) => plan.changes);
  expect(changes.map(({ kind, resource, name }) => `${kind} ${resource} ${name}`)).toEqual([
    "update role Cashier",
    "create role Coffee Bar",
    "create member rory.walsh@kelly.example",
  ]);
  expect(plans.flatMap(({ findings }) => findings)).toEqual([]);
});

/** Plans the example with one file changed. */
async function tried(path: string, change: (text: string) => string): Promise<Ended> {
  const text = await readFile(join(folder, path), "utf8");
  expect(change(text)).not.toBe(text);
  await writeFile(join(folder, path), change(text));
  const ended = await rolecall(["plan"], { cwd: folder, env: sandbox.env });
  await writeFile(join(folder, path), text);
  return ended;
}

test("enforced rules reach the merchants that they are enforced on", async () => {
  const listed = await rolecall(["list", "--using", "hq/policy.yaml"], { cwd: folder });
  const all = await rolecall(["list"], { cwd: folder });
  expect(listed).toEqual({ stdout: all.stdout, stderr: "", code: 0 });
  const codes = all.stdout.match(/^MC\w+/gm) ?? [];
  for (const path of ["hq/policy.yaml", "hq"]) {
    const { code, stderr } = await rolecall(["plan", path], { cwd: folder, env: sandbox.env });
    expect(stderr).toContain(` affects ${codes.length} merchants: ${codes.join(", ")}.\n`);
    expect(stderr).not.toContain("No valid file includes");
    expect(code).toBe(0);
  }
  // A mistake in them is told as that.
  const text = await readFile(join(folder, "hq/policy.yaml"), "utf8");
  await writeFile(join(folder, "hq/policy.yaml"), text.replace("guards:", "gards:"));
  const broken = await rolecall(["plan", "hq/policy.yaml"], { cwd: folder, env: sandbox.env });
  await writeFile(join(folder, "hq/policy.yaml"), text);
  expect(broken.stderr + broken.stdout).toContain("gards");
  expect(broken.stderr + broken.stdout).not.toContain("missing-key");
});

test("a franchisee cannot grant what head office forbids", async () => {
  const { code, stdout } = await tried(STATION, (text) =>
    text.replace("[checkouts_create]", "[checkouts_create, payouts_edit]"),
  );
  expect(stdout).toContain("forbid-permissions");
  expect(stdout).toContain("hq/policy.yaml");
  expect(code).toBe(3);
});

test("a franchisee cannot loosen guards", async () => {
  const { code, stderr } = await tried(STATION, (text) =>
    text.replace("\nroles:", "\nguards: { max_removals: 100% }\n\nroles:"),
  );
  expect(stderr).toContain("[section-not-allowed]");
  expect(code).toBe(1);
});

test("a franchisee cannot make anybody administrator", async () => {
  const { code, stdout } = await tried(STATION, (text) =>
    text.replace(
      "walsh@kelly.example\n    roles: [Coffee Bar]",
      "walsh@kelly.example\n    roles: [role_admin]",
    ),
  );
  expect(stdout).toContain("max-holders");
  expect(code).toBe(3);
});

test("no shop's file is without head office's rules", async () => {
  await mkdir(join(folder, "elsewhere"));
  const text = await readFile(join(folder, STATION), "utf8");
  await writeFile(
    join(folder, "elsewhere/station.yaml"),
    text.replace("MC5KELLY", "MC6KELLY").replace("../../hq", "../hq"),
  );
  const { code, stdout } = await rolecall(["validate", "elsewhere"], { cwd: folder });
  expect(stdout).toContain("[file-not-enforced]");
  expect(code).toBe(1);
});
