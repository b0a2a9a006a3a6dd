import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const ADA = "{ email: ada@example.com, roles: [role_admin] }";

const MANY = Array.from(
  { length: 60 },
  (_, index) => `  - { code: MX${index}, name: "Shop ${index}", members: [${ADA}] }`,
).join("\n");

const SEED = `merchants:
  - code: MC1
    name: Harbour Street
    parent: { type: organization, id: org_1 }
    members: [{ email: ada@example.com, roles: [role_owner] }]
  - { code: MC2, name: "\\e[31mred\\n::error::x", sandbox: false, members: [${ADA}] }
  - { code: MC3, name: Third, members: [{ email: ada@example.com, roles: [role_admin], status: pending }] }
  - { code: MC4, name: Zoe's, members: [{ email: zoe@example.com, roles: [role_owner] }] }
organizations:
  - { id: org_1, name: Retail Group, members: [{ email: ada@example.com, roles: [role_owner] }] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
  - { key: sk_test_zoe, owner: zoe@example.com }
  - { key: sk_test_nobody }
`;

let cwd = "";
let sandbox: RunningSandbox;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-whoami-"));
  await writeFile(join(cwd, "seed.yaml"), SEED);
  await mkdir(join(cwd, "project/access"), { recursive: true });
  await mkdir(join(cwd, "empty"));
  await writeFile(join(cwd, "project/access/one.yaml"), "version: 1\nmerchant: MC1\n");
  await writeFile(join(cwd, "project/access/three.yaml"), "version: 1\nmerchant: MC3\n");
  await writeFile(join(cwd, "project/access/nine.yaml"), "version: 1\nmerchant: MC9\n");
  sandbox = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
});

afterAll(async () => {
  await sandbox.stop();
  await rm(cwd, { recursive: true });
});

const whoami = (
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  folder = "project",
) => rolecall(["whoami", ...args], { cwd: join(cwd, folder), env: { ...sandbox.env, ...env } });

const idsOf = async (...args: readonly string[]): Promise<readonly string[]> => {
  const { stdout } = await whoami(["--format", "json", ...args]);
  const [{ memberships }] = JSON.parse(stdout).keys;
  return memberships.map(({ resource }: { resource: { id: string } }) => resource.id);
};

