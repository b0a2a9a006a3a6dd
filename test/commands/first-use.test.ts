import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const SHOP = `version: 1
merchant: MC0DEMO1
environment: test
roles:
  - name: Shift Lead
    description: Opens and closes the till
    permissions: [catalog_view, refunds_create]
members:
  - email: owner@example.com
    roles: [role_owner]
  - email: new@example.com
    roles: [Shift Lead, role_employee]
`;

const SEED = `merchants:
  - code: MC0DEMO1
    members:
      - { email: owner@example.com, roles: [role_owner] }
      - { email: other@example.com, roles: [role_employee] }
keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
  - key: sk_test_reader
    permissions: [roles_list, roles_view, merchant_read, members_view, members_create, roles_create]
`;

let cwd = "";
let sandbox: RunningSandbox;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-program-"));
  await writeFile(join(cwd, "shop.yaml"), SHOP);
  await writeFile(join(cwd, "additive.yaml"), `${SHOP}sync: { roles: additive, members: additive }\n`);
  await writeFile(join(cwd, "seed.yaml"), SEED);
  sandbox = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
});

afterAll(async () => {
  await sandbox.stop();
  await rm(cwd, { recursive: true });
});

describe("the main workflow", () => {
  test("plan shows the changes, apply makes them, and then nothing is left", async () => {
    const own = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
    const options = { cwd, env: own.env };
    const plan = await rolecall(["plan", "shop.yaml"], options);
    expect(plan.stdout).toContain("+ create Shift Lead");
    expect(plan.stdout).toContain("+ create new@example.com (invitation)");
    expect(plan.stdout).toContain("- delete other@example.com (not in the file)");
    expect(plan.stdout).toMatch(/\+ create new@example\.com .*\n +roles .*\n +gains +\+ /);
    expect(plan.stdout).toMatch(/- delete other@example\.com .*\n(?: +[^+-].*\n)* +loses +- /);
    expect(plan.code).toBe(0);
    expect((await rolecall(["plan", "shop.yaml", "--detailed-exitcode"], options)).code).toBe(2);

    const apply = await rolecall(["apply", "shop.yaml", "--yes"], options);
    expect(apply.stdout).toContain("Verified: no changes remain");
    expect(apply.code).toBe(0);

    const again = await rolecall(["plan", "shop.yaml", "--detailed-exitcode"], options);
    expect(again.stdout).toContain("no changes");
    expect(again.code).toBe(0);
    await own.stop();
  });

  test("apply without a terminal and without --yes changes nothing and says what to do", async () => {
    const apply = await rolecall(["apply", "shop.yaml"], { cwd, env: sandbox.env });
    expect(apply.code).toBe(1);
    expect(apply.stderr).toContain("--yes");
    expect(sandbox.log()).not.toMatch(/POST|PUT|PATCH|DELETE/);
  });

  test("plan --format json can be read by another program, and nothing else stands on stdout", async () => {
    const plan = await rolecall(["plan", "shop.yaml", "--format", "json"], { cwd, env: sandbox.env });
    const { plans } = JSON.parse(plan.stdout);
    expect(plans[0].summary.members).toEqual({
      create: 1,
      update: 0,
      replace: 0,
      delete: 1,
      unchanged: 1,
    });
  });

  test("apply --format json gives one event per line", async () => {
    const own = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
    const apply = await rolecall(["apply", "additive.yaml", "--yes", "--format", "json"], {
      cwd,
      env: own.env,
    });
    const events = apply.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).toEqual([
      "planned",
      "apply-started",
      "phase-started",
      "change-started",
      "change-ended",
      "phase-started",
      "change-started",
      "change-ended",
      "apply-ended",
      "verified",
      "journals",
      "summary",
    ]);
    const [summary, ...others] = events.reverse();
    expect(summary).toMatchObject({
      status: "done",
      exitCode: 0,
      merchants: 1,
      writes: 2,
      changes: { done: 2, failed: 0, stale: 0, unknown: 0, unfinished: 0, "not-started": 0 },
    });
    for (const { at } of [summary, ...others]) expect(new Date(at).toISOString()).toBe(at);
    await own.stop();
  });

  test("apply names a member who cannot be created without roles, also where nothing is to do", async () => {
    const bare = "  - email: nobody@example.com\n";
    await writeFile(
      join(cwd, "bare.yaml"),
      `version: 1\nmerchant: MC0DEMO1\nsync: { members: additive }\nmembers:\n${bare}`,
    );
    const apply = await rolecall(["apply", "bare.yaml", "--yes"], { cwd, env: sandbox.env });
    expect(apply.stdout).toContain("warning: nobody@example.com is not a member, and cannot be created:");
    expect(apply.stderr).toBe("Nothing to do: 1 member cannot be created without roles.\n");
    expect(apply.code).toBe(0);
  });

  test("--format json reports why there is no plan, with code and hint, and the final status", async () => {
    const nobody = { ...sandbox.env, ROLECALL_API_KEY: "sk_test_nobody" };
    const failure = { merchant: "MC0DEMO1", file: null, code: "unauthorized" };
    for (const command of ["plan", "drift"]) {
      const { stdout, code } = await rolecall([command, "shop.yaml", "--format", "json"], {
        cwd,
        env: nobody,
      });
      expect(JSON.parse(stdout).failures).toMatchObject([failure]);
      expect(JSON.parse(stdout).failures[0].hint).not.toBeNull();
      expect(code).toBe(1);
    }
    const eventsOf = async (...args: readonly string[]) => {
      const { stdout } = await rolecall(["apply", "--format", "json", ...args], { cwd, env: nobody });
      return stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    };
    const end = { type: "summary", status: "failed", exitCode: 1, writes: 0 };
    expect(await eventsOf("shop.yaml", "--yes")).toMatchObject([{ type: "failed", ...failure }, end]);
    await writeFile(join(cwd, "bad.yaml"), "version: 1\nmerchant: MC2\nrolls: []\n");
    expect(await eventsOf("bad.yaml", "--yes")).toMatchObject([
      { type: "failed", merchant: null, file: "bad.yaml", line: 3, column: 1, code: "unknown-key" },
      end,
    ]);
    expect(await eventsOf("none.yaml", "--yes")).toMatchObject([
      { type: "failed", merchant: null, code: "file-unreadable" },
      end,
    ]);
  });

  test("--verbose tells each request on stderr, and never the key", async () => {
    const env = { ...sandbox.env, ROLECALL_PROGRESS: "auto" };
    const plan = await rolecall(["plan", "shop.yaml", "--verbose"], { cwd, env });
    expect(plan.stderr).toMatch(/GET \/v0\.1\/merchants\/MC0DEMO1\/roles 200 \d+ ms/);
    expect(plan.stdout + plan.stderr).not.toContain("sk_test_sandbox");
  });

  test("10,000 members are read in pages, not one by one", async () => {
    const own = await startSandbox(["--generate", "10000"]);
    const plan = await rolecall(["plan", "additive.yaml", "--concurrency", "16"], { cwd, env: own.env });
    expect(plan.code).toBe(0);
    expect(plan.stdout).toContain("10,00");
    const requests = own
      .log()
      .split("\n")
      .filter((line) => line.includes("GET "));
    const lists = requests.filter((line) => line.includes("/members?"));
    expect(lists.length).toBeGreaterThanOrEqual(400);
    expect(lists.length).toBeLessThanOrEqual(401);
    expect(requests.length - lists.length).toBeLessThanOrEqual(6);
    await own.stop();
  });
});

