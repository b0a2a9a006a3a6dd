import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { rolecall } from "../support/rolecall.ts";

let cwd = "";

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-list-"));
  await mkdir(join(cwd, "access"));
  for (const [code, environment] of [
    ["MC1", "live"],
    ["MC22", "test"],
    ["MC333", null],
  ]) {
    const line = environment === null ? "" : `environment: ${environment}\n`;
    await writeFile(join(cwd, "access", `${code}.yaml`), `version: 1\nmerchant: ${code}\n${line}`);
  }
});

afterAll(async () => {
  await rm(cwd, { recursive: true });
});

test("list names every merchant with its environment and file, without network and key", async () => {
  const { stdout, code } = await rolecall(["list"], { cwd });
  expect(stdout).toBe(
    [
      "MC1    live  access/MC1.yaml",
      "MC22   test  access/MC22.yaml",
      "MC333  -     access/MC333.yaml",
      "",
    ].join("\n"),
  );
  expect(code).toBe(0);
});

test("as JSON it is a matrix, of no more parts than are wanted, none of two environments", async () => {
  const { stdout } = await rolecall(["list", "--format", "json"], { cwd });
  expect(JSON.parse(stdout).include).toHaveLength(3);
  const one = await rolecall(["list", "--format", "json", "--jobs", "1"], { cwd });
  expect(JSON.parse(one.stdout).include).toHaveLength(3);
  const parts = await Promise.all(
    ["1/2", "2/2"].map((shard) => rolecall(["list", "--format", "json", "--shard", shard], { cwd })),
  );
  const merchants = parts.flatMap((part) => JSON.parse(part.stdout).include);
  expect(merchants.map((part) => part.merchants).sort()).toEqual(["MC1", "MC22", "MC333"]);
});

test("a file that cannot be read, or declares no merchant of its own, is reported with exit code 1", async () => {
  const files = {
    "a.yaml": "version: 1\nmerchant: [\n",
    "b.yaml": "version: 1\n",
    "c.yaml": "version: 1\nmerchant: MC1\n",
    "d.yaml": "version: 1\nmerchant: a b\n",
    "e.yaml": "version: 1\nmerchant: MC4\napi: { base_url: nowhere }\n",
  };
  for (const [file, text] of Object.entries(files)) await writeFile(join(cwd, file), text);
  const { stdout, stderr, code } = await rolecall(["list", "access", ...Object.keys(files)], { cwd });
  expect(stdout.match(/^MC\d+/gm)).toEqual(["MC1", "MC22", "MC333"]);
  expect(stderr.match(/^\S+: error:.*/gm)).toEqual([
    expect.stringMatching(/^a.yaml:2:11: error: .*\[yaml-syntax\]$/),
    'b.yaml:1:1: error: The file needs "merchant". [missing-key]',
    expect.stringMatching(/^c.yaml:2:11: error: .*\[duplicate-merchant\]$/),
    expect.stringMatching(/^d.yaml:2:11: error: .*\[bad-merchant\]$/),
    expect.stringMatching(/^e.yaml:3:18: error: .*\[bad-base-url\]$/),
  ]);
  expect(code).toBe(1);
  const one = await rolecall(["list", "access", "a.yaml", "b.yaml", "-m", "MC1"], { cwd });
  expect(one).toMatchObject({ stdout: "MC1  live  access/MC1.yaml\n", stderr: "", code: 0 });
});

test("what else is wrong in a file is validate's to report", async () => {
  await writeFile(join(cwd, "broken.yaml"), "version: 1\nmerchant: MC4\nnonsense: true\n");
  expect(await rolecall(["list", "broken.yaml"], { cwd })).toMatchObject({
    stdout: "MC4  -  broken.yaml\n",
    stderr: "",
    code: 0,
  });
});

test("an environment may come from an included file", async () => {
  await writeFile(join(cwd, "live.yaml"), "version: 1\nenvironment: live\n");
  await writeFile(join(cwd, "with.yaml"), "version: 1\nmerchant: MC5\ninclude: [live.yaml]\n");
  expect((await rolecall(["list", "with.yaml"], { cwd })).stdout).toBe("MC5  live  with.yaml\n");
});

