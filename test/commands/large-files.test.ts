import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withoutTimes } from "../support/reviews.ts";
import { type Ended, type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const HEAD = `version: 1
merchant: MC0DEMO1
sync: { roles: additive, members: additive }
roles:
  - { name: Cashier, permissions: [catalog_view, checkouts_create] }
`;

const entries = Array.from(
  { length: 3000 },
  (_, at) => `  - email: somebody.${at}@example.com\n    roles: [Cashier]\n`,
);

/** As large as to be read in several pieces. */
const LARGE = `${HEAD}members:\n${entries.join("")}`;

/** The same, but read as a whole: the comment keeps it together. */
const WHOLE = `${HEAD}members: # all of them\n${entries.join("")}`;

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
  test("is planned in pieces as it is planned as a whole", async () => {
    const [pieces, whole] = await Promise.all([
      inFolder({ "access/a.yaml": LARGE }, ["plan", "--format", "json"]),
      inFolder({ "access/a.yaml": WHOLE }, ["plan", "--format", "json"]),
    ]);
    expect(pieces.stdout).toContain("somebody.2999@example.com");
    expect({ ...pieces, stdout: withoutTimes(pieces.stdout) }).toEqual({
      ...whole,
      stdout: withoutTimes(whole.stdout),
    });
  });

  test("with an error at its end has the same diagnostics as without a service, and no plan", async () => {
    const wrong = LARGE.replace("email: somebody.2999@example.com", "email: somebody");
    const [plan, report] = await Promise.all([
      inFolder({ "access/a.yaml": wrong }, ["plan"]),
      inFolder({ "access/a.yaml": wrong }, ["report", "--declared"]),
    ]);
    // Five lines, the key, and two lines for each before it.
    expect(plan.stderr).toMatch(/access\/a\.yaml:6005:12: error: "somebody" is not an e-mail address/);
    expect(plan).toMatchObject({ code: 1, stdout: "", stderr: report.stderr });
  });

  test("that only the full reader can read is planned too", async () => {
    const anchored = LARGE.replace("2999@example.com\n    roles: [", "2999@example.com\n    roles: &held [");
    const [plan, plain] = await Promise.all([
      inFolder({ "access/a.yaml": anchored }, ["plan", "--format", "json"]),
      inFolder({ "access/a.yaml": LARGE }, ["plan", "--format", "json"]),
    ]);
    expect([plan.code, withoutTimes(plan.stdout)]).toEqual([plain.code, withoutTimes(plain.stdout)]);
  });

  test("sends no key before the file's own variable is known", async () => {
    const asked = sandbox.log();
    const { code, stderr } = await inFolder({ "access/a.yaml": `${LARGE}environment: live\n` }, ["plan"]);
    expect(stderr).toContain("environment: live");
    expect([code, sandbox.log()]).toEqual([1, asked]);
  });

  test("among many is found, whichever comes first", async () => {
    const other = `${HEAD}members: []\n`.replace("MC0DEMO1", "MC0NOBODY");
    const { code, stdout, stderr } = await inFolder({ "access/a.yaml": other, "access/b.yaml": LARGE }, [
      "plan",
      "--verbose",
    ]);
    expect(stdout).toContain("somebody.2999@example.com");
    expect(stderr).toContain("MC0NOBODY could not be planned");
    expect(code).toBe(1);
  });
});
