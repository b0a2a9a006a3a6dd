import { inflateRawSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
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
const SECRET = "0123456789abcdef0123456789abcdef";
const KEYED = { "approval-secret": SECRET };

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

const refused = async (sentence: string, inputs: Readonly<Record<string, string>> = {}): Promise<void> => {
  const end = await apply(inputs);
  expect(end.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
  expect(end.log).toContain(sentence);
  expect(await repository.writes()).toEqual([]);
};

describe("who may approve", () => {
  test("another app's check runs count only where the workflow names it", async () => {
    repository.github.app = "deploy-bot";
    const end = await plan();
    expect(end.log).toContain(
      "::error::The records were stored by the app deploy-bot, which does not count: set approval-app to deploy-bot, for plan and apply.",
    );
    await repository.merge(7);
    await refused("A record on #7 was stored by another app and does not count");
    expect((await apply({ "approval-app": "deploy-bot" })).outputs["result"]).toBe("applied");
  });

  test("with approval-secret, no workflow without it can make a record", async () => {
    await plan();
    await repository.merge(7);
    await refused("A record on #7 is not signed with approval-secret and does not count", KEYED);
    expect((await apply()).outputs["result"]).toBe("applied");
  });

  test("with approval-secret, a record is good for its own commit and pull request", async () => {
    const { github } = repository;
    await plan(KEYED);
    await repository.propose(8, { [FILE]: WANTED.replace("cleo", "mallory") });
    const head = github.pulls.find(({ number }) => number === 8)?.head ?? "";
    for (const check of [...github.checks]) github.checks.push({ ...check, head_sha: head });
    await repository.merge(8);
    await refused("A record on #8 was made for another commit", KEYED);
  });

  test("what was approved with the secret is applied with it, and refused without or with another", async () => {
    const end = await plan(KEYED);
    expect(end.log.replace(`::add-mask::${SECRET}`, "")).not.toContain(SECRET);
    await repository.merge(7);
    await refused("A record on #7 is signed with approval-secret: give this job the same secret.");
    await refused("is not signed with approval-secret", { "approval-secret": `${SECRET}0` });
    expect((await apply(KEYED)).outputs["result"]).toBe("applied");
  });

  test("with approval-secret, nobody can check a guess of who is meant", async () => {
    await plan();
    await plan(KEYED);
    const [plain = "", keyed = ""] = repository.github.checks.map((check) => {
      const data = (check.output.text ?? "").replaceAll("```", "").trim().split(".").at(-1) ?? "";
      return `${inflateRawSync(Buffer.from(data, "base64"))} ${check.output.summary} ${check.external_id}`;
    });
    const [{ head_sha: head } = { head_sha: "" }] = repository.github.checks;
    const hashes = plain.match(/\b[0-9a-f]{16,}\b/g)?.filter((hash) => hash !== head) ?? [];
    expect(hashes.length).toBeGreaterThan(2);
    expect(hashes.filter((hash) => keyed.includes(hash))).toEqual([]);
    expect(`${plain} ${keyed}`).not.toContain("cleo");
  });

  test("a secret that could be found by trying is refused", async () => {
    const end = await plan({ "approval-secret": "hunter2" });
    expect(end.outputs["failure-reason"]).toBe("usage");
    expect(end.log).toContain("The input approval-secret has fewer than 32 characters.");
  });

  test("a record of an older version is refused, and what to do is said", async () => {
    await plan();
    const { checks } = repository.github;
    const [check] = checks.splice(0);
    if (check) checks.push({ ...check, external_id: check.external_id.replace("/2/", "/1/") });
    await repository.merge(7);
    await refused(
      "A record on #7 was stored by an older version of rolecall and does not count: re-run the plan before the merge.",
    );
  });
});
