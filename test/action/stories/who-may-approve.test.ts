import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openRefs, textsOf } from "../../../src/store/git-refs.ts";
import { openRepository, type Repository, type StepEnd } from "../support/repository.ts";

const SEED = `merchants:
  - code: MC1
    members: [{ email: ada@example.com, roles: [role_owner] }]
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const BASE = `version: 1
merchant: MC1
members:
  - { email: ada@example.com, roles: [role_owner] }
`;
const WANTED = `${BASE}  - { email: cleo@example.com, roles: [role_employee] }\n`;
const FILE = "access/mc1.yaml";
const OTHER = "another secret of 32 characters.";

let repository: Repository;

beforeEach(async () => {
  repository = await openRepository(SEED, { [FILE]: BASE });
  await repository.propose(7, { [FILE]: WANTED });
});

afterEach(async () => {
  await repository.stop();
});

const plan = (inputs: Readonly<Record<string, string>> = {}): Promise<StepEnd> =>
  repository.step({ command: "plan", ...inputs }, { pull: 7 });
const apply = (inputs: Readonly<Record<string, string>> = {}): Promise<StepEnd> =>
  repository.step({ command: "apply", ...inputs });

const refused = async (): Promise<void> => {
  const end = await apply();
  expect(end.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
  expect(end.log).toContain("MC1: not approved: create member cleo@example.com");
  expect(await repository.writes()).toEqual([]);
};

/** Moves a ref to a commit of edited files, as anybody can who may push. */
const rewrite = async (from: string, to: string, edit: (text: string) => string): Promise<void> => {
  const place = { url: repository.refs, prefix: "refs/rolecall", authorization: null };
  const refs = openRefs(place, {
    folder: `${repository.folder}/../own.git`,
    clone: null,
    env: process.env,
    now: Date.now,
  });
  const found = await refs.fetch();
  const files = await textsOf(found.get(from), refs);
  const edits = new Map([...files].map(([path, text]) => [path, edit(text)]));
  const moved = await refs.commit(null, edits, "Forged");
  await refs.push([{ ref: to, from: found.get(to) ?? null, to: moved }]);
};

describe("who may approve", () => {
  test("no workflow without the secret can make a record", async () => {
    await plan({ "approval-secret": OTHER });
    await repository.merge(7);
    await refused();
    expect((await apply({ "approval-secret": "" })).outputs["failure-reason"]).toBe("usage");
  });

  test("an edited record approves nothing", async () => {
    await plan();
    await rewrite("reviews/7", "reviews/7", (text) => text.replace("role_employee", "role_admin"));
    await repository.merge(7);
    await refused();
  });

  test("a record counts only for its own pull request", async () => {
    await plan();
    await repository.propose(8, { [FILE]: WANTED.replace("cleo", "mallory") });
    await rewrite("reviews/7", "reviews/8", (text) => text);
    const { pulls } = repository.github;
    const [first, second] = pulls;
    if (first && second) second.head = first.head;
    await repository.merge(8);
    const end = await apply();
    expect(end.log).toContain("MC1: not approved: create member mallory@example.com");
    expect(await repository.writes()).toEqual([]);
  });

  test("a state without its signature counts as nothing applied", async () => {
    await plan();
    await repository.merge(7);
    expect((await apply()).outputs["result"]).toBe("applied");
    await rewrite("state", "state", (text) => text.replace('"settled":[', '"settled":["reviews/9",'));
    await repository.behind("POST", "/v0.1/merchants/MC1/members", {
      email: "dan@example.com",
      roles: ["role_employee"],
    });
    const end = await apply();
    expect(end.outputs["failure-reason"]).toBe("not-approved");
    expect(end.log).toContain("MC1: not approved: delete member dan@example.com");
  });

  test("a state without its signature fails, even if nothing differs, and is told at night", async () => {
    await plan();
    await repository.merge(7);
    await apply();
    await rewrite("state", "state", (text) => text.replace('"settled":[', '"settled":["reviews/9",'));
    const night = await repository.step({ command: "drift" }, { event: "schedule" });
    expect(night.outputs["result"]).toBe("drift");
    const told = "the record of its last apply is not signed with the current approval secret";
    expect(repository.github.issues[0]?.body).toContain(`MC1:\n  ${told}`);
    const end = await apply();
    expect(end.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
    expect(end.log).toContain(`MC1: ${told}`);
    expect((await repository.step({ command: "apply" }, { sha: await repository.merge(8) })).code).toBe(0);
  });

  test("the secret is never printed, and nobody can check a guess at who is meant", async () => {
    const end = await plan({ "approval-secret": OTHER });
    expect(end.log.replace(`::add-mask::${OTHER}`, "")).not.toContain(OTHER);
    const git = (...args: readonly string[]): string =>
      execFileSync("git", ["--git-dir", repository.refs, ...args], { encoding: "utf8" });
    const paths = git("ls-tree", "-r", "--name-only", "refs/rolecall/reviews/7").trim().split("\n");
    const texts = paths.map((path) => git("show", `refs/rolecall/reviews/7:${path}`)).join();
    expect(texts).toContain("role_employee");
    expect(texts).not.toMatch(/cleo|example\.com/);
  });

  test("a secret that could be found by trying is refused", async () => {
    const end = await plan({ "approval-secret": "hunter2" });
    expect(end.outputs["failure-reason"]).toBe("usage");
    expect(end.log).toContain("The input approval-secret has fewer than 32 characters.");
  });
});
