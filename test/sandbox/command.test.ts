import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Io } from "../../src/app/io/io.ts";
import { sandboxCommand } from "../../src/cli/commands/sandbox-command.ts";
import { faultRuleBody } from "../../src/sandbox/faults/faults.ts";
import { rolecall } from "../support/rolecall.ts";
import { ROLES } from "./support.ts";

let folder = "";
let stops: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-sandbox-"));
});

afterEach(async () => {
  for (const stop of stops) await stop();
  stops = [];
  await rm(folder, { recursive: true, force: true });
});

test("its help describes every kind of fault", async () => {
  const { stdout } = await rolecall(["sandbox", "--help"]);
  const kinds = faultRuleBody.options.map(({ shape }) => shape.kind.value);
  expect(kinds).toContain("unassignable-roles");
  for (const kind of kinds) expect(stdout).toContain(`\n  ${kind} `);
});

/** Runs the command until it listens or fails. */
async function run(...args: string[]) {
  const written = { stdout: "", stderr: "" };
  let signal: (() => void) | null = null;
  let exitCode: number | null = null;
  let listens: () => void = () => undefined;
  const listening = new Promise<void>((resolve) => {
    listens = resolve;
  });
  const sink = (name: "stdout" | "stderr") => ({
    write: (text: string) => {
      written[name] += text;
      if (name === "stdout") listens();
    },
    isTTY: false,
    columns: undefined,
  });
  const io: Io = {
    env: {},
    cwd: folder,
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    outputLost: new AbortController().signal,
    stdinIsTTY: false,
    terminal: process,
    pid: process.pid,
    nodeVersion: process.version,
    monotonic: () => 0,
    now: () => Date.now(),
    sleep: async () => undefined,
    setTimer: () => () => undefined,
    random: () => 0,
    onStopSignal: (listener) => {
      signal = () => listener("SIGTERM");
      return () => {
        signal = null;
      };
    },
    onExit: () => () => undefined,
    onSuspend: () => () => undefined,
    suspend: async () => undefined,
    exit: () => {
      throw new Error("nothing here ends the process");
    },
  };
  const command = sandboxCommand(io, (code) => {
    exitCode = code;
  })
    .exitOverride()
    .configureOutput({ writeErr: io.stderr.write, writeOut: io.stdout.write });
  const ended = command.parseAsync(["--port", "0", ...args], { from: "user" });
  ended.catch(() => undefined);
  const stop = async () => {
    signal?.();
    await ended.catch(() => undefined);
    return exitCode;
  };
  stops.push(stop);
  await Promise.race([listening, ended]);
  return { ...written, written, url: /http:\S+/.exec(written.stdout)?.[0] ?? "", stop };
}

const headers = { authorization: "Bearer sk_test_sandbox", "content-type": "application/json" };

async function createRole(url: string, name: string): Promise<Response> {
  return fetch(url + ROLES, { method: "POST", headers, body: JSON.stringify({ name, permissions: [] }) });
}

test("prints one line with its URL, logs requests to stderr, and exits with 0 on a signal", async () => {
  const { url, written, stop } = await run();
  expect(written.stdout).toMatch(/^rolecall sandbox listening on http:\/\/127\.0\.0\.1:\d+\n$/);
  expect((await fetch(url + ROLES, { headers })).status).toBe(200);
  expect(await stop()).toBe(0);
  expect(written.stdout.split("\n")).toHaveLength(2);
  expect(written.stderr).toMatch(/^GET \/v0\.1\/merchants\/MC0DEMO1\/roles 200 \d+ms\n$/);
});

test("keeps everything in --state across restarts, and leaves no temporary file behind", async () => {
  await mkdir(join(folder, "deep"));
  const first = await run("--state", "deep/state.json");
  expect((await createRole(first.url, "A")).status).toBe(201);
  await first.stop();
  expect(await readdir(join(folder, "deep"))).toEqual(["state.json"]);
  expect((await stat(join(folder, "deep/state.json"))).mode & 0o077).toBe(0);
  const second = await run("--state", "deep/state.json", "--generate", "5");
  expect(second.written.stderr).toContain("deep/state.json already exists: it takes precedence");
  const { items } = (await (await fetch(second.url + ROLES, { headers })).json()) as { items: object[] };
  expect(items).toMatchObject([{ name: "A" }]);
});

