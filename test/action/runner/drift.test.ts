import { afterEach, beforeEach, describe, expect, test } from "vitest";
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

let repository: Repository;

beforeEach(async () => {
  repository = await openRepository(SEED, { "access/mc1.yaml": BASE });
});

afterEach(async () => {
  await repository.stop();
});

const invite = (email: string): Promise<unknown> =>
  repository.behind("POST", "/v0.1/merchants/MC1/members", { email, roles: ["role_employee"] });

const issue = () => {
  expect(repository.github.issues).toHaveLength(1);
  const [only] = repository.github.issues;
  if (only === undefined) throw new Error("there is no issue");
  return only;
};

describe.each(nodesUnderTest())("$name", ({ path: node }) => {
  const drift = (inputs: Readonly<Record<string, string>> = {}): Promise<StepEnd> =>
    repository.step({ command: "drift", ...inputs }, { node, event: "schedule" });

  test("drift opens an issue with what differs, since when, and both ways out", async () => {
    await invite("eve@example.com");
    const end = await drift();
    expect(end.code).toBe(0);
    expect(end.outputs).toMatchObject({ result: "drift", deletes: "1" });
    const { title, body, labels } = issue();
    expect(end.outputs["issue-url"]).toContain("/issues/");
    expect(title).toBe("The live state differs from git");
    expect(labels).toEqual(["rolecall-drift"]);
    expect(body).toMatch(/^<!-- rolecall:drift:[0-9a-f]{12} -->\n<!-- rolecall:first-seen:1 /);
    expect(body).toContain("+ added: member eve@example.com (not in the file)");
    expect(body).toMatch(/eve.*is not in the file: first seen 20\d\d-\d\d-\d\d \d\d:\d\d UTC/);
    expect(body).toContain("+  - { email: eve@example.com, roles: [role_employee] }");
    expect(body).toContain("**Keep the files:** run the apply workflow by hand with the scope `all`");
  });
});
