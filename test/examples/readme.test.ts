import { readFileSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const STATION_ROAD = "examples/retail/access/station-road.yaml";

let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox(["--seed", "examples/retail/live.yaml"]);
});

afterAll(async () => {
  await sandbox.stop();
});

describe("the README shows what the program really prints", () => {
  test("of a plan", async () => {
    const { stdout } = await rolecall(["plan", STATION_ROAD], { env: sandbox.env });
    expect(README).toContain(stdout.replace(sandbox.url, "http://127.0.0.1:4010"));
  });

  test("of a plan that would be refused", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "rolecall-readme-"));
    await cp(join(ROOT, "examples"), join(cwd, "examples"), { recursive: true });
    const file = await readFile(join(cwd, STATION_ROAD), "utf8");
    await writeFile(join(cwd, STATION_ROAD), file.replace(/ {2}- email: ada@.*\n.*\n/, ""));
    const { stdout, code } = await rolecall(["plan", STATION_ROAD], { cwd, env: sandbox.env });
    await rm(cwd, { recursive: true });
    expect(code).toBe(3);
    // The port, and with it the fingerprint, is another one in each run.
    const anyPlan = (text: string): string => text.replaceAll(/@[0-9a-f]{12}$/gm, "@fingerprint");
    expect(anyPlan(README)).toContain(anyPlan(stdout.slice(stdout.indexOf("  An apply would be refused:"))));
  });

  test("of an apply that is refused, and of one that is not", async () => {
    const readonly = { ...sandbox.env, ROLECALL_API_KEY: "sk_test_readonly" };
    const args = ["apply", "--yes", "--concurrency", "1", STATION_ROAD];
    const refused = await rolecall(args, { env: readonly });
    const end = refused.stdout.slice(refused.stdout.indexOf("MC9Q3T8X: stopped."));
    expect(README).toContain(end.replace(/(?<=requests\/)\d+/, "11"));

    const done = await rolecall(args, { env: sandbox.env });
    expect(README).toContain(done.stdout.slice(done.stdout.indexOf("✓")));
  });
});

test.each([
  "validate",
  "list",
  "plan",
  "apply",
  "drift",
  "report",
  "runs",
  "undo",
  "fmt",
  "completion",
  "sandbox",
])("the README names every option of %s", async (command) => {
  const { stdout } = await rolecall([command, "--help"]);
  const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name);
  const missing = options.filter((name) => name !== "--help" && !README.includes(String(name)));
  expect(missing).toEqual([]);
});

test("the README names every command", async () => {
  const { stdout } = await rolecall(["--help"]);
  const list = /^Commands:\n(.*?)\n\n/ms.exec(stdout)?.[1] ?? "";
  const commands = [...list.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => name);
  expect(commands).toContain("plan");
  const missing = commands.filter((name) => name !== "help" && !README.includes(`| \`${name}`));
  expect(missing).toEqual([]);
});

test("the README has a row for every key of the file", async () => {
  const { stdout } = await rolecall(["schema"]);
  const keys = keysOf(JSON.parse(stdout));
  expect(keys).toContain("members[].managed.password_env");
  const missing = keys.filter((key) => !README.includes(`\`${key}\``));
  expect(missing).toEqual([]);
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** The leaves of a schema, as paths. */
function keysOf({ properties, items }: Schema, path = ""): readonly string[] {
  if (items?.properties) return keysOf(items, `${path}[]`);
  if (!properties) return [path];
  const prefix = path === "" ? "" : `${path}.`;
  return Object.entries(properties).flatMap(([key, schema]) => keysOf(schema, `${prefix}${key}`));
}
