import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type MemoryGit, memoryGit } from "../support/memory-git.ts";
import { openStory, type Run, type Story } from "../support/story.ts";

const CODES = ["MC1", "MC2", "MC3"] as const;
type Code = (typeof CODES)[number];

const SEED = `merchants:
${CODES.map((code) => `  - { code: ${code}, members: [{ email: ada@example.com, roles: [role_owner] }] }`).join("\n")}
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const file = (code: Code): string => `access/${code.toLowerCase()}.yaml`;

/** The merchant's file with these members besides the owner. */
const text = (code: Code, ...names: readonly string[]): string => `version: 1
merchant: ${code}
include: [../shared/roles.yaml]
members:
  - { email: ada@example.com, roles: [role_owner] }
${names.map((name) => `  - { email: ${name}@example.com, roles: [role_employee] }\n`).join("")}`;

const START = {
  "README.md": "Access.\n",
  "shared/roles.yaml": "version: 1\n",
  ...Object.fromEntries(CODES.map((code) => [file(code), text(code)])),
};

const NIGHT = "roles: [{ name: Night, permissions: [catalog_view] }]\n";
const both = { [file("MC1")]: text("MC1", "cleo"), [file("MC2")]: `${text("MC2")}${NIGHT}` };

let story: Story;
let memory: MemoryGit;

beforeEach(async () => {
  memory = memoryGit();
  story = await openStory(SEED, START, { memory });
  expect((await story.apply()).outputs["result"]).toBe("no-changes");
});

afterEach(async () => {
  await story.stop();
});

/** Opens, plans, approves and merges a pull request. */
const merged = async (files: Readonly<Record<string, string>>): Promise<number> => {
  const pull = await story.openPull(files);
  await story.plan(pull);
  await story.review(pull, "APPROVED");
  await story.merge(pull);
  return pull;
};

/** Somebody invites Dan at the dashboard. */
const inviteDan = (code: Code): Promise<unknown> =>
  story.behind("POST", `/v0.1/merchants/${code}/members`, {
    email: "dan@example.com",
    roles: ["role_employee"],
  });

/** The next roles are not created; only the pull requests for MC2 create one. */
const failsAtRoles = (times = 1): Promise<unknown> =>
  story.behind("PUT", "/faults", {
    rules: [{ kind: "status", status: 422, operation: "roles.create", times }],
  });

const row = (run: Run, code: Code): string =>
  run.summary.split("\n").find((line) => line.startsWith(`| <code>${code}</code> |`)) ?? "";

const planned = (run: Run): readonly string[] =>
  CODES.filter((code) => run.log.includes(`${code} · test · `));

describe("a plan", () => {
  test("is of the merchants that the pull request changes, though others drifted", async () => {
    await inviteDan("MC2");
    const pull = await story.openPull({ [file("MC1")]: text("MC1", "cleo") });
    const run = await story.plan(pull);
    expect(planned(run)).toEqual(["MC1"]);
    expect(run.outputs).toMatchObject({ result: "changes", creates: "1", deletes: "0" });
    expect(story.comments(pull)[0]).toContain(
      "1 of 3 merchants is planned; this pull request does not change the others.",
    );
  });

  test("of a change to nothing but a text beside the files passes, and plans nothing", async () => {
    await inviteDan("MC2");
    const pull = await story.openPull({ "README.md": "Access as code.\n" });
    const run = await story.plan(pull);
    expect(run.outputs).toMatchObject({ result: "no-changes", "has-changes": "false" });
    const said = "None of 3 merchants is planned, because this pull request changes none of them.";
    expect(run.log).toContain(said);
    expect(run.summary.trimEnd().endsWith(`\n\n${said}`)).toBe(true);
    expect(story.comments(pull)).toEqual([]);
    await story.merge(pull);
    const applied = await story.apply();
    expect(applied.outputs["result"]).toBe("no-changes");
    expect(applied.summary).toContain("\n\nNone of 3 merchants changed since the last apply.");
    expect(await story.writes()).toEqual([]);
  });

  test("is of no merchant whose file only reads otherwise", async () => {
    await inviteDan("MC2");
    const pull = await story.openPull({ [file("MC2")]: `# Ours.\n${text("MC2")}` });
    expect(planned(await story.plan(pull))).toEqual([]);
  });

  test("is of all merchants that a shared file reaches", async () => {
    const pull = await story.openPull({
      "shared/roles.yaml": `version: 1\n${NIGHT}`,
    });
    expect(planned(await story.plan(pull))).toEqual(CODES);
    await story.merge(pull);
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", creates: "3" });
  });

  test("does not say that merchants stay the same whose files have errors", async () => {
    const pull = await story.openPull({
      [file("MC1")]: "version: 1\nmerchant: [\n",
      [file("MC2")]: "version: 1\n",
    });
    const run = await story.plan(pull);
    expect(run.outputs["failure-reason"]).toBe("invalid-files");
    expect(story.comments(pull)[0]).not.toMatch(/is planned|0 merchants/);
    await story.merge(pull);
    expect((await story.apply()).log).not.toContain("changed since the last apply");
  });

  test("says what the merge makes where one merchant would be refused", async () => {
    const pull = await story.openPull({
      ...both,
      [file("MC3")]: `${text("MC3", "cleo")}policies: { email_domains: [acme.example] }\n`,
    });
    await story.plan(pull);
    expect(story.comments(pull)[0]).toContain(
      "plans again and makes 2 changes of these; <code>MC3</code> would be refused for the reasons above",
    );
    await story.merge(pull);
    expect((await story.apply()).outputs["result"]).toBe("partial");
    expect(await story.writes()).toHaveLength(2);
  });

  test("without the key of one merchant names the inputs for it", async () => {
    const pull = await story.openPull(both);
    const run = await story.plan(pull, { "api-key": "", "api-keys": "MC1=sk_test_sandbox" });
    expect(run.outputs).toMatchObject({ result: "failed", "failure-reason": "key-missing" });
    expect(story.comments(pull)[0]).toContain("→ Add the line MC2=KEY to the input api-keys, or set api-key");
  });

  test("is of all merchants where scope is all", async () => {
    await inviteDan("MC2");
    const pull = await story.openPull({ [file("MC1")]: text("MC1", "cleo") });
    const run = await story.plan(pull, { scope: "all" });
    expect(planned(run)).toEqual(CODES);
    expect(run.outputs).toMatchObject({ creates: "1", deletes: "1" });
    await story.merge(pull);
    expect((await story.apply({ scope: "all" })).outputs["result"]).toBe("applied");
    expect(await story.writes()).toHaveLength(2);
  });
});

