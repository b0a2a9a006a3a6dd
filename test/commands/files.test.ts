import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rolecall } from "../support/rolecall.ts";

let cwd = "";

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-text-"));
  await mkdir(join(cwd, "access"));
  await mkdir(join(cwd, "shared"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

const put = (path: string, text: string) => writeFile(join(cwd, path), text);

describe("validate", () => {
  test("reads what a file includes, and places a problem in the file that has it", async () => {
    await put(
      "access/shop.yaml",
      "version: 1\nmerchant: MC1\ninclude: [../shared/roles.yaml]\nmembers: []\n",
    );
    await put("shared/roles.yaml", "version: 1\nroles:\n  - { name: Cashier, permisions: [sell] }\n");
    const { code, stdout } = await rolecall(["validate"], { cwd });
    expect(stdout).toContain("shared/roles.yaml:3:22: error:");
    expect(stdout).toContain('Did you mean "permissions"?');
    expect(code).toBe(1);
  });

  test("a file includes nothing from outside the project, not even through a link", async () => {
    await mkdir(join(cwd, "project/.git"), { recursive: true });
    await put("secret.yaml", "version: 1\nroles: [{ name: Secret }]\n");
    await symlink(join(cwd, "secret.yaml"), join(cwd, "project/link.yaml"));
    await put("project/shop.yaml", "version: 1\nmerchant: MC1\ninclude: [link.yaml]\n");
    const { code, stdout } = await rolecall(["validate", "shop.yaml"], { cwd: join(cwd, "project") });
    expect(stdout).toContain("[file-outside-root]");
    expect(stdout).not.toContain("Secret");
    expect(code).toBe(1);
  });

  test("nothing is shown of a named file that is a link to outside the project", async () => {
    await put("secret.txt", "PASSWORD=hunter2\n");
    await mkdir(join(cwd, "project/.git"), { recursive: true });
    await mkdir(join(cwd, "project/access"));
    await symlink(join(cwd, "secret.txt"), join(cwd, "project/access/l.yaml"));
    for (const command of [["validate"], ["fmt"], ["list"], ["who", "is", "ada@example.com"]]) {
      const run = await rolecall([...command, "access/l.yaml"], { cwd: join(cwd, "project") });
      expect(run.stderr).toContain(
        "access/l.yaml is not read: it is, or is reached through, a link that leads outside",
      );
      expect(run.stdout + run.stderr).not.toContain("hunter2");
      expect(run.code).toBe(1);
    }
  });

  test("links in a folder that are broken or lead outside are named", async () => {
    await mkdir(join(cwd, "project/.git"), { recursive: true });
    await mkdir(join(cwd, "project/access"));
    await put("outside.yaml", "version: 1\nmerchant: MC2\n");
    await put("project/access/shop.yaml", "version: 1\nmerchant: MC1\n");
    await symlink("gone.yaml", join(cwd, "project/access/broken.yaml"));
    await symlink("../../outside.yaml", join(cwd, "project/access/outside.yaml"));
    const { code, stdout } = await rolecall(["validate"], { cwd: join(cwd, "project") });
    expect(stdout).toContain("access/broken.yaml: warning: This link is broken");
    expect(stdout).toContain("access/outside.yaml: warning: This link leads outside the project");
    expect(code).toBe(0);
  });

  test("names files from the root of the project, wherever in it the command runs", async () => {
    await mkdir(join(cwd, "project/.git"), { recursive: true });
    await mkdir(join(cwd, "project/access/shops"), { recursive: true });
    await mkdir(join(cwd, "project/hq"));
    await put("project/hq/rules.yaml", "version: 1\npolicies: { email_domain: [example.com] }\n");
    await put(
      "project/access/shops/mc1.yaml",
      "version: 1\nmerchant: MC1\ninclude: [../../hq/rules.yaml]\nrolls: []\n",
    );
    const inFolder = (folder: string, ...args: string[]) =>
      rolecall(args, { cwd: join(cwd, "project", folder) });
    const atRoot = await inFolder(".", "validate", "access/shops/mc1.yaml");
    expect(atRoot.stdout).toContain("access/shops/mc1.yaml:4:1: error:");
    expect(atRoot.stdout).toContain("hq/rules.yaml:2:13: error:");
    expect(atRoot.stderr).toBe("");
    for (const args of [["mc1.yaml"], [], ["../shops"]]) {
      const { stdout, stderr } = await inFolder("access/shops", "validate", ...args);
      expect([stdout, stderr]).toEqual([atRoot.stdout, "Paths are relative to ../../.\n"]);
    }
    const plan = await inFolder("access/shops", "plan", "mc1.yaml");
    expect(plan.stderr).toContain("hq/rules.yaml:2:13: error:");
    expect(plan.stderr).toContain("Paths are relative to ../../.\n");
    const sarif = await inFolder("access", "validate", "--format", "sarif");
    expect(sarif.stderr).toBe("");
    await put("project/hq/rules.yaml", "version: 1\n");
    await put("project/access/shops/mc1.yaml", "version: 1\nmerchant: MC1\ninclude: [../../hq/rules.yaml]\n");
    const told = await inFolder("access", "who", "is", "*", "shops", "--output", "who.txt");
    expect([told.code, told.stderr]).toEqual([0, "Written to access/who.txt.\n"]);
    expect(await readdir(join(cwd, "project/access"))).toContain("who.txt");
    const listed = await inFolder("hq", "list", "--using", "rules.yaml");
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining("MC1")]);
  });

  test("names a file that is not UTF-8 once, from the root of the project", async () => {
    await mkdir(join(cwd, "project/access"), { recursive: true });
    await mkdir(join(cwd, "project/.git"), { recursive: true });
    await writeFile(join(cwd, "project/access/mc1.yaml"), Buffer.from("\ufeffversion: 1\n", "utf16le"));
    await put("project/access/mc2.yaml", "version: 1\nmerchant: MC2\ninclude: [mc1.yaml]\n");
    const { stdout } = await rolecall(["validate"], { cwd: join(cwd, "project") });
    expect(stdout).toContain("access/mc1.yaml: error: This file is not UTF-8 text. [file-not-utf8]\n");
    expect(stdout).toContain('access/mc2.yaml:3:11: error: "mc1.yaml" is not UTF-8 text. [file-not-utf8]\n');
    expect(stdout).not.toContain(cwd);
  });

  test("exits 3 when all that is wrong is that a file breaks its own policy", async () => {
    await put(
      "access/shop.yaml",
      "version: 1\nmerchant: MC1\npolicies: { email_domains: [example.com] }\nmembers: [{ email: a@example.org, roles: [role_owner] }]\n",
    );
    const { code, stdout } = await rolecall(["validate"], { cwd });
    expect(stdout).toContain("[policy-email-domain]");
    expect(code).toBe(3);
  });

  test("tells the same problems as annotations, as SARIF, as a Code Quality report and as JUnit", async () => {
    await put("access/shop.yaml", "version: 1\nmerchant: MC1\nrolls: []\n");
    const github = await rolecall(["validate", "--format", "github"], { cwd });
    expect(github.stdout).toContain(
      "::error file=access/shop.yaml,line=3,endLine=3,col=1,endColumn=6,title=unknown-key::",
    );
    const sarif = await rolecall(["validate", "--format", "sarif"], { cwd });
    const [run] = JSON.parse(sarif.stdout).runs;
    expect(run.results.map(({ ruleId }: { ruleId: string }) => ruleId)).toEqual(["unknown-key"]);
    expect([github.code, sarif.code]).toEqual([1, 1]);
    const gitlab = await rolecall(["validate", "--format", "gitlab"], { cwd });
    expect(JSON.parse(gitlab.stdout)).toEqual([
      {
        description: expect.stringContaining("rolls"),
        check_name: "unknown-key",
        fingerprint: expect.stringMatching(/^unknown-key access\/shop.yaml .* #1$/),
        severity: "major",
        location: { path: "access/shop.yaml", lines: { begin: 3 } },
      },
    ]);
    const junit = await rolecall(["validate", "--format", "junit"], { cwd });
    expect(junit.stdout).toContain('<testcase classname="access/shop.yaml" name="unknown-key"');
    // The same problem elsewhere in the file is the same to GitLab; another one in it is not.
    await put(
      "access/shop.yaml",
      "version: 1\n\nmerchant: MC1\nrolls: []\nroles: [{ name: A }, { name: A }, { name: A }]\n",
    );
    const moved = JSON.parse((await rolecall(["validate", "--format", "gitlab"], { cwd })).stdout);
    const fingerprints = moved.map(({ fingerprint }: { fingerprint: string }) => fingerprint);
    expect(fingerprints).toContain(JSON.parse(gitlab.stdout)[0].fingerprint);
    expect(new Set(fingerprints).size).toBe(fingerprints.length);
  });

  test("leaves warnings out with --quiet in every format, and never errors", async () => {
    await put(
      "access/shop.yaml",
      "version: 1\nmerchant: MC1\nmembers: [{ email: a@example.com, roles: [{ role: role_owner, until: 2001-01-31 }] }]\n",
    );
    for (const format of ["text", "json", "github", "gitlab", "sarif", "junit"]) {
      const args = ["validate", "--format", format];
      expect((await rolecall(args, { cwd })).stdout).toContain("until-past");
      const quiet = await rolecall([...args, "--quiet"], { cwd });
      expect(quiet.stdout).not.toContain("2001-01-31");
      expect(quiet.code).toBe(0);
    }
    await put("access/bad.yaml", "version: 1\nmerchant: MC2\nrolls: []\n");
    const bad = await rolecall(["plan", "--quiet", "--base-url", "http://127.0.0.1:1"], { cwd });
    expect(bad.stderr).toContain("[unknown-key]");
    expect(bad.stderr).not.toContain("[until-past]");
  });

  test("knows with --as-of what will have ended", async () => {
    await put(
      "access/shop.yaml",
      "version: 1\nmerchant: MC1\nmembers: [{ email: a@example.com, roles: [{ role: role_owner, until: 2099-01-31 }] }]\n",
    );
    expect((await rolecall(["validate"], { cwd })).stdout).toBe("1 file valid.\n");
    expect((await rolecall(["validate", "--as-of", "2099-02-01"], { cwd })).stdout).toContain("[until-past]");
    expect((await rolecall(["validate", "--as-of", "2099-02-30"], { cwd })).code).toBe(1);
  });
});

test("validate of the project's file alone checks it, with all that it binds", async () => {
  await put("access/shop.yaml", "version: 1\nmerchant: MC1\n");
  await put("rolecall.yaml", "version: 1\nenforced: []\n");
  const broken = await rolecall(["validate", "rolecall.yaml"], { cwd });
  expect(broken.stdout).toContain('Did you mean "enforce"?');
  expect(broken.code).toBe(1);
  await put("rolecall.yaml", 'version: 1\nenforce:\n  - files: ["access/**"]\n');
  const { code, stdout, stderr } = await rolecall(["validate", "rolecall.yaml"], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "rolecall.yaml affects 1 merchant: MC1.\n" });
  expect(stdout).toContain("valid.\n");
});

