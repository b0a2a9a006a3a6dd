import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startConnectProxy } from "../support/connect-proxy.ts";
import { type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const READS = "roles_list, roles_view, merchant_read, members_view";
const SEED = `merchants:
  - code: MC1
    roles: [{ name: Cashier, permissions: [catalog_view] }]
    members: [{ email: ada@example.com, roles: [role_owner] }]
  - { code: MC2, members: [{ email: ada@example.com, roles: [role_owner] }] }
  - { code: MC3, members: [{ email: ada@example.com, roles: [role_owner] }] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
  - { key: sk_test_readonly, permissions: [${READS}] }
  - { key: sk_test_one, merchants: [MC2] }
`;

let cwd = "";
let sandbox: RunningSandbox;

const file = (merchant: string, more = ""): string =>
  `version: 1\nmerchant: ${merchant}\nroles: []\nmembers: []\n${more}`;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-doctor-"));
  await writeFile(join(cwd, "seed.yaml"), SEED);
  for (const folder of ["shop/access", "shop/.git", "chain/access", "broken/access", "empty"]) {
    await mkdir(join(cwd, folder), { recursive: true });
  }
  await writeFile(join(cwd, "shop/access/one.yaml"), file("MC1", "environment: test\n"));
  for (const code of ["MC1", "MC2", "MC3"])
    await writeFile(join(cwd, `chain/access/${code}.yaml`), file(code));
  await writeFile(join(cwd, "broken/access/bad.yaml"), `${file("MC1", "")}merchant: MC2\n`);
  sandbox = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
});

afterAll(async () => {
  await sandbox.stop();
  await rm(cwd, { recursive: true });
});

const doctor = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}, folder = "shop") =>
  rolecall(["doctor", ...args], { cwd: join(cwd, folder), env: { ...sandbox.env, ...env } });

/** The text in one line, wherever it was broken. */
const flat = (text: string): string => text.replaceAll(/\s+/g, " ");

/** The lines from one heading to the next. */
const section = (stdout: string, heading: string): string =>
  stdout.split("\n\n").find((one) => one.startsWith(heading)) ?? "";

test("doctor shows on one screen that all is well, without the key, and changes nothing", async () => {
  const { stdout, stderr, code } = await doctor();
  const shown = stdout
    .replaceAll(/\d+ ms/g, "N ms")
    .replaceAll(sandbox.url, "URL")
    .replace(/v[\d.]+, with rolecall [\d.]+/, "VERSION")
    .replace(/(Project\s+)[^,]+(?:\n +[^,]+)?,\s+a\s+git\s+repository/, "$1FOLDER, a git repository");
  expect(shown).toBe(`This machine
  ✓ Node.js            VERSION
  ✓ Project            FOLDER, a git repository
  ✓ Files              1 merchant; rolecall validate checks their content

Service URL
  ✓ Base URL           from ROLECALL_BASE_URL
  ✓ Proxy              none
  ✓ DNS                127.0.0.1 is an IP address
  ✓ Connection         TCP, without TLS; N ms
  ✓ Response           asks for a key (401); N ms
  ✓ Clock              the same as the service's

Key in ROLECALL_API_KEY
  ✓ Form               a test key
  ✓ Accepted           yes; its user has 3 memberships

Merchant MC1
  ✓ Environment        a test account
  ✓ list roles         roles_list, for plan, drift, apply
  ✓ list members       merchant_read, for plan, drift, apply
  ✓ retrieve a role    roles_view, for plan, drift, apply
  ✓ retrieve a member  members_view, for apply
  ✓ create a role      roles_create, for apply
  ✓ update a role      roles_update, for apply
  ✓ delete a role      roles_delete, for apply
  ✓ create a member    members_create, for apply
  ✓ update a member    members_update, for apply
  ✓ delete a member    members_delete, for apply

Least permissions to grant
  plan, drift
    roles_list, merchant_read, roles_view
  apply
    roles_list, merchant_read, roles_view, members_view, roles_create,
    roles_update, roles_delete, members_create, members_update, members_delete

No problems found.
  → rolecall plan
`);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  const log = await (await fetch(`${sandbox.url}/_sandbox/requests`)).json();
  const { items } = log as { items: readonly { committed: boolean; method: string }[] };
  expect(items.filter(({ committed }) => committed)).toEqual([]);
  expect(items.filter(({ method }) => method !== "GET")).toHaveLength(6);
});

