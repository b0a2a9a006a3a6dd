import { execFileSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gitIn, openShopRepository, type ShopRepository } from "../support/shop-repository.ts";

const SEED = `merchants:
  - code: MC1
    roles: [{ name: Cashier, permissions: [catalog_view] }]
    members: [{ email: ada@example.com, roles: [role_owner] }]
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const fileWith = (permissions: string): string => `version: 1
merchant: MC1
roles:
  - { name: Cashier, permissions: [${permissions}] }
members:
  - { email: ada@example.com, roles: [role_owner] }
`;

const SECRET = { ROLECALL_APPROVAL_SECRET: "0123456789abcdef0123456789abcdef" };

let shop: ShopRepository;
let remote: string;

const git = (folder: string, ...args: readonly string[]): string => gitIn(folder, args);

const recorded = (folder = remote): readonly string[] =>
  git(folder, "for-each-ref", "--format=%(refname)", "refs/rolecall/runs").split("\n").filter(Boolean);

beforeEach(async () => {
  shop = await openShopRepository(SEED, { "access/mc1.yaml": fileWith("catalog_view, refunds_create") });
  remote = shop.remote;
});

afterEach(() => shop.stop());

describe("apply --records", () => {
  test("push records the run on the applied commit, and touches no branch, index or file", async () => {
    const status = git(shop.folder, "status", "--porcelain");
    const refs = git(shop.folder, "for-each-ref");
    const apply = await shop.run(["apply", "--yes", "--records", "push"], SECRET);
    expect(apply.code).toBe(0);
    const [ref = "", ...more] = recorded();
    expect(more).toEqual([]);
    expect(apply.stderr).toContain(`Recorded in origin: ${ref}.\n`);
    expect(git(remote, "rev-parse", `${ref}^`)).toBe(git(shop.folder, "rev-parse", "HEAD"));
    expect(git(shop.folder, "status", "--porcelain")).toBe(status);
    expect(git(shop.folder, "for-each-ref")).toBe(refs);
    expect(git(remote, "for-each-ref", "refs/heads", "refs/tags").split("\n")).toHaveLength(1);
    const all = git(remote, "log", "--patch", "--format=%B", "--all");
    for (const secret of ["sk_test_sandbox", SECRET.ROLECALL_APPROVAL_SECRET])
      expect(all).not.toContain(secret);
  });

  test("off, or no word about it, records nothing", async () => {
    await shop.run(["apply", "--yes"]);
    await shop.write("access/mc1.yaml", fileWith("catalog_view"));
    await shop.run(["apply", "--yes", "--records", "off"]);
    expect(recorded()).toEqual([]);
  });

  test("without the option, rolecall.yaml decides; with an error in it, nothing is applied", async () => {
    await shop.write("rolecall.yaml", "version: 1\nrecords: push\n");
    await shop.run(["apply", "--yes", "--records", "off"]);
    expect(recorded()).toEqual([]);
    await shop.write("access/mc1.yaml", fileWith("catalog_view"));
    const apply = await shop.run(["apply", "--yes"]);
    expect(apply.stderr).toContain("Recorded in origin: refs/rolecall/runs/");
    expect(recorded()).toHaveLength(1);
    await shop.write("access/mc1.yaml", fileWith("catalog_view, refunds_create"));
    await shop.write("rolecall.yaml", "version: 1\nrecords: always\n");
    const before = await shop.writes();
    expect((await shop.run(["apply", "--yes"])).code).toBe(1);
    expect((await shop.run(["undo", "latest", "--yes"])).code).toBe(1);
    expect(await shop.writes()).toEqual(before);
  });

  test("local records in the clone alone", async () => {
    const apply = await shop.run(["apply", "--yes", "--records", "local"]);
    expect(apply.stderr).toContain("Recorded in this clone: refs/rolecall/runs/");
    expect(recorded(shop.folder)).toHaveLength(1);
    expect(recorded()).toEqual([]);
  });

  test("a remote repository that refuses stops nothing, and the next run adds what is missing", async () => {
    const hook = join(remote, "hooks", "pre-receive");
    await writeFile(hook, "#!/bin/sh\necho no writes for you >&2\nexit 1\n");
    await chmod(hook, 0o755);
    const apply = await shop.run(["apply", "--yes", "--records", "push"]);
    expect(apply.code).toBe(0);
    const told = apply.stderr.replaceAll(/\s+/g, " ");
    expect(told).toContain("warning: The beginning of this run could not be recorded in origin: git:");
    expect(told).toContain("warning: This run could not be recorded in origin: git:");
    expect(told).toContain("The next run that is recorded from this folder adds what is missing.");
    expect(recorded()).toEqual([]);
    await rm(hook);
    await shop.write("access/mc1.yaml", fileWith("catalog_view"));
    expect((await shop.run(["apply", "--yes", "--records", "push"])).code).toBe(0);
    expect(recorded()).toHaveLength(2);
    for (const ref of recorded())
      expect(git(remote, "log", "--max-count=1", "--format=%B", ref)).toContain("Outcome: done");
    const left = await readdir(join(shop.folder, ".rolecall", "runs"));
    expect(left.filter((name) => !name.endsWith(".jsonl"))).toEqual([]);
  });

  test("without a repository, a remote or a good key nothing is applied", async () => {
    git(shop.folder, "remote", "remove", "origin");
    const lonely = await shop.run(["apply", "--yes", "--records", "push"]);
    expect(lonely.stderr).toContain("Runs cannot be recorded: the git repository has no remote");
    const short = await shop.run(["apply", "--yes", "--records", "local"], {
      ROLECALL_APPROVAL_SECRET: "short",
    });
    expect(short.stderr).toContain("ROLECALL_APPROVAL_SECRET has fewer than 32 characters");
    await rm(join(shop.folder, ".git"), { recursive: true });
    const bare = await shop.run(["apply", "--yes", "--records", "local"]);
    expect(bare.stderr).toContain("Runs cannot be recorded: this folder is not in a git repository");
    expect([lonely.code, short.code, bare.code]).toEqual([1, 1, 1]);
    expect(await shop.writes()).toEqual([]);
  });

  test("a repository that everybody can read is refused without --allow-public", async () => {
    git(shop.folder, "remote", "set-url", "origin", "https://user:token@git.example/shop.git");
    // Stands for a server that answers everybody.
    const bin = join(remote, "bin");
    await mkdir(bin);
    const script = `#!/bin/sh\ncase "$*" in *ls-remote*) echo "$@" >> ${bin}/asked; env >> ${bin}/asked; exit 0;; esac\nexec ${execFileSync("which", ["git"], { encoding: "utf8" }).trim()} "$@"\n`;
    await writeFile(join(bin, "git"), script, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env["PATH"]}` };
    const apply = await shop.run(["apply", "--yes", "--records", "push"], env);
    expect(apply.code).toBe(1);
    const told = apply.stderr.replaceAll(/\s+/g, " ");
    expect(told).toContain("The repository https://git.example/shop.git can be read without credentials");
    expect(told).toContain("pass --allow-public");
    expect(await shop.writes()).toEqual([]);
    const asked = await readFile(join(bin, "asked"), "utf8");
    expect(asked).toContain("ls-remote --quiet https://git.example/shop.git HEAD");
    expect(asked).not.toContain("token");
    expect(asked).not.toContain(`HOME=${process.env["HOME"]}\n`);
  });
});

test("runs verify names a removed and an edited record, and needs the key", async () => {
  for (const permissions of ["catalog_view, refunds_create", "catalog_view"]) {
    await shop.write("access/mc1.yaml", fileWith(permissions));
    await shop.run(["apply", "--yes", "--records", "push"], SECRET);
  }
  const sound = await shop.run(["runs", "verify"], SECRET);
  expect(sound).toMatchObject({
    code: 0,
    stdout: "2 records in origin: nothing is missing, altered or extra.\n",
  });
  const state = git(remote, "rev-parse", "refs/rolecall/state").trim();
  for (const commit of [null, git(remote, "rev-parse", "main").trim()]) {
    const move = commit === null ? ["-d", "refs/rolecall/state"] : ["refs/rolecall/state", commit];
    git(remote, "update-ref", ...move);
    expect(await shop.run(["runs", "verify"], SECRET)).toMatchObject({
      code: 2,
      stdout:
        "The list of records is missing: nothing shows whether a record is missing.\n2 records in origin: 1 problem.\n",
    });
  }
  git(remote, "update-ref", "refs/rolecall/state", state);
  const [first = "", second = ""] = recorded();
  const [one, two] = [first, second].map((ref) => ref.slice("refs/rolecall/runs/".length));
  git(remote, "update-ref", second, git(remote, "rev-parse", first));
  git(remote, "update-ref", "-d", first);
  const verify = await shop.run(["runs", "verify"], SECRET);
  expect(verify.code).toBe(2);
  expect(verify.stdout).toContain(`missing  ${one}: it is in the list`);
  expect(verify.stdout).toContain(`altered  ${two}: its journals or trailers`);
  expect(verify.stdout).toContain("1 record in origin: 2 problems.");
  const json = await shop.run(["runs", "verify", "--format", "json"], SECRET);
  expect(JSON.parse(json.stdout).problems).toHaveLength(2);
  const keyless = await shop.run(["runs", "verify"]);
  expect(keyless.stderr).toContain("only with the key that signed them");
  expect(keyless.code).toBe(1);
});

test("the key that signs records is sent to no service, and a record says that files were not committed", async () => {
  await shop.write(
    "access/mc1.yaml",
    `${fileWith("catalog_view")}api: { key_env: ROLECALL_APPROVAL_SECRET }\n`,
  );
  const refused = await shop.run(["plan"], SECRET);
  expect(refused.stderr.replaceAll(/\s+/g, " ")).toContain(
    "ROLECALL_APPROVAL_SECRET cannot be an API key: it holds the key that signs records.",
  );
  await shop.write("access/mc1.yaml", fileWith("catalog_view, refunds_create"));
  git(shop.folder, "add", ".");
  git(shop.folder, "commit", "--quiet", "--message=second");
  await shop.run(["apply", "--yes", "--records", "push"], SECRET);
  const trailers = (): string => git(remote, "log", "--max-count=1", "--format=%B", recorded().at(-1) ?? "");
  expect(trailers()).not.toContain("Uncommitted-Changes");
  await shop.write("access/mc1.yaml", fileWith("catalog_view"));
  await shop.run(["apply", "--yes", "--records", "push"], SECRET);
  expect(trailers()).toContain("\nUncommitted-Changes: yes\n");
  expect((await shop.run(["runs", "verify"], SECRET)).code).toBe(0);
});

test("records of a clone without a remote repository are verified and deleted there", async () => {
  git(shop.folder, "remote", "remove", "origin");
  await shop.run(["apply", "--yes", "--records", "local"], SECRET);
  const verify = await shop.run(["runs", "verify"], SECRET);
  expect(verify.stdout).toBe("1 record in this clone: nothing is missing, altered or extra.\n");
  const prune = await shop.run(["runs", "prune", "--older-than", "0d", "--yes"], SECRET);
  expect([prune.code, prune.stdout]).toEqual([0, expect.stringContaining("1 of 1 record in this clone")]);
  expect(git(shop.folder, "for-each-ref", "refs/rolecall/runs")).toBe("");
});

describe("runs prune", () => {
  beforeEach(async () => {
    for (const permissions of ["catalog_view, refunds_create", "catalog_view"]) {
      await shop.write("access/mc1.yaml", fileWith(permissions));
      await shop.run(["apply", "--yes", "--records", "push"], SECRET);
    }
    const guest = "  - { email: Ben@example.com, roles: [Cashier] }\n";
    await shop.write("access/mc1.yaml", `${fileWith("catalog_view")}${guest}`);
    await shop.run(["apply", "--yes", "--records", "push"], SECRET);
  });

  test("deletes nothing without a word about which, without confirmation, or without the key", async () => {
    const all = await shop.run(["runs", "prune"], SECRET);
    expect(all.stderr).toContain("runs prune needs --older-than or --who.");
    const unasked = await shop.run(["runs", "prune", "--older-than", "0d"], SECRET);
    for (const ref of recorded())
      expect(unasked.stdout).toContain(`${ref.slice("refs/rolecall/runs/".length)}  MC1  done  by `);
    expect(unasked.stdout).toContain("3 of 3 records in origin.\n");
    expect(unasked.stderr).toContain("there is no terminal to ask on");
    const keyless = await shop.run(["runs", "prune", "--older-than", "0d", "--yes"]);
    expect(keyless.stderr).toContain("Signed records can be deleted only with the key that signed them.");
    expect([all.code, unasked.code, keyless.code]).toEqual([1, 1, 1]);
    const young = await shop.run(["runs", "prune", "--older-than", "400d", "--yes"], SECRET);
    expect(young).toMatchObject({ code: 0, stdout: "0 of 3 records in origin.\n" });
    expect(recorded()).toHaveLength(3);
  });

  test("deletes the records that contain an address, and verify does not miss them", async () => {
    const none = await shop.run(["runs", "prune", "--who", "en@example.com", "--yes"], SECRET);
    expect(none.stdout).toBe("0 of 3 records in origin.\n");
    const [, , ref = ""] = recorded();
    const prune = await shop.run(["runs", "prune", "--who", "ben@example.com", "--yes"], SECRET);
    expect(prune.code).toBe(0);
    expect(prune.stdout).toContain(
      'Deleted 1 record. The signed list names them as deleted, so "runs verify"',
    );
    expect(recorded()).toHaveLength(2);
    expect(recorded()).not.toContain(ref);
    expect(git(remote, "log", "--patch", "--format=%B", "--all")).not.toMatch(/ben@example\.com/i);
    expect(await shop.run(["runs", "verify"], SECRET)).toMatchObject({
      code: 0,
      stdout: "2 records in origin: nothing is missing, altered or extra.\n",
    });
    const rest = ["runs", "prune", "--older-than", "0h", "--yes", "--format", "json"];
    expect(JSON.parse((await shop.run(rest, SECRET)).stdout)).toMatchObject({ records: 2 });
    expect(recorded()).toEqual([]);
  });
});
