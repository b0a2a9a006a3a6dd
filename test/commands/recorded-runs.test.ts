import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rolecall } from "../support/rolecall.ts";
import { gitIn, openShopRepository, type ShopRepository } from "../support/shop-repository.ts";

const CODES = ["MC1", "MC2", "MC3"];

const SEED = `merchants:
${CODES.map((code) => `  - code: ${code}\n    members: [{ email: ada@example.com, roles: [role_owner] }, { email: cleo@example.com, roles: [role_employee] }]\n`).join("")}keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const SECRET = { ROLECALL_APPROVAL_SECRET: "0123456789abcdef0123456789abcdef" };

const fileOf = (code: string, role = "role_employee"): string => `version: 1
merchant: ${code}
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: cleo@example.com, roles: [${role}] }
${role === "Cashier" ? "roles: [{ name: Cashier, permissions: [catalog_view] }]" : `  - { email: ben@${code.toLowerCase()}.example, roles: [role_employee] }`}
`;

let shop: ShopRepository;
let remote: string;
let clone: string;

const git = (folder: string, ...args: readonly string[]): string => gitIn(folder, args);

/** Runs the program in the second clone. */
const elsewhere = (args: readonly string[], env: Readonly<Record<string, string>> = SECRET) =>
  rolecall(args, { cwd: clone, env: { ...shop.sandbox.env, ...env } });

const refs = (): readonly string[] =>
  git(remote, "for-each-ref", "--format=%(refname)", "refs/rolecall/runs").split("\n").filter(Boolean);

const idOf = (ref: string | undefined): string => ref?.slice("refs/rolecall/runs/".length) ?? "";

beforeEach(async () => {
  const files = CODES.map((code) => {
    const text = fileOf(code, code === "MC2" ? "Cashier" : undefined);
    return [`access/${code}.yaml`, text] as const;
  });
  shop = await openShopRepository(SEED, Object.fromEntries(files));
  remote = shop.remote;
  clone = await mkdtemp(join(tmpdir(), "rolecall-clone-"));
  git(clone, "clone", "--quiet", remote, ".");
});

afterEach(async () => {
  await shop.stop();
  await rm(clone, { recursive: true });
});

/** Applies at three merchants; MC2 stops after it has created its role, since the update of its member is refused. */
async function stoppedApply(): Promise<void> {
  const refusal = { kind: "status", status: 422, operation: "members.update" };
  await shop.control("PUT", "/faults", { rules: [refusal] });
  const args = ["apply", "--yes", "--on-error", "continue", "--records", "push"];
  expect((await shop.run(args, { ...SECRET, GITHUB_ACTOR: "cleo" })).code).toBe(4);
  await shop.control("PUT", "/faults", { rules: [] });
}

test("a second clone lists, shows and undoes a run of three merchants, one of which stopped part-way", async () => {
  await stoppedApply();
  const [ref] = refs();
  const list = await elsewhere(["runs"]);
  expect(list.stdout).toMatch(new RegExp(`^${idOf(ref)}  3 merchants  .*stopped .* from origin\n$`));
  expect(list.stderr).toBe("");
  const shown = await elsewhere(["runs", "latest"]);
  expect(shown.stdout).toContain(`record   ${ref} in origin, verified\n`);
  expect(shown.stdout).toContain("started  by cleo\n");
  const before = (await shop.writes()).length;
  const undo = await elsewhere(["undo", "latest", "--yes", "--records", "push"]);
  expect(undo.code).toBe(0);
  expect(
    (await shop.writes())
      .slice(before)
      .map((write) => write.replace(/[^/]+$/, "ID"))
      .sort(),
  ).toEqual([
    "DELETE /v0.1/merchants/MC1/members/ID",
    "DELETE /v0.1/merchants/MC2/roles/ID",
    "DELETE /v0.1/merchants/MC3/members/ID",
  ]);
  expect(refs()).toHaveLength(2);
  expect((await shop.run(["runs"])).stdout.split("\n")[0]).toContain(`undoes ${idOf(ref)} from origin`);
});

test("one that the clone alone has is found after the journals are gone", async () => {
  await shop.run(["apply", "--yes", "--records", "local"], SECRET);
  await rm(join(shop.folder, ".rolecall"), { recursive: true });
  expect((await shop.run(["runs"])).stdout).toContain("from this clone");
  expect((await shop.run(["undo", "latest", "--dry-run"], SECRET)).stdout).toContain(
    "delete ben@mc1.example",
  );
});

test("a record without proof is named, and undone only with --allow-unverified; an altered one never", async () => {
  await stoppedApply();
  const [ref = ""] = refs();
  const keyless = await elsewhere(["undo", "latest", "--yes"], {});
  expect(keyless.code).toBe(3);
  expect(keyless.stderr.replaceAll(/\s+/g, " ")).toContain(
    "is signed, but not verified without the key. Anybody who can push to origin may have written it",
  );
  const allowed = await elsewhere(["undo", "latest", "--dry-run", "--allow-unverified"], {});
  expect(allowed.code).toBe(0);
  // Somebody who can push invents a later run, and edits the other one.
  const invented = "2999-01-01T00-00-00-000Z";
  const tree = git(remote, "rev-parse", `${ref}^{tree}`);
  const text = git(remote, "log", "--max-count=1", "--format=%B", ref);
  const bare = text.replaceAll(/\n(Signature|Run): .*/g, "").trim();
  git(remote, "update-ref", `refs/rolecall/runs/${invented}`, git(remote, "commit-tree", tree, "-m", bare));
  const altered = text.replace("Merchant: MC3", "Merchant: MC4");
  git(remote, "update-ref", ref, git(remote, "commit-tree", tree, "-m", altered));
  const list = await elsewhere(["runs"]);
  expect(list.stdout).toContain("from origin (not signed)\n");
  expect(list.stdout).toContain("from origin (altered after it was signed)\n");
  const before = await shop.writes();
  for (const args of [["latest"], [idOf(ref), "--allow-unverified"]]) {
    const undo = await elsewhere(["undo", "--yes", ...args]);
    expect(undo.code).toBe(3);
    expect(undo.stderr).toMatch(/The record of \S+ is (not signed|altered after it was signed)\./);
  }
  expect(await shop.writes()).toEqual(before);
});

test("refs that are not records of runs are left out, and change no answer", async () => {
  await stoppedApply();
  const [ref = ""] = refs();
  const blob = git(remote, "hash-object", "-w", "/dev/null");
  for (const [name, object] of [
    ["latest", ref],
    ["2999-01-01T00-00-00-000Z", blob],
  ] as const) {
    git(remote, "update-ref", `refs/rolecall/runs/${name}`, object);
  }
  const list = await elsewhere(["runs"]);
  expect([list.code, list.stderr, list.stdout.split("\n").length]).toEqual([0, "", 2]);
  expect((await elsewhere(["runs", "latest"])).stdout).toContain(`record   ${ref} in origin, verified\n`);
  git(remote, "update-ref", "refs/rolecall/runs/below/another", ref);
  const verify = await elsewhere(["runs", "verify"]);
  expect(verify.stdout.match(/^altered {2}\S+:/gm)).toEqual(["altered  below/another:", "altered  latest:"]);
});

test("a run whose end was never recorded is listed, and not undone", async () => {
  await stoppedApply();
  const [ref = ""] = refs();
  const [first] = git(remote, "ls-tree", "--name-only", ref).split("\n");
  expect(first).toMatch(/-MC1\.jsonl$/);
  // Of a machine that was lost after it had begun.
  const { openRunRecords } = await import("../../src/store/run-records.ts");
  const { openRefs } = await import("../../src/store/git-refs.ts");
  const store = openRefs(
    { url: remote, prefix: "refs/rolecall", authorization: null },
    { folder: join(remote, "own.git"), clone: null, env: process.env, now: Date.now },
  );
  const line = git(remote, "show", `${ref}:${first}`).split("\n")[0] ?? "";
  const run = "2999-01-01T00-00-00-000Z";
  await openRunRecords(store, SECRET.ROLECALL_APPROVAL_SECRET, async () => undefined).write(
    {
      run,
      merchants: ["MC1"],
      outcome: "began",
      by: "ci@lost",
      actor: null,
      job: null,
      applied: null,
      pulls: [],
      files: new Map([[`${run}-MC1.jsonl`, `${line}\n`]]),
    },
    null,
  );
  expect((await elsewhere(["runs", "--limit", "1"])).stdout).toMatch(/^2999\S+ {2}MC1 .* began /);
  expect((await elsewhere(["runs", "latest"])).stdout).toContain("Only its beginning is recorded");
  const undo = await elsewhere(["undo", "latest", "--yes"]);
  expect(undo.stderr).toContain(`Only the beginning of ${run} is recorded, not what it did.`);
  expect(undo.code).toBe(1);
});

test("runs are selected by person, merchant and time, as text, JSON and CSV", async () => {
  await stoppedApply();
  await elsewhere(["apply", "--yes", "--on-error", "continue", "--records", "off"]);
  const rows = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await elsewhere(["runs", "--format", "csv", ...args]);
    return stdout
      .split("\n")
      .slice(1, -1)
      .map((row) => row.split(",").slice(1, 4).join(" "));
  };
  const { stdout } = await elsewhere(["runs", "--format", "csv"]);
  expect(stdout.split("\n")[0]).toBe("run,merchant,environment,status,changes,note");
  expect(await rows("--who", "CLEO@example.com")).toEqual(["MC2 test done", "MC2 test stopped"]);
  expect(await rows("--who", "ben@mc3.example")).toEqual(["MC3 test done"]);
  expect(await rows("-m", "MC2", "--limit", "1")).toEqual(["MC2 test done"]);
  expect(await rows("--since", "2999-01-01")).toEqual([]);
  const none = await elsewhere(["runs", "--who", "nobody@example.com"]);
  expect(none).toMatchObject({ code: 0, stdout: "", stderr: "No run matches.\n" });
  const json = await elsewhere(["runs", "--since", "2020-01-01", "--format", "json"]);
  const { runs } = JSON.parse(json.stdout);
  expect(runs.map(({ record }: { record: { trust: string } | null }) => record?.trust)).toEqual([
    undefined,
    "verified",
  ]);
});

test("without the remote repository, the journals of this machine are shown, with a warning", async () => {
  await shop.run(["apply", "--yes"]);
  await rm(remote, { recursive: true });
  const list = await shop.run(["runs"]);
  expect(list.code).toBe(0);
  expect(list.stdout).toContain("3 merchants");
  expect(list.stderr).toContain("warning: The records in origin could not be read: git:");
  const id = list.stdout.split(" ")[0] ?? "";
  expect((await shop.run(["runs", id])).stderr).toBe("");
  await shop.write("rolecall.yaml", "version: 1\nrecords: off\n");
  expect((await shop.run(["runs"])).stderr).toBe("");
  await mkdir(remote);
});
