import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LINK } from "../support/github-git.ts";
import { memoryGit } from "../support/memory-git.ts";
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
  repository = await openRepository(SEED, { [FILE]: BASE }, { memory: memoryGit() });
});

afterEach(async () => {
  await repository.stop();
});

describe("plan", () => {
  const plan = (
    inputs: Readonly<Record<string, string>> = {},
    options: Partial<Parameters<Repository["step"]>[1]> = {},
  ): Promise<StepEnd> => repository.step({ command: "plan", ...inputs }, { pull: 7, ...options });

  const unescaped = (text: string): string =>
    text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));

  const onlyComment = (): string => {
    expect(repository.github.comments).toHaveLength(1);
    return repository.github.comments[0]?.body ?? "";
  };

  test("a new entry of ignore is looser, and one that the base has already is not", async () => {
    await repository.propose(7, {
      [FILE]: `${BASE}ignore: { members: ["ben@*"] }\n`.replace(/.*ben@example.*\n/, ""),
    });
    await plan();
    const body = onlyComment();
    expect(body).toContain("## ⚠️ rolecall plan: no changes, with looser rules");
    expect(body).toContain("### ⚠️ Rules: 1 looser than on the base branch");
    expect(body).toContain('! MC1: members that match "ben@*" are no longer managed (ignore)');
    expect(body).toContain("1 live member is ignored: Employee (ben@example.com).");
  });

  test("the comment announces who will lose access by time alone", async () => {
    await repository.propose(7, {
      [FILE]: `${BASE}  - { email: eve@example.com, roles: [role_employee, { role: role_manager, until: 2099-01-31 }], until: 2099-06-30T12:00:00Z }\n`,
    });
    await plan();
    expect(unescaped(onlyComment())).toContain(
      "**Later**, on the dates in the files, without another review:\n\n" +
        "- after 2099-01-31: <code>MC1</code> <code>eve@example.com</code> loses <code>role_manager</code>\n" +
        "- from 2099-06-30T12:00:00Z: <code>MC1</code> <code>eve@example.com</code> loses the membership",
    );
  });

  test("the comment announces who will leave, in one line", async () => {
    await repository.propose(7, {
      [FILE]: `${BASE}leavers:\n  - { email: BEN@example.com, from: 2099-01-15 }\n  - { email: eve@example.com, from: 2099-01-31T18:00:00Z }\n`,
    });
    await plan();
    expect(unescaped(onlyComment())).toContain(
      "**Later**, on the dates in the files, without another review:\n\n" +
        "- on 2099-01-15: <code>BEN@example.com</code> leaves <code>MC1</code>\n" +
        "- from 2099-01-31T18:00:00Z: <code>eve@example.com</code> leaves, if a member: no file lists the address",
    );
  });

  test("a second push edits the comment in place, first to planning, though others have copied its marker", async () => {
    await repository.propose(7, { [FILE]: WITH_ROLE });
    await plan();
    const { comments } = repository.github;
    const [own] = comments;
    // Somebody else's come first, and push the action's own to another page.
    const copies = ["mallory", "github-actions", "eve", "dan"].map((author, id) => ({
      id,
      issue: 7,
      author,
      body: own?.body ?? "",
      history: [],
    }));
    comments.unshift(...copies);
    const second = await repository.propose(7, {
      [FILE]: WITH_ROLE.replace("catalog_view", "refunds_create"),
    });
    await plan();
    expect(comments).toHaveLength(5);
    expect(own?.history).toHaveLength(3);
    expect(own?.history[1]).toContain(`planning…\n\nCommit <code>${second.slice(0, 7)}</code>`);
    expect(own?.history[2]).toContain("refunds_create");
  });

  test("for a fork, which may not write, the summary has everything and nothing fails", async () => {
    await repository.propose(7, { [FILE]: `${WITH_ROLE}sync: { members: additive }\n` });
    repository.github.rights.clear();
    repository.github.rights.add("contents");
    const end = await plan({ "api-key": "", "approval-secret": "" }, { fork: true });
    expect(end.code).toBe(0);
    expect(end.outputs["result"]).toBe("unplanned");
    expect(end.log).toContain(
      "::notice::The comment could not be written: this run has no permission to write",
    );
    expect(end.summary).toContain("**Nothing is planned.**");
    expect(repository.github.comments).toEqual([]);
  });

  test("without a key the files are checked, and looser rules listed", async () => {
    await repository.propose(7, { [FILE]: `${WITH_ROLE}sync: { members: additive }\n` });
    const end = await plan({ "api-key": "" });
    expect(end.outputs["result"]).toBe("unplanned");
    expect(onlyComment()).toContain("## ⏭️ rolecall plan: not planned\n");
    expect(onlyComment()).toContain("**Nothing is planned.**");
    expect(onlyComment()).toContain("members are no longer removed when unlisted");
    expect(repository.github.statuses.at(-1)).toMatchObject({
      state: "success",
      description: "Nothing was planned, because there is no API key",
    });
  });

  test("a merchant that no file declares any more is named, with and without a key", async () => {
    await repository.stop();
    const other = "access/mc2.yaml";
    repository = await openRepository(SEED, {
      [FILE]: BASE,
      [other]: "version: 1\nmerchant: MC2\nmembers: []\n",
    });
    await repository.propose(7, {
      [FILE]: BASE.replace("merchant: MC1\n", ""),
      [other]: "version: 1\nmerchant: MC1\ninclude: [mc1.yaml]\n",
    });
    const told = "! MC2: no longer managed, because no file declares it; the live state stays as it is";
    const end = await plan();
    expect(end.outputs["result"]).toBe("no-changes");
    expect(onlyComment()).toContain(told);
    await plan({ "api-key": "" });
    expect(onlyComment()).toContain(told);
  });

  test("a pull request that changes nothing gets no comment", async () => {
    await repository.propose(7, { [FILE]: `# a remark\n${BASE}` });
    const end = await plan();
    expect(end.outputs["result"]).toBe("no-changes");
    expect(repository.github.comments).toEqual([]);
  });

  test("a run that was overtaken by a newer commit leaves the comment alone", async () => {
    const old = await repository.propose(7, { [FILE]: WITH_ROLE });
    await plan();
    const before = onlyComment();
    await repository.propose(7, { [FILE]: BASE });
    const pull = repository.github.pulls[0];
    const newest = pull?.head ?? "";
    // The event is of the old commit, the pull request has the newer one.
    if (pull) pull.head = old;
    const run = plan({}, { sha: old });
    if (pull) pull.head = newest;
    const end = await run;
    expect(end.log).toContain("has a newer commit");
    expect(onlyComment()).toBe(before);
  });

  test("a pull request cannot have a key sent elsewhere, or another secret in its place", async () => {
    const elsewhere = BASE.replace("members:", "api: { base_url: 'http://127.0.0.1:1' }\nmembers:");
    await repository.propose(7, { [FILE]: elsewhere });
    const moved = await plan({ "base-url": "" }, { env: { ROLECALL_BASE_URL: repository.service.url } });
    expect(moved.outputs["failure-reason"]).toBe("unsafe-access");
    await repository.propose(7, {
      [FILE]: BASE.replace("members:", "api: { key_env: DEPLOY_TOKEN }\nmembers:"),
    });
    const other = await plan({}, { env: { DEPLOY_TOKEN: "hunter2-hunter2" } });
    expect(other.outputs["failure-reason"]).toBe("unsafe-access");
    expect(other.log).toContain("No request was sent");
    expect(await repository.behind("GET", "/requests")).toMatchObject({ items: [] });
    // What the workflow says wins over the file, so nothing is moved.
    await repository.propose(7, { [FILE]: elsewhere });
    expect((await plan()).outputs["result"]).toBe("no-changes");
  });

  test("keys are never used with a fork's files, whatever the event", async () => {
    await repository.propose(7, { [FILE]: WITH_ROLE });
    const end = await plan({}, { event: "pull_request_target", fork: true });
    expect(end.outputs["failure-reason"]).toBe("unsafe-event");
    expect(await repository.behind("GET", "/requests")).toMatchObject({ items: [] });
    const comment = await plan({}, { event: "issue_comment", pull: 0 });
    expect(comment.outputs["failure-reason"]).toBe("unsafe-event");
  });

  test("in a public repository, no address is published unless the workflow allows it", async () => {
    repository.github.isPrivate = false;
    const dated = BASE.replace("[role_owner]", "[role_owner], suspended: { from: 2027-01-02 }");
    await repository.propose(7, {
      [FILE]: WITH_ROLE.replace(BASE, dated).replace(/ {2}- \{ email: ben.*\n/, ""),
    });
    const end = await plan();
    const published = unescaped(
      [end.log, end.summary, onlyComment(), JSON.stringify(repository.github.statuses)].join(),
    );
    expect(published).not.toMatch(/(?:ben|ada)@example\.com/);
    expect(published).toContain("a***@example.com</code> is suspended");
    expect(onlyComment()).toContain("- delete member b***@example.com");
    const open = await plan({ "mask-addresses": "off" });
    expect(open.log).toContain("::warning::This repository is public, and mask-addresses is off");
    expect(onlyComment()).toContain("ben@example.com");
  });

  test.each([
    ["access/out.yaml", "../../secret.yaml"],
    ["access/git.yaml", "../.git/secret.yaml"],
  ])(
    "shows nothing of a file outside the checkout, or in .git, that a link leads to: %s",
    async (path, target) => {
      await repository.propose(7, { [FILE]: BASE, [path]: `${LINK}${target}` });
      const secret = `version: 1\nmerchant: MC1\ntoken: hunter2\n`;
      await writeFile(join(dirname(repository.folder), "secret.yaml"), secret);
      await writeFile(join(repository.folder, ".git", "secret.yaml"), secret);
      for (const paths of [path, "access"]) {
        const end = await plan({ paths });
        expect(end.log).toContain(path);
        const published = [end.log, end.summary, JSON.stringify(repository.github.comments)].join();
        expect(published).not.toContain("hunter2");
      }
    },
  );

  test("GitHub's limits are waited out: a secondary one, and one that tells its end", async () => {
    await repository.propose(7, { [FILE]: WITH_ROLE });
    const { refusals } = repository.github;
    const secondary = "You have exceeded a secondary rate limit.";
    refusals.push(
      {
        method: "POST",
        path: /comments$/,
        status: 403,
        headers: { "retry-after": "0" },
        message: secondary,
        times: 2,
      },
      { method: "POST", path: /statuses/, status: 429, headers: { "retry-after": "0" }, times: 1 },
      { method: "GET", path: /pulls/, status: 502, times: 1 },
    );
    const end = await plan();
    expect(end.code).toBe(0);
    expect(refusals.map(({ times }) => times)).toEqual([0, 0, 0]);
    expect(onlyComment()).toContain("Cashier");
    expect(repository.github.statuses).toHaveLength(1);
  });

  test("where GitHub finds a comment too long, it is written shorter, and never cut in the middle", async () => {
    const members = Array.from(
      { length: 120 },
      (_, index) => `  - { email: person${index}@example.com, roles: [role_employee] }`,
    );
    await repository.propose(7, { [FILE]: `${BASE}${members.join("\n")}\n` });
    repository.github.maxBody = 6_000;
    const end = await plan();
    expect(end.code).toBe(0);
    const body = onlyComment();
    expect(body.length).toBeLessThanOrEqual(6_000);
    expect(body).toContain("**Left out to keep this short:**");
    expect(body).toContain("full report in the job summary");
    expect(body.match(/<details>/g)?.length).toBe(body.match(/<\/details>/g)?.length);
    expect(end.summary).toContain("person119@example.com");
  });

  test("a refusal fails the step and stands on its line", async () => {
    const text = `${BASE}guards: { protect: { members: [ben@example.com] } }\n`.replace(
      / {2}- \{ email: ben.*\n/,
      "",
    );
    await repository.propose(7, { [FILE]: text });
    const end = await plan();
    expect(end.code).toBe(1);
    expect(end.outputs).toMatchObject({ result: "refused", "failure-reason": "refused" });
    expect(end.log).toMatch(/^::error title=guard protect,file=access\/mc1\.yaml,line=5::/m);
    expect(onlyComment()).toContain("⛔ rolecall plan: an apply would be refused");
    expect(onlyComment()).toContain("**On merge**, the apply would be refused");
  });

  test("of many problems the first ten are annotated, and the rest counted", async () => {
    const members = Array.from(
      { length: 14 },
      (_, index) => `  - { email: p${index}@example.com, roles: [Nobody${index}] }`,
    );
    await repository.propose(7, {
      [FILE]: `${BASE}roles: []\n`.replace("members:\n", `members:\n${members.join("\n")}\n`),
    });
    const end = await plan();
    const errors = end.log.split("\n").filter((line) => line.startsWith("::error title="));
    expect(errors).toHaveLength(10);
    expect(end.log).toContain("::notice::4 more errors: the job summary has all of them.");
  });

  test("an input that is wrong is told, without what was given", async () => {
    const end = await plan({ "api-keys": "MC1:sk_test_sandbox" });
    expect(end.outputs["failure-reason"]).toBe("usage");
    expect(end.log).toContain("::error::Line 1 of the input api-keys is not merchant=key.");
    const wrong = await plan({ command: "aply" });
    expect(wrong.log).toContain("The input command takes plan, apply, due, drift, validate.");
  });
});
