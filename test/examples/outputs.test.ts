import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksOf, PAGES } from "../support/pages.ts";
import { type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const STATION_ROAD = "examples/retail/access/station-road.yaml";

/** What is different from the examples as they are, where a command is shown. */
interface Scene {
  readonly key?: string;
  readonly files?: (folder: string) => Promise<void>;
}

const SCENES: Readonly<Record<string, Scene>> = {
  "docs/plan-and-apply.md: plan examples/retail/access/station-road.yaml": {
    files: (folder) =>
      edit(join(folder, STATION_ROAD), (text) => text.replace(/ {2}- email: ada@.*\n.*\n/, "")),
  },
  "docs/plan-and-apply.md: apply --yes -m MC9Q3T8X --concurrency 1 examples/retail/access/station-road.yaml":
    {
      key: "sk_test_readonly",
    },
  "docs/file.head.md: validate": {
    files: async (folder) => {
      const path = join(folder, "access/shop.yaml");
      await mkdir(dirname(path));
      await writeFile(
        path,
        [
          "version: 1",
          "merchant: MC4F7K2P",
          "enviroment: test",
          "roles:",
          "  - name: Cashier",
          "    permissions: [catalog_view]",
          "members:",
          "  - email: priya.raman@example.com",
          "    roles: [Casheir]",
          "",
        ].join("\n"),
      );
    },
  },
};

let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox(["--seed", "examples/retail/live.yaml"]);
});

afterAll(async () => {
  await sandbox.stop();
});

const SHOWN = /^```console\n\$ rolecall ([^\n]+)\n(?:(…)\n([^\n]+)\n)?.*?^```$/gms;

const shown = blocksOf("console").map(({ page }) => page);
// The first is made of its head; the other shows parts of what a generated chain gives.
const pages = [...new Set(shown)].filter((page) => !["docs/file.md", "docs/chains.md"].includes(page));

test.each(pages)("%s shows what the program prints; run it with -u to update the page", async (page) => {
  let text = PAGES.get(page) ?? "";
  const blocks = [...text.matchAll(SHOWN)];
  expect(blocks.length).toBe(shown.filter((one) => one === page).length);
  for (const [block, command = "", cut, first = ""] of blocks) {
    const output = await outputOf(page, command);
    const start = cut === undefined ? 0 : output.indexOf(`\n${first}\n`) + 1;
    if (cut !== undefined && start === 0) throw new Error(`${page}: no line of the output is "${first}"`);
    const head = cut === undefined ? "" : "…\n";
    text = text.replace(
      block,
      () => `\`\`\`console\n$ rolecall ${command}\n${head}${output.slice(start)}\`\`\``,
    );
  }
  await expect(text).toMatchFileSnapshot(join(ROOT, page));
});

test("the three commands of the README make what its file says, on a sandbox as it starts", async () => {
  const fresh = await startSandbox();
  const folder = await mkdtemp(join(tmpdir(), "rolecall-readme-"));
  await mkdir(join(folder, "access"));
  const [file] = blocksOf("yaml").filter((block) => block.page === "README.md");
  await writeFile(join(folder, "access/demo.yaml"), file?.text ?? "");
  const inFolder = (...args: readonly string[]) => rolecall(args, { cwd: folder, env: fresh.env });
  expect((await inFolder("validate")).code).toBe(0);
  expect((await inFolder("plan")).stdout).toContain("Plan: 2 to create;");
  expect((await inFolder("apply", "--yes")).code).toBe(0);
  expect((await inFolder("plan", "--detailed-exitcode")).code).toBe(0);
  await rm(folder, { recursive: true });
  await fresh.stop();
});

/** Runs a command in its scene, and returns what it prints with a fixed port, fingerprint and request. */
async function outputOf(page: string, command: string): Promise<string> {
  const { key, files } = SCENES[`${page}: ${command}`] ?? {};
  await fetch(`${sandbox.url}/_sandbox/reset`, { method: "POST" });
  const folder = await mkdtemp(join(tmpdir(), "rolecall-outputs-"));
  await cp(join(ROOT, "examples"), join(folder, "examples"), { recursive: true });
  await files?.(folder);
  const env = { ...sandbox.env, ...(key !== undefined && { ROLECALL_API_KEY: key }) };
  const { stdout } = await rolecall(command.split(" "), { cwd: folder, env });
  await rm(folder, { recursive: true });
  return stdout
    .replaceAll(sandbox.url, "http://127.0.0.1:4010")
    .replaceAll(/@[0-9a-f]{12}(?=[,\]]?$)/gm, "@35e43f876462")
    .replaceAll(/(?<=_sandbox\/requests\/)\d+/g, "11");
}

async function edit(path: string, change: (text: string) => string): Promise<void> {
  await writeFile(path, change(await readFile(path, "utf8")));
}

test("docs/commands.md says what the commands' help says; run it with -u to update the page", async () => {
  const { commandNames, commandReference } = await import(
    new URL("../../scripts/command-reference.mjs", import.meta.url).href
  );
  const help = async (...command: readonly string[]): Promise<string> =>
    (await rolecall([...command, "--help"])).stdout;
  const helps: { readonly name: string; readonly help: string }[] = [];
  for (const name of commandNames(await help())) helps.push({ name, help: await help(name) });
  const page = commandReference(PAGES.get("docs/commands.head.md"), helps);
  await expect(page).toMatchFileSnapshot(join(ROOT, "docs/commands.md"));
});
