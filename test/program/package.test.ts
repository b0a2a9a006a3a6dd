import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rolecall } from "../support/program.ts";
import { startSandbox } from "../support/rolecall.ts";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");

let folder = "";
let installed = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-package-"));
  // dist/ has just been built for these tests: packing must not build it again under them.
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
    cwd: ROOT,
  });
  const packed = JSON.parse(stdout);
  const { filename } = Array.isArray(packed) ? packed[0] : (Object.values(packed)[0] as { filename: string });
  await writeFile(join(folder, "package.json"), '{ "name": "empty", "private": true, "type": "module" }');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, filename)], {
    cwd: folder,
  });
  installed = join(folder, "node_modules", "rolecall");
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

test("the built program can be run by its path, as a linked installation does", async () => {
  const { stdout } = await run(join(ROOT, "dist/bin.js"), ["--version"]);
  expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
});

test("the package installs into an empty folder without any other package, and runs", async () => {
  const packages = (await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith("."));
  expect(packages).toEqual(["rolecall"]);
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const { stdout } = await run(join(folder, "node_modules", ".bin", "rolecall"), ["--version"]);
  expect(stdout.trim()).toBe(version);
});

test("the package holds the program and its pages, and nothing else", async () => {
  const entries = await readdir(installed, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
  const known =
    /^(dist\/(bin|index|sandbox)\.js|dist\/(index|sandbox)\.d\.ts|dist\/(action\.)?licenses\.txt|dist\/action\.mjs|dist\/release\.json|action\.yml|dist\/chunks\/.+\.js|schemas\/.+\.json|docs\/(tasks\/)?[\w-]+\.(md|svg|png)|examples\/.+|package\.json|(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSE)$/;
  expect(files.filter((file) => !known.test(file))).toEqual([]);
  expect(files).toContain("schemas/merchant.schema.json");
  expect(files).toContain("schemas/plan.schema.json");
  expect(files).toContain("schemas/rolecall.schema.json");
  const licenses = await readFile(join(installed, "dist", "licenses.txt"), "utf8");
  for (const name of ["ink", "llhttp", "react", "undici", "yaml", "yoga-layout", "zod"]) {
    expect(licenses).toMatch(new RegExp(`^${name} .*\\((MIT|ISC|Apache-2.0)\\)`, "m"));
  }
});

test("no link of an installed page is dead", async () => {
  const pages = (await readdir(installed, { recursive: true })).filter((path) => path.endsWith(".md"));
  expect(pages).toContain("docs/README.md");
  for (const page of pages) {
    const text = await readFile(join(installed, page), "utf8");
    const links = Array.from(text.matchAll(/\]\((?!https?:|#)([^)#]+)/g), ([, link = ""]) => link);
    const dead = links.filter((link) => !existsSync(resolve(installed, dirname(page), link)));
    expect([page, dead]).toEqual([page, []]);
  }
});

test("the installed program plans a file that another folder holds", async () => {
  await writeFile(join(folder, "shop.yaml"), "version: 1\nmerchant: MC0DEMO1\nmembers: []\n");
  const { code, stdout } = await rolecall(["validate", "shop.yaml"], {
    cwd: folder,
    bin: join(installed, "dist/bin.js"),
  });
  expect(stdout).toBe("1 file valid.\n");
  expect(code).toBe(0);
});

test("the public API has types that a strict project can use", async () => {
  await writeFile(
    join(folder, "use.ts"),
    [
      'import { buildPlan, type LiveState, type GlobMatch, type Plan, parseMerchantFile } from "rolecall";',
      'const { state, diagnostics } = parseMerchantFile("shop.yaml", "version: 1\\nmerchant: MC1\\n");',
      'const live: LiveState = { merchant: "MC1", roles: [], members: [], callerId: null };',
      "const matches: GlobMatch = (glob, text) => glob === text;",
      'const service = "https://service.example";',
      "export const plan: Plan | null = state && buildPlan({ desired: state, live, service, now: 0, matches });",
      "export const count: number = diagnostics.length;",
      "",
    ].join("\n"),
  );
  const options = {
    module: "nodenext",
    target: "es2023",
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: [],
  };
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, files: ["use.ts"] }),
  );
  const { stdout } = await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder]);
  expect(stdout).toBe("");
  const used = await run(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `import { parseMerchantFile } from "rolecall"; console.log(parseMerchantFile("a", "version: 1\\nmerchant: MC1\\n").state.merchant)`,
    ],
    { cwd: folder },
  );
  expect(used.stdout.trim()).toBe("MC1");
});

/** A text that only the code of a library has. */
const MARKS = {
  react: "react.transitional.element",
  ink: "ink-box",
  "@bomb.sh/tab": "ShellCompDirectiveKeepOrder",
  undici: "UND_ERR_",
  "string-width": "RGI_Emoji",
  diff: "maxEditLength",
  yaml: "Document with errors cannot be stringified",
  hono: "Context is not finalized",
};

/** Runs the built program, and returns the libraries of which it evaluates a module. */
async function librariesOf(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const chunks = join(ROOT, "dist", "chunks");
  const texts = await Promise.all(
    (await readdir(chunks)).map(async (name) => ({ name, text: await readFile(join(chunks, name), "utf8") })),
  );
  const coverage = await mkdtemp(join(folder, "coverage-"));
  const ended = await rolecall(args, { cwd: folder, env: { ...env, NODE_V8_COVERAGE: coverage } });
  expect(ended.code).toBe(0);
  const covered = await Promise.all(
    (await readdir(coverage)).map((name) => readFile(join(coverage, name), "utf8")),
  );
  const loaded = covered.join();
  expect(loaded).toContain("dist/chunks/");
  return Object.entries(MARKS).flatMap(([library, mark]) => {
    const holding = texts.filter(({ text }) => text.includes(mark));
    expect(holding, `no chunk has ${library}`).not.toEqual([]);
    return holding.some(({ name }) => loaded.includes(name)) ? [library] : [];
  });
}

test("without a terminal a command loads only what it needs: validate of a small file no library but the fast reader", async () => {
  await writeFile(
    join(folder, "till.yaml"),
    "version: 1\nmerchant: MC0DEMO1\nsync: { members: additive }\nmembers: []\n",
  );
  expect(await librariesOf(["validate", "till.yaml"])).toEqual([]);
  const sandbox = await startSandbox();
  const plan = await librariesOf(["plan", "till.yaml"], sandbox.env);
  await sandbox.stop();
  for (const library of ["react", "ink", "@bomb.sh/tab", "hono", "string-width"]) {
    expect(plan).not.toContain(library);
  }
});
