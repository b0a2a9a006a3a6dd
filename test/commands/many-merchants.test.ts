import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const CODES = ["MC1", "MC2", "MC3", "MC4", "MC5"];
const SEED = `merchants:
${CODES.map((code) => `  - { code: ${code}, members: [{ email: owner@example.com, roles: [role_owner] }] }`).join("\n")}
keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
`;

let cwd = "";
let sandbox: RunningSandbox;

const file = (code: string) =>
  `version: 1\nmerchant: ${code}\nroles: [{ name: Cashier, permissions: [sell] }]\n`;
const planned = (stdout: string) => [...stdout.matchAll(/^(MC\S+) · /gm)].map(([, code]) => code);

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-many-"));
  await mkdir(join(cwd, "access"));
  for (const code of [...CODES].reverse()) await writeFile(join(cwd, "access", `${code}.yaml`), file(code));
  await writeFile(join(cwd, "seed.yaml"), SEED);
  sandbox = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
});

afterAll(async () => {
  await sandbox.stop();
  await rm(cwd, { recursive: true });
});

test("a folder of files gives one plan each, in the order of the codes, and one sum", async () => {
  const { stdout, code } = await rolecall(["plan", "--verbose"], { cwd, env: sandbox.env });
  expect(planned(stdout)).toEqual(CODES);
  expect(stdout).toContain("5 merchants: 5 to create; 5 not managed.");
  expect(code).toBe(0);
});

test("what all of them need is told once", async () => {
  const { stdout } = await rolecall(["plan"], { cwd, env: sandbox.env });
  expect(stdout).toContain("\n    + role Cashier: + sell in all 5 merchants\n");
  expect(planned(stdout)).toEqual([]);
  for (const code of CODES) expect(stdout).toMatch(new RegExp(`^  ${code} +1$`, "m"));
});

test("shards divide the merchants, each belongs to one", async () => {
  const parts = await Promise.all(
    ["1/2", "2/2"].map((shard) =>
      rolecall(["plan", "--verbose", "--shard", shard], { cwd, env: sandbox.env }),
    ),
  );
  const merchants = parts.map(({ stdout }) => planned(stdout));
  expect(merchants.every((some) => some.length > 0)).toBe(true);
  expect(merchants.flat().sort()).toEqual(CODES);
  const wrong = await rolecall(["plan", "--shard", "3/2"], { cwd, env: sandbox.env });
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain("2/5");
});

test("a file with an error, a missing key or an unknown merchant does not hide other plans", async () => {
  await mkdir(join(cwd, "mixed"));
  await writeFile(join(cwd, "mixed/a.yaml"), file("MC1"));
  await writeFile(join(cwd, "mixed/b.yaml"), `${file("MC2")}nonsense: true\n`);
  await writeFile(join(cwd, "mixed/c.yaml"), `${file("MC3")}api: { key_env: NO_SUCH_KEY }\n`);
  await writeFile(join(cwd, "mixed/d.yaml"), file("MC404"));
  const { stdout, stderr, code } = await rolecall(["plan", "mixed"], { cwd, env: sandbox.env });
  expect(planned(stdout)).toEqual(["MC1"]);
  expect(stderr).toContain('The file has no key "nonsense".');
  expect(stderr).toContain("MC3 could not be planned.");
  expect(stderr).toContain("NO_SUCH_KEY");
  expect(stderr).toContain("MC404 could not be planned.");
  expect(code).toBe(1);

  const apply = await rolecall(["apply", "mixed", "--yes"], { cwd, env: sandbox.env });
  expect(apply.code).toBe(1);
  expect(sandbox.log()).not.toContain("POST");
});

test("a quiet apply has a plan in short and an ending", async () => {
  await rm(join(cwd, "mixed"), { recursive: true });
  const { stdout, code } = await rolecall(["apply", "--yes", "--quiet", "-m", "MC1", "-m", "MC2"], {
    cwd,
    env: sandbox.env,
  });
  expect(code).toBe(0);
  expect(stdout).toContain(
    "\n✓ Apply complete at 2 merchants: 2 changes done. Verified: no changes remain.\n",
  );
  expect(stdout).not.toMatch(/^.*MC1.*(?:done|verified)/m);
});

test("an apply of many merchants has a line for each change, and tells at the end only what did not go well", async () => {
  const codes = Array.from({ length: 21 }, (_, index) => `MCM${index}`);
  const folder = await mkdtemp(join(tmpdir(), "rolecall-more-"));
  await mkdir(join(folder, "access"));
  for (const code of codes) await writeFile(join(folder, "access", `${code}.yaml`), file(code));
  const seed = SEED.replace(/^ {2}- .*(?:\n {2}- .*code.*)*/m, () =>
    codes
      .map((code) => `  - { code: ${code}, members: [{ email: owner@example.com, roles: [role_owner] }] }`)
      .join("\n"),
  );
  await writeFile(join(folder, "seed.yaml"), seed);
  const own = await startSandbox(["--seed", join(folder, "seed.yaml")]);
  const applied = async () => {
    await fetch(`${own.url}/_sandbox/reset`, { method: "POST" });
    const { stdout, code } = await rolecall(["apply", "--yes"], { cwd: folder, env: own.env });
    expect(code).toBe(0);
    return stdout;
  };
  const brief = await applied();
  expect(brief.match(/^✓ MCM\d+ {2}role Cashier created$/gm)).toHaveLength(21);
  expect(brief).toMatch(
    /\n✓ Apply complete at 21 merchants: 21 changes done\. Verified: no changes remain\.\n {2}To undo it: rolecall undo \S+\n {2}journals: \S+ \(21 merchants\)\n$/,
  );
  await own.stop();
  await rm(folder, { recursive: true });
});
