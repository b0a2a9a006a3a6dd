import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

interface Demo {
  readonly child: ChildProcess;
  /** Returns its output so far. */
  text(): string;
  /** Resolves when its output contains this. */
  says(text: string): Promise<void>;
}

/** Runs the demo without a terminal, in a process group of its own, so that leftover processes can be found. */
function startDemo(env: Readonly<Record<string, string>> = {}): Demo {
  const child = spawn(process.execPath, ["scripts/demo.mjs"], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], ...env },
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

function nothingIsLeft({ child, text }: Demo): Promise<void> {
  const url = /https?:\/\/127\.0\.0\.1:\d+/.exec(text())?.[0];
  expect(url).toBeDefined();
  // Signal 0 is not delivered; it only checks whether the group has processes.
  expect(() => process.kill(-(child.pid ?? 0), 0)).toThrow("ESRCH");
  return expect(fetch(String(url))).rejects.toThrow();
}

describe("the demo, run without a terminal", () => {
  let demo: Demo;
  let code: unknown;
  const journals = (): readonly string[] => {
    const folder = join(ROOT, ".rolecall", "runs");
    return existsSync(folder) ? readdirSync(folder) : [];
  };
  const journalsBefore = journals();

  beforeAll(async () => {
    demo = startDemo({
      ROLECALL_BASE_URL: "http://127.0.0.1:9",
      ROLECALL_API_KEY_MC4F7K2P: "sk_live_somebodys_own",
    });
    [code] = await once(demo.child, "close");
  }, 60_000);

  test("the demo succeeds, and never uses a service or key from the environment", async () => {
    expect(code).toBe(0);
  });

  test("prints what it runs: validate, plan, apply, and a plan without changes", async () => {
    const said = demo.text();
    expect(said.split("\n").filter((line) => line.startsWith("$ "))).toEqual([
      "$ rolecall validate examples/retail/access",
      "$ rolecall plan examples/retail/access",
      "$ rolecall apply --yes examples/retail/access",
      "$ rolecall plan --detailed-exitcode examples/retail/access",
    ]);
    const lastPlan = said.slice(said.lastIndexOf("$ rolecall plan --detailed-exitcode"));
    expect(lastPlan).toContain("no changes");
    expect(lastPlan).not.toMatch(/to (create|update|delete)/);
  });

  test("writes no control codes", async () => {
    expect(demo.text()).not.toContain("\u001b");
  });

  test("leaves no journal in the repository", () => {
    expect(journals()).toEqual(journalsBefore);
  });

  test("leaves nothing running", async () => {
    await nothingIsLeft(demo);
  });
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends the demo and everything that it started",
  async (signal) => {
    const demo = startDemo();
    await demo.says("$ rolecall plan");
    demo.child.kill(signal);
    const [code] = await once(demo.child, "close");
    expect(code).toBe(signal === "SIGINT" ? 130 : 143);
    await nothingIsLeft(demo);
  },
);
