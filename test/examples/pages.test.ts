import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, posix, resolve } from "node:path";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ExitCode } from "../../src/app/io/io.ts";
import { type Block, blocksOf, PAGES } from "../support/pages.ts";
import { rolecall, startSandbox } from "../support/rolecall.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** A head's links are those of the page that is made of it. */
const html = new Map(
  [...PAGES]
    .filter(([path]) => !path.startsWith("docs/src/"))
    .map(([path, text]) => [path, micromark(text, { extensions: [gfm()], htmlExtensions: [gfmHtml()] })]),
);

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-pages-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

test.each([...html])("every link of %s leads to a file, and to a heading that it has", (page, content) => {
  const links = [...content.matchAll(/(?:href|src)="([^"]+)"/g)]
    .map(([, link]) => String(link))
    .filter((link) => !/^(?:https?|mailto):/.test(link));
  const broken = links.filter((link) => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : posix.join(posix.dirname(page), path);
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && !anchorsOf(html.get(target) ?? "").has(anchor);
  });
  expect(broken).toEqual([]);
});

test("the index of the documentation lists every page", () => {
  const index = PAGES.get("docs/README.md") ?? "";
  const names = ["", "tasks/"].flatMap((folder) =>
    readdirSync(join(ROOT, "docs", folder)).flatMap((name) => (/\.md$/.test(name) ? folder + name : [])),
  );
  expect(names.filter((name) => name !== "README.md" && !index.includes(`(${name})`))).toEqual([]);
});

test("the README is short, and begins with the demo and the tests", () => {
  const readme = PAGES.get("README.md") ?? "";
  expect(readme.split("\n").length).toBeLessThanOrEqual(161);
  for (const command of ["npm run demo", "npm test"])
    expect(readme).toContain(`\`\`\`sh
npm ci && ${command}
\`\`\`
`);
});

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(content: string): ReadonlySet<string> {
  const headings = [...content.matchAll(/<h[1-6]>(.*?)<\/h[1-6]>/g)].map(([, text = ""]) =>
    text
      .replaceAll(/<[^>]+>|&[a-z]+;/g, "")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
  const found = new Set<string>();
  for (const heading of headings) {
    let anchor = heading;
    for (let count = 1; found.has(anchor); count++) anchor = `${heading}-${count}`;
    found.add(anchor);
  }
  return found;
}

const yaml = blocksOf("yaml");
const holding = (key: string): readonly Block[] =>
  yaml.filter(({ text }) => new RegExp(`^${key}:`, "m").test(text));
const files = holding("version");
const seeds = holding("merchants");
const faults = holding("rules");

test("every block of YAML is a file, a seed or faults", () => {
  const known = [...files, ...seeds, ...faults];
  expect(yaml.filter((block) => !known.includes(block))).toEqual([]);
  expect(files.length).toBeGreaterThan(8);
});

test("every file that is shown is valid, without a warning", async () => {
  for (const page of new Set(files.map((block) => block.page))) {
    const root = join(folder, page.replaceAll("/", "-"));
    for (const { text } of files.filter((block) => block.page === page)) {
      const [, path = "access/demo.yaml"] = /^# (\S+)\n/.exec(text) ?? [];
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text, { flag: "wx" });
    }
    const { stdout } = await rolecall(["validate", "--format", "json"], { cwd: root });
    expect([page, JSON.parse(stdout).diagnostics]).toEqual([page, []]);
  }
});

test("the sandbox takes every seed and every file of faults that is shown", async () => {
  expect([seeds.length, faults.length]).toEqual([1, 1]);
  const [seed, rules] = [join(folder, "seed.yaml"), join(folder, "faults.yaml")];
  await writeFile(seed, seeds[0]?.text ?? "");
  await writeFile(rules, faults[0]?.text ?? "");
  const sandbox = await startSandbox(["--seed", seed, "--faults", rules]);
  expect(await (await fetch(`${sandbox.url}/_sandbox`)).text()).toContain("MC4F7K2P");
  await sandbox.stop();
});

