import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startConnectProxy } from "../../support/connect-proxy.ts";
import { nodesUnderTest } from "../support/nodes.ts";
import { openRepository, type Repository, type StepEnd } from "../support/repository.ts";

const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: ben@example.com, roles: [role_employee] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const BASE = `version: 1
merchant: MC1
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com, roles: [role_employee] }
`;
const WITH_ROLE = `${BASE}roles:
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

describe.each(nodesUnderTest())("$name", ({ path: node }) => {
  const plan = (
    inputs: Readonly<Record<string, string>> = {},
    options: Partial<Parameters<Repository["step"]>[1]> = {},
  ): Promise<StepEnd> => repository.step({ command: "plan", ...inputs }, { node, pull: 7, ...options });

  const onlyComment = (): string => {
    expect(repository.github.comments).toHaveLength(1);
    return repository.github.comments[0]?.body ?? "";
  };

  test("a first plan is one comment with verdict, commit, changes and what happens on merge", async () => {
    const head = await repository.propose(7, { [FILE]: WITH_ROLE });
    const end = await plan();
    expect(end.code).toBe(0);
    const body = onlyComment();
    expect(body).toMatch(
      /^<!-- rolecall:plan:[0-9a-f]{12} -->\n\n## ✅ rolecall plan: changes without risks\n/,
    );
    expect(body).toContain(`<code>${head.slice(0, 7)}</code>`);
    expect(body).toContain("https://github.example/acme/access/actions/runs/1");
    expect(body).toContain("+ create role Cashier");
    expect(body).toContain(
      "**On merge**, the apply workflow plans again and makes this change; anything that is not listed here waits for another approval.",
    );
    expect(end.outputs).toMatchObject({
      result: "changes",
      "has-changes": "true",
      creates: "1",
      updates: "0",
      deletes: "0",
      "failure-reason": "",
    });
    expect(end.outputs["comment-url"]).toMatch(
      /^https:\/\/github\.example\/acme\/access\/pull\/7#issuecomment-/,
    );
    expect(end.summary).toContain("+ create role Cashier");
    expect(JSON.parse(await readFile(end.outputs["plan-path"] ?? "", "utf8"))).toMatchObject({ format: 1 });
    expect(await readFile(end.outputs["report-path"] ?? "", "utf8")).toContain("create role Cashier");
    expect(await repository.writes()).toEqual([]);
  });

  test("the service and GitHub are reached through the proxy of the step's environment", async () => {
    const proxy = await startConnectProxy();
    await repository.propose(7, { [FILE]: WITH_ROLE });
    const { hostname, port } = new URL(repository.github.url);
    const env = {
      HTTP_PROXY: `http://ada:s3cret@${proxy.host}`,
      // GitHub's toolkit asks a loopback address itself.
      GITHUB_API_URL: repository.github.url.replace(hostname, "github.test"),
    };
    const end = await plan({}, { env });
    await proxy.close();
    expect(end.code).toBe(0);
    expect(end.outputs["result"]).toBe("changes");
    expect(proxy.asked.map(({ to }) => to)).toContain(`github.test:${port}`);
    expect(proxy.asked.map(({ to }) => to)).toContain(new URL(repository.service.url).host);
    expect(new Set(proxy.asked.map(({ credentials }) => credentials))).toEqual(new Set(["ada:s3cret"]));
    expect(onlyComment()).not.toContain("s3cret");
  });

  test("a failure replaces the comment, and says why", async () => {
    await repository.propose(7, { [FILE]: WITH_ROLE });
    await plan();
    await repository.propose(7, { [FILE]: `${WITH_ROLE}nonsense: true\n` });
    const end = await plan();
    expect(end.code).toBe(1);
    expect(end.outputs).toMatchObject({ result: "failed", "failure-reason": "invalid-files" });
    expect(onlyComment()).toContain("## ❌ rolecall plan");
    expect(end.log).toMatch(/^::error title=unknown-key,file=access\/mc1\.yaml,line=8::/m);
    await repository.behind("PUT", "/faults", { rules: [{ kind: "status", status: 401 }] });
    await repository.propose(7, { [FILE]: WITH_ROLE });
    const down = await plan();
    expect(down.outputs).toMatchObject({ result: "failed", "failure-reason": "service" });
    expect(onlyComment()).toContain("could not be read");
  });

  test("keys and tokens are masked before anything else, and are nowhere in what is published", async () => {
    await repository.propose(7, { [FILE]: WITH_ROLE });
    const end = await plan({ "api-keys": "MC1 = sk_test_sandbox", "api-key": "" });
    expect(end.code).toBe(0);
    const masks = end.log.split("\n").filter((line) => line.startsWith("::add-mask::"));
    expect(masks).toContain("::add-mask::sk_test_sandbox");
    expect(masks).toContain(`::add-mask::${repository.github.token}`);
    expect(end.log.startsWith("::add-mask::")).toBe(true);
    const rest = end.log
      .split("\n")
      .filter((line) => !line.startsWith("::add-mask::"))
      .join("\n");
    const files = await Promise.all(
      ["plan-path", "report-path"].map((one) => readFile(end.outputs[one] ?? "", "utf8")),
    );
    const published = [
      rest,
      end.summary,
      onlyComment(),
      JSON.stringify(repository.github.statuses),
      ...files,
    ].join();
    expect(published).not.toContain("sk_test_sandbox");
    expect(published).not.toContain(repository.github.token);
  });

  test("no name can be a workflow command, an output, a mention or Markdown", async () => {
    const inFile = ["::error::pwned", "::add-mask::e", "##[error]pwned", "``` @everyone <img src=x> | -->"];
    const roles = inFile.map((name) => `  - { name: ${JSON.stringify(name)}, permissions: [catalog_view] }`);
    const long = `${"a ".repeat(40)}::error::pwned`;
    const text = `${BASE}roles:\n${roles.join("\n")}\n  - { name: ok, description: "${long}", permissions: [a] }\n`;
    await repository.propose(7, { [FILE]: text });
    await repository.behind("POST", "/v0.1/merchants/MC1/roles", {
      name: "live\n::error::pwned\nghadelimiter_x\nresult<<EOF\napplied\nEOF\n```\n@everyone",
      permissions: ["catalog_view"],
    });
    const end = await plan();
    expect(end.code).toBe(0);
    expect(end.outputs).toMatchObject({ result: "changes", creates: "5", deletes: "1" });
    const commands = end.log.split("\n").filter((line) => /^\s*::|##\[/.test(line));
    expect(
      commands.filter(
        (line) =>
          !/^::(add-mask::(sk_test|ghs_|0123456789abcdef)|warning title=(unheld-role|role-likely-renamed),)/.test(
            line,
          ),
      ),
    ).toEqual([]);
    for (const page of [onlyComment(), end.summary]) {
      const outside = page.replaceAll(/^(`{3,})\w*\n.*?^\1$/gms, "");
      expect(outside).not.toMatch(/@everyone|<img|pwned(?!<\/code>)/);
    }
  });
});