describe("an included file", () => {
  let project = "";
  const run = (...args: readonly string[]) => rolecall(args, { cwd: project });

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "rolecall-using-"));
    await mkdir(join(project, "access/sub"), { recursive: true });
    await mkdir(join(project, "shared/areas"), { recursive: true });
    const files = {
      "access/a.yaml": "version: 1\nmerchant: MCA\ninclude: [../shared/areas/north.yaml]\n",
      "access/b.yaml": "version: 1\nmerchant: MCB\ninclude:\n  - ../shared/group.yaml\n",
      "access/c.yaml": "version: 1\nmerchant: MCC\n",
      // Only the full parser reads the escape.
      "access/sub/d.yaml":
        'version: 1\nmerchant: MCD\nroles: [{ name: Manager, permissions: [] }]\n"inc\\u006cude": [../../shared/areas/north.yaml]\n',
      "shared/areas/north.yaml": "version: 1\ninclude: [../group.yaml]\n",
      "shared/group.yaml": "version: 1\npolicies: { max_holders: { Manager: 3 } }\n",
      "shared/unused.yaml": "version: 1\npolicies: { require_mfa: [role_admin], require: x }\n",
    };
    for (const [file, text] of Object.entries(files)) await writeFile(join(project, file), text);
  });

  afterAll(() => rm(project, { recursive: true }));

  test("selects the merchants whose files include it, directly or not", async () => {
    const group = await run("list", "--using", "shared/group.yaml");
    expect(group).toMatchObject({
      stdout: "MCA  -  access/a.yaml\nMCB  -  access/b.yaml\nMCD  -  access/sub/d.yaml\n",
      stderr: "",
      code: 0,
    });
    const north = await run("list", "--using", "shared/areas/north.yaml", "--format", "json");
    expect(JSON.parse(north.stdout).include.map((part: { merchants: string }) => part.merchants)).toEqual([
      "MCA",
      "MCD",
    ]);
    expect((await run("list", "--using", "shared/areas/north.yaml", "access/sub")).stdout).toBe(
      "MCD  -  access/sub/d.yaml\n",
    );
  });

  test("that no merchant includes is an error", async () => {
    const { stderr, code } = await run("list", "--using", "shared/unused.yaml");
    expect([stderr.split("\n")[0], code]).toEqual(["error: shared/unused.yaml affects no merchant.", 1]);
    expect((await run("list", "--using", "shared/nowhere.yaml")).stderr).toContain("there is no such file");
  });

  test("named as a path stands for the merchants that it reaches", async () => {
    const valid = await run("validate", "shared/areas/north.yaml");
    expect(valid).toMatchObject({
      stdout: expect.stringMatching(/files valid\.\n$/),
      stderr: "shared/areas/north.yaml affects 2 merchants: MCA, MCD.\n",
      code: 0,
    });
    const env = { ROLECALL_BASE_URL: "http://127.0.0.1:9", ROLECALL_API_KEY: "sk_test_x" };
    for (const command of ["plan", "drift", "apply", "report"]) {
      const { stderr } = await rolecall([command, "shared/areas/north.yaml", "--retry-for", "0"], {
        cwd: project,
        env,
      });
      expect(stderr).toContain("shared/areas/north.yaml affects 2 merchants: MCA, MCD.\n");
      expect(stderr).toContain("MCD could not be planned");
      expect(stderr).not.toMatch(/MC[BC] could not/);
    }
    const both = await run("list", "access/c.yaml", "shared/areas/north.yaml");
    expect(both.stdout.split("\n").map((line) => line.slice(0, 3))).toEqual(["MCA", "MCC", "MCD", ""]);
    const one = await run("list", "shared/areas/north.yaml", "-m", "MCB");
    expect(one.stderr).toContain("error: No file that is named or reached declares merchant MCB.");
  });

  test("in a named folder stands for the merchants that it reaches, beside those of the folder", async () => {
    const areas = await run("list", "shared/areas/");
    expect(areas.stdout.split("\n").map((line) => line.slice(0, 3))).toEqual(["MCA", "MCD", ""]);
    const shared = await run("validate", "./shared");
    expect(shared).toMatchObject({
      stdout: expect.stringMatching(/files valid\.\n$/),
      stderr: "shared/ affects 3 merchants: MCA, MCB, MCD.\nNo valid file includes shared/unused.yaml.\n",
      code: 0,
    });
    await mkdir(join(project, "mixed"));
    await writeFile(join(project, "mixed/e.yaml"), "version: 1\nmerchant: MCE\ninclude: [only.yaml]\n");
    await writeFile(join(project, "mixed/only.yaml"), "version: 1\n");
    expect(await run("validate", "mixed")).toMatchObject({ stdout: "2 files valid.\n", stderr: "" });
    await writeFile(
      join(project, "access/c.yaml"),
      "version: 1\nmerchant: MCC\ninclude: [../mixed/only.yaml]\n",
    );
    const mixed = await run("validate", "mixed");
    expect(mixed).toMatchObject({
      stdout: "3 files valid.\n",
      stderr: "mixed/ affects 1 more merchant: MCC.\n",
    });
    expect((await run("list", "mixed")).stdout.match(/^MC./gm)).toEqual(["MCC", "MCE"]);
  });

  test("in a named folder without merchants has to reach one", async () => {
    await mkdir(join(project, "none"));
    await writeFile(join(project, "none/x.yaml"), "version: 1\n");
    for (const args of [["none"], ["none", "access/a.yaml"]]) {
      const { stdout, stderr, code } = await run("validate", ...args);
      expect([stdout, stderr.split("\n")[0], code]).toEqual([
        "",
        "error: No file in none/ declares a merchant, and no merchant's file includes one of them.",
        1,
      ]);
    }
  });

  test("that is named and reaches no merchant is reported with its own errors", async () => {
    const { stdout, stderr, code } = await run("validate", "shared/unused.yaml");
    expect(stderr).toBe("shared/unused.yaml affects no merchant: no valid file includes it.\n");
    expect(stdout).toContain('The file needs "merchant".');
    expect(stdout).toContain('"require"');
    expect(code).toBe(1);
  });
});

