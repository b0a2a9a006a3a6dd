import { execFileSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openRepository, type Repository } from "../support/repository.ts";

const codes = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `MC${String(index).padStart(3, "0")}`);

const seed = (count: number): string => `merchants:
${codes(count)
  .map((code) => `  - { code: ${code}, members: [{ email: ada@example.com, roles: [role_owner] }] }`)
  .join("\n")}
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const file = (code: string): string => `version: 1
merchant: ${code}
environment: test
include: [../shared/group.yaml]
`;

const GROUP = "version: 1\nmembers:\n  - { email: ada@example.com, roles: [role_owner] }\n";

const filesOf = (count: number): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(codes(count).map((code) => [`access/${code}.yaml`, file(code)])),
  "shared/group.yaml": GROUP,
});

const CHANGED = {
  "shared/group.yaml": `${GROUP}  - { email: night@example.com, roles: [Night] }
roles:
  - { name: Night, permissions: [catalog_view, refunds_create, payouts_edit] }
`,
};

let repository: Repository;

afterEach(async () => {
  await repository.stop();
});

describe("fleet", () => {
  test("a hundred merchants are planned in one comment, approved on one commit, applied, and clean at night", async () => {
    repository = await openRepository(seed(100), filesOf(100));
    await repository.propose(7, CHANGED);
    const inputs = { concurrency: "32", "max-comment-size": "20000" };
    const plan = await repository.step({ command: "plan", ...inputs }, { pull: 7 });
    expect(plan.log).not.toContain("::error::");
    expect(plan.outputs).toMatchObject({ result: "changes", creates: "200" });
    const body = repository.github.comments[0]?.body ?? "";
    expect(body.length).toBeLessThanOrEqual(20_000);
    expect(body).toContain("100 members gain sensitive permissions");
    expect(body).toContain("full report in the job summary");
    expect(Buffer.byteLength(plan.summary)).toBeLessThan(1024 * 1024);
    expect(plan.summary).toContain("MC099");
    expect(repository.github.checks.every(({ output }) => (output.text?.length ?? 0) <= 65_535)).toBe(true);

    await repository.merge(7);
    const part = await repository.step({ command: "apply", ...inputs, shard: "1/3" });
    expect(part.outputs["result"]).toBe("applied");
    const apply = await repository.step({ command: "apply", ...inputs });
    expect(apply.outputs["result"]).toBe("applied");
    expect(await repository.behind("GET", "/requests")).toBeDefined();
    const drift = await repository.step({ command: "drift", ...inputs }, { event: "schedule" });
    expect(drift.outputs["result"]).toBe("clean");
  });

  test("list divides 300 merchants among no more jobs than a matrix may have", async () => {
    repository = await openRepository(seed(300), filesOf(300));
    const end = await repository.step({ command: "list", "api-key": "" });
    expect(end.code).toBe(0);
    const { include } = JSON.parse(end.outputs["matrix"] ?? "");
    expect(include).toHaveLength(150);
    expect(include[0]).toEqual({
      name: "MC000 and 1 more",
      merchants: "MC000 MC001",
      environment: "test",
      files: "access/MC000.yaml access/MC001.yaml",
    });
    const some = await repository.step({ command: "list", merchants: include[0].merchants });
    expect(JSON.parse(some.outputs["matrix"] ?? "").include).toHaveLength(2);
  });

  test("list with changed-since only has merchants that the last merge changed", async () => {
    repository = await openRepository(seed(3), filesOf(3));
    const git = (...args: readonly string[]): void => {
      const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
      execFileSync("git", ["-C", repository.folder, ...author, ...args], { stdio: "ignore" });
    };
    const commit = (): void => {
      git("add", ".");
      git("commit", "--quiet", "--message", "Change");
    };
    await rm(join(repository.folder, ".git"), { recursive: true });
    git("init", "--quiet");
    commit();
    await writeFile(join(repository.folder, "access/MC001.yaml"), `${file("MC001")}roles: []\n`);
    commit();
    const end = await repository.step({ command: "list", "api-key": "", "changed-since": "HEAD^1" });
    expect(JSON.parse(end.outputs["matrix"] ?? "").include).toMatchObject([{ merchants: "MC001" }]);
    expect(repository.github.requests).toEqual([]);
    const shallow = await repository.step({ command: "list", "api-key": "", "changed-since": "HEAD^9" });
    expect(shallow.outputs["failure-reason"]).toBe("usage");
    expect(shallow.log).toContain("git knows no commit HEAD^9");
  });

  test("validate needs neither key nor service nor token", async () => {
    repository = await openRepository(seed(2), { "access/a.yaml": file("MC001").replace(/include.*\n/, "") });
    const inputs = { command: "validate", "api-key": "", "base-url": "", "github-token": "" };
    const good = await repository.step(inputs);
    expect(good.outputs).toMatchObject({ result: "valid", "failure-reason": "" });
    expect(good.summary).toContain("✅ rolecall validate: 1 file valid");
    await repository.checkOut({ "access/a.yaml": "version: 1\nmerchant: MC1\nnonsense: true\n" });
    const bad = await repository.step(inputs);
    expect(bad.code).toBe(1);
    expect(bad.outputs).toMatchObject({ result: "invalid", "failure-reason": "invalid-files" });
    expect(bad.log).toMatch(/^::error title=unknown-key,file=access\/a\.yaml,line=3::/m);
  });
});
