import { afterEach, describe, expect, test } from "vitest";
import { nodesUnderTest } from "../support/nodes.ts";
import { openRepository, type Repository } from "../support/repository.ts";

const MERCHANTS = 300;
const CODES = Array.from({ length: MERCHANTS }, (_, index) => `MC${String(index).padStart(3, "0")}`);

const SEED = `merchants:
${CODES.map((code) => `  - { code: ${code}, members: [{ email: ada@example.com, roles: [role_owner] }] }`).join("\n")}
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const file = (code: string): string => `version: 1
merchant: ${code}
environment: test
include: [../shared/group.yaml]
`;

const FILES = {
  ...Object.fromEntries(CODES.map((code) => [`access/${code}.yaml`, file(code)])),
  "shared/group.yaml": "version: 1\nmembers:\n  - { email: ada@example.com, roles: [role_owner] }\n",
};

const CHANGED = {
  "shared/group.yaml": `${FILES["shared/group.yaml"]}  - { email: night@example.com, roles: [Night] }
roles:
  - { name: Night, permissions: [catalog_view, refunds_create, payouts_edit] }
`,
};

let repository: Repository;

afterEach(async () => {
  await repository.stop();
});

describe.each(nodesUnderTest())("$name", ({ path: node, newest }) => {
  test("300 merchants are planned in one comment, approved on one commit, applied, and clean at night", {
    timeout: 300_000,
  }, async () => {
    repository = await openRepository(SEED, FILES);
    await repository.propose(7, CHANGED);
    const inputs = { concurrency: "32" };
    const plan = await repository.step({ command: "plan", ...inputs }, { node, pull: 7 });
    expect(plan.log).not.toContain("::error::");
    expect(plan.outputs).toMatchObject({ result: "changes", creates: String(2 * MERCHANTS) });
    const body = repository.github.comments[0]?.body ?? "";
    expect(body.length).toBeLessThanOrEqual(60_000);
    expect(body).toContain("300 members gain sensitive permissions");
    expect(body).toContain("full report in the job summary");
    expect(Buffer.byteLength(plan.summary)).toBeLessThan(1024 * 1024);
    expect(plan.summary).toContain("MC299");
    expect(repository.github.checks.every(({ output }) => (output.text?.length ?? 0) <= 65_535)).toBe(true);

    await repository.merge(7);
    const part = await repository.step({ command: "apply", ...inputs, shard: "1/3" }, { node });
    expect(part.outputs["result"]).toBe("applied");
    const apply = await repository.step({ command: "apply", ...inputs }, { node });
    expect(apply.outputs["result"]).toBe("applied");
    expect(await repository.behind("GET", "/requests")).toBeDefined();
    const drift = await repository.step({ command: "drift", ...inputs }, { node, event: "schedule" });
    expect(drift.outputs["result"]).toBe("clean");
  });

  // What follows does not depend on the Node that runs it.
  if (!newest) return;

  test("list divides 300 merchants among no more jobs than a matrix may have", async () => {
    repository = await openRepository(SEED, FILES);
    const end = await repository.step({ command: "list", "api-key": "" }, { node });
    expect(end.code).toBe(0);
    const { include } = JSON.parse(end.outputs["matrix"] ?? "");
    expect(include).toHaveLength(150);
    expect(include[0]).toEqual({
      name: "MC000 and 1 more",
      merchants: "MC000 MC001",
      environment: "test",
      files: "access/MC000.yaml access/MC001.yaml",
    });
    const some = await repository.step({ command: "list", merchants: include[0].merchants }, { node });
    expect(JSON.parse(some.outputs["matrix"] ?? "").include).toHaveLength(2);
  });

  test("validate needs neither key nor service", async () => {
    repository = await openRepository(SEED, { "access/a.yaml": file("MC001").replace(/include.*\n/, "") });
    const inputs = { command: "validate", "api-key": "", "base-url": "" };
    const good = await repository.step(inputs, { node });
    expect(good.outputs).toMatchObject({ result: "valid", "failure-reason": "" });
    expect(good.summary).toContain("✅ rolecall validate: 1 file valid");
    await repository.checkOut({ "access/a.yaml": "version: 1\nmerchant: MC1\nnonsense: true\n" });
    const bad = await repository.step(inputs, { node });
    expect(bad.code).toBe(1);
    expect(bad.outputs).toMatchObject({ result: "invalid", "failure-reason": "invalid-files" });
    expect(bad.log).toMatch(/^::error title=unknown-key,file=access\/a\.yaml,line=3::/m);
  });
});