test("whoami lists what the key's user is a member of, what has no file, and which files it does not reach", async () => {
  const { stdout, stderr, code } = await whoami();
  expect(stdout).toBe(
    [
      "Code   Name                       Type                 Status    Roles",
      "MC1    Harbour Street             merchant (test)      accepted  role_owner",
      "MC2    \\u{1b}[31mred\\n::error::x  merchant             accepted  role_admin",
      "MC3    Third                      merchant (test)      pending   role_admin",
      "org_1  Retail Group               organization (test)  accepted  role_owner",
      "",
      `4 memberships of the key in ROLECALL_API_KEY at ${sandbox.url}: 3`,
      "  merchants, 1 organization.",
      "1 merchant has no file:",
      "  MC2",
      "  → rolecall pull MC2",
      "2 files name merchants without an accepted membership:",
      "  MC3 (access/three.yaml), MC9 (access/nine.yaml)",
      "  → rolecall doctor",
      "",
    ].join("\n"),
  );
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

test("whoami needs no file, and then points to init", async () => {
  const { stdout, code } = await whoami([], {}, "empty");
  expect(stdout).toContain("2 merchants have no file:\n  MC1, MC2\n  → rolecall init\n");
  expect(stdout).not.toContain("without an accepted membership");
  expect(code).toBe(0);
});

test("--key-env takes names that a shell can set", async () => {
  for (const name of ["RETAIL-KEY", "7UP", "a b", ""]) {
    const { code, stderr } = await whoami(["--key-env", name]);
    expect([code, stderr.split("\n")[0]]).toEqual([
      1,
      "error: --key-env must be the name of an environment variable.",
    ]);
  }
});

test("every filter of the service is an option", async () => {
  expect(await idsOf("--type", "organization")).toEqual(["org_1"]);
  expect(await idsOf("--status", "pending")).toEqual(["MC3"]);
  expect(await idsOf("--no-sandbox")).toEqual(["MC2"]);
  expect(await idsOf("--sandbox", "--type", "merchant")).toEqual(["MC1", "MC3"]);
  expect(await idsOf("--name", "Harbour Street")).toEqual(["MC1"]);
  expect(await idsOf("--parent", "org_1")).toEqual(["MC1"]);
  expect(await idsOf("--parent", "organization:org_1")).toEqual(["MC1"]);
  expect(await idsOf("--parent", "none")).toEqual(["MC2", "MC3", "org_1"]);
  expect(await idsOf("--parent", "merchant:org_1")).toEqual([]);
  expect(await idsOf("--role", "role_owner", "--role", "role_cashier")).toEqual(["MC1", "org_1"]);
  const filtered = JSON.parse((await whoami(["--format", "json", "--type", "merchant"])).stdout);
  expect(filtered.keys[0]).toMatchObject({ withoutFile: ["MC2"], notReached: null });
  const none = await whoami(["--name", "Nowhere"]);
  expect(none.stdout).toMatch(/^No membership of the key .* matches\.$/ms);
});

test("options that cannot be filters are refused before anything is sent", async () => {
  for (const args of [
    ["--type", "shop"],
    ["--status", "gone"],
    ["--parent", ""],
    ["--parent", "organization:"],
  ]) {
    const before = sandbox.log();
    const { code, stderr } = await whoami(args);
    expect(code).toBe(1);
    expect(stderr).toContain(args[0]);
    expect(sandbox.log()).toBe(before);
  }
});

test("all pages are read, beyond a single response", async () => {
  const seed = join(cwd, "many.yaml");
  await writeFile(seed, `merchants:\n${MANY}\nkeys: [{ key: sk_test_sandbox, owner: ada@example.com }]\n`);
  const own = await startSandbox(["--seed", seed]);
  const { stdout } = await rolecall(["whoami", "--format", "json"], { cwd, env: own.env });
  await own.stop();
  const [{ memberships, withoutFile }] = JSON.parse(stdout).keys;
  expect(memberships).toHaveLength(60);
  expect(withoutFile).toHaveLength(60);
});

describe("the keys", () => {
  test("of the files are listed beside that of the environment, each once", async () => {
    const folder = join(cwd, "keys");
    await mkdir(join(folder, "access"), { recursive: true });
    const api = `api: { base_url: "${sandbox.url}", key_env: ZOE }`;
    await writeFile(join(folder, "access/four.yaml"), `version: 1\nmerchant: MC4\n${api}\n`);
    const env = { ZOE: "sk_test_zoe" };
    const both = JSON.parse((await whoami(["--format", "json"], env, "keys")).stdout).keys;
    expect(both).toMatchObject([
      { keySource: "ZOE", withoutFile: [], notReached: [] },
      { keySource: "ROLECALL_API_KEY", withoutFile: ["MC1", "MC2"], notReached: [] },
    ]);
    const named = await whoami(
      ["--key-env", "ZOE", "--format", "json"],
      { ...env, ROLECALL_BASE_URL: "" },
      "keys",
    );
    expect(JSON.parse(named.stdout).keys).toMatchObject([{ keySource: "ZOE", service: sandbox.url }]);
  });

  test("that belong to no user are reported, and the exit code is 1", async () => {
    const { stdout, stderr, code } = await whoami(["--format", "json"], {
      ROLECALL_API_KEY: "sk_test_nobody",
    });
    expect(stderr).toContain("The key in ROLECALL_API_KEY cannot list memberships: it is not tied to a user");
    expect(stderr).toContain("rolecall init CODE");
    expect(JSON.parse(stdout)).toMatchObject({ keys: [], failures: [{ code: "forbidden", merchant: null }] });
    expect(stdout + stderr).not.toContain("sk_test_nobody");
    expect(code).toBe(1);
  });

  test("that a proxy keeps from the service are not blamed for it", async () => {
    const faults = (rules: readonly object[]) =>
      fetch(`${sandbox.url}/_sandbox/faults`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ rules }),
      });
    await faults([{ kind: "html", status: 403, operation: "memberships.list" }]);
    const { code, stderr } = await whoami([]);
    await faults([]);
    expect([code, stderr.includes("not tied to a user")]).toEqual([1, false]);
    expect(stderr).toContain("no login page or proxy");
  });

  test("that are missing, and a missing base URL, are reported with the variables to set", async () => {
    const keyless = await whoami(["--key-env", "NONE"]);
    expect(keyless.stderr).toContain("There is no API key.");
    expect(keyless.stderr).toContain("Set the environment variable NONE");
    const pasted = await whoami(["--key-env", "sk_live_0123456789abcdef"]);
    expect(pasted.stderr).toContain("An API key was passed instead of the name of its variable.");
    expect(pasted.stderr).not.toContain("0123456789");
    const nowhere = await whoami([], { ROLECALL_BASE_URL: "" });
    expect(nowhere.stderr).toContain("No base URL is configured.");
    expect([keyless.code, nowhere.code]).toEqual([1, 1]);
  });
});