test("writes made side by side are all in the state file", async () => {
  const { url, stop } = await run("--state", "state.json");
  const names = Array.from({ length: 40 }, (_, i) => `Role ${i}`);
  const got = await Promise.all(names.map((name) => createRole(url, name)));
  expect(got.every(({ status }) => status === 201)).toBe(true);
  const text = await readFile(join(folder, "state.json"), "utf8");
  for (const name of names) expect(text).toContain(`"name":"${name}"`);
  await stop();
});

test("uses a seed, a rate limit and generated members", async () => {
  await writeFile(join(folder, "seed.yaml"), "merchants: [{ code: MC7 }]\n");
  const { url } = await run("--seed", "seed.yaml", "--generate", "7", "--rate-limit", "1");
  const members = () => fetch(`${url}/v0.1/merchants/MC7/members`, { headers });
  const [one, two, three] = await Promise.all([members(), members(), members()]);
  const statuses = [one, two, three].map(({ status }) => status).sort();
  expect(statuses[0]).toBe(200);
  expect(statuses[2]).toBe(429);
  const body = await [one, two, three].find(({ status }) => status === 200)?.json();
  expect(body).toMatchObject({ total_count: 7 });
});

const TWO_RULES = `
rules:
  - { kind: status, status: 503, operation: roles.list, probability: 0.5 }
  - { kind: content-type, type: null, operation: members.list }
`;

async function rolesMarks(url: string): Promise<string> {
  let marks = "";
  for (let i = 0; i < 30; i += 1) marks += (await fetch(url + ROLES, { headers })).status === 503 ? "x" : ".";
  return marks;
}

test("sets faults from a file, which repeat with their seed", async () => {
  await writeFile(join(folder, "faults.yaml"), `seed: 3${TWO_RULES}`);
  await writeFile(join(folder, "faults.json"), JSON.stringify({ rules: [{ kind: "html", times: 1 }] }));
  const marks = await rolesMarks((await run("--faults", "faults.yaml")).url);
  expect(await rolesMarks((await run("--faults", "faults.yaml")).url)).toBe(marks);
  const other = await run("--faults", "faults.yaml", "--fault-seed", "4");
  expect(await rolesMarks(other.url)).not.toBe(marks);
  const faults = (await (await fetch(`${other.url}/_sandbox/faults`)).json()) as { seed: number };
  expect(faults.seed).toBe(4);
  await fetch(`${other.url}/_sandbox/faults`, { method: "DELETE" });
  expect(await rolesMarks(other.url)).not.toContain("x");
  await fetch(`${other.url}/_sandbox/reset`, { method: "POST" });
  expect(await rolesMarks(other.url)).toContain("x");
  const json = await run("--faults", "faults.json");
  expect((await fetch(json.url + ROLES, { headers })).headers.get("content-type")).toContain("text/html");
});

test("refuses an invalid list of faults with every place in it", async () => {
  const text =
    "seed: x\nrules:\n  - { kind: stat }\n  - kind: stall\n    colour: red\n  - { kind: shift, operation: roles.list }\n";
  await writeFile(join(folder, "faults.yaml"), text);
  const refused = run("--faults", "faults.yaml");
  await expect(refused).rejects.toMatchObject({ code: "file-invalid" });
  const { message } = (await refused.catch((error: Error) => error as Error & { message: string })) as Error;
  expect(message.split("\n")).toEqual([
    "The fault file cannot be used.",
    "faults.yaml:1:7: seed: must be a number",
    expect.stringMatching(/^faults\.yaml:3:13: kind: must be one of status, latency, /),
    'faults.yaml:5:5: unknown field "colour"',
    expect.stringMatching(/^faults\.yaml:6:31: operation: must be members\.list/),
  ]);
  await writeFile(join(folder, "empty.yaml"), "");
  await expect(run("--faults", "empty.yaml")).rejects.toMatchObject({
    message: expect.stringContaining("empty.yaml:1:1: the file is empty"),
  });
  await expect(run("--faults", "none.yaml")).rejects.toMatchObject({ code: "file-unreadable" });
});