describe("an apply", () => {
  test("is none of a merchant's business that only drifted", async () => {
    await merged({ [file("MC1")]: text("MC1", "cleo") });
    await inviteDan("MC2");
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "applied", "failure-reason": "" });
    expect(run.log).toContain("1 of 3 merchants changed since the last apply");
    expect(await story.writes()).toEqual(["POST /v0.1/merchants/MC1/members"]);
  });

  test("leaves a dashboard edit that nobody reviewed, and makes what was reviewed", async () => {
    const pull = await merged(both);
    await inviteDan("MC2");
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "partial", "failure-reason": "partial" });
    expect((await story.writes()).toSorted()).toEqual([
      "POST /v0.1/merchants/MC1/members",
      "POST /v0.1/merchants/MC2/roles",
    ]);
    expect(row(run, "MC1")).toBe("| <code>MC1</code> | applied |  |");
    expect(row(run, "MC2")).toBe("| <code>MC2</code> | **partly applied** | see below |");
    expect(run.summary).toContain("MC2: not approved: delete member dan@");
    expect(story.comments(pull)[0]).toContain("❌ rolecall apply: partly applied");
    expect(run.log).toContain(
      "::error::Not everything is as reviewed. MC2: not approved: delete member dan@",
    );
    expect(story.comments(pull)[0]).toContain(row(run, "MC2"));
  });

  test("fails at the merchant with a revoked key, and applies the other", async () => {
    await merged(both);
    const keys = { "api-key": "", "api-keys": "MC1=sk_test_sandbox\nMC2=sk_test_revoked" };
    const run = await story.apply(keys);
    expect(run.outputs["result"]).toBe("partial");
    expect(await story.writes()).toEqual(["POST /v0.1/merchants/MC1/members"]);
    expect(row(run, "MC2")).toContain("| **failed** |");
  });

  test("that fails at one merchant and is not approved at another says both", async () => {
    await merged({ ...both, [file("MC3")]: text("MC3", "cleo") });
    await failsAtRoles();
    await inviteDan("MC3");
    const run = await story.apply();
    expect(run.outputs["result"]).toBe("partial");
    expect(row(run, "MC2")).toContain("| **failed** |");
    expect(row(run, "MC3")).toContain("| **partly applied** |");
    expect(run.summary).toContain(
      "Not everything was applied, and not everything is as reviewed. Another run only continues the reviewed changes.",
    );
    expect(run.summary).not.toContain("Run it again");
  });

  test("fails at the merchant with a 422, and applies the other", async () => {
    await merged(both);
    await failsAtRoles();
    const run = await story.apply();
    expect(run.outputs["result"]).toBe("partial");
    expect(row(run, "MC1")).toContain("| applied |");
    expect(row(run, "MC2")).toContain("| **failed** |");
  });

  test("refuses the merchant with a guard, and applies the other", async () => {
    const protectedDan = `${text("MC2")}guards: { protect: { members: [dan@example.com] } }\n`;
    await inviteDan("MC2");
    await merged({ ...both, [file("MC2")]: protectedDan });
    const run = await story.apply();
    expect(run.outputs["result"]).toBe("partial");
    expect(row(run, "MC2")).toContain("| **refused** |");
    expect(await story.writes()).toEqual(["POST /v0.1/merchants/MC1/members"]);
  });

  test("refuses all where nothing is left that was reviewed, and says so", async () => {
    await story.pushToMain(both);
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
    expect(await story.writes()).toEqual([]);
  });
});

