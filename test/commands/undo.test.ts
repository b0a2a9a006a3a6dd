import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openShop, type Shop } from "../support/shop.ts";

const SEED = `merchants:
  - code: MC1
    roles:
      - { name: Cashier, permissions: [catalog_view] }
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { id: mem_ben, email: ben@example.com, roles: [role_employee, Cashier], metadata: { desk: 1 } }
      - { email: cy@example.com, roles: [Cashier] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const FILE = `version: 1
merchant: MC1
roles:
  - { name: Cashier, permissions: [catalog_view, refunds_create] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com, roles: [Cashier], metadata: { desk: 2 } }
  - { email: new@example.com, roles: [Cashier] }
`;

/** The same, as it was before: what a revert in git leaves. */
const BEFORE = `version: 1
merchant: MC1
roles:
  - { name: Cashier, permissions: [catalog_view] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com, roles: [role_employee, Cashier], metadata: { desk: 1 } }
  - { email: cy@example.com, roles: [Cashier] }
`;

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
  await shop.write("mc1.yaml", FILE);
});

afterEach(async () => {
  await shop.stop();
});

async function journals(): Promise<readonly string[]> {
  return (await readdir(join(shop.folder, ".rolecall", "runs"))).sort();
}

async function applied(): Promise<void> {
  const apply = await shop.run(["apply", "mc1.yaml", "--yes"]);
  expect(apply.code).toBe(0);
}

describe("undo", () => {
  test("restores what the reverted file says, and writes its own journal", async () => {
    await applied();
    const undo = await shop.run(["undo", "latest", "mc1.yaml", "--yes"]);
    expect(undo.stdout).toContain("cy@example.com is invited again, and has no access");
    expect(undo.stdout).toContain("delete new@example.com (created by that run)");
    expect(undo.stdout).toContain("Verified: no changes remain");
    expect(undo.code).toBe(0);
    await shop.write("mc1.yaml", BEFORE);
    const plan = await shop.run(["plan", "mc1.yaml", "--detailed-exitcode"]);
    expect(plan.code).toBe(0);
    const [first = "", second = ""] = await journals();
    expect(await readFile(join(shop.folder, ".rolecall", "runs", second), "utf8")).toContain(
      `"undoes":"${first.replace("-MC1.jsonl", "")}"`,
    );
  });

  test("twice finds nothing to do, and an undo can be taken back itself", async () => {
    await applied();
    const [first = ""] = await journals();
    await shop.run(["undo", "latest", "mc1.yaml", "--yes"]);
    const twice = await shop.run(["undo", first.replace(".jsonl", ""), "mc1.yaml", "--yes"]);
    expect(twice.stderr).toBe("Nothing to do.\n");
    expect(twice.code).toBe(0);
    const redo = await shop.run(["undo", "latest", "mc1.yaml", "--yes"]);
    expect(redo.code).toBe(0);
    const plan = await shop.run(["plan", "mc1.yaml", "--detailed-exitcode"]);
    expect(plan.code).toBe(0);
  });

  test("never overwrites a journal with a plan, whichever command makes it", async () => {
    await applied();
    const [journal] = await journals();
    const file = `.rolecall/runs/${journal}`;
    const before = await readFile(join(shop.folder, file), "utf8");
    for (const command of [
      ["undo", "latest"],
      ["plan", "mc1.yaml"],
    ]) {
      const refused = await shop.run([...command, "--out", file]);
      expect(refused.stderr).toContain(`${file} is read by this command, and would be overwritten.`);
      expect(refused.code).toBe(1);
    }
    expect(await readFile(join(shop.folder, file), "utf8")).toBe(before);
  });

  test("changes nothing with --dry-run and --out, and applies just what was saved and approved", async () => {
    await applied();
    const writes = await shop.writes();
    const unused = await shop.run(["undo", "latest", "mc1.yaml", "--dry-run", "--no-recheck"]);
    expect(unused.stderr).toContain(
      "warning: --no-recheck has no effect with --dry-run, which changes nothing.\n",
    );
    const dry = await shop.run(["undo", "latest", "mc1.yaml", "--dry-run"]);
    expect(dry.stdout).toContain("Plan:");
    const out = await shop.run(["undo", "latest", "mc1.yaml", "--out", "back.json"]);
    expect(out.stderr).toBe("Saved as back.json.\n");
    expect([dry.code, out.code]).toEqual([0, 0]);
    expect(await shop.writes()).toEqual(writes);
    const approved = await shop.run(["undo", "latest", "mc1.yaml", "--yes", "--approved", "back.json"]);
    expect(approved.code).toBe(0);
  });

  test("meets the guards of the merchant's file", async () => {
    await applied();
    await shop.write(
      "mc1.yaml",
      FILE.replace("roles:", "guards: { protect: { members: [ben@example.com] } }\nroles:"),
    );
    const undo = await shop.run(["undo", "latest", "mc1.yaml", "--yes"]);
    expect(undo.stderr).toMatch(/^✗ Undo refused at MC\w+: nothing was changed\.$/m);
    expect(undo.code).toBe(3);
    expect(undo.stderr.replaceAll(/\s+/g, " ")).toContain("the refused changes, and run the undo again.");
    expect(undo.stdout).toContain("→ Remove the entry from guards.protect.");
    const override = /To override: undo --allow (\S+)\n/.exec(undo.stdout)?.[1] ?? "";
    const allowed = await shop.run(["undo", "latest", "mc1.yaml", "--yes", "--allow", override]);
    expect(allowed.stdout).toContain("overridden: guard protect");
    expect(allowed.code).toBe(0);
  });

  test("an undo without a file keeps the default guards, and sends no key to a service other than the run's", async () => {
    await applied();
    const undo = await shop.run(["undo", "latest", "--dry-run"]);
    expect(undo.stderr).toBe("No file declares MC1: only the default guards apply.\n");
    expect(undo.code).toBe(0);
    const elsewhere = await shop.run(["undo", "latest", "--base-url", "http://127.0.0.1:9"]);
    expect(elsewhere.stderr).toContain(`The run was at ${shop.sandbox.url}`);
    expect(elsewhere.code).toBe(1);
  });

  test("of a run at a URL other than the file's names it, asks for the base URL, and prints no command to copy", async () => {
    await applied();
    const [first = ""] = await journals();
    const path = join(shop.folder, ".rolecall", "runs", first);
    const journal = await readFile(path, "utf8");
    await writeFile(path, journal.replace(shop.sandbox.url, "https://elsewhere.example"));
    const undo = await shop.run(["undo", "latest", "mc1.yaml", "--yes"]);
    const told = undo.stderr.replaceAll(/\s+/g, " ");
    expect(told).toContain("The run was at https://elsewhere.example, but the configured service is");
    expect(told).toContain("your API key to the address in the journal");
    expect(told).toContain("Make sure that you trust that address, then pass it with --base-url.");
    expect(told).not.toMatch(/--base-url[ =]\S*:/);
    expect(undo.code).toBe(1);
  });

  test("of an unknown or unreadable run reports that", async () => {
    const none = await shop.run(["undo", "latest"]);
    expect(none.stderr).toContain("There are no runs yet.");
    await applied();
    const [first = ""] = await journals();
    const unknown = await shop.run(["undo", "1999"]);
    expect(unknown.stderr).toContain('No run is called "1999".');
    const path = join(shop.folder, ".rolecall", "runs", first);
    await writeFile(path, (await readFile(path, "utf8")).replace('{"at"', "{"));
    const broken = await shop.run(["undo", "latest"]);
    expect(broken.stderr).toContain(`${first}:1: it is not JSON`);
    expect([none.code, unknown.code, broken.code]).toEqual([1, 1, 1]);
  });
});

describe("runs", () => {
  test("lists what was applied, the newest first, and shows one whole", async () => {
    const empty = await shop.run(["runs"]);
    expect(empty).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringContaining("There are no runs yet"),
    });
    await applied();
    await shop.run(["undo", "latest", "mc1.yaml", "--yes"]);
    const { stdout } = await shop.run(["runs"]);
    const [newest, oldest] = stdout.split("\n");
    expect(newest).toContain("undoes");
    expect(oldest).toContain("done");
    const one = await shop.run(["runs", "latest"]);
    expect(one.stdout).toContain("delete member new@example.com");
    const json = await shop.run(["runs", "--format", "json", "--limit", "1", "-m", "MC1"]);
    expect(JSON.parse(json.stdout).runs).toHaveLength(1);
  });

  test("a broken journal is marked as such, and the others are listed", async () => {
    await applied();
    await writeFile(join(shop.folder, ".rolecall", "runs", "2027-01-01T00-00-00-000Z-MC1.jsonl"), "x\ny\n");
    const list = await shop.run(["runs"]);
    expect(list.stdout).toContain("unreadable");
    expect(list.stdout).toContain("by ");
    expect(list.code).toBe(0);
    expect((await shop.run(["runs", "2027"])).code).toBe(1);
    expect((await shop.run(["runs", "-m", "("])).stderr).toContain("There are no runs of (");
  });
});

test("a journal without a first line is not the latest run: it has sent nothing", async () => {
  await applied();
  const [first = ""] = await journals();
  const run = first.replace("-MC1.jsonl", "");
  for (const text of ["", '{"at":"2027']) {
    await writeFile(join(shop.folder, ".rolecall", "runs", "2027-01-01T00-00-00-000Z-MC1.jsonl"), text);
    for (const more of [[], ["-m", "MC1"]]) {
      expect((await shop.run(["runs", "latest", ...more])).stdout).toContain(run);
      expect((await shop.run(["undo", "latest", "mc1.yaml", "--dry-run", ...more])).code).toBe(0);
    }
  }
});

test("an interrupted run is reported by the next plan and apply, with its unknown outcomes", async () => {
  await applied();
  const [first = ""] = await journals();
  const path = join(shop.folder, ".rolecall", "runs", first);
  const lines = (await readFile(path, "utf8")).split("\n");
  const upTo = lines.findIndex((line) => line.includes('"type":"outcome"'));
  const cut = lines
    .slice(0, upTo)
    .join("\n")
    .replace(/"pid":\d+/, '"pid":2147483646');
  await writeFile(path, `${cut}\n`);
  // One that came no further than to its file changes nothing about that.
  await writeFile(path.replace(/[^/\\]*$/, "2027-01-01T00-00-00-000Z-MC1.jsonl"), "");
  const plan = await shop.run(["plan", "mc1.yaml"]);
  const note = plan.stderr.replaceAll(/\s+/g, " ");
  expect(note).toContain(
    "was interrupted. Outcome unknown: create member new@example.com, update member ben@example.com.",
  );
  expect(note).toContain("it shows what remains");
  const apply = await shop.run(["apply", "mc1.yaml", "--yes"]);
  expect(apply.stderr.replaceAll(/\s+/g, " ")).toContain("was interrupted");
  const runs = await shop.run(["runs", first.replace(".jsonl", "")]);
  expect(runs.stdout).toContain("Outcome unknown; these may have taken effect");
});

test("a field that a killed update may have emptied is told by the next plan's note and by the run", async () => {
  const file = FILE.replace("roles: [Cashier], metadata: { desk: 2 }", "roles: [Cashier]");
  await shop.write("mc1.yaml", file);
  await applied();
  const [first = ""] = await journals();
  const path = join(shop.folder, ".rolecall", "runs", first);
  const lines = (await readFile(path, "utf8")).split("\n");
  const update = lines.findIndex((line) => line.includes('"name":"ben@example.com"'));
  await writeFile(
    path,
    `${lines.slice(0, update + 1).join("\n")}\n`.replace(/"pid":\d+/, '"pid":2147483646'),
  );
  const run = first.replace("-MC1.jsonl", "");
  const { stderr } = await shop.run(["plan", "mc1.yaml"]);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(
    `not which fields of ben@example.com the service may have cleared: "rolecall runs ${run}" lists them`,
  );
  expect((await shop.run(["runs", run])).stdout).toContain("ben@example.com at MC1: metadata");
});

describe("a run of several merchants", () => {
  const CODES = ["MC1", "MC2", "MC3"];
  const fileOf = (code: string): string =>
    `version: 1\nmerchant: ${code}\nmembers:\n  - { email: ada@example.com, roles: [role_owner] }\n  - { email: ben@example.com, roles: [role_employee] }\n`;
  let many: Shop;
  const folder = (): string => join(many.folder, ".rolecall", "runs");

  beforeEach(async () => {
    const merchants = CODES.map(
      (code) => `  - { code: ${code}, members: [{ email: ada@example.com, roles: [role_owner] }] }\n`,
    );
    many = await openShop(
      `merchants:\n${merchants.join("")}keys:\n  - { key: sk_test_sandbox, owner: ada@example.com }\n`,
    );
    await mkdir(join(many.folder, "access"));
    for (const code of CODES) await many.write(`access/${code}.yaml`, fileOf(code));
  });

  afterEach(async () => {
    await many.stop();
  });

  test("is one line, is named once, and is reverted as a whole in one run; so is the undo", async () => {
    const apply = await many.run(["apply", "--yes"]);
    expect(apply.stdout.match(/journal/g)).toHaveLength(1);
    expect(apply.stdout).toMatch(/^ {2}journals: \.rolecall\/runs\/\S+Z-\*\.jsonl \(3 merchants\)$/m);
    const [id = ""] = (await many.run(["runs"])).stdout.split("  ");
    expect((await many.run(["runs"])).stdout).toMatch(
      /^\S+Z {2}3 merchants {2}test {2}done {2}3 of 3 changes /,
    );
    const undo = await many.run(["undo", id, "--yes"]);
    expect(undo.stdout).toContain("3 merchants: 3 to delete");
    expect(undo.code).toBe(0);
    const plan = await many.run(["plan"]);
    expect(plan.stdout).toContain("3 merchants: 3 to create");
    const again = await many.run(["undo", "latest", "--yes"]);
    expect(again.code).toBe(0);
    expect((await many.run(["plan", "--detailed-exitcode"])).code).toBe(0);
    const { runs } = JSON.parse((await many.run(["runs", "--format", "json"])).stdout);
    expect(runs.map(({ merchants }: { readonly merchants: readonly unknown[] }) => merchants.length)).toEqual(
      [3, 3, 3],
    );
    expect(runs[1]).toMatchObject({
      status: "done",
      merchants: [{ merchant: "MC1", run: { undoes: id } }, {}, {}],
    });
  });

  test("is narrowed by every --merchant that is given, and by the name of one journal", async () => {
    await many.run(["apply", "--yes"]);
    const two = await many.run(["undo", "latest", "-m", "MC1", "-m", "MC3", "--yes"]);
    expect(two.stdout).toContain("2 merchants: 2 to delete");
    expect(two.code).toBe(0);
    const [first = ""] = (await readdir(folder())).sort();
    const id = first.replace("-MC1.jsonl", "");
    const none = await many.run(["undo", id, "-m", "MC2", "-m", "MC9", "--dry-run"]);
    expect(none.stderr).toContain(`The run ${id} was at MC1, MC2, MC3, not at MC9.`);
    const one = await many.run(["undo", `.rolecall/runs/${id}-MC2.jsonl`, "--dry-run"]);
    expect(one.stdout).toContain("MC2 · test");
    expect(one.stdout).not.toContain("MC1");
    const shown = await many.run(["runs", id, "-m", "MC2"]);
    expect(shown.stdout).toContain("merchant MC2, test");
    expect(shown.stdout).not.toContain("MC1");
  });

  test("is reverted as far as it came if it stopped or was interrupted", async () => {
    await many.control("PUT", "/faults", {
      rules: [{ kind: "status", status: 403, operation: "members.create", nth: 2 }],
    });
    expect((await many.run(["apply", "--yes", "--concurrency", "1"])).code).not.toBe(0);
    await many.control("DELETE", "/faults");
    const stopped = await many.run(["runs"]);
    expect(stopped.stdout).toMatch(/3 merchants {2}test {2}stopped/);
    const names = (await readdir(folder())).sort();
    for (const name of names) {
      const path = join(folder(), name);
      const lines = (await readFile(path, "utf8"))
        .split("\n")
        .filter((line) => !line.includes('"type":"end"'));
      await writeFile(path, lines.join("\n").replace(/"pid":\d+/, '"pid":2147483646'));
    }
    expect((await many.run(["runs"])).stdout).toMatch(/3 merchants {2}test {2}interrupted/);
    const plan = await many.run(["plan"]);
    expect(
      plan.stderr
        .replaceAll(/\s+/g, " ")
        .match(/note: the last apply of MC1, MC2, MC3, \S+Z, was interrupted\./g),
    ).toHaveLength(1);
    const undo = await many.run(["undo", "latest", "--yes"]);
    expect(undo.code).toBe(0);
    expect((await many.run(["plan"])).stdout).toContain("3 merchants: 3 to create");
  });

  test("saves a plan of all its merchants for approval", async () => {
    await many.run(["apply", "--yes"]);
    expect((await many.run(["undo", "latest", "--out", "back.json"])).code).toBe(0);
    const part = await many.run(["undo", "latest", "-m", "MC1", "--out", "part.json"]);
    expect(part.code).toBe(0);
    const more = await many.run(["undo", "latest", "--yes", "--approved", "part.json"]);
    expect(more.code).toBe(3);
    const approved = await many.run(["undo", "latest", "--yes", "--approved", "back.json"]);
    expect(approved.stdout).toContain("✓ MC3  member ben@example.com deleted");
    expect(approved.code).toBe(0);
  });

  test("of an older version, with one journal a run, is still listed and reverted", async () => {
    await many.run(["apply", "--yes"]);
    const names = (await readdir(folder())).sort();
    for (const name of names) {
      const path = join(folder(), name);
      const text = await readFile(path, "utf8");
      await writeFile(path, text.replace(/"run":"[^"]*"/, `"run":"${name.replace(".jsonl", "")}"`));
    }
    const { stdout } = await many.run(["runs"]);
    expect(stdout.match(/-MC\d {2}MC\d {2}test {2}done/g)).toHaveLength(3);
    const undo = await many.run(["undo", names[1]?.replace(".jsonl", "") ?? "", "--yes"]);
    expect(undo.stdout).toContain("Undo complete at MC2: 1 change done.");
    expect(undo.code).toBe(0);
    const begins = await many.run(["undo", (names[1] ?? "").slice(0, 24), "--dry-run"]);
    expect(begins.stderr).toContain("The ids of several runs begin with");
  });
});