test("every block of JSON can be parsed", () => {
  for (const { text } of blocksOf("json")) expect(() => JSON.parse(text)).not.toThrow();
});

test("every command that is shown is one, with options that it has", async () => {
  const lines = [
    ...blocksOf("sh").flatMap(({ page, text }) => text.split("\n").map((line) => ({ page, line }))),
    ...blocksOf("console").map(({ page, text }) => ({ page, line: text.slice(2, text.indexOf("\n")) })),
    ...[...PAGES].flatMap(([page, text]) =>
      Array.from(text.matchAll(/`(rolecall [^`\n]+)`/g), ([, line = ""]) => ({ page, line })),
    ),
  ];
  const calls = lines.flatMap(({ page, line }) =>
    [...line.matchAll(/(?:\brolecall|node dist\/bin\.js)((?: [^\s#()|>]+)+)/g)]
      .map(([, args = ""]) => args.trim().split(" "))
      .filter(([command = ""]) => /^[a-z]/.test(command))
      .map((args) => ({ page, args })),
  );
  const called = new Set(calls.map(({ args: [command = ""] }) => command));
  expect(called.size).toBeGreaterThan(6);
  const help = new Map<string, string>();
  for (const command of called) {
    const { code, stdout } = await rolecall([command, "--help"]);
    help.set(command, code === 0 ? stdout : "");
  }
  const wrong = calls.filter(({ args: [command = "", ...rest] }) => {
    const known = new Set(help.get(command)?.match(/(?<![\w-])--?[a-z][a-z-]*/g) ?? []);
    return known.size === 0 || rest.some((one) => one.startsWith("-") && !known.has(one.split("=")[0] ?? ""));
  });
  expect(wrong).toEqual([]);
});

test("every npm script that is shown exists", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const shown = blocksOf("sh").flatMap(({ text }) =>
    [...text.matchAll(/npm (?:run )?(\w+)/g)].map(([, name]) => name),
  );
  expect(shown).toContain("demo");
  const own = ["ci", "install", "pack"];
  expect(shown.filter((name) => !own.includes(String(name)) && !(String(name) in scripts))).toEqual([]);
});

test("the page about plans names every reason to refuse one", () => {
  const page = PAGES.get("docs/plan-and-apply.md") ?? "";
  const sources = readdirSync(join(ROOT, "src/kernel/findings"), { recursive: true, encoding: "utf8" })
    .filter((name) => /(?:^|[/\\])refusals\.ts$/.test(name))
    .map((name) => readFileSync(join(ROOT, "src/kernel/findings", name), "utf8"));
  const codes = sources.flatMap((text) =>
    [...text.matchAll(/readonly code: "([a-z-]+)"/g)].map(([, code]) => code),
  );
  expect(codes).toContain("role-still-held");
  expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});

test("the page about commands has every exit code", () => {
  const page = PAGES.get("docs/commands.md") ?? "";
  const missing = Object.values(ExitCode).filter((code) => !page.includes(`\n| ${code} | `));
  expect(missing).toEqual([]);
});

test("the page for agents says of every command what it reads or writes", async () => {
  const page = PAGES.get("docs/agents.md") ?? "";
  const { commandNames } = await import(new URL("../../scripts/command-reference.mjs", import.meta.url).href);
  const names: readonly string[] = commandNames((await rolecall(["--help"])).stdout);
  const tables = page.slice(0, page.indexOf("\n## "));
  expect(names).toContain("apply");
  const missing = names.filter((name) => !new RegExp(`^\\|.*\`${name}[ \`]`, "m").test(tables));
  expect(missing).toEqual([]);
});

test("the page about decisions lists packages that the program is built on", () => {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const [, table = ""] = (PAGES.get("docs/decisions.md") ?? "").split("## Built on");
  const names = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = ""]) => cell.trim().split(", "));
  const packages = names.filter((name) => !/^(?:Package|-+)$/.test(name));
  expect(packages).toContain("undici");
  expect(packages.filter((name) => !(name in devDependencies))).toEqual([]);
});
