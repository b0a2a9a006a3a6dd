import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadStates } from "../../../src/app/project/load-states.ts";
import { rolecall } from "../../support/rolecall.ts";

let cwd = "";

const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, file)), { recursive: true });
    await writeFile(join(cwd, file), text);
  }
}

const FILES = {
  "access/a.yaml": "version: 1\nmerchant: A\ninclude: [../shared/all.yaml]\n",
  "access/b.yaml":
    "version: 1\nmerchant: B\ninclude:\n  - ../shared/all.yaml\nroles:\n  - { name: Cashier, adjust: { add: [refunds_create] } }\n",
  "access/c.yaml": "version: 1\nmerchant: C\nroles: [{ name: Cashier, permissions: [catalog_view] }]\n",
  "access/d/d.yaml": "version: 1\nmerchant: D\n",
  "shared/all.yaml": "version: 1\ninclude: [roles.yaml]\n",
  "shared/roles.yaml": "version: 1\nroles:\n  - { name: Cashier, permissions: [catalog_view] }\n",
  "README.md": "# Access\n",
};

beforeEach(async () => {
  cwd = realpathSync(await mkdtemp(join(tmpdir(), "rolecall-since-")));
  await put(FILES);
  git("init", "--quiet", "-b", "main");
  git("add", ".");
  git("commit", "--quiet", "-m", "all");
});

afterEach(() => rm(cwd, { recursive: true }));

async function changed(ref = "HEAD", paths: readonly string[] = [], merchants: readonly string[] = []) {
  const {
    states,
    unmanaged = [],
    diagnostics,
  } = await loadStates(paths, {
    merchants,
    cwd,
    now: 0,
    changedSince: ref,
  });
  return [
    ...states.map(({ merchant }) => merchant),
    ...unmanaged.map(({ merchant }) => `-${merchant}`),
    ...diagnostics.map(({ file, code }) => `${file} ${code}`),
  ];
}

