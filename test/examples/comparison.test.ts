import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PAGES } from "../support/pages.ts";
import { type Ended, type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

/** Measures the figures for rolecall and for a script in the README's comparison. */
const ROOT = resolve(import.meta.dirname, "../..");
const MERCHANT = "/v0.1/merchants/MC0DEMO1";

let folder = "";
let sandbox: RunningSandbox;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-comparison-"));
  await mkdir(join(folder, "access"));
});

afterEach(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true });
});

/** Returns the cells of a row: what it compares, then rolecall, Terraform and a script. */
function row(name: string): readonly string[] {
  const readme = PAGES.get("README.md") ?? "";
  const line = readme.split("\n").find((text) => text.startsWith(`| **${name}**`)) ?? "";
  return line.split("|").slice(1);
}

function run(...args: readonly string[]): Promise<Ended> {
  return rolecall(args, { cwd: folder, env: sandbox.env, waitFactor: 0 });
}

/** Writes a file that invites people, and leaves everybody else alone. */
async function declare(...names: readonly string[]): Promise<void> {
  const members = names.map((name) => `  - { email: ${name}@example.com, roles: [role_employee] }\n`);
  const head = "version: 1\nmerchant: MC0DEMO1\nsync: { members: additive }\nmembers:\n";
  await writeFile(join(folder, "access/demo.yaml"), head + members.join(""));
}

/** Sends a request, as a script does. */
function send(method: string, path: string, body?: unknown): Promise<Response> {
  const headers = { authorization: "Bearer sk_test_sandbox", "content-type": "application/json" };
  return fetch(sandbox.url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function itemsAt(path: string): Promise<readonly unknown[]> {
  const { items } = (await (await send("GET", path)).json()) as { readonly items: readonly unknown[] };
  return items;
}

const loseInvitations = () =>
  send("PUT", "/_sandbox/faults", {
    rules: [{ kind: "reset-after", operation: "members.create", nth: 1 }],
  });

test("the row about impact has the numbers of the picture", async () => {
  sandbox = await startSandbox();
  const picture = await readFile(join(ROOT, "docs/chain-comment.svg"), "utf8");
  const [title, mine, , script] = row("Impact in people");
  const [, people = "", merchants = ""] =
    /([\d,]+) members gain sensitive permissions, at (\d+) merchants/.exec(picture) ?? [];
  expect(mine).toContain(` ${people} members gain it`);
  expect(title).toContain(` ${merchants} shops`);
  expect(script).toContain(` ${merchants} requests`);
});

test("the row about approvals: two approved plans are applied one after the other", async () => {
  sandbox = await startSandbox();
  for (const name of ["ann", "bob"]) {
    await declare(name);
    expect((await run("plan", "--out", `${name}.json`)).code).toBe(0);
  }
  await declare("ann");
  const first = await run("apply", "--yes", "--approved", "ann.json");
  await declare("ann", "bob");
  const second = await run("apply", "--yes", "--approved", "bob.json");
  const done = [first, second].filter(({ code }) => code === 0);
  expect(row("Approvals that survive a merge")[1]).toContain(` ${done.length} of 2 `);
  expect(await itemsAt(`${MERCHANT}/members?email=bob@example.com`)).toHaveLength(1);
});

test("the row about requests: one plan, and the lists that a script reads", async () => {
  sandbox = await startSandbox(["--generate", "400"]);
  expect((await run("init", "MC0DEMO1", "--yes")).code).toBe(0);
  await send("DELETE", "/_sandbox/requests");
  const { stdout } = await run("plan");
  const [title, mine, , script] = row("Requests per plan");
  const log = (await itemsAt("/_sandbox/requests")) as readonly { readonly operation: string | null }[];
  expect(mine).toContain(` ${log.filter(({ operation }) => operation !== null).length} `);
  const [, members = ""] = /(\d+) unchanged/.exec(stdout) ?? [];
  expect(title).toContain(` ${members} members`);
  let requests = 1;
  await send("GET", `${MERCHANT}/roles`);
  for (let offset = 0; offset < Number(members); offset += 25, requests++) {
    expect(await itemsAt(`${MERCHANT}/members?limit=25&offset=${offset}`)).not.toEqual([]);
  }
  expect(script).toContain(` ${requests} `);
});

test("the row about invitations: the response to one is lost", async () => {
  sandbox = await startSandbox();
  await loseInvitations();
  await declare("ann");
  const [, mine, , script] = row("Invitations");
  const { code } = await run("apply", "--yes");
  const { length } = await itemsAt(`${MERCHANT}/members?email=ann@example.com`);
  expect(mine).toContain(` ${length} invitation, found and kept; exit code ${code} `);
  await loseInvitations();
  const invite = () =>
    send("POST", `${MERCHANT}/members`, { email: "bob@example.com", roles: ["role_employee"] });
  await expect(invite()).rejects.toThrow();
  expect(script).toContain(` ${(await invite()).status} `);
});

test("the row about undo: a run with changes of every kind", async () => {
  sandbox = await startSandbox(["--seed", "examples/retail/live.yaml"]);
  const shop = join(ROOT, "examples/retail/access/station-road.yaml");
  await writeFile(
    join(folder, "access/station-road.yaml"),
    (await readFile(shop, "utf8")).replace("include: [../shared/group.yaml]", "include: [../group.yaml]"),
  );
  await writeFile(
    join(folder, "group.yaml"),
    await readFile(join(ROOT, "examples/retail/shared/group.yaml"), "utf8"),
  );
  const applied = await run("apply", "--yes");
  const undone = await run("undo", "latest", "--yes");
  const [, changes = ""] = /: (\d+) changes done/.exec(applied.stdout) ?? [];
  const [, reverted = ""] = /: (\d+) changes done/.exec(undone.stdout) ?? [];
  const invited = undone.stdout.match(/is invited again/g) ?? [];
  const [title, mine] = row("Undo");
  expect(title).toContain(` ${changes} changes `);
  expect(mine).toContain(` ${reverted} of ${changes}, `);
  expect(mine).toContain(` ${invited.length} person `);
});