describe("what a push brings past any review, and no run has seen", () => {
  beforeEach(async () => {
    await story.pushToMain({ [file("MC1")]: text("MC1", "cleo") });
  });

  test("fails the next apply, but is not told on a pull request that changes no merchant", async () => {
    const pull = await story.openPull({ "README.md": "Access as code.\n" });
    await story.plan(pull);
    await story.merge(pull);
    expect((await story.apply()).outputs["failure-reason"]).toBe("not-approved");
    expect(story.comments(pull)).toEqual([]);
  });

  test("is told on a pull request without a plan that changes the merchant", async () => {
    const pull = await story.openPull({ [file("MC1")]: text("MC1", "cleo", "dora") }, { fork: true });
    await story.merge(pull);
    await story.apply();
    expect(story.comments(pull)).toMatchObject([expect.stringContaining("not approved: create member cleo")]);
  });
});

describe("a merchant whose apply failed", () => {
  test("is applied by a re-run, with the approval of then, and no other is touched", async () => {
    await merged(both);
    await failsAtRoles();
    const first = await story.apply();
    // Cleo is removed from the merchant that was applied: that is drift by now.
    const { items } = (await story.behind("GET", "/v0.1/merchants/MC1/members?email=cleo")) as {
      readonly items: readonly { readonly id: string }[];
    };
    await story.behind("DELETE", `/v0.1/merchants/MC1/members/${items[0]?.id}`);
    const writes = (await story.writes()).length;
    const again = await story.rerun(first);
    expect(again.outputs["result"]).toBe("applied");
    expect((await story.writes()).slice(writes)).toEqual(["POST /v0.1/merchants/MC2/roles"]);
    expect((await story.rerun(first)).outputs["result"]).toBe("no-changes");
  });

  test("is applied by the run for the next merge, whatever that changes", async () => {
    await merged(both);
    await failsAtRoles();
    expect((await story.apply()).outputs["result"]).toBe("partial");
    const pull = await story.openPull({ "README.md": "Access as code.\n" });
    await story.plan(pull);
    await story.merge(pull);
    const run = await story.apply();
    expect(run.outputs["result"]).toBe("applied");
    expect(run.log).toContain("1 of 3 merchants changed since the last apply");
    expect((await story.apply()).outputs["result"]).toBe("no-changes");
  });

  test("is not applied twice by a late re-run of the run that failed", async () => {
    await merged(both);
    await failsAtRoles();
    const first = await story.apply();
    const pull = await story.openPull({ "README.md": "Access as code.\n" });
    await story.merge(pull);
    expect((await story.apply()).outputs["result"]).toBe("applied");
    const { items } = (await story.behind("GET", "/v0.1/merchants/MC2/roles?limit=100")) as {
      readonly items: readonly { readonly id: string; readonly name: string }[];
    };
    // Since then somebody has removed by hand what was approved.
    await story.behind(
      "DELETE",
      `/v0.1/merchants/MC2/roles/${items.find(({ name }) => name === "Night")?.id}`,
    );
    const writes = await story.writes();
    expect((await story.rerun(first)).outputs["result"]).toBe("no-changes");
    expect(await story.writes()).toEqual(writes);
  });

  test("waits through several runs, and is applied together with what came later", async () => {
    await merged(both);
    await failsAtRoles(2);
    await story.apply();
    await merged({ [file("MC3")]: text("MC3", "cleo") });
    const second = await story.apply();
    expect(second.outputs).toMatchObject({ result: "applied", creates: "2" });
    expect(second.log).toContain("MC2: differs from its files, as reported for");
    await merged({ [file("MC2")]: `${text("MC2", "eve")}${NIGHT}` });
    const third = await story.apply();
    expect(third.outputs).toMatchObject({ result: "applied", creates: "2" });
  });

  test("is found again after a run that could not record how it ended", async () => {
    await merged(both);
    memory.interrupt = memory.loseConnection;
    const first = await story.apply();
    expect(first.outputs["failure-reason"]).toBe("github");
    expect(first.log).toContain("The records of reviews and applies could not be reached.");
    expect((await story.apply()).outputs["result"]).toBe("no-changes");
    expect(await story.writes()).toHaveLength(2);
  });

  test("is planned again where its file is touched, so that what is new can be reviewed", async () => {
    await merged(both);
    await inviteDan("MC2");
    await story.apply();
    await inviteDan("MC3");
    const pull = await merged({
      [file("MC2")]: `# Dan leaves.\n${text("MC2")}${NIGHT}`,
      [file("MC3")]: `# Ours.\n${text("MC3")}`,
    });
    expect(story.comments(pull)[0]).toContain("- delete member dan@example.com");
    expect(story.comments(pull)[0]).not.toContain("<code>MC3</code>");
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "applied", creates: "0", deletes: "1" });
  });

  test("of a fork is planned and applied by a pull request that touches its file", async () => {
    const fork = await story.openPull(both, { fork: true });
    await story.plan(fork);
    await story.merge(fork);
    expect((await story.apply()).outputs["failure-reason"]).toBe("not-approved");
    await merged({ [file("MC1")]: `# Planned.\n${text("MC1", "cleo")}` });
    const run = await story.apply();
    expect(run.outputs["result"]).toBe("applied");
    expect(run.log).toContain("MC2: differs from its files, as reported for");
    expect(await story.writes()).toEqual(["POST /v0.1/merchants/MC1/members"]);
  });
});

