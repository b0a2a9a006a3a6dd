import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gitIn, openShopRepository, type ShopRepository } from "../support/shop-repository.ts";

const SEED = `merchants:
  - code: MC1
    roles: [{ id: role_cash, name: Cashier, permissions: [catalog_view] }]
    members:
      - { id: mem_ada, email: ada@example.com, roles: [role_owner] }
      - { id: mem_ben, email: ben@example.com, roles: [Cashier] }
  - code: MC2
    members: [{ id: mem_ada2, email: ada@example.com, roles: [role_owner] }]
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const MC1 = `version: 1
merchant: MC1
roles:
  - { name: Cashier, permissions: [catalog_view, refunds_create] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com, roles: [Cashier] }
`;

const MC2 = `version: 1
merchant: MC2
members:
  - { email: ada@example.com, roles: [role_owner] }
`;

const PROJECT = "version: 1\nlive_branch: rolecall-live\n";
const BRANCH = "refs/heads/rolecall-live";

interface Json {
  readonly event: string | null;
  readonly recorded: Readonly<Record<"from" | "to", { readonly commit: string }>>;
}

let shop: ShopRepository;
let remote: string;

const git = (folder: string, ...args: readonly string[]): string => gitIn(folder, args);

const show = (file: string): string => git(remote, "show", `${BRANCH}:${file}`);
const live = (): readonly string[] =>
  git(remote, "for-each-ref", "--format=%(objectname)", BRANCH).split("\n").filter(Boolean);

beforeEach(async () => {
  const files = { "access/mc1.yaml": MC1, "access/mc2.yaml": MC2, "rolecall.yaml": PROJECT };
  shop = await openShopRepository(SEED, files);
  remote = shop.remote;
});

afterEach(() => shop.stop());

describe("the live branch", () => {
  test("gets what is live after an apply and a drift, as pull would write it, and only what differs", async () => {
    const refs = git(shop.folder, "for-each-ref");
    const apply = await shop.run(["apply", "--yes"]);
    expect(apply.code).toBe(0);
    const [first = ""] = live();
    expect(apply.stderr.replaceAll(/\s+/g, " ")).toContain(
      `Recorded what changed at the service in rolecall-live of origin: ${first.slice(0, 12)}.`,
    );
    // MC2 had no changes to apply.
    expect(git(remote, "ls-tree", "--name-only", BRANCH)).toBe("MC1.yaml");
    await mkdir(join(shop.folder, "pulled", "access"), { recursive: true });
    await rm(join(shop.folder, "access", "mc1.yaml"));
    await shop.run(["pull", "MC1", "--yes"]);
    const pulled = execFileSync("cat", [join(shop.folder, "access", "mc1.yaml")], { encoding: "utf8" });
    expect(show("MC1.yaml").startsWith(pulled.trimEnd())).toBe(true);
    await shop.run(["drift"]);
    expect(git(remote, "ls-tree", "--name-only", BRANCH)).toBe("MC1.yaml\nMC2.yaml");
    await shop.run(["drift"]);
    expect(git(remote, "rev-list", "--count", BRANCH)).toBe("2");
    await shop.control("PUT", "/v0.1/merchants/MC1/members/mem_ben", { roles: ["role_employee"] });
    await shop.run(["drift"]);
    expect(git(remote, "diff", "--name-only", `${BRANCH}~1`, BRANCH)).toBe("MC1.yaml");
    expect(git(remote, "log", "-1", "--format=%B", BRANCH)).toBe(
      "Live state of MC1\n\nRead-By: drift\nMerchant: MC1",
    );
    expect(git(shop.folder, "for-each-ref")).toBe(refs);
    expect(git(remote, "log", "--patch", "--all")).not.toContain("sk_test_sandbox");
  });

  test("tells drift between which recorded states each difference came", async () => {
    const ben = "/v0.1/merchants/MC1/members/mem_ben";
    const when = async (): Promise<string> => {
      const { stdout, stderr, code } = await shop.run(["drift", "access/mc1.yaml"]);
      expect([code, stderr]).toEqual([2, expect.not.stringContaining("warning:")]);
      return stdout.replaceAll(/\s+/g, " ");
    };
    const stateText = (revision: string): string => {
      const [id = "", time] = git(remote, "log", "-1", "--format=%H %ct", `${BRANCH}${revision}`).split(" ");
      const at = new Date(Number(time) * 1000).toISOString().slice(0, 16).replace("T", " ");
      return `${at} UTC (${id.slice(0, 12)})`;
    };
    await shop.run(["apply", "--yes"]);
    await shop.control("PUT", ben, { roles: ["role_cash", "role_employee"] });
    const between = `+ Employee (role_employee) when between the recorded states of`;
    expect(await when()).toContain(`${between} ${stateText("~1")} and ${stateText("")}`);
    // A later change of something else moves nothing.
    await shop.control("POST", "/v0.1/merchants/MC1/members", {
      email: "di@example.com",
      roles: ["role_cash"],
    });
    const later = await when();
    expect(later).toContain(`${between} ${stateText("~2")} and ${stateText("~1")}`);
    expect(later).toContain(
      `added outside git di@example.com (not in the file) roles Cashier when between the recorded states of ${stateText("~1")} and ${stateText("")}`,
    );
    await shop.control("DELETE", ben);
    expect(await when()).toContain(
      `declared, not live ben@example.com roles Cashier when between the recorded states of ${stateText("~1")} and ${stateText("")}`,
    );
    const { stdout } = await shop.run(["drift", "access/mc1.yaml", "--format", "json"]);
    const [{ changes }] = JSON.parse(stdout).drifts;
    expect(
      changes.map(({ event, recorded }: Json) => [event, recorded.from.commit, recorded.to.commit]),
    ).toEqual(
      expect.arrayContaining([
        ["missing", git(remote, "rev-parse", `${BRANCH}~1`), git(remote, "rev-parse", BRANCH)],
        ["added", git(remote, "rev-parse", `${BRANCH}~2`), git(remote, "rev-parse", `${BRANCH}~1`)],
      ]),
    );
  });

  test("tells drift nothing of what was never live, and only the first state of what was always so", async () => {
    await shop.write("access/mc1.yaml", `${MC1}  - { email: cy@example.com, roles: [Cashier] }\n`);
    await shop.control("PUT", "/v0.1/merchants/MC1/members/mem_ben", {
      roles: ["role_cash", "role_employee"],
    });
    const { stdout } = await shop.run(["drift", "access/mc1.yaml"]);
    const [ben = "", cy = ""] = stdout.replaceAll(/\s+/g, " ").split("declared, not live cy@example.com");
    expect(ben).toContain("+ Employee (role_employee) when before the first recorded state, of ");
    expect(cy).toContain("Cashier");
    expect(cy).not.toContain("recorded state");
  });

  test("tells drift the state before, if this one cannot be recorded", async () => {
    await shop.run(["apply", "--yes"]);
    await shop.control("PUT", "/v0.1/merchants/MC1/members/mem_ben", { roles: ["role_employee"] });
    const hook = join(remote, "hooks", "pre-receive");
    await writeFile(hook, "#!/bin/sh\nexit 1\n");
    await chmod(hook, 0o755);
    const { stdout, stderr } = await shop.run(["drift", "access/mc1.yaml"]);
    expect(stderr).toContain("warning: The live state could not be recorded");
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
      /when after the recorded state of [\d: -]+ UTC \(\w{12}\)/,
    );
  });

  test("is not made without the key in rolecall.yaml", async () => {
    await rm(join(shop.folder, "rolecall.yaml"));
    await shop.run(["apply", "--yes"]);
    await shop.run(["drift"]);
    expect(live()).toEqual([]);
  });

  test("is left alone if it has files of somebody else, and the command ends as without it", async () => {
    git(shop.folder, "push", "--quiet", "origin", "main:rolecall-live");
    const before = live();
    const apply = await shop.run(["apply", "--yes"]);
    expect(apply.code).toBe(0);
    expect(apply.stderr.replaceAll(/\s+/g, " ")).toContain(
      "warning: The live state could not be recorded in rolecall-live: The branch rolecall-live has files that rolecall has not written.",
    );
    expect(live()).toEqual(before);
  });

  test("gets a commit on top if somebody else pushes at the same time, and never loses one", async () => {
    await shop.run(["drift"]);
    const [first = ""] = live();
    const work = await mkdtemp(join(tmpdir(), "rolecall-other-"));
    git(work, "clone", "--quiet", "--branch=rolecall-live", remote, ".");
    git(work, "commit", "--quiet", "--allow-empty", "--message=other");
    const other = git(work, "rev-parse", "HEAD");
    // Another job's push arrives after the fetch and before the push.
    const hook = join(remote, "hooks", "pre-receive");
    await writeFile(
      hook,
      `#!/bin/sh\nrm ${hook}\nenv -i PATH="$PATH" git -C ${work} push --quiet ${remote} HEAD:rolecall-live >&2\n`,
    );
    await chmod(hook, 0o755);
    await shop.control("PUT", "/v0.1/merchants/MC1/members/mem_ben", { roles: ["role_employee"] });
    const drift = await shop.run(["drift"]);
    expect(drift.stderr).not.toContain("warning");
    expect(git(remote, "rev-list", BRANCH).split("\n").slice(1)).toEqual([other, first]);
    expect(show("MC1.yaml")).toContain("role_employee");
    await rm(work, { recursive: true });
  });

  test("without a remote repository is a branch of the clone", async () => {
    git(shop.folder, "remote", "remove", "origin");
    const drift = await shop.run(["drift"]);
    expect(drift.stderr.replaceAll(/\s+/g, " ")).toContain("in rolecall-live of this clone");
    expect(git(shop.folder, "ls-tree", "--name-only", BRANCH)).toBe("MC1.yaml\nMC2.yaml");
    expect(git(shop.folder, "symbolic-ref", "HEAD")).toBe("refs/heads/main");
  });
});