describe("the merchants that differ from a commit", () => {
  test("are none without a change, and where only comments, order, names and other files changed", async () => {
    expect(await changed()).toEqual([]);
    await put({
      "README.md": "# More\n",
      "access/c.yaml":
        "# the shop\nversion: 1\nmerchant: C\nroles:\n  - permissions:\n      - catalog_view\n    name: Cashier\n",
      "shared/roles.yaml": `${FILES["shared/roles.yaml"]}# end\n`,
    });
    await rename(join(cwd, "access/d/d.yaml"), join(cwd, "access/other.yaml"));
    expect(await changed()).toEqual([]);
  });

  test("are those whose own file changed, in the working tree or in a commit since", async () => {
    await put({ "access/c.yaml": FILES["access/c.yaml"].replace("catalog_view", "stock_view") });
    expect(await changed()).toEqual(["C"]);
    git("commit", "--quiet", "-am", "c");
    expect(await changed()).toEqual([]);
    expect(await changed("HEAD~1")).toEqual(["C"]);
    expect(await changed("main^")).toEqual(["C"]);
  });

  test("are those that include a changed file, through others", async () => {
    const more = FILES["shared/roles.yaml"].replace("catalog_view", "catalog_view, refunds_create");
    await put({
      "shared/roles.yaml": more,
      "access/b.yaml": FILES["access/b.yaml"].replace(/roles:[\s\S]*/, ""),
    });
    // B had this permission before, by its adjustment, but its files differ.
    expect(await changed()).toEqual(["A", "B"]);
    await put({ "shared/roles.yaml": FILES["shared/roles.yaml"].replace("catalog_view", "stock_view") });
    expect(await changed()).toEqual(["A", "B"]);
    expect(await changed("HEAD", ["access/b.yaml"])).toEqual(["B"]);
    expect(await changed("HEAD", [], ["B", "C"])).toEqual(["B"]);
  });

  test("are told from others that include one another, and by their own files if those include nothing", async () => {
    await put({
      "shared/roles.yaml": `${FILES["shared/roles.yaml"]}include: [all.yaml]\n`,
      "access/c.yaml": `${FILES["access/c.yaml"]}include: []\n`,
    });
    const { states } = await loadStates([], { merchants: [], cwd, now: 0, changedSince: "HEAD" });
    expect(states.map(({ merchant }) => merchant)).toEqual(["C"]);
  });

  test("are new ones, and those that are gone are told apart", async () => {
    await put({ "access/e.yaml": "version: 1\nmerchant: E\n" });
    await rm(join(cwd, "access/d"), { recursive: true });
    expect(await changed()).toEqual(["E", "-D"]);
    git("add", ".");
    expect(await changed()).toEqual(["E", "-D"]);
    expect(await changed("HEAD", ["access/a.yaml"])).toEqual([]);
  });

  test("are those that include a file that git does not know, which may say anything", async () => {
    await put({
      ".gitignore": "generated/\n",
      "generated/people.yaml": "version: 1\nmembers: []\n",
      "access/d/d.yaml": "version: 1\nmerchant: D\ninclude: [../../generated/people.yaml]\n",
    });
    git("add", ".");
    git("commit", "--quiet", "-m", "generated");
    expect(await changed()).toEqual(["D"]);
  });

  test("are known in another folder, behind links, and with names that are hard to write", async () => {
    await put({ 'access/ü "x" é.yaml': "version: 1\nmerchant: U\nroles: []\n" });
    await symlink("../shared", join(cwd, "access/link"));
    await put({ "access/f.yaml": "version: 1\nmerchant: F\ninclude: [link/all.yaml]\n" });
    git("add", ".");
    git("commit", "--quiet", "-m", "more");
    expect(await changed()).toEqual([]);
    await put({ 'access/ü "x" é.yaml': "version: 1\nmerchant: U\n" });
    await put({ "shared/roles.yaml": "version: 1\nroles: []\n" });
    expect(await changed("HEAD", ["access/f.yaml", 'access/ü "x" é.yaml'])).toEqual(["F", "U"]);
    const { states } = await loadStates(["."], {
      merchants: [],
      cwd: join(cwd, "access/d"),
      now: 0,
      changedSince: "HEAD",
    });
    expect(states).toEqual([]);
    await put({ "access/d/d.yaml": "version: 1\nmerchant: D\nroles: []\n" });
    expect(await changed("HEAD", [join(cwd, "access/d")])).toEqual(["D"]);
  });

  test("are found where a link leads to another file", async () => {
    await put({
      "files/one.yaml": "version: 1\nmerchant: L\n",
      "files/two.yaml": "version: 1\nmerchant: L\nroles: []\n",
    });
    await symlink("../files/one.yaml", join(cwd, "access/l.yaml"));
    git("add", ".");
    git("commit", "--quiet", "-m", "links");
    expect(await changed()).toEqual([]);
    await rm(join(cwd, "access/l.yaml"));
    await symlink("../files/two.yaml", join(cwd, "access/l.yaml"));
    expect(await changed()).toEqual(["L"]);
  });

  test("are judged, and only they", async () => {
    await put({
      "access/c.yaml": `${FILES["access/c.yaml"]}nonsense: true\n`,
      "access/x.yaml": "merchant: [\n",
    });
    git("add", ".");
    git("commit", "--quiet", "-m", "broken");
    await put({ "access/a.yaml": `${FILES["access/a.yaml"]}members: []\n` });
    expect(await changed()).toEqual(["A"]);
    await put({ "access/c.yaml": `${FILES["access/c.yaml"]}nonsense: false\n` });
    expect(await changed()).toEqual(["A", "access/c.yaml unknown-key"]);
  });

  test("keep a shared rule whose role another merchant has", async () => {
    await put({
      "shared/rules.yaml": "version: 1\npolicies: { require_mfa: [Lead] }\n",
      "access/a.yaml": "version: 1\nmerchant: A\ninclude: [../shared/rules.yaml]\nroles: []\n",
      "access/c.yaml":
        "version: 1\nmerchant: C\ninclude: [../shared/rules.yaml]\nroles: [{ name: Lead, permissions: [] }]\n",
    });
    git("add", ".");
    git("commit", "--quiet", "-m", "rules");
    await put({
      "access/a.yaml": "version: 1\nmerchant: A\ninclude: [../shared/rules.yaml]\nroles: []\nmembers: []\n",
    });
    expect(await changed()).toEqual(["A"]);
    const whole = await loadStates([], { merchants: ["A"], cwd, now: 0 });
    expect(whole.states[0]?.rolesElsewhere).toEqual(["Lead"]);
  });
});

describe("a commit that cannot be compared with", () => {
  const failing = (ref: string) => loadStates([], { merchants: [], cwd, now: 0, changedSince: ref });

  test("is named", async () => {
    await expect(failing("no-such-branch")).rejects.toMatchObject({
      code: "usage",
      message: "--changed-since: git does not know the commit no-such-branch.",
    });
    await expect(failing(" ")).rejects.toMatchObject({
      message: "--changed-since needs a commit, but is empty.",
    });
    await expect(failing("--output=x")).rejects.toMatchObject({ code: "usage" });
    await expect(failing("HEAD:README.md")).rejects.toMatchObject({ code: "usage" });
  });

  test("in a shallow clone gets the way to its history", async () => {
    await put({ "access/d/d.yaml": "version: 1\nmerchant: D\nroles: []\n" });
    git("commit", "--quiet", "-am", "d");
    git("clone", "--quiet", "--depth", "1", `file://${cwd}`, "clone");
    const clone = loadStates(["access"], {
      merchants: [],
      cwd: join(cwd, "clone"),
      now: 0,
      changedSince: "HEAD~1",
    });
    await expect(clone).rejects.toMatchObject({ hint: expect.stringContaining("git fetch --unshallow") });
  });

  test("without a repository is the fault of the option", async () => {
    await rm(join(cwd, ".git"), { recursive: true });
    await expect(failing("HEAD")).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("--changed-since needs the git history: "),
    });
  });

  test("with an unknown merchant is asked for in vain", async () => {
    const unknown = loadStates([], { merchants: ["ZZ"], cwd, now: 0, changedSince: "HEAD" });
    await expect(unknown).rejects.toMatchObject({ message: "No file declares merchant ZZ." });
  });
});