describe("a merchant that cannot be read", () => {
  const revoked = { "api-key": "sk_test_sandbox", "api-keys": "MC1=sk_test_revoked" };

  test("fails the applies of its own pull requests, and is one line in the others, until it can be read", async () => {
    const own = await merged({ [file("MC1")]: text("MC1", "cleo") });
    expect((await story.apply(revoked)).outputs).toMatchObject({
      result: "failed",
      "failure-reason": "service",
    });
    const told = story.comments(own);
    expect(told[0]).toContain("❌ rolecall apply: failed");
    const other = await merged({ [file("MC2")]: text("MC2", "cleo") });
    const run = await story.apply(revoked);
    expect(run.outputs).toMatchObject({ result: "applied", "failure-reason": "" });
    expect(story.comments(other)[0]).toMatch(/MC1: could not be read, as reported for \w{7}\./);
    expect(story.comments(other)[0]).not.toContain("revoked");
    expect(story.comments(own)).toEqual(told);
    const again = await merged({ [file("MC1")]: text("MC1", "cleo", "dora") });
    expect((await story.apply(revoked)).outputs["result"]).toBe("failed");
    expect(story.comments(again)[0]).toContain("❌ rolecall apply: failed");
    const night = await story.due(revoked);
    expect(night.outputs["failure-reason"]).toBe("not-approved");
    expect(night.log).toMatch(/MC1: left alone: the apply of \w{7} failed there/);
    await story.drift();
    expect(story.github.issues[0]?.body).toMatch(
      new RegExp(`MC1, since the apply of \\w{7} \\(#${own}, #${again}\\):\\n  it could not be read`),
    );
    await merged({ "README.md": "More.\n" });
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", creates: "2" });
    expect(story.comments(own)[0]).toContain("✅ rolecall apply: applied");
    expect((await story.drift()).outputs["result"]).toBe("clean");
  });

  test("is listed by the issue, which keeps what it knows of it", async () => {
    await inviteDan("MC1");
    await story.drift();
    const [issue] = story.github.issues;
    const seen = /MC1:\w{16}=\w+/.exec(issue?.body ?? "")?.[0];
    expect((await story.drift(revoked)).outputs["failure-reason"]).toBe("service");
    expect(story.github.issues[0]?.body).toContain("MC1 could not be read");
    expect(story.github.issues[0]?.body).toContain(seen);
    expect(story.github.issues[0]).toMatchObject({ state: "open" });
    const before = story.github.issues[0]?.body;
    await story.drift({ "api-key": "sk_test_revoked" });
    expect(story.github.issues[0]?.body).toBe(before);
  });

  test("where the service refuses its changes fails its own pull request alone", async () => {
    const till = "  - { email: till@example.com, managed: { password_env: TILL }, roles: [role_employee] }\n";
    const own = await merged({ [file("MC1")]: `${text("MC1")}${till}` });
    expect((await story.apply()).outputs["failure-reason"]).toBe("key-missing");
    expect(story.comments(own)[0]).toContain("TILL");
    await merged({ [file("MC2")]: text("MC2", "cleo") });
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "applied", "failure-reason": "" });
    expect(run.summary).toMatch(/MC1: differs from its files, as reported for \w{7}\./);
    expect((await story.apply({ passwords: "TILL=password-of-till" })).outputs["result"]).toBe("applied");
  });
});