describe("a key", () => {
  test("that only reads fails for apply, with the permissions to grant, and passes for plan, without a write", async () => {
    const env = { ROLECALL_API_KEY: "sk_test_readonly" };
    const { stdout, code } = await doctor([], env);
    expect(section(stdout, "Merchant MC1")).toContain(
      "✗ create a role      roles_create, for apply: not permitted (403)",
    );
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      "6 checks failed, 1 unknown. → The key in ROLECALL_API_KEY cannot write what the files declare. That is enough for plan and drift",
    );
    expect(stdout).toContain("? Accepted           yes, but not tied to a user");
    expect(code).toBe(1);
    const before = sandbox.log().length;
    const plan = await doctor(["--for", "plan"], env);
    expect(plan.stdout).toContain("Nothing failed, 1 unknown.\n  → rolecall plan");
    expect(plan.stdout).not.toContain("apply");
    expect(plan.code).toBe(0);
    expect(sandbox.log().slice(before)).not.toMatch(/POST|PUT|PATCH|DELETE/);
  });

  test("in quotes is reported among the checks, with what to do, and never shown", async () => {
    const { stdout, stderr, code } = await doctor([], { ROLECALL_API_KEY: '"sk_test_secret"' });
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      "✗ Connection The key in ROLECALL_API_KEY is in quotes. 1 check failed. → Set it again without quotes.",
    );
    expect(stdout + stderr).not.toContain("sk_test_secret");
    expect(code).toBe(1);
  });

  test("that the service rejects, that is missing or of another environment, is reported, never shown", async () => {
    const rejected = await doctor([], { ROLECALL_API_KEY: "sk_test_wrong" });
    expect(rejected.stdout).toContain("✗ Accepted    no, the service rejects it (401)");
    const missing = await doctor([], { ROLECALL_API_KEY: "" });
    expect(missing.stdout).toContain("✗ Connection  There is no API key for MC1.");
    expect(missing.stdout).toContain(
      "→ Set the environment variable ROLECALL_API_KEY_MC1, or ROLECALL_API_KEY.",
    );
    const live = await doctor([], { ROLECALL_API_KEY: "sk_live_secret" });
    expect(live.stdout).toContain("a live key.");
    for (const { stdout, stderr, code } of [rejected, missing, live]) {
      expect(stdout + stderr).not.toMatch(/sk_test_wrong|sk_live_secret/);
      expect(code).toBe(1);
    }
  });

  test("that does not reach a merchant is reported for that merchant; equal merchants are grouped", async () => {
    const { stdout, code } = await doctor([], { ROLECALL_API_KEY: "sk_test_one" }, "chain");
    expect(section(stdout, "2 merchants: MC1, MC3")).toContain(
      "✗ Merchant           the service does not know this merchant",
    );
    expect(section(stdout, "Merchant MC2")).toContain("✓ delete a member");
    expect(code).toBe(1);
    const all = await doctor([], {}, "chain");
    expect(section(all.stdout, "3 merchants: MC1, MC2, MC3")).toContain("✓ delete a member");
    expect(all.code).toBe(0);
  });

  test("is checked for a merchant without a file, and from another variable", async () => {
    const args = ["-m", "MC2", "--key-env", "OTHER", "--format", "json"];
    const { stdout, code } = await doctor(args, { OTHER: "sk_test_one", ROLECALL_API_KEY: "" });
    const { groups, needed, next } = JSON.parse(stdout);
    expect(groups.map(({ about, names }: { about: string; names: string[] }) => [about, ...names])).toEqual([
      ["machine"],
      ["service", sandbox.url],
      ["key", "OTHER"],
      ["merchant", "MC2"],
    ]);
    expect(
      needed.map(({ command, missing }: { command: string; missing: string[] }) => [command, missing]),
    ).toEqual([
      ["plan", []],
      ["drift", []],
      ["apply", []],
    ]);
    expect(next).toEqual([]);
    expect(code).toBe(0);
  });
});