test("limits by a bucket, sends Retry-After as a date, and delays responses", async () => {
  const limit = ["--rate-limit", "1", "--rate-limit-kind", "bucket", "--rate-limit-burst", "2"];
  const { url } = await run(...limit, "--retry-after", "date", "--jitter", "5", "--latency", "1");
  const settings = await (await fetch(`${url}/_sandbox/settings`)).json();
  expect(settings).toMatchObject({
    rate_limit: 1,
    rate_limit_kind: "bucket",
    rate_limit_burst: 2,
    retry_after: "date",
    latency_ms: 1,
    jitter_ms: 5,
  });
});

test("appends a write to the file as one line before it responds", async () => {
  const { url } = await run("--state", "state.json");
  const before = await readFile(join(folder, "state.json"), "utf8");
  await createRole(url, "A");
  const after = await readFile(join(folder, "state.json"), "utf8");
  expect(after.startsWith(before)).toBe(true);
  expect(after.slice(before.length)).toContain('"name":"A"');
  // Somebody took the file away: it comes back whole.
  await rm(join(folder, "state.json"));
  expect((await createRole(url, "B")).status).toBe(201);
  const whole = JSON.parse(await readFile(join(folder, "state.json"), "utf8"));
  expect(whole.accounts[0].roles).toMatchObject([{ name: "A" }, { name: "B" }]);
});

test("refuses an invalid seed with every place in it", async () => {
  await writeFile(join(folder, "seed.yaml"), "merchants:\n  - code: MC7\n    colour: red\n    nam: x\n");
  await expect(run("--seed", "seed.yaml")).rejects.toMatchObject({
    code: "file-invalid",
    message: expect.stringMatching(/seed\.yaml:3:5: .*colour.*\n.*seed\.yaml:4:5: .*nam/),
  });
});

test("refuses a state file that is damaged, and leaves it as it is", async () => {
  await writeFile(join(folder, "state.json"), "{");
  await expect(run("--state", "state.json")).rejects.toMatchObject({
    code: "file-invalid",
    message: expect.stringContaining("state.json"),
  });
  expect(await readFile(join(folder, "state.json"), "utf8")).toBe("{");
});

test("says which file is missing or cannot be written", async () => {
  await expect(run("--seed", "none.yaml")).rejects.toMatchObject({
    code: "file-unreadable",
    message: expect.stringContaining("none.yaml"),
  });
  await writeFile(join(folder, "file"), "");
  await expect(run("--state", "file/state.json")).rejects.toMatchObject({ code: "file-unwritable" });
});

test("says that a port is taken", async () => {
  const { url } = await run();
  const { port } = new URL(url);
  await expect(run("--port", port)).rejects.toMatchObject({
    code: "port-taken",
    message: expect.stringContaining(port),
  });
});

test.each([
  ["--port", "65536"],
  ["--port", "http"],
  ["--rate-limit", "0"],
  ["--latency", "-1"],
  ["--generate", "1.5"],
  ["--rate-limit-kind", "leaky"],
  ["--rate-limit-burst", "0"],
  ["--retry-after", "soon"],
  ["--jitter", "-1"],
  ["--fault-seed", "x"],
])("refuses %s %s", async (option, value) => {
  await expect(run(option, value)).rejects.toMatchObject({ code: "commander.invalidArgument" });
});

test.each(["--seed", "--faults"])("%s takes no device and no folder", async (option) => {
  for (const [path, why] of [
    ["/dev/zero", "a device"],
    [".", "a folder"],
  ] as const) {
    await expect(run(option, path)).rejects.toMatchObject({
      code: "file-unreadable",
      message: `${path} cannot be read: it is ${why}, not a file.`,
    });
  }
});