describe("every error suggests a next step", () => {
  test("an invalid base URL, with its source", async () => {
    const env = { ...sandbox.env, ROLECALL_BASE_URL: "api.example.com" };
    const variable = await rolecall(["plan", "shop.yaml"], { cwd, env });
    expect(variable.stderr).toContain(
      "The base URL is not a valid http or https URL. It comes from ROLECALL_BASE_URL.",
    );
    const option = await rolecall(["plan", "shop.yaml", "--base-url", "nowhere"], { cwd, env });
    expect(option.stderr).toContain("It comes from --base-url.");
    expect(option.code).toBe(1);
  });

  test("a password that is missing, before anything is asked", async () => {
    const till = "members:\n  - { email: till@example.com, roles: [], managed: { password_env: TILL } }\n";
    const head = "version: 1\nmerchant: MC0DEMO1\nsync: { members: additive }\n";
    await writeFile(join(cwd, "till.yaml"), head + till);
    // Without a terminal and --yes, asking would fail too, with other words.
    const unset = await rolecall(["apply", "till.yaml"], { cwd, env: sandbox.env });
    expect(unset.stderr).toContain("TILL is not set");
    const short = await rolecall(["apply", "till.yaml"], { cwd, env: { ...sandbox.env, TILL: "short" } });
    expect(short.stderr).toContain("TILL has fewer than 8 characters");
    expect(short.code).toBe(1);
  });

  test("a wrong key", async () => {
    const env = { ...sandbox.env, ROLECALL_API_KEY: "sk_test_wrong" };
    const plan = await rolecall(["plan", "shop.yaml"], { cwd, env });
    expect(plan.code).toBe(1);
    expect(plan.stderr).toContain("401");
    expect(plan.stderr).toContain("ROLECALL_API_KEY");
    expect(plan.stderr).not.toContain("sk_test_wrong");
  });

  test("a key without a permission that is needed", async () => {
    const own = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
    const file = join(cwd, "update.yaml");
    await writeFile(
      file,
      "version: 1\nmerchant: MC0DEMO1\nsync: { members: additive }\nmembers:\n  - { email: other@example.com, roles: [role_manager] }\n",
    );
    const env = { ...own.env, ROLECALL_API_KEY: "sk_test_reader" };
    const apply = await rolecall(["apply", file, "--yes"], { cwd, env });
    expect(apply.code).toBe(1);
    expect(apply.stdout + apply.stderr).toContain("members_update");
    expect(apply.stdout + apply.stderr).toContain("403");
    await own.stop();
  });

  test("a service without a response", async () => {
    const env = { ...sandbox.env, ROLECALL_BASE_URL: "http://127.0.0.1:9" };
    const plan = await rolecall(["plan", "shop.yaml"], { cwd, env });
    expect(plan.code).toBe(1);
    expect(plan.stderr).toContain("127.0.0.1:9");
  });

  test("a service that returns HTML", async () => {
    const server = createServer((_, answer) =>
      answer.setHeader("content-type", "text/html").end("<h1>Hello</h1>"),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const env = {
      ...sandbox.env,
      ROLECALL_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    };
    const plan = await rolecall(["plan", "shop.yaml"], { cwd, env });
    server.close();
    expect(plan.code).toBe(1);
    expect(plan.stderr).toMatch(/HTML|JSON/);
    expect(plan.stderr).toMatch(/base.?url/i);
  });

  test("a plain http address that is not on this machine", async () => {
    const env = { ...sandbox.env, ROLECALL_BASE_URL: "http://service.example" };
    const plan = await rolecall(["plan", "shop.yaml"], { cwd, env });
    expect(plan.code).toBe(1);
    expect(plan.stderr).toContain("https");
  });

  test("a file with five mistakes tells all five, each with its place", async () => {
    await writeFile(
      join(cwd, "five.yaml"),
      [
        "version: 2",
        "merchant: MC0DEMO1",
        "enviroment: test",
        "roles:",
        "  - name: Cashier",
        "    permissions: catalog_view",
        "members:",
        "  - email: ada.example.com",
        "    roles: [Cashier]",
        "  - email: bob@example.com",
        "    roles: [Cashir]",
        "",
      ].join("\n"),
    );
    const validate = await rolecall(["validate", "five.yaml"], { cwd });
    expect(validate.code).toBe(1);
    expect(validate.stdout.match(/^five\.yaml:\d+:\d+/gm)).toEqual([
      "five.yaml:1:10",
      "five.yaml:3:1",
      "five.yaml:6:18",
      "five.yaml:8:12",
      "five.yaml:11:13",
    ]);
    expect(validate.stdout).toContain("5 errors");
  });

  test("a path that does not exist, an unknown option, a merchant that no file is about", async () => {
    for (const args of [
      ["validate", "nowhere"],
      ["plan", "--nope"],
      ["plan", "shop.yaml", "-m", "MC404"],
    ]) {
      const ended = await rolecall(args, { cwd, env: sandbox.env });
      expect(ended.code).toBe(1);
      expect(ended.stderr).not.toContain("    at ");
      expect(ended.stderr.trim()).not.toBe("");
    }
  });
});

test("help is the same by option and command, and lists every command", async () => {
  const all = await Promise.all(["--help", "-h", "help"].map((asked) => rolecall([asked])));
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
  const [long, short, word] = all.map(({ stdout }) => stdout);
  expect(short).toBe(long);
  expect(word).toBe(long);
  expect(long).toMatch(/^ {2}validate \[path\.\.\.\] +check the files/m);
});

test("every command explains --help in the same words", async () => {
  const { stdout: help } = await rolecall(["--help"]);
  const lists = help.match(/^(?:Daily|Questions|Set-up):\n(?: .*\n)+/gm) ?? [];
  const commands = lists.flatMap((list) =>
    [...list.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => String(name)),
  );
  expect(commands).toEqual(expect.arrayContaining(["plan", "who", "init"]));
  for (const command of commands.filter((name) => name !== "help")) {
    const { stdout } = await rolecall([command, "--help"]);
    expect(stdout).toMatch(/^ {2}-h, --help +print help$/m);
  }
});

test.each([
  [[], "merchant"],
  [["merchant"], "merchant"],
  [["project"], "rolecall"],
  [["plan"], "plan"],
] as const)("schema %s prints the schema that is in the repository", async (args, name) => {
  const { stdout, code } = await rolecall(["schema", ...args]);
  expect(code).toBe(0);
  const stored = resolve(import.meta.dirname, `../../schemas/${name}.schema.json`);
  expect(stdout).toBe(await readFile(stored, "utf8"));
});

test("without a terminal --interactive says so before anything is read", async () => {
  for (const command of ["plan", "apply"]) {
    const ended = await rolecall([command, "--interactive"], { cwd, env: sandbox.env });
    expect(ended.stderr).toContain("--interactive needs a terminal, but there is none.");
    expect(ended.stdout).toBe("");
    expect(ended.code).toBe(1);
  }
  const yes = await rolecall(["apply", "--interactive", "--yes"], { cwd, env: sandbox.env });
  expect(yes.stderr).toContain("--yes");
  expect(yes.code).toBe(1);
});
