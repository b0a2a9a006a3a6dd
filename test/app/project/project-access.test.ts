import { realpathSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadStates } from "../../../src/app/project/load-states.ts";
import { looseningsOf } from "../../../src/kernel/rules/loosenings.ts";

let cwd = "";

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, file)), { recursive: true });
    await writeFile(join(cwd, file), text);
  }
}

const EVIL = "version: 1\nmerchant: MC1\nmembers: [{ email: joe@evil.example, roles: [role_employee] }]\n";

beforeEach(async () => {
  cwd = realpathSync(await mkdtemp(join(tmpdir(), "rolecall-project-")));
  await mkdir(join(cwd, ".git"));
  await put({
    "rolecall.yaml":
      'version: 1\nenforce:\n  - files: ["access/franchise/**"]\n    rules: hq/policy.yaml\n    allow: [members]\n',
    "hq/policy.yaml": "version: 1\npolicies: { email_domains: [example.com] }\n",
    "access/franchise/b.yaml": "version: 1\nmerchant: MC2\n",
    "access/hq.yaml":
      "version: 1\nmerchant: MC0\nmembers: [{ email: joe@evil.example, roles: [role_owner] }]\n",
  });
});

afterEach(() => rm(cwd, { recursive: true }));

async function codes(paths: readonly string[] = [], from = cwd): Promise<readonly string[]> {
  const { diagnostics } = await loadStates(paths, { merchants: [], cwd: from, now: 0 });
  return diagnostics.map(({ file, code }) => `${file} ${code}`);
}

describe("a file is under the rules of its glob", () => {
  test.each([[[]], [["access/franchise/a.yaml"]], [["access/hq/../franchise/a.yaml"]], [["."]]])(
    "by every path that leads to it: %j",
    async (paths) => {
      await put({ "access/franchise/a.yaml": EVIL, "access/hq/x.yaml": "version: 1\nmerchant: MC9\n" });
      expect(await codes(paths)).toEqual(["access/franchise/a.yaml policy-email-domain"]);
    },
  );

  test("from every folder of the project, and by its absolute path", async () => {
    await put({ "access/franchise/a.yaml": EVIL });
    const shown = ["a.yaml policy-email-domain"];
    expect(await codes(["a.yaml"], join(cwd, "access/franchise"))).toEqual(shown);
    expect(await codes([join(cwd, "access/franchise/a.yaml")], tmpdir())).toEqual([
      expect.stringContaining("access/franchise/a.yaml policy-email-domain"),
    ]);
  });

  test("if a link in the folder leads out of it, to a file or to a folder", async () => {
    await put({ "drafts/a.yaml": EVIL });
    await symlink("../../drafts/a.yaml", join(cwd, "access/franchise/a.yaml"));
    expect(await codes()).toEqual(["drafts/a.yaml policy-email-domain"]);
    expect(await codes(["drafts"])).toEqual(["drafts/a.yaml policy-email-domain"]);
    await rm(join(cwd, "access/franchise/a.yaml"));
    expect(await codes(["drafts"])).toEqual([]);
    await symlink("../../drafts", join(cwd, "access/franchise/more"));
    expect(await codes(["access/franchise/more"])).toEqual(["drafts/a.yaml policy-email-domain"]);
    expect(await codes(["drafts"])).toEqual(["drafts/a.yaml policy-email-domain"]);
  });

  test("if a link from elsewhere leads into it, and if its case differs", async () => {
    await put({ "access/franchise/a.yaml": EVIL });
    await symlink("franchise/a.yaml", join(cwd, "access/other.yaml"));
    expect(await codes(["access/other.yaml"])).toEqual(["access/franchise/a.yaml policy-email-domain"]);
    await rm(join(cwd, "access/franchise/a.yaml"));
    await rm(join(cwd, "access/other.yaml"));
    await put({ "access/Franchise/A.YAML": EVIL });
    expect(await codes()).toEqual(["access/Franchise/A.YAML policy-email-domain"]);
  });

  test("if the folder has a repository of its own", async () => {
    await put({ "access/franchise/sub/a.yaml": EVIL, "access/franchise/sub/.git": "gitdir: elsewhere\n" });
    const shown = ["access/franchise/sub/a.yaml policy-email-domain"];
    expect(await codes()).toEqual(shown);
    expect(await codes(["access/franchise/sub/a.yaml"])).toEqual(shown);
    expect(await codes(["a.yaml"], join(cwd, "access/franchise/sub"))).toEqual([
      "a.yaml policy-email-domain",
    ]);
  });

  test("and not if only its name is like it", async () => {
    await put({ "access/franchise-hq/a.yaml": EVIL });
    expect(await codes()).toEqual([]);
  });
});