describe("fmt", () => {
  test("formats the project's file with the merchants' files, and reports its errors", async () => {
    await put("access/shop.yaml", "version: 1\nmerchant: MC1\n");
    await put(
      "rolecall.yaml",
      'enforce_all:   false\nenforce:\n  - rules: hq/policy.yaml   # ours\n    files: [ "access/**" ]\nversion: 1\n',
    );
    expect((await rolecall(["fmt"], { cwd })).stdout).toBe(
      "formatted rolecall.yaml\n1 formatted, 1 unchanged\n",
    );
    const text =
      'version: 1\nenforce:\n  - files: ["access/**"]\n    rules: hq/policy.yaml # ours\nenforce_all: false\n';
    expect(await readFile(join(cwd, "rolecall.yaml"), "utf8")).toBe(text);
    expect((await rolecall(["fmt", "--check", "."], { cwd })).stdout).toBe("2 already formatted\n");
    await put("rolecall.yaml", "version: 1\nenforce: [\n");
    const { code, stdout } = await rolecall(["fmt", "rolecall.yaml"], { cwd });
    expect(stdout).toContain("rolecall.yaml:2:10: error: This bracket is never closed.");
    expect(code).toBe(1);
  });

  const UGLY =
    "# ours\nmerchant: MC1\nversion: 1\nmembers:\n    - roles: [role_owner] # all\n      email: b@example.com\n    - {email: a@example.com}\n";

  test("puts keys in order, keeps comments and the order of entries, and does nothing the second time", async () => {
    await put("access/shop.yaml", UGLY);
    const first = await rolecall(["fmt"], { cwd });
    expect(first.stdout).toBe("formatted access/shop.yaml\n1 formatted\n");
    const text = await readFile(join(cwd, "access/shop.yaml"), "utf8");
    expect(text).toContain("# ours\nversion: 1\nmerchant: MC1\n");
    expect(text.indexOf("b@example.com")).toBeLessThan(text.indexOf("a@example.com"));
    expect(text).toContain("# all");
    expect((await rolecall(["fmt"], { cwd })).stdout).toBe("1 unchanged\n");
  });

  test("--sort sorts the entries, too, and does nothing the second time", async () => {
    await put("access/shop.yaml", UGLY);
    expect((await rolecall(["fmt", "--sort"], { cwd })).stdout).toContain("1 formatted\n");
    const text = await readFile(join(cwd, "access/shop.yaml"), "utf8");
    expect(text.indexOf("a@example.com")).toBeLessThan(text.indexOf("b@example.com"));
    expect(text).toContain("# all");
    expect((await rolecall(["fmt", "--sort"], { cwd })).stdout).toBe("1 unchanged\n");
    expect((await rolecall(["fmt"], { cwd })).stdout).toBe("1 unchanged\n");
  });

  test("--check writes nothing, names what would change, and exits 1", async () => {
    await put("access/shop.yaml", UGLY);
    const { code, stdout } = await rolecall(["fmt", "--check"], { cwd });
    expect(stdout).toContain("would format access/shop.yaml");
    expect(code).toBe(1);
    expect(await readFile(join(cwd, "access/shop.yaml"), "utf8")).toBe(UGLY);
  });

  test("leaves a file with errors alone, and reports them", async () => {
    await put("access/shop.yaml", "version: 1\nmerchant: [\n");
    const { code, stdout } = await rolecall(["fmt"], { cwd });
    expect(stdout).toContain("access/shop.yaml:2:");
    expect(code).toBe(1);
  });
});
