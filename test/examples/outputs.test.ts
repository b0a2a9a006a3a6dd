import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seedOf } from "../support/chains/chain.ts";
import { retailChain } from "../support/chains/retail.ts";
import { blocksOf, PAGES } from "../support/pages.ts";
import { type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const STATION_ROAD = "examples/retail/access/station-road.yaml";

/** What is different from the examples as they are, where a command is shown. */
interface Scene {
  readonly key?: string;
  /** True for the chain of docs/chains.md and its live state, in place of the examples. */
  readonly chain?: true;
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
  "docs/chains.md: list --using shared/areas/north-1.yaml": { chain: true },
  "docs/chains.md: who is anh.fuentes@north.example.com": { chain: true },
  "docs/chains.md: plan": {
    chain: true,
    files: (folder) =>
      edit(join(folder, "shared/group.yaml"), (text) =>
        text.replace("checkouts_create, refunds_create,", "checkouts_create, members_edit, refunds_create,"),
      ),
  },
  "docs/src/file.md: validate": {
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
let chainSandbox: RunningSandbox;
let chainFolder = "";

beforeAll(async () => {
  sandbox = await startSandbox(["--seed", "examples/retail/live.yaml"]);
  chainFolder = await mkdtemp(join(tmpdir(), "rolecall-chain-"));
  const chain = retailChain();
  for (const [path, text] of Object.entries({ ...chain.files, "live.yaml": seedOf(chain) })) {
    await mkdir(dirname(join(chainFolder, path)), { recursive: true });
    await writeFile(join(chainFolder, path), text);
  }
  chainSandbox = await startSandbox(["--seed", join(chainFolder, "live.yaml")]);
});

afterAll(async () => {
  await Promise.all([sandbox.stop(), chainSandbox.stop()]);
  await rm(chainFolder, { recursive: true });
});

const SHOWN = /^```console\n\$ rolecall ([^\n]+)\n(.*?)^```$/gms;

const shown = blocksOf("console").map(({ page }) => page);
// It is made of its head.
const pages = [...new Set(shown)].filter((page) => page !== "docs/file.md");

test.each(pages)("%s shows what the program prints; run it with -u to update the page", async (page) => {
  let text = PAGES.get(page) ?? "";
  const blocks = [...text.matchAll(SHOWN)];
  expect(blocks.length).toBe(shown.filter((one) => one === page).length);
  for (const [block, command = "", former = ""] of blocks) {
    const output = cutLike(former, await outputOf(page, command));
    text = text.replace(block, () => `\`\`\`console\n$ rolecall ${command}\n${output}\`\`\``);
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

/** Runs a command in its scene, and returns what it prints, with fixed ports, fingerprints, requests and runs. */
async function outputOf(page: string, command: string): Promise<string> {
  const { key, files, chain } = SCENES[`${page}: ${command}`] ?? {};
  const { url, env: owner } = chain ? chainSandbox : sandbox;
  await fetch(`${url}/_sandbox/reset`, { method: "POST" });
  const folder = await mkdtemp(join(tmpdir(), "rolecall-outputs-"));
  await (chain
    ? cp(chainFolder, folder, { recursive: true })
    : cp(join(ROOT, "examples"), join(folder, "examples"), { recursive: true }));
  await files?.(folder);
  const env = { ...owner, ROLECALL_PROGRESS: "none", ...(key !== undefined && { ROLECALL_API_KEY: key }) };
  const { stdout, stderr } = await rolecall(command.split(" "), { cwd: folder, env });
  await rm(folder, { recursive: true });
  return `${stdout}${command.startsWith("apply ") ? stderr : ""}`
    .replaceAll(url, "http://127.0.0.1:4010")
    .replaceAll(/@[0-9a-f]{12}(?=[,\]]?$)/gm, "@35e43f876462")
    .replaceAll(/(?<=_sandbox\/requests\/)\d+/g, "11")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z/g, "2026-11-21T13-05-00-000Z");
}

/**
 * Cuts an output where the page cuts it, at lines of "…": a part goes on until there were as many lines as the page has
 * until the cut, and the next part begins with the page's next line.
 */
function cutLike(former: string, output: string): string {
  const parts = former.split(/^…\n/m);
  let rest: readonly string[] = output.match(/.*\n/g) ?? [];
  return parts
    .map((part, index) => {
      const [first = "", ...others] = part.match(/.*\n/g) ?? [];
      if (index > 0 && first !== "") {
        const start = rest.indexOf(first);
        if (start < 0) throw new Error(`No line of the output is ${JSON.stringify(first)}`);
        rest = rest.slice(start);
      }
      const isLast = index === parts.length - 1;
      if (first === "") return "";
      const taken = isLast ? rest : rest.slice(0, others.length + 1);
      rest = rest.slice(taken.length);
      return taken.join("");
    })
    .join("…\n");
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
  const page = commandReference(PAGES.get("docs/src/commands.md"), helps);
  await expect(page).toMatchFileSnapshot(join(ROOT, "docs/commands.md"));
});

const ASKED = /^\| `rolecall ([^`]+)` \| (.+) \|$/gm;

test("the answers in the README's table of questions are lines that the program prints", async () => {
  const [, table = ""] = (PAGES.get("README.md") ?? "").split("## Ask who can do what");
  const rows = [...(table.split("\n## ")[0] ?? "").matchAll(ASKED)];
  expect(rows.length).toBeGreaterThan(3);
  for (const [, command = "", answer = ""] of rows) {
    const { stdout } = await rolecall(command.split(" "), { cwd: join(ROOT, "examples/retail") });
    const lines = stdout.split("\n").map((line) => line.trim().replaceAll(/ {2,}/g, " "));
    expect(lines.filter((line) => line.startsWith(answer))).not.toEqual([]);
  }
});