test("a key from another variable is held against the file's environment too", async () => {
  const { stdout, code } = await doctor(["--key-env", "OTHER"], { OTHER: "sk_live_other" });
  expect(flat(stdout)).toContain('The file of MC1 declares "environment: test", but OTHER');
  expect(stdout).not.toContain("sk_live_other");
  expect(code).toBe(1);
});

describe("what a file does not manage", () => {
  test("needs no permission", async () => {
    await writeFile(
      join(cwd, "roles.yaml"),
      "version: 1\nmerchant: MC1\nsync: { roles: additive }\nroles: []\n",
    );
    const { stdout } = await doctor(["../roles.yaml"], { ROLECALL_API_KEY: "sk_test_readonly" });
    expect(section(stdout, "Least")).toContain(
      "  apply\n    roles_list, merchant_read, roles_view, roles_create, roles_update",
    );
    expect(stdout).not.toContain("delete a role");
    expect(stdout).not.toContain("create a member");
  });
});

describe("the files", () => {
  test("that are missing or have errors are reported with the command that helps, and the service is checked too", async () => {
    const none = await doctor([], {}, "empty");
    expect(none.stdout).toContain("✗ Files       There is no folder access/ with files.");
    expect(none.stdout).toContain("? Project");
    expect(none.stdout).toContain("✓ Accepted    yes; its user has 3 memberships");
    expect(none.stdout).toContain("→ rolecall init");
    const bad = await doctor([], {}, "broken");
    expect(bad.stdout).toContain("✗ Files       0 merchants, 1 error, the first in access/bad.yaml");
    expect(bad.stdout).toContain("→ rolecall validate");
    const missing = await doctor(["nowhere.yaml"]);
    expect(missing.stdout).toContain("nowhere.yaml cannot be read");
    expect([none.code, bad.code, missing.code]).toEqual([1, 1, 1]);
  });
});

