import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ended, type RunningSandbox, rolecall, startSandbox } from "../support/program.ts";

const ACCESS = `version: 1
merchant: MC0DEMO1
sync: { roles: additive, members: additive }
guards: { max_removals: 0 }
roles:
  - { name: Cashier, permissions: [catalog_view, checkouts_create] }
members:
  - { email: ada@example.com, roles: [Cashier] }
`;

/** More than a mebibyte of what means nothing. */
const PADDING = "  # Nobody is to be found between these lines, however long somebody looks.\n".repeat(
  15_000,
);
const LARGE = ACCESS.replace("members:\n", `members:\n${PADDING}`) + PADDING;

let sandbox: RunningSandbox;
const folder = mkdtempSync(join(tmpdir(), "rolecall-large-"));

beforeAll(async () => {
  sandbox = await startSandbox();
});

afterAll(async () => {
  await sandbox.stop();
  rmSync(folder, { recursive: true });
});

let number = 0;

function inFolder(files: Readonly<Record<string, string>>, args: readonly string[]): Promise<Ended> {
  number += 1;
  const cwd = join(folder, String(number));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  return rolecall(args, { cwd, env: sandbox.env });
}

describe("a large file", () => {
  test("is planned as a small one is", async () => {
    const [small, large] = await Promise.all([
      inFolder({ "access/a.yaml": ACCESS }, ["plan"]),
      inFolder({ "access/a.yaml": LARGE }, ["plan"]),
    ]);
    expect(small.stdout).toContain("ada@example.com");
    expect(large).toEqual(small);
  });

  test("that is wrong is told as it is without a service, and nothing is planned for it", async () => {
    const wrong = LARGE.replace("email: ada@example.com", "email: ada");
    const [plan, report] = await Promise.all([
      inFolder({ "access/a.yaml": wrong }, ["plan"]),
      inFolder({ "access/a.yaml": wrong }, ["report", "--declared"]),
    ]);
    expect(plan.stderr).toMatch(/access\/a\.yaml:15008:\d+/);
    expect(plan).toMatchObject({ code: 1, stdout: "", stderr: report.stderr });
  });

  test("that only the thorough reader can read is planned all the same", async () => {
    const anchored = LARGE.replace("[Cashier]", "&held [Cashier]");
    const [plan, small] = await Promise.all([
      inFolder({ "access/a.yaml": anchored }, ["plan"]),
      inFolder({ "access/a.yaml": ACCESS }, ["plan"]),
    ]);
    expect([plan.code, plan.stdout]).toEqual([small.code, small.stdout]);
  });

  test("among many is found, whichever comes first", async () => {
    const other = ACCESS.replace("MC0DEMO1", "MC0NOBODY");
    const { code, stdout, stderr } = await inFolder({ "access/a.yaml": other, "access/b.yaml": LARGE }, [
      "plan",
    ]);
    expect(stdout).toContain("ada@example.com");
    expect(stderr).toContain("MC0NOBODY could not be planned");
    expect(code).toBe(1);
  });
});