describe("a member who left without a run", () => {
  const invited = async (): Promise<readonly string[]> =>
    (await shop.writes()).filter((write) => write.startsWith("POST /v0.1/merchants/MC1/members"));
  const flat = (text: string): string => text.replaceAll(/\s+/g, " ");
  const commit = (time: string): void => {
    git(shop.folder, "add", "--all", "access");
    const env = { ...process.env, GIT_COMMITTER_DATE: time, GIT_AUTHOR_DATE: time };
    const as = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
    execFileSync("git", [...as, "commit", "--quiet", "--message=change"], { cwd: shop.folder, env });
  };

  beforeEach(async () => {
    await shop.run(["apply", "--yes"]);
    await shop.control("DELETE", "/v0.1/merchants/MC1/members/mem_ben");
  });

  test("is a warning with three ways to go on, and is not invited", async () => {
    const plan = await shop.run(["plan"]);
    expect(flat(plan.stdout)).toContain(
      "ben@example.com is no longer a member, although no run has removed them (recorded state of",
    );
    expect(flat(plan.stdout)).toContain(
      "Remove the entry to keep them out. To invite them again, use --reinvite ben@example.com, or change the entry.",
    );
    expect(plan.code).toBe(0);
    const json = JSON.parse((await shop.run(["plan", "--format", "json"])).stdout);
    expect(json.plans[0].changes).toEqual([]);
    expect(json.plans[0].recorded).toEqual({
      commit: live()[0],
      at: expect.any(String),
      departed: ["ben@example.com"],
    });
    expect((await shop.run(["apply", "--yes"])).code).toBe(0);
    expect(await invited()).toEqual([]);
  });

  test("is a difference for drift, and is still held back after it has recorded the departure", async () => {
    const drift = await shop.run(["drift"]);
    expect([drift.code, flat(drift.stdout)]).toEqual([2, expect.stringContaining("ben@example.com")]);
    expect(show("MC1.yaml")).toMatch(/^# departed \{"email":"ben@example.com","noticed":".*"\}$/m);
    await shop.run(["drift"]);
    await shop.run(["apply", "--yes"]);
    expect(await invited()).toEqual([]);
  });

  test.each(["before", "after"])("is invited by --reinvite, %s a drift", async (when) => {
    if (when === "after") await shop.run(["drift"]);
    const apply = await shop.run(["apply", "--yes", "--reinvite", "ben@example.com"]);
    expect(apply.stderr).not.toContain("has no effect");
    expect(await invited()).toHaveLength(1);
    expect(show("MC1.yaml")).not.toContain("departed");
    expect((await shop.run(["plan"])).stdout).not.toContain("no run has removed");
  });

  test.each(["before", "after"])("is invited by a change of the entry, %s a drift", async (when) => {
    if (when === "after") await shop.run(["drift"]);
    await shop.write("access/mc1.yaml", MC1.replace("roles: [Cashier]", "roles: [role_employee]"));
    commit("2090-01-01T00:00:00Z");
    await shop.run(["apply", "--yes"]);
    expect(await invited()).toHaveLength(1);
  });

  test("is not invited by an older change of the entry, or by one of another entry", async () => {
    await shop.write("access/mc1.yaml", `${MC1}  - { email: cy@example.com, roles: [Cashier] }\n`);
    commit("2090-01-01T00:00:00Z");
    await shop.run(["apply", "--yes"]);
    expect(await invited()).toHaveLength(1);
    expect(show("MC1.yaml")).toContain('# departed {"email":"ben@example.com"');
  });

  test("is invited where there is no branch, and where somebody wrote nonsense into it", async () => {
    const work = await mkdtemp(join(tmpdir(), "rolecall-other-"));
    git(work, "clone", "--quiet", "--branch=rolecall-live", remote, ".");
    await writeFile(join(work, "MC1.yaml"), "nonsense\n");
    git(work, "commit", "--quiet", "--all", "--message=other");
    git(work, "push", "--quiet");
    await rm(work, { recursive: true });
    const plan = await shop.run(["plan"]);
    expect(flat(plan.stderr)).toContain(
      "warning: MC1.yaml in rolecall-live is not a record of a live state. Members who left on their own are invited again.",
    );
    expect(JSON.parse((await shop.run(["plan", "--format", "json"])).stdout).plans[0].changes).toHaveLength(
      1,
    );
    git(remote, "update-ref", "-d", BRANCH);
    expect(
      JSON.parse((await shop.run(["plan", "--format", "json"])).stdout).plans[0].recorded,
    ).toBeUndefined();
    await shop.run(["apply", "--yes"]);
    expect(await invited()).toHaveLength(1);
  });

  test("is invited if a run has removed them since", async () => {
    await shop.run(["apply", "--yes", "--reinvite", "ben@example.com"]);
    await shop.write("access/mc1.yaml", MC1.replace(/.*ben@.*\n/, ""));
    await shop.run(["apply", "--yes"]);
    await shop.write("access/mc1.yaml", MC1);
    await shop.run(["apply", "--yes"]);
    expect(await invited()).toHaveLength(2);
  });
});