describe("the way to the service", () => {
  const serve = async (listener: RequestListener) => {
    const server = createServer(listener);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    return {
      port,
      url: `http://127.0.0.1:${port}`,
      close: () => {
        server.closeAllConnections();
        server.close();
      },
    };
  };

  test("ends at a port where nothing listens, and at an invalid URL", async () => {
    const closed = await doctor([], { ROLECALL_BASE_URL: "http://127.0.0.1:9" });
    expect(closed.stdout).toContain("✗ Connection  nothing is listening at 127.0.0.1:9");
    const none = await doctor([], { ROLECALL_BASE_URL: "nowhere" });
    expect(flat(none.stdout)).toContain(
      "✗ Base URL The base URL is not a valid http or https URL. It comes from ROLECALL_BASE_URL.",
    );
    const plain = await doctor(["--base-url", "http://service.test"]);
    expect(flat(plain.stdout)).toContain("would be sent to http://service.test unencrypted");
    expect([closed.code, none.code, plain.code]).toEqual([1, 1, 1]);
  });

  test("ends at a web page, before any key is sent", async () => {
    const seen: (string | undefined)[] = [];
    const server = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.setHeader("content-type", "text/html").end("<h1>Sign in</h1>");
    });
    const { stdout, code } = await doctor([], { ROLECALL_BASE_URL: server.url });
    server.close();
    expect(stdout).toContain("✗ Response    a web page (200), not the service");
    expect(seen).toEqual([undefined]);
    expect(code).toBe(1);
  });

  test("fails if the service asks for a key, and then does not respond", async () => {
    const server = await serve(({ headers, socket }, response) => {
      if (headers.authorization !== undefined) return void socket.destroy();
      response.writeHead(401).end();
    });
    const { stdout, code } = await doctor([], { ROLECALL_BASE_URL: server.url });
    server.close();
    expect(stdout).toContain("✗ list roles");
    expect(stdout).toContain("? delete a member    members_delete, for apply: not tried");
    expect(stdout).toContain("2 checks failed, 10 unknown.\n  → Try again later");
    expect(code).toBe(1);
  });

  test("reports a clock that differs from the service's", async () => {
    const server = await serve((_, response) => {
      response.setHeader("date", new Date(Date.now() - 3 * 3_600_000).toUTCString());
      response.setHeader("content-type", "application/problem+json");
      response.writeHead(401).end(JSON.stringify({ type: "about:blank", status: 401 }));
    });
    const { stdout, code } = await doctor([], { ROLECALL_BASE_URL: server.url });
    server.close();
    expect(stdout).toContain("✗ Clock       3 h ahead of the service's");
    expect(stdout).toContain("→ Set this machine's clock.");
    expect(stdout).toContain("✗ Accepted    no, the service rejects it (401)");
    expect(code).toBe(1);
  });

  test("raises an alarm if a service creates something from an empty body", async () => {
    const server = await serve(({ method, url = "", headers }, response) => {
      const none = url.includes("NoSuch");
      const status = headers.authorization === undefined ? 401 : method === "POST" ? 201 : none ? 404 : 200;
      response.setHeader("content-type", "application/json");
      const body =
        status === 201
          ? { id: "role_\u001b[2Jnew" }
          : status === 200
            ? { items: [], total_count: 0 }
            : { type: "x" };
      response.writeHead(status).end(JSON.stringify(body));
    });
    const { stdout, code } = await doctor([], { ROLECALL_BASE_URL: server.url });
    server.close();
    expect(flat(stdout)).toContain(
      "✗ Alarm The service accepted a role without its required fields. It may have created the role role_\\u{1b}[2Jnew: remove it.",
    );
    expect(flat(stdout)).toContain(
      "? create a role roles_create, for apply: accepted without the required fields",
    );
    expect(stdout).toContain("? create a member    members_create, for apply: not tried");
    expect(code).toBe(1);
  });

  test("shows a certificate that cannot be trusted, and the proxy in use, without its password", async () => {
    const tls = resolve(import.meta.dirname, "../support/tls");
    const [key, cert] = await Promise.all(["key.pem", "cert.pem"].map((name) => readFile(join(tls, name))));
    const server = createTlsServer({ key, cert } as object, (socket) => socket.end());
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const proxy = await startConnectProxy((to) => (to === "service.test:443" ? { port } : 403));
    const env = { ROLECALL_BASE_URL: "https://service.test", HTTPS_PROXY: `http://ada:s3cret@${proxy.host}` };
    const { stdout } = await doctor([], env);
    expect(stdout).toContain(`✓ Proxy       http://${proxy.host}, from HTTPS_PROXY`);
    expect(stdout).toContain("✗ Connection  the certificate of service.test cannot be trusted");
    const refused = await doctor([], { ...env, ROLECALL_BASE_URL: "https://other.test" });
    expect(stdout).toContain("NODE_EXTRA_CA_CERTS");
    expect(flat(refused.stdout)).toContain(
      `✗ Connection the proxy ${proxy.host} refuses a tunnel to other.test:443 (403)`,
    );
    expect(stdout + refused.stdout).not.toContain("s3cret");
    await proxy.close();
    server.close();
  });
});

test("a command that finds no files names init, and one that cannot read names doctor", async () => {
  const { env } = sandbox;
  const inFolder = (folder: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    rolecall(args, { cwd: join(cwd, folder), env: { ...env, ...more } });
  const none = await inFolder("empty", ["plan"]);
  expect(flat(none.stderr)).toContain(
    'There is no folder access/. → Run "rolecall init" to create it from the live state.',
  );
  const keyless = await inFolder("shop", ["plan"], { ROLECALL_API_KEY: "" });
  const denied = await inFolder("shop", ["whoami"], { ROLECALL_API_KEY: "sk_test_readonly" });
  const down = await inFolder("shop", ["plan", "--retry-for", "0"], {
    ROLECALL_BASE_URL: "http://127.0.0.1:9",
  });
  for (const { stderr, code } of [keyless, denied, down]) {
    expect(flat(stderr)).toContain('Run "rolecall doctor" to find the cause.');
    expect(code).toBe(1);
  }
});

test.each(["http://user:hunter2@127.0.0.1:1", "user:hunter2@host", "https://x.example/?token=hunter2"])(
  "doctor shows no credentials of a base URL (%s)",
  async (url) => {
    for (const format of ["text", "json"]) {
      const { code, stdout, stderr } = await doctor(["--format", format], { ROLECALL_BASE_URL: url });
      expect(code).toBe(1);
      expect(stdout + stderr).not.toContain("hunter2");
      expect(stdout).toContain("****");
    }
  },
);