test("commands say that nothing has changed, and exit 0 without a request", async () => {
  const env = { ROLECALL_BASE_URL: "http://127.0.0.1:9", ROLECALL_API_KEY: "sk_test_x" };
  const told = "No merchant has changed since HEAD.\n";
  for (const command of [["plan"], ["drift"], ["list"]]) {
    const ended = await rolecall([...command, "--changed-since", "HEAD"], { cwd, env });
    expect(ended).toEqual({ code: 0, stdout: "", stderr: told });
  }
  const apply = await rolecall(["apply", "--yes", "--changed-since", "HEAD"], { cwd, env });
  expect(apply).toEqual({ code: 0, stdout: "", stderr: `${told}Nothing to do.\n` });
  const matrix = await rolecall(["list", "--format", "json", "--changed-since", "HEAD"], { cwd });
  expect(matrix.stdout).toBe('{"include":[]}\n');
  const plan = await rolecall(["plan", "--format", "json", "--changed-since", "HEAD"], { cwd, env });
  expect(JSON.parse(plan.stdout)).toMatchObject({ plans: [] });
  const one = await rolecall(["list", "-m", "A", "--changed-since", "HEAD"], { cwd });
  expect(one.stderr).toBe("A has not changed since HEAD.\n");
});

test("list names the changed merchants, and warns of those that nobody manages any more", async () => {
  await rm(join(cwd, "access/d"), { recursive: true });
  await put({ "access/c.yaml": "version: 1\nmerchant: C\n" });
  const { code, stdout, stderr } = await rolecall(["list", "--changed-since", "HEAD"], { cwd });
  expect(stdout).toBe("C  -  access/c.yaml\n");
  expect(stderr).toBe(
    "warning: D is no longer managed: access/d/d.yaml declared it at HEAD. Its live state stays as it is.\n",
  );
  expect(code).toBe(0);
  await put({
    "access/e.yaml": "version: 1\nmerchant: E\ninclude: [../new.yaml]\n",
    "new.yaml": "version: 1\n",
  });
  for (const args of [["--using", "new.yaml"], ["new.yaml"]]) {
    const using = await rolecall(["list", "--changed-since", "HEAD", ...args], { cwd });
    expect(using).toMatchObject({ stdout: "E  -  access/e.yaml\n", stderr: "", code: 0 });
  }
});

describe("rules that the project enforces", () => {
  const RULES = {
    "rolecall.yaml":
      'version: 1\nenforce:\n  - { files: ["access/d/**", access/c.yaml], rules: hq/policy.yaml }\n',
    "hq/policy.yaml": "version: 1\ninclude: [more.yaml]\n",
    "hq/more.yaml": "version: 1\nguards: { max_removals: 3 }\n",
  };

  test("select the merchants under them when they begin, change and end", async () => {
    await put(RULES);
    expect(await changed()).toEqual(["C", "D"]);
    git("add", ".");
    git("commit", "--quiet", "-m", "rules");
    expect(await changed()).toEqual([]);
    await put({ "hq/more.yaml": "version: 1\nguards: { max_removals: 2 }\n" });
    expect(await changed()).toEqual(["C", "D"]);
    await put({ "hq/more.yaml": "version: 1\n# the same\nguards: { max_removals: 3 }\n" });
    expect(await changed()).toEqual([]);
    await put({
      "hq/more.yaml": `${RULES["hq/more.yaml"]}leavers: [{ email: a@b.example, from: 2099-01-15 }]\n`,
    });
    expect(await changed()).toEqual(["C", "D"]);
    await put({ "hq/more.yaml": RULES["hq/more.yaml"] });
    await put({ "rolecall.yaml": RULES["rolecall.yaml"].replace(", access/c.yaml", "") });
    expect(await changed()).toEqual(["C"]);
    await rm(join(cwd, "rolecall.yaml"));
    expect(await changed()).toEqual(["C", "D"]);
  });
});
