import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { nodesUnderTest } from "../support/nodes.ts";
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
const FILE = "access/mc1.yaml";

let repository: Repository;

beforeEach(async () => {
  repository = await openRepository(SEED, { [FILE]: BASE });
});

afterEach(async () => {
  await repository.stop();
});

const lastComment = (): string => repository.github.comments.at(-1)?.body ?? "";

describe.each(nodesUnderTest())("$name", ({ path: node }) => {
  const run = (
    command: string,
    inputs: Readonly<Record<string, string>> = {},
    options: Partial<Parameters<Repository["step"]>[1]> = {},
  ): Promise<StepEnd> => repository.step({ command, ...inputs }, { node, ...options });

  const planned = async (number: number, files: Readonly<Record<string, string>>): Promise<void> => {
    await repository.propose(number, files);
    expect((await run("plan", {}, { pull: number })).code).toBe(0);
  };

  test("what was reviewed is applied after the merge, and its comment says so", async () => {
    await planned(7, { [FILE]: WANTED });
    const sha = await repository.merge(7);
    const end = await run("apply");
    expect(end.code).toBe(0);
    expect(end.outputs).toMatchObject({
      result: "applied",
      "has-changes": "true",
      creates: "2",
      "failure-reason": "",
    });
    expect(await repository.writes()).toEqual([
      "POST /v0.1/merchants/MC1/roles",
      "POST /v0.1/merchants/MC1/members",
    ]);
    expect(repository.github.comments).toHaveLength(1);
    expect(lastComment()).toContain("## ✅ rolecall apply: applied");
    expect(lastComment()).toContain(`<code>${sha.slice(0, 7)}</code>`);
    expect(lastComment()).toContain("Apply complete at MC1: 2 changes done. Verified: no changes remain.");
    expect(repository.github.statuses.at(-1)).toMatchObject({
      sha,
      context: "rolecall apply",
      state: "success",
    });
    const again = await run("apply");
    expect(again.outputs).toMatchObject({ result: "no-changes", "has-changes": "false" });
    expect(await repository.writes()).toHaveLength(2);
  });

  test("an apply that stopped half-way says so, and can be run again", async () => {
    await planned(7, { [FILE]: WANTED });
    await repository.merge(7);
    await repository.behind("PUT", "/faults", {
      // The first request only asks for the permission.
      rules: [{ kind: "status", status: 422, operation: "members.create", times: 2 }],
    });
    const stopped = await run("apply");
    expect(stopped.code).toBe(1);
    expect(stopped.outputs).toMatchObject({ result: "partial", "failure-reason": "partial" });
    expect(stopped.log.match(/✓ MC1 {2}role Cashier created/g)).toHaveLength(1);
    expect(stopped.log).toContain("::error::Not everything was applied. Run it again to continue.");
    expect(lastComment()).toContain("## ❌ rolecall apply: partly applied");
    expect(lastComment()).toContain("create member cleo@example.com");
    const again = await run("apply");
    expect(again.outputs["result"]).toBe("applied");
    expect(lastComment()).toContain("## ✅ rolecall apply: applied");
  });
});
