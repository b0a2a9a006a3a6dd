import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const PROGRAM = resolve(import.meta.dirname, "../../dist/bin.js");

/** A folder that has the folder of temporary files. */
let folder = "";
let temporary = "";

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "rolecall-demo-test-")));
  temporary = mkdtempSync(join(folder, "temporary-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

interface Running {
  readonly child: ChildProcess;
  /** Returns its output so far. */
  text(): string;
  /** Resolves when its output contains this. */
  says(text: string): Promise<void>;
}

/** Starts a command without a terminal, in a process group of its own, so that leftover processes can be found. */
function start(
  [command = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], TMPDIR: temporary, XDG_CACHE_HOME: join(folder, "cache"), ...env },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  return {
    child,
    text: () => said,
    async says(text) {
      while (!said.includes(text)) await once(child.stdout, "data");
    },
  };
}

const startDemo = (env: Readonly<Record<string, string>> = {}): Running =>
  start([process.execPath, PROGRAM, "demo"], env);

const ended = async ({ child }: Running): Promise<number | null> => (await once(child, "close"))[0];

const groupOf = ({ child }: Running): number => -(child.pid ?? 0);

describe("the demo, run without a terminal", () => {
  test("applies the example, and shows a second plan without changes", async () => {
    const demo = startDemo();
    expect(await ended(demo)).toBe(0);
    const said = demo.text();
    expect(said.split("\n").filter((line) => line.startsWith("$ "))).toEqual([
      "$ rolecall apply --yes",
      "$ rolecall plan",
    ]);
    expect(said).toContain("Verified: no changes remain.");
    expect(said.slice(said.lastIndexOf("$ rolecall plan"))).toContain("Plan: no changes;");
    expect(said).not.toContain("\u001b");
    // Signal 0 is not delivered; it only checks whether the group has processes.
    expect(() => process.kill(groupOf(demo), 0)).toThrow("ESRCH");
    expect(readdirSync(folder)).toEqual([basename(temporary)]);
    const [left = "", ...others] = readdirSync(temporary);
    expect(others).toEqual([]);
    expect(said).toContain(`The files are in ${join(temporary, left)}\n`);
    expect(readdirSync(join(temporary, left)).sort()).toEqual(
      [".rolecall", "access", "sandbox.json", "schemas", "shared"].sort(),
    );
  });

  test("the demo succeeds, and never uses a service or key from the environment", async () => {
    const settings = {
      ROLECALL_BASE_URL: "http://127.0.0.1:9",
      ROLECALL_API_KEY_MC9Q3T8X: "sk_live_somebodys_own",
      HTTP_PROXY: "http://127.0.0.1:9",
      http_proxy: "http://127.0.0.1:9",
    };
    expect(await ended(startDemo(settings))).toBe(0);
  });

  test("a folder for temporary files that does not exist is named, with the way on", () => {
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, "demo"], {
      env: { PATH: process.env["PATH"], TMPDIR: "/nowhere" },
      encoding: "utf8",
    });
    expect(stderr).toContain("No folder can be created in /nowhere.");
    expect(stderr).toContain("Set TMPDIR to a folder that exists and is writable.");
    expect(status).toBe(1);
  });

  test("the three commands at its end work as they are", async () => {
    const demo = startDemo();
    await ended(demo);
    const [serve = "", enter = "", plan = ""] = [...demo.text().matchAll(/^ {2}((?:cd|node) .*)$/gm)].map(
      ([, command]) => command,
    );
    const sandbox = start(["sh", "-c", serve]);
    await sandbox.says("listening on");
    const planned = start(["sh", "-c", `${enter}\n${plan}\n${plan.replace(/plan$/, "undo latest --yes")}`]);
    expect(await ended(planned)).toBe(0);
    expect(planned.text()).toContain("Plan: no changes;");
    expect(planned.text()).toContain("Undo complete");
    process.kill(groupOf(sandbox), "SIGTERM");
    await ended(sandbox);
  });
});

test.each(["SIGINT", "SIGTERM"] as const)("%s ends the demo, and nothing is left", async (signal) => {
  const demo = startDemo();
  await demo.says("$ rolecall apply");
  demo.child.kill(signal);
  expect(await ended(demo)).not.toBe(0);
  expect(() => process.kill(groupOf(demo), 0)).toThrow("ESRCH");
  expect(existsSync(temporary) && readdirSync(temporary)).toEqual([]);
});
