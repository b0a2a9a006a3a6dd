import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Ended, type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const ROOT = resolve(import.meta.dirname, "../..");

let folder = "";
let sandbox: RunningSandbox;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-library-"));
  await cp(join(ROOT, "examples/retail"), folder, { recursive: true });
  sandbox = await startSandbox(["--seed", "examples/retail/live.yaml"]);
});

afterEach(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true });
});

describe("of the library's examples", () => {
  test("the linter names every person without an employee_id, with the file", async () => {
    const { code, stdout } = await run("lint.mjs", ["access/station-road.yaml"]);
    expect({ code, lines: stdout.trimEnd().split("\n") }).toEqual({
      code: 1,
      lines: ["ada@example.com", "books@ledger.example", "nadia.rahimi@example.com"].map(
        (email) => `access/station-road.yaml: ${email} has no employee_id`,
      ),
    });
  });

  test.each([
    ["the default limits of a run", 0, "{}"],
    ["limits of a run that refuse it", 3, "{ max_removals: 0 }"],
  ])("the plan is the one of the command, with %s", async (_, code, limits) => {
    await writeFile(join(folder, "rolecall.yaml"), `version: 1\nrun: ${limits}\n`);
    const [library, command] = await Promise.all([
      run("plan.mjs", ["access"]),
      rolecall(["plan"], { cwd: folder, env: sandbox.env }),
    ]);
    // Only the command knows the lines of the rules.
    const expected = command.stdout.replaceAll(/^ *written at .*\n/gm, "");
    expect(library).toMatchObject({ code: command.code, stdout: expected });
    expect(library.stdout).toContain("Plan: ");
    expect(library.code).toBe(code);
  });

  test("the report posts who can edit payouts at every merchant", async () => {
    const posted: string[] = [];
    const server = createServer((request, response) => {
      request.setEncoding("utf8").on("data", (part: string) => void posted.push(part));
      request.on("end", () => response.end());
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    await run("chat-report.mjs", [], { CHAT_WEBHOOK_URL: `http://127.0.0.1:${port}/` });
    await new Promise((done) => server.close(done));
    expect(JSON.parse(posted.join(""))).toEqual({
      text: "ada@example.com: Owner of MC4F7K2P\nada@example.com: Owner of MC9Q3T8X",
    });
  });

  test("the policy applies a plan, whose journal undo reads, and a second time has nothing to do", async () => {
    const env = { TILL_7_PASSWORD: "for the test" };
    const first = await run("policy.mjs", [], env);
    expect(first.stdout).toBe("MC4F7K2P: applied\nMC9Q3T8X: applied\n");
    const again = await run("policy.mjs", [], env);
    expect(again.stdout).toBe("MC4F7K2P: unchanged\nMC9Q3T8X: unchanged\n");
    const runs = await rolecall(["runs"], { cwd: folder, env: sandbox.env });
    expect(runs.stdout).toContain("MC9Q3T8X  test  done  4 of 4 changes");
  });

  test("the bulk edit changes only the roles, and the files stay valid", async () => {
    const file = join(folder, "access/station-road.yaml");
    const before = await readFile(file, "utf8");
    await run("bulk-edit.mjs", ["Cashier", "Parcel Desk", "access/station-road.yaml"]);
    const changed = changedLines(before, await readFile(file, "utf8"));
    expect(changed).not.toEqual([]);
    expect(changed.filter((line) => !/^ *roles: \[.*Cashier, .*Parcel Desk\]$/.test(line))).toEqual([]);
    expect(await rolecall(["validate"], { cwd: folder })).toMatchObject({ code: 0 });
  });

  test("the bulk edit edits an entry once, also in a file that several merchants include", async () => {
    const file = join(folder, "shared/group.yaml");
    const before = await readFile(file, "utf8");
    await writeFile(file, `${before}\nmembers:\n  - { email: ann@example.com, roles: [Cashier] }\n`);
    await run("bulk-edit.mjs", ["Cashier", "Shift Lead", "access"]);
    expect(await readFile(file, "utf8")).toContain("roles: [Cashier, Shift Lead] }");
  });
});

/** What a project without the types of Node has to say of what the examples use. */
const NO_TYPES = `declare const process: { argv: string[]; env: Record<string, string>; exitCode: number; stdout: { write(text: string): void } };
declare module "node:fs" { export function readFileSync(file: string, encoding: "utf8"): string; export function writeFileSync(file: string, text: string): void; }
`;

test.each(["with", "without"])(
  "the examples compile strictly in an ES module, %s the types of Node",
  async (which) => {
    const types = which === "with" ? ["node"] : [];
    const options = {
      ...{ strict: true, noEmit: true, allowJs: true, checkJs: true, skipLibCheck: false, types },
      ...{
        module: "nodenext",
        target: "es2023",
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
      },
    };
    const project = await mkdtemp(join(tmpdir(), "rolecall-types-"));
    try {
      const own = join(project, "node_modules/rolecall");
      await cp(join(ROOT, "examples/library"), project, { recursive: true });
      await mkdir(own, { recursive: true });
      await cp(join(ROOT, "package.json"), join(own, "package.json"));
      await cp(join(ROOT, "dist/index.d.ts"), join(own, "dist/index.d.ts"));
      for (const name of types.length > 0 ? ["@types/node", "undici-types"] : []) {
        await cp(join(ROOT, "node_modules", name), join(project, "node_modules", name), { recursive: true });
      }
      const files = {
        "package.json": '{ "type": "module" }',
        "tsconfig.json": JSON.stringify({ compilerOptions: options, include: ["*.mjs", "*.ts"] }),
        ...(types.length === 0 && { "node.d.ts": NO_TYPES }),
      };
      for (const [name, content] of Object.entries(files)) await writeFile(join(project, name), content);
      const compiled = await new Promise<string>((done) => {
        const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
        execFile(process.execPath, [tsc, "-p", project], (_, stdout, stderr) => done(stdout + stderr));
      });
      expect(compiled).toBe("");
    } finally {
      await rm(project, { recursive: true });
    }
  },
  60_000,
);

test("the types need neither those of Node nor those of the DOM", async () => {
  const project = await mkdtemp(join(tmpdir(), "rolecall-types-"));
  try {
    await cp(join(ROOT, "dist/index.d.ts"), join(project, "index.d.ts"));
    const options = { strict: true, noEmit: true, types: [], lib: ["es2023"], module: "nodenext" };
    const config = JSON.stringify({ compilerOptions: options, include: ["*.ts"] });
    await writeFile(join(project, "tsconfig.json"), config);
    const compiled = await new Promise<string>((done) => {
      const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
      execFile(process.execPath, [tsc, "-p", project], (_, stdout, stderr) => done(stdout + stderr));
    });
    expect(compiled).toBe("");
  } finally {
    await rm(project, { recursive: true });
  }
}, 60_000);

function changedLines(before: string, after: string): readonly string[] {
  const known = new Set(before.split("\n"));
  return after.split("\n").filter((line) => !known.has(line));
}

/** Runs an example in the folder of the project. */
async function run(
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((done) => {
    execFile(
      process.execPath,
      [join(ROOT, "examples/library", name), ...args],
      { cwd: folder, env: { ...sandbox.env, ...env } },
      (error, stdout, stderr) => done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}
