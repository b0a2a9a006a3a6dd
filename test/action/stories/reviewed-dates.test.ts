import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStory, type Run, type Story } from "../support/story.ts";

const DAY = 86_400_000;
const FILE = "access/mc1.yaml";
const SEED = `merchants:
  - code: MC1
    roles:
      - { name: Cashier, permissions: [catalog_view] }
      - { name: Helper, permissions: [refunds_create] }
      - { name: Other, permissions: [refunds_create] }
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: ben@example.com, roles: [role_employee] }
      - { email: dot@example.com, roles: [Cashier] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;
const ADA = "{ email: ada@example.com, roles: [role_owner] }";
const BEN = "{ email: ben@example.com, roles: [role_employee] }";
const DOT = "{ email: dot@example.com, roles: [Cashier] }";
const NEW = "{ email: new@example.com, roles: [Helper], from: 2026-11-10 }";

/** A file with some members. */
const file = (members: readonly string[], rest = "", policies = ""): string =>
  `version: 1
merchant: MC1
guards: { max_removals: 100% }
${policies}roles:
  - { name: Cashier, permissions: [catalog_view] }
  - { name: Helper, permissions: [refunds_create] }
  - { name: Other, permissions: [refunds_create] }
members:
${members.map((one) => `  - ${one}\n`).join("")}${rest}`;

let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, { [FILE]: file([ADA, BEN, DOT]) });
  expect((await story.apply()).outputs["result"]).toBe("no-changes");
});

afterEach(async () => {
  await story.stop();
});

async function merged(text: string): Promise<number> {
  const pull = await story.openPull({ [FILE]: text });
  await story.plan(pull);
  await story.review(pull, "APPROVED");
  await story.merge(pull);
  return pull;
}

async function applied(text: string): Promise<void> {
  await merged(text);
  expect((await story.apply()).code).toBe(0);
}

async function pushed(text: string): Promise<Run> {
  await story.pushToMain({ [FILE]: text });
  return story.apply();
}

interface Member {
  readonly id: string;
  readonly user?: { readonly email: string };
  readonly invite?: { readonly email: string };
  readonly roles: readonly string[];
}

async function members(): Promise<readonly Member[]> {
  const answer = await story.behind("GET", "/v0.1/merchants/MC1/members?limit=25");
  return (answer as { readonly items: readonly Member[] }).items;
}

const addresses = async () => (await members()).map(({ user, invite }) => user?.email ?? invite?.email);
const rolesOf = async (email: string) => (await members()).find(({ user }) => user?.email === email)?.roles;

describe("a reviewed beginning", () => {
  beforeEach(() => applied(file([ADA, BEN, DOT, NEW])));

  test.each([
    ["another address", NEW.replace("new@example.com,", "evil@example.com, previously: new@example.com,")],
    ["other fields", NEW.replace(" }", ", metadata: { a: b } }")],
  ])("is not one of %s", async (_, entry) => {
    const run = await pushed(file([ADA, BEN, DOT, entry]));
    expect(run.log).toMatch(
      /not approved: on 2026-11-10, .*@example\.com joins with Helper.*, which no review shows/,
    );
    story.clock.advance(10 * DAY);
    expect((await story.due()).outputs["failure-reason"]).toBe("not-approved");
    expect(await addresses()).toEqual(["ada@example.com", "ben@example.com", "dot@example.com"]);
  });

  test("that a pull request removes is shown there, though nothing else changes", async () => {
    const pull = await story.openPull({ [FILE]: file([ADA, BEN, DOT]) });
    await story.plan(pull);
    expect(story.comments(pull)[0]).toContain(
      "MC1: no longer in the files: on 2026-11-10, new@example.com gains Helper",
    );
  });

  test("of a role that a pull request renames is not shown as removed", async () => {
    const renamed = file([ADA, BEN, DOT, NEW.replace("Helper", "Aide")]).replace(
      "name: Helper,",
      "name: Aide, previously: Helper,",
    );
    const pull = await story.openPull({ [FILE]: renamed });
    await story.plan(pull);
    expect(story.comments(pull)[0]).toContain("joins with <code>Aide</code>");
    expect(story.comments(pull)[0]).not.toContain("no longer in the files");
  });

  test("does not count any more once a reviewed leave has come before it", async () => {
    await applied(file([ADA, BEN, DOT, NEW], "leavers: [{ email: new@example.com, from: 2026-11-05 }]\n"));
    story.clock.advance(5 * DAY);
    await story.due();
    expect((await pushed(file([ADA, BEN, DOT, NEW]))).outputs["failure-reason"]).toBe("not-approved");
    story.clock.advance(5 * DAY);
    await story.due();
    expect(await addresses()).not.toContain("new@example.com");
  });

  test("does not count any more once a review has taken it back, whatever is pushed before the next apply", async () => {
    await merged(file([ADA, BEN, DOT]));
    expect((await pushed(file([ADA, BEN, DOT, NEW]))).outputs["failure-reason"]).toBe("not-approved");
    story.clock.advance(10 * DAY);
    expect((await story.due()).code).toBe(1);
    expect(await addresses()).not.toContain("new@example.com");
  });
});

test("a date that the end of a membership hid is not approved by a later review that does not show it", async () => {
  const helper = BEN.replace("] }", ", { role: Helper, from: 2026-11-25 }] }");
  await applied(file([ADA, helper, DOT]));
  await merged(file([ADA, BEN.replace(" }", ", until: 2026-11-20 }"), DOT]));
  await merged(file([ADA, BEN, DOT]));
  expect((await pushed(file([ADA, helper, DOT]))).log).toContain(
    "ben@example.com gains Helper, which no review",
  );
  story.clock.advance(26 * DAY);
  await story.due();
  expect(await rolesOf("ben@example.com")).toEqual(["role_employee"]);
});

test("somebody is back from a suspension with the reviewed roles only", async () => {
  const away = "{ email: ben@example.com, roles: [role_employee, Helper], suspended: { until: 2026-11-09 } }";
  await applied(file([ADA, away, DOT]));
  const run = await pushed(file([ADA, away.replace("Helper]", "Helper, Other]"), DOT]));
  expect(run.log).toContain(
    "ben@example.com is back with Helper, Other and role_employee, which no review shows",
  );
});

describe("a reviewed end", () => {
  const ENDING = BEN.replace(" }", ", until: 2026-11-04 }");
  const CASHIER = BEN.replace("] }", ", { role: Cashier, until: 2026-11-04 }] }");

  test("is not one of somebody whose address was pushed as the previous one", async () => {
    await applied(file([ADA, BEN, DOT, "{ email: new@example.com, roles: [Cashier], until: 2026-11-04 }"]));
    await pushed(
      file([
        ADA,
        BEN,
        "{ email: new@example.com, previously: dot@example.com, roles: [Cashier], until: 2026-11-04 }",
      ]),
    );
    story.clock.advance(5 * DAY);
    expect((await story.due()).log).toContain("not approved: delete member dot@example.com");
    expect(await addresses()).toContain("dot@example.com");
  });

  test("takes a role from somebody whose other roles nobody has reviewed", async () => {
    await applied(file([ADA, CASHIER, DOT]));
    const ben = (await members()).find(({ user }) => user?.email === "ben@example.com");
    await story.behind("PUT", `/v0.1/merchants/MC1/members/${ben?.id}`, {
      roles: [...(ben?.roles ?? []), "role_manager"],
    });
    story.clock.advance(5 * DAY);
    expect((await story.due()).outputs["result"]).toBe("partial");
    expect(await rolesOf("ben@example.com")).toEqual(["role_employee", "role_manager"]);
  });

  test("is made where a push has removed the person from the files before", async () => {
    await applied(file([ADA, ENDING, DOT]));
    expect((await pushed(file([ADA, DOT]))).outputs["failure-reason"]).toBe("not-approved");
    story.clock.advance(5 * DAY);
    expect((await story.due()).outputs["result"]).toBe("applied");
    expect(await addresses()).not.toContain("ben@example.com");
  });

  test("is made by a nightly run where the apply of a later merge was lost, and the merge stays to be applied", async () => {
    await applied(file([ADA, ENDING, DOT]));
    await merged(file([ADA, ENDING, DOT.replace("[Cashier]", "[Helper]")]));
    story.clock.advance(5 * DAY);
    const night = await story.due();
    expect(night.outputs["result"]).toBe("applied");
    expect(night.log).toContain("1 of 1 merchant: the apply of what was merged there has not run yet");
    expect(await addresses()).toEqual(["ada@example.com", "dot@example.com"]);
    const other = await story.openPull({ "notes.md": "hello" });
    await story.plan(other);
    expect(story.comments(other)[0] ?? "").not.toContain("still live");
    expect((await story.apply()).outputs["result"]).toBe("applied");
    expect((await story.drift()).outputs["result"]).toBe("clean");
  });

  test("is made, though somebody who joins lacks a password, which fails the run", async () => {
    const till =
      "{ email: till@example.com, roles: [Cashier], from: 2026-11-05, managed: { password_env: TILL_PASSWORD } }";
    await applied(file([ADA, ENDING, DOT, till]));
    story.clock.advance(5 * DAY);
    const night = await story.due();
    expect(night.outputs["result"]).toBe("partial");
    expect(night.log).toContain("TILL_PASSWORD");
    expect(await addresses()).toEqual(["ada@example.com", "dot@example.com"]);
  });

  test("that passes between a plan and its approval has ended what the plan adds", async () => {
    const pull = await story.openPull({ [FILE]: file([ADA, ENDING, DOT]) });
    await story.plan(pull);
    story.clock.advance(5 * DAY);
    await story.review(pull, "APPROVED");
    await story.merge(pull);
    expect((await story.apply()).code).toBe(0);
    expect(await addresses()).not.toContain("ben@example.com");
  });

  test("is told as lost, though a pull request was reviewed after its day", async () => {
    await applied(file([ADA, ENDING, DOT]));
    story.clock.advance(5 * DAY);
    const other = await merged(file([ADA, ENDING, DOT.replace("[Cashier]", "[Helper]")]));
    const run = await pushed(file([ADA, BEN, DOT.replace("[Cashier]", "[Helper]")]));
    expect(run.log).toContain(`#${other} was to remove ben@example.com, and was lost`);
  });

  test("is an error where the files grant the same role by its id without an end", async () => {
    await applied(file([ADA, CASHIER, DOT]));
    const id = (await rolesOf("dot@example.com"))?.[0];
    const run = await pushed(file([ADA, CASHIER.replace("}] }", `}, ${id}] }`), DOT]));
    expect(run.code).toBe(1);
    expect(run.log).toContain(
      `the same role to ben@example.com as "Cashier" and as "${id}", with different dates`,
    );
  });
});

test("what a reviewed plan takes back from the dashboard is told as lost if a push declares it", async () => {
  await story.behind("POST", "/v0.1/merchants/MC1/members", {
    email: "zoe@example.com",
    roles: ["role_admin"],
  });
  const pull = await merged(file([ADA, BEN, DOT.replace("[Cashier]", "[Helper]")]));
  const zoe = "{ email: zoe@example.com, roles: [role_admin] }";
  const run = await pushed(file([ADA, BEN, DOT.replace("[Cashier]", "[Helper]"), zoe]));
  expect(run.code).toBe(1);
  expect(run.log).toContain(`#${pull} was to remove zoe@example.com, and was lost`);
});

test("a plan that a policy refuses approves nothing, even if a push drops the policy", async () => {
  const policies = "policies: { max_holders: { Helper: 0 } }\n";
  await applied(file([ADA, BEN, DOT], "", policies));
  const given = DOT.replace("[Cashier]", "[Helper]");
  await merged(file([ADA, BEN, given], "", policies));
  await story.apply();
  expect((await pushed(file([ADA, BEN, given]))).outputs["failure-reason"]).toBe("not-approved");
  expect(await rolesOf("dot@example.com")).not.toContain("Helper");
});
