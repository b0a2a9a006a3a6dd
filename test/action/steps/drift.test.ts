import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type MemoryGit, memoryGit } from "../support/memory-git.ts";
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
let memory: MemoryGit;

beforeEach(async () => {
  memory = memoryGit();
  repository = await openRepository(SEED, { "access/mc1.yaml": BASE }, { memory });
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

describe("drift", () => {
  const drift = (inputs: Readonly<Record<string, string>> = {}): Promise<StepEnd> =>
    repository.step({ command: "drift", ...inputs }, { event: "schedule" });

  test("it is closed when every merchant is clean, and opened again when something differs", async () => {
    await invite("eve@example.com");
    await drift();
    await repository.checkOut({
      "access/mc1.yaml": `${BASE}  - { email: eve@example.com, roles: [role_employee] }\n`,
    });
    const clean = await drift();
    expect(clean.outputs["result"]).toBe("clean");
    expect(issue().state).toBe("closed");
    await repository.checkOut({ "access/mc1.yaml": BASE });
    await drift();
    expect(issue().state).toBe("open");
    expect(issue().body).toContain("eve@example.com");
  });

  test("the issue is commented only when something else differs, and remembers since when", async () => {
    await invite("eve@example.com");
    await drift();
    // As if it had been seen long ago.
    issue().body = issue().body.replace(/=[0-9a-z]+ -->/, "=rb2q00 -->");
    await drift();
    expect(repository.github.comments).toEqual([]);
    await invite("dan@example.com");
    await drift();
    expect(issue().body).toContain("first seen 2022-04-28 23:45 UTC");
    expect(issue().body).toContain("dan");
    expect(repository.github.comments.map(({ body }) => body)).toEqual([
      expect.stringContaining("The differences have changed: 1 new difference, 0 gone."),
    ]);
  });

  test("closed by hand while something differs, it is opened again", async () => {
    await invite("eve@example.com");
    await drift();
    issue().state = "closed";
    await drift();
    expect(issue().state).toBe("open");
    expect(repository.github.comments.at(-1)?.body).toContain(
      "Reopened, because there are differences again.",
    );
  });

  test("a look that failed neither opens nor closes anything", async () => {
    await invite("eve@example.com");
    await drift();
    const before = issue().body;
    await repository.behind("PUT", "/faults", { rules: [{ kind: "status", status: 403 }] });
    const end = await drift();
    expect(end.code).toBe(1);
    expect(end.outputs).toMatchObject({ result: "failed", "failure-reason": "service" });
    expect(issue()).toMatchObject({ state: "open", body: before });
    repository.github.issues.splice(0);
    await drift();
    expect(repository.github.issues).toEqual([]);
  });

  test("what is live is recorded in the branch that rolecall.yaml names, unless everybody can read it", async () => {
    const recorded = async () => (await repository.records()).get("rolecall-live/MC1.yaml") ?? "";
    await repository.checkOut({
      "access/mc1.yaml": BASE,
      "rolecall.yaml": "version: 1\nlive_branch: rolecall-live\n",
    });
    await drift();
    expect(await recorded()).toContain("ben@example.com");
    const first = memory.refs.get("rolecall-live");
    await drift();
    expect(memory.refs.get("rolecall-live")).toBe(first);
    // A branch that is there already is no permission to publish more.
    repository.github.isPrivate = false;
    await invite("eve@example.com");
    const end = await drift();
    expect(end.code).toBe(0);
    expect(end.log).toContain("The live state could not be recorded in rolecall-live");
    expect(memory.refs.get("rolecall-live")).toBe(first);
    await drift({ "allow-public": "true" });
    expect(await recorded()).toContain("eve@example.com");
  });

  test("without drift there is no issue", async () => {
    const end = await drift();
    expect(end.code).toBe(0);
    expect(end.outputs).toMatchObject({ result: "clean", "has-changes": "false" });
    expect(repository.github.issues).toEqual([]);
  });

  test("the files of a pull request are no drift, and meet no key", async () => {
    await repository.propose(7, {
      "access/mc1.yaml": BASE.replace("members:", "api: { base_url: 'http://127.0.0.1:1' }\nmembers:"),
    });
    const end = await repository.step({ command: "drift", "base-url": "" }, { pull: 7 });
    expect(end.outputs["failure-reason"]).toBe("unsafe-event");
    expect(await repository.behind("GET", "/requests")).toMatchObject({ items: [] });
  });

  test("only the action's own issue is touched, though others have copied it", async () => {
    await invite("eve@example.com");
    await drift();
    const own = issue();
    const copies = ["mallory", "github-actions", "dan"].map((author, number) => ({ ...own, number, author }));
    repository.github.issues.unshift(...copies);
    await invite("dan@example.com");
    await drift();
    expect(repository.github.issues).toHaveLength(4);
    expect(own.body).toContain("dan@example.com");
    expect(copies.every(({ body }) => !body.includes("dan@example.com"))).toBe(true);
  });

  test("without the right to write issues, the summary has it", async () => {
    await invite("eve@example.com");
    repository.github.rights.delete("issues");
    const end = await drift();
    expect(end.code).toBe(0);
    expect(end.log).toContain(
      "::warning::The drift issue could not be written: this requires the permission issues: write.",
    );
    expect(end.summary).toContain("eve@example.com");
  });

  test("the issue has the patch that keeps the live state", async () => {
    await invite("eve@example.com");
    await drift();
    expect(issue().body).toContain("+++ b/access/mc1.yaml\n@@");
    expect(issue().body).toContain("+  - { email: eve@example.com, roles: [role_employee] }\n");
  });

  test("in a public repository the issue shows nobody's address", async () => {
    repository.github.isPrivate = false;
    await invite("eve@example.com");
    const end = await drift();
    expect(end.outputs["result"]).toBe("drift");
    expect([issue().body, end.summary, end.log].join()).not.toContain("eve@example.com");
    expect(issue().body).toContain("e***@example.com");
  });

  test("an issue that is too long is written shorter", async () => {
    for (let index = 0; index < 40; index++) await invite(`person${index}@example.com`);
    repository.github.maxBody = 4_000;
    const end = await drift({ "max-comment-size": "20000" });
    expect(end.code).toBe(0);
    expect(issue().body.length).toBeLessThanOrEqual(4_000);
    expect(issue().body).toContain("### What to do");
    const again = await drift({ "max-comment-size": "20000" });
    expect(again.code).toBe(0);
    expect(repository.github.comments).toEqual([]);
  });
});