describe("who leaves by enforced rules", () => {
  const LEFT = "2026-01-15";
  const KIM = "members: [{ email: Kim@example.com, roles: [role_employee] }]\n";
  const stateOf = async (merchant: string) => {
    const { states } = await loadStates([], { merchants: [], cwd, now: Date.parse(LEFT) });
    return states.find((state) => state.merchant === merchant);
  };

  beforeEach(() =>
    put({
      "hq/policy.yaml": `version: 1\nleavers: [{ email: kim@example.com, from: ${LEFT} }]\n`,
      "access/franchise/a.yaml": `version: 1\nmerchant: MC1\n${KIM}`,
      "access/hq.yaml": `version: 1\nmerchant: MC0\n${KIM}`,
    }),
  );

  test("leaves every merchant under them without an include, and is reported where the address stands", async () => {
    const { diagnostics } = await loadStates([], { merchants: [], cwd, now: Date.parse(LEFT) });
    expect(diagnostics.map(({ file, code, message }) => [file, code, message])).toEqual([
      [
        "access/franchise/a.yaml",
        "leaver-listed",
        "Kim@example.com left on 2026-01-15, according to hq/policy.yaml:2.",
      ],
    ]);
    const leaver = { email: "kim@example.com", from: { text: LEFT }, origin: { file: "hq/policy.yaml" } };
    for (const merchant of ["MC1", "MC2"]) {
      expect((await stateOf(merchant))?.leavers).toMatchObject([leaver]);
    }
    expect((await stateOf("MC0"))?.leavers).toBeUndefined();
  });

  test("leaves on the earlier day that the file or the rules give", async () => {
    const own = (from: string) =>
      put({
        "rolecall.yaml": 'version: 1\nenforce: [{ files: ["access/franchise/**"], rules: hq/policy.yaml }]\n',
        "access/franchise/a.yaml": `version: 1\nmerchant: MC1\nleavers: [{ email: KIM@example.com, from: ${from} }]\n`,
      });
    const from = async () => (await stateOf("MC1"))?.leavers?.map((leaver) => leaver.from.text);
    await own("2027-01-01");
    expect(await from()).toEqual([LEFT]);
    await own("2025-01-01");
    expect(await from()).toEqual(["2025-01-01"]);
  });

  test("is listed in a review if an entry goes, or the rules do", async () => {
    const base = await stateOf("MC1");
    const looser = async () => {
      const head = await stateOf("MC1");
      return base && head ? looseningsOf(base, head, () => false).map(({ text }) => text) : null;
    };
    expect(await looser()).toEqual([]);
    await put({ "hq/policy.yaml": "version: 1\n" });
    expect(await looser()).toEqual(["kim@example.com no longer leaves (leavers, from 2026-01-15)"]);
    await put({ "rolecall.yaml": "version: 1\n" });
    expect(await looser()).toContain("kim@example.com no longer leaves (leavers, from 2026-01-15)");
  });

  test("and is protected by the same rules, which are told to be mended", async () => {
    const text = `version: 1\nguards: { protect: { members: [kim@example.com] } }\nleavers: [{ email: kim@example.com, from: ${LEFT} }]\n`;
    await put({ "hq/policy.yaml": text, "access/franchise/a.yaml": "version: 1\nmerchant: MC1\n" });
    const { diagnostics } = await loadStates([], { merchants: [], cwd, now: Date.parse(LEFT) });
    expect(diagnostics.map(({ file, code }) => `${file} ${code}`)).toContain("hq/policy.yaml leaver-listed");
  });
});

describe("rules that nobody can rely on stop every merchant of the project", () => {
  test.each([
    ["a misspelt name", { "rolecall.yml": "version: 1\n" }, "rolecall.yml project-file-name"],
    ["an error", { "rolecall.yaml": "version: 2\n" }, "rolecall.yaml wrong-value"],
    ["rules with an error", { "hq/policy.yaml": "version: 1\nroles: []\n" }, "hq/policy.yaml rules-section"],
  ])("%s", async (_, files, code) => {
    await put(files);
    expect(await codes()).toEqual([code]);
    const { states } = await loadStates([], { merchants: [], cwd, now: 0 });
    expect(states).toEqual([]);
    const some = await loadStates(["access/hq.yaml"], { merchants: ["MC0"], cwd, now: 0 });
    expect(some.states).toEqual([]);
    expect(some.diagnostics).toHaveLength(1);
  });

  test("a link to rules outside of the project", async () => {
    const outside = realpathSync(await mkdtemp(join(tmpdir(), "rolecall-outside-")));
    await writeFile(join(outside, "policy.yaml"), "version: 1\n");
    await rm(join(cwd, "hq/policy.yaml"));
    await symlink(join(outside, "policy.yaml"), join(cwd, "hq/policy.yaml"));
    expect(await codes()).toEqual(["rolecall.yaml file-outside-root"]);
    await rm(outside, { recursive: true });
  });

  test("a link to rules among the files that they bind", async () => {
    await put({ "access/franchise/policy.yaml": "version: 1\n" });
    await rm(join(cwd, "hq/policy.yaml"));
    await symlink("../access/franchise/policy.yaml", join(cwd, "hq/policy.yaml"));
    expect(await codes()).toEqual(["rolecall.yaml rules-in-reach"]);
  });
});