describe("a file with an error", () => {
  test("fails the plan and the apply of what breaks it, and is one line in the others", async () => {
    const own = await merged({ [file("MC1")]: text("MC1", "cleo") });
    await story.pushToMain({ [file("MC1")]: "version: 1\nmerchant: MC1\nmembers: 7\n" });
    const run = await story.apply();
    expect(run.outputs["failure-reason"]).toBe("invalid-files");
    expect(story.comments(own)[0]).toMatch(/access\/mc1\.yaml:3:\d+: error/);
    const told = story.comments(own);
    const other = await story.openPull({ [file("MC2")]: text("MC2", "cleo") });
    expect((await story.plan(other)).outputs).toMatchObject({ result: "changes", "failure-reason": "" });
    expect(story.comments(other)[0]).toContain("1 to create");
    expect(story.comments(other)[0]).toContain(
      "Left out, because of errors that an earlier commit has caused: access/mc1.yaml.",
    );
    await story.review(other, "APPROVED");
    await story.merge(other);
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", "failure-reason": "" });
    expect(story.comments(other)[0]).toContain("access/mc1.yaml");
    expect(story.comments(own)).toEqual(told);
    expect((await story.due()).outputs["failure-reason"]).toBe("invalid-files");
    expect((await story.drift()).outputs["failure-reason"]).toBe("invalid-files");
    expect(story.github.issues[0]?.body).toMatch(/access\/mc1\.yaml:3:\d+: error/);
    const touching = await story.openPull({ [file("MC1")]: "version: 1\nmerchant: MC1\nmembers: 8\n" });
    expect((await story.plan(touching)).outputs["failure-reason"]).toBe("invalid-files");
    await merged({ [file("MC1")]: text("MC1", "cleo") });
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", creates: "1" });
  });
});