describe("a merchant whose file is gone", () => {
  let project = "";
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], {
      cwd: project,
      env: { PATH: process.env["PATH"], HOME: project },
    });
  const warning = (merchant: string, file: string) =>
    `warning: ${merchant} is no longer managed: ${file} was removed. Its live state stays as it is.\n`;

  beforeEach(async () => {
    project = await mkdtemp(join(tmpdir(), "rolecall-removed-"));
    await mkdir(join(project, "access"));
    for (const code of ["MC1", "MC2", "MC3"]) {
      await writeFile(join(project, `access/${code}.yaml`), `version: 1\nmerchant: ${code}\n`);
    }
    git("init", "--quiet", "-b", "main");
    git("add", ".");
    git("commit", "--quiet", "-m", "all");
  });

  afterEach(async () => {
    await rm(project, { recursive: true });
  });

  test("is named as long as its removal is not committed, and after the commit that removes it", async () => {
    await rm(join(project, "access/MC2.yaml"));
    const before = await rolecall(["list"], { cwd: project });
    expect(before.stderr).toBe(warning("MC2", "access/MC2.yaml"));
    git("commit", "--quiet", "-am", "remove");
    await mkdir(join(project, "access/sub"));
    const below = await rolecall(["list"], { cwd: join(project, "access/sub") });
    expect(below.stderr).toBe(warning("MC2", "access/MC2.yaml"));
    git("commit", "--quiet", "--allow-empty", "-m", "later");
    expect((await rolecall(["list"], { cwd: project })).stderr).toBe("");
  });

  test("is named on a branch wherever it was removed there, and not where another file is about it", async () => {
    git("update-ref", "refs/remotes/origin/main", "HEAD");
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
    git("rm", "--quiet", "access/MC1.yaml");
    git("mv", "access/MC3.yaml", "access/moved.yaml");
    git("commit", "--quiet", "-m", "remove");
    git("commit", "--quiet", "--allow-empty", "-m", "later");
    const { stderr, code } = await rolecall(["list"], { cwd: project });
    expect([stderr, code]).toEqual([warning("MC1", "access/MC1.yaml"), 0]);
    expect((await rolecall(["list", "-m", "MC2"], { cwd: project })).stderr).toBe("");
  });

  test("is named on a branch of a repository without a remote", async () => {
    git("switch", "--quiet", "-c", "leave");
    git("rm", "--quiet", "access/MC1.yaml");
    git("commit", "--quiet", "-m", "remove");
    git("commit", "--quiet", "--allow-empty", "-m", "later");
    const { stderr } = await rolecall(["list"], { cwd: project });
    expect(stderr).toBe(warning("MC1", "access/MC1.yaml"));
  });

  test("is named where its file now names another merchant", async () => {
    await writeFile(join(project, "access/MC1.yaml"), "version: 1\nmerchant: MC9\n");
    await writeFile(join(project, "access/MC2.yaml"), "# The same.\nversion: 1\nmerchant: MC2\n");
    const { stderr } = await rolecall(["list"], { cwd: project });
    expect(stderr).toBe(
      "warning: MC1 is no longer managed: access/MC1.yaml now names another merchant. Its live state stays as it is.\n",
    );
  });

  test("is named by a plan, too, except with --quiet", async () => {
    await rm(join(project, "access/MC2.yaml"));
    const env = { ROLECALL_BASE_URL: "http://127.0.0.1:9", ROLECALL_API_KEY: "sk_test_x" };
    const plan = await rolecall(["plan", "--retry-for", "0"], { cwd: project, env });
    expect(plan.stderr).toContain(warning("MC2", "access/MC2.yaml"));
    const quiet = await rolecall(["plan", "--retry-for", "0", "-q"], { cwd: project, env });
    expect(quiet.stderr).not.toContain("no longer managed");
    const args = ["plan", "--retry-for", "0", "--format", "markdown"];
    const { stdout } = await rolecall(args, { cwd: project, env });
    expect(stdout).toContain(
      "### ⚠️ 1 merchant no longer managed; the live state stays as it is\n\n- <code>MC2</code>",
    );
  });
});
