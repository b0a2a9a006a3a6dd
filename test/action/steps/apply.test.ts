import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type MemoryGit, memoryGit } from "../support/memory-git.ts";
import { openRepository, type Repository, type StepEnd } from "../support/repository.ts";

const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: ben@example.com, roles: [role_employee] }
  - code: MC2
    members: [{ email: ada@example.com, roles: [role_owner] }]
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
  - { key: sk_test_adds, owner: ada@example.com, permissions: [roles_list, roles_view, merchant_read, members_view, members_create] }
`;

const BASE = `version: 1
merchant: MC1
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com, roles: [role_employee] }
`;
const WANTED = `${BASE}  - { email: cleo@example.com, roles: [Cashier] }
roles:
  - { name: Cashier, permissions: [catalog_view] }
`;
const SECOND = "version: 1\nmerchant: MC2\nroles: [{ name: Night, permissions: [catalog_view] }]\n";
const FILE = "access/mc1.yaml";

let repository: Repository;
let memory: MemoryGit;

beforeEach(async () => {
  memory = memoryGit();
  repository = await openRepository(SEED, { [FILE]: BASE }, { memory });
});

afterEach(async () => {
  await repository.stop();
});

const lastComment = (): string => repository.github.comments.at(-1)?.body ?? "";

describe("apply", () => {
  const run = (
    command: string,
    inputs: Readonly<Record<string, string>> = {},
    options: Partial<Parameters<Repository["step"]>[1]> = {},
  ): Promise<StepEnd> => repository.step({ command, ...inputs }, options);

  const planned = async (number: number, files: Readonly<Record<string, string>>): Promise<void> => {
    await repository.propose(number, files);
    expect((await run("plan", {}, { pull: number })).code).toBe(0);
  };

  test("what has come up since the review is named and left, and what was reviewed is made", async () => {
    await planned(7, { [FILE]: WANTED });
    await repository.merge(7);
    await repository.behind("POST", "/v0.1/merchants/MC1/members", {
      email: "dan@example.com",
      roles: ["role_employee"],
    });
    const end = await run("apply");
    expect(end.code).toBe(1);
    expect(end.outputs).toMatchObject({ result: "partial", "failure-reason": "partial" });
    expect(end.log).toContain("MC1: not approved: delete member dan@example.com");
    expect(lastComment()).toContain("❌ rolecall apply: partly applied");
    expect((await repository.writes()).some((one) => one.startsWith("DELETE"))).toBe(false);
    expect(await repository.writes()).toHaveLength(2);
  });

  test("a file that was reformatted after the review is still approved", async () => {
    await planned(7, { [FILE]: WANTED });
    await repository.merge(7);
    await repository.checkOut({ [FILE]: `# Reformatted\n\n${WANTED.replaceAll("{ ", "{  ")}` });
    expect((await run("apply")).outputs["result"]).toBe("applied");
  });

  test("a merge whose plan nobody saw is refused: from a fork, without a plan, or with a push after the review", async () => {
    await repository.propose(7, { [FILE]: WANTED });
    await repository.merge(7);
    const unseen = await run("apply");
    expect(unseen.outputs["failure-reason"]).toBe("not-approved");
    expect(unseen.log).toContain("MC1: not approved: create member cleo@example.com");
    expect(unseen.summary).toContain("No approved plan of #7 shows it.");
    const [pull] = repository.github.pulls;
    if (pull) pull.merged = null;
    const pushed = await run("apply");
    expect(pushed.summary).toContain("No approved plan shows it.");
    expect(await repository.writes()).toEqual([]);
  });

  describe("records", () => {
    const recorded = (): number => [...memory.refs.keys()].filter((ref) => ref.startsWith("runs/")).length;

    beforeEach(async () => {
      await planned(7, { [FILE]: WANTED });
      await repository.merge(7);
    });

    test("the run unless the input or the project's file says otherwise; the input wins", async () => {
      const file = { [FILE]: WANTED, "rolecall.yaml": "version: 1\nrecords: off\n" };
      await repository.checkOut(file);
      expect((await run("apply")).outputs["result"]).toBe("applied");
      expect(recorded()).toBe(0);
      await planned(8, { [FILE]: `${WANTED}  - { name: Night, permissions: [catalog_view] }\n` });
      await repository.merge(8);
      await repository.checkOut({
        ...file,
        [FILE]: `${WANTED}  - { name: Night, permissions: [catalog_view] }\n`,
      });
      expect((await run("apply", { records: "push" })).outputs["result"]).toBe("applied");
      expect(recorded()).toBe(1);
    });

    test("nothing in a public repository: it says so, refuses what was asked for, and records with allow-public", async () => {
      repository.github.isPrivate = false;
      const refused = await run("apply", { records: "push" });
      expect(refused.outputs["failure-reason"]).toBe("usage");
      expect(refused.log).toContain(
        "This repository is public, and the record of a run contains the addresses",
      );
      expect(await repository.writes()).toEqual([]);
      const told = await run("apply");
      expect(told.outputs["result"]).toBe("applied");
      expect(told.log).toContain(
        "this run is not recorded in git. To record it anyway, set the input allow-public.",
      );
      expect(recorded()).toBe(0);
    });

    test("what is live afterwards, in the branch that rolecall.yaml names", async () => {
      await repository.checkOut({
        [FILE]: WANTED,
        "rolecall.yaml": "version: 1\nlive_branch: rolecall-live\n",
      });
      expect((await run("apply")).outputs["result"]).toBe("applied");
      expect((await repository.records()).get("rolecall-live/MC1.yaml")).toContain("cleo@example.com");
    });

    test("in a public repository with allow-public", async () => {
      repository.github.isPrivate = false;
      expect((await run("apply", { "allow-public": "true" })).outputs["result"]).toBe("applied");
      expect(recorded()).toBe(1);
    });
  });

  test("two pull requests that were merged one after the other are applied together", async () => {
    await planned(7, { [FILE]: WANTED });
    await planned(8, { "access/mc2.yaml": SECOND });
    await repository.merge(7);
    await repository.merge(8);
    const end = await run("apply");
    expect(end.outputs["result"]).toBe("applied");
    expect(await repository.writes()).toHaveLength(3);
  });

  test("an approval of before the last apply approves nothing any more", async () => {
    await planned(7, { [FILE]: WANTED });
    await repository.merge(7);
    expect((await run("apply")).outputs["result"]).toBe("applied");
    await planned(8, { [FILE]: `${WANTED}  - { name: Night, permissions: [catalog_view] }\n` });
    await repository.merge(8);
    const { items } = (await repository.behind("GET", "/v0.1/merchants/MC1/members?email=cleo")) as {
      readonly items: readonly { readonly id: string }[];
    };
    await repository.behind("DELETE", `/v0.1/merchants/MC1/members/${items[0]?.id}`);
    const end = await run("apply");
    expect(end.outputs["failure-reason"]).toBe("partial");
    expect(end.log).toContain("not approved: create member cleo@example.com");
  });

  test("nothing is applied off the default branch, for a pull request, or for a commit that is not on the branch", async () => {
    await planned(7, { [FILE]: WANTED });
    const request = await run("apply", {}, { pull: 7 });
    expect(request.outputs["failure-reason"]).toBe("unsafe-event");
    const old = repository.github.commit({ [FILE]: WANTED });
    const sha = await repository.merge(7);
    repository.github.branches.set("release", sha);
    const branch = await run("apply", {}, { ref: "refs/heads/release", sha });
    expect(branch.outputs["failure-reason"]).toBe("wrong-branch");
    const stale = await run("apply", {}, { sha: old });
    expect(stale.outputs["failure-reason"]).toBe("stale-commit");
    expect(await repository.writes()).toEqual([]);
  });

  test("a guard refuses what was approved too, until its override is given", async () => {
    const guarded = `${BASE.replace(/ {2}- \{ email: ben.*\n/, "")}guards: { protect: { members: [ben@example.com] } }\n`;
    await repository.propose(7, { [FILE]: guarded });
    const plan = await run("plan", {}, { pull: 7 });
    expect(plan.outputs["result"]).toBe("refused");
    await repository.merge(7);
    const refused = await run("apply");
    expect(refused.outputs).toMatchObject({ result: "refused", "failure-reason": "refused" });
    expect(lastComment()).toContain("⛔ rolecall apply: refused");
    const override = /protect=ben@example\.com@[0-9a-f]{12}/.exec(refused.log)?.[0] ?? "";
    expect((await run("apply", { allow: override })).outputs["result"]).toBe("applied");
  });

  test("a key that lacks a permission for what was approved changes nothing, and a key that has it makes all of it", async () => {
    const swapped = BASE.replace(
      / {2}- \{ email: ben.*\n/,
      "  - { email: cleo@example.com, roles: [role_employee] }\n",
    );
    await planned(7, { [FILE]: swapped });
    await repository.merge(7);
    const denied = await run("apply", { "api-key": "sk_test_adds" });
    expect(denied.code).toBe(1);
    expect(denied.log).toContain("may not delete members at MC1: it lacks members_delete.");
    expect(lastComment()).toContain("Nothing was changed.");
    expect(lastComment()).toContain("it lacks members&#95;delete&#46;");
    expect(await repository.writes()).toEqual([]);
    expect((await run("apply")).outputs["result"]).toBe("applied");
    expect(await repository.writes()).toHaveLength(2);
  });

  test("a first password cannot be taken from a variable that holds a key", async () => {
    const till = `${BASE}  - { email: till@example.com, managed: { password_env: ROLECALL_API_KEY }, roles: [role_employee] }\n`;
    await planned(7, { [FILE]: till });
    await repository.merge(7);
    const end = await run("apply", { "api-key": "" }, { env: { ROLECALL_API_KEY: "sk_test_sandbox" } });
    expect(end.outputs["failure-reason"]).toBe("key-missing");
    expect(end.log).toContain("ROLECALL_API_KEY cannot be a password: it is for an API key.");
    expect(await repository.writes()).toEqual([]);
  });

  test("where GitHub does not say what may be applied, nothing is", async () => {
    await planned(7, { [FILE]: WANTED });
    await repository.merge(7);
    repository.github.refusals.push({ method: "POST", path: /graphql$/, status: 403, times: 9 });
    const end = await run("apply");
    expect(end.outputs["failure-reason"]).toBe("github");
    expect(end.log).toContain("pull-requests: read");
    expect(await repository.writes()).toEqual([]);
  });
});
