import { afterEach, beforeEach, expect, test } from "vitest";
import { otherEvent } from "../support/event-payload.ts";
import { openStory, type Run, type RunInputs, type Story } from "../support/story.ts";

const TILLS = [1, 2, 3];
const FILE = "access/mc1.yaml";
const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner] }
${TILLS.map((n) => `      - { email: till-${n}@shop.example, roles: [], managed: { nickname: Till ${n} } }`).join("\n")}
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;
const BASE = `version: 1
merchant: MC1
members:
  - { email: ada@example.com, roles: [role_owner] }
${TILLS.map((n) => `  - { email: till-${n}@shop.example, roles: [], managed: { nickname: Till ${n}, password_env: TILL_${n} } }`).join("\n")}
`;
const PASSWORDS = TILLS.map((n) => `TILL_${n}=first=pass-${n}`).join("\n");

let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, { [FILE]: BASE });
});

afterEach(async () => {
  await story.stop();
});

const rotate = (inputs: RunInputs = {}, event?: Parameters<Story["run"]>[1]): Promise<Run> =>
  story.run(
    { command: "apply", "rotate-password": "till-*@shop.example", passwords: PASSWORDS, ...inputs },
    event,
  );

test("sets the passwords of the users that a pattern matches, without a review, and nothing else", async () => {
  await story.pushToMain({ [FILE]: `${BASE}roles:\n  - { name: New, permissions: [] }\n` });
  const run = await rotate({ "rotate-password": "till-1@shop.example till-[23]*" });
  expect(run.outputs).toMatchObject({ result: "applied", "failure-reason": "" });
  expect(run.summary).toContain("## ✅ rolecall apply: 3 passwords set");
  const writes = await story.writes();
  expect(writes).toHaveLength(3);
  expect(writes.every((one) => one.startsWith("PUT"))).toBe(true);
  const second = await rotate({
    "rotate-password": "TILL-2@shop.example",
    passwords: "TILL_2=second of the till",
  });
  expect(second.summary).toContain("1 password set");
  expect(story.github.comments).toEqual([]);
  expect(story.github.checks).toEqual([]);
});

test("masks each password before anything else, and prints none", async () => {
  const run = await rotate({ passwords: `${PASSWORDS}\nTILL_9 no-name-and-secret\n` });
  expect(run.outputs["failure-reason"]).toBe("usage");
  expect(run.log).toContain("Line 4 of the input passwords is not NAME=password.");
  const told = run.log.split("\n").filter((line) => !line.startsWith("::add-mask::"));
  expect(told.join("\n")).not.toMatch(/pass-\d|no-name-and-secret/);
  for (const secret of ["first=pass-1", "first=pass-3", "TILL_9 no-name-and-secret"])
    expect(run.log).toContain(`::add-mask::${secret}\n`);
  const masks = run.log.split("\n").filter((line) => line.startsWith("::add-mask::"));
  expect(run.log.startsWith(masks.join("\n"))).toBe(true);
});

test("a password that is missing is named by its variable, and others are set", async () => {
  const none = await rotate({ passwords: "" });
  expect(none.outputs["failure-reason"]).toBe("key-missing");
  expect(none.log).toContain(
    "Passwords of rotate-password come from the environment: TILL_1, TILL_2, TILL_3 are not",
  );
  expect(none.log).toContain("Add a line NAME=password of at least 8 characters to the input passwords.");
  const key = await rotate({ passwords: "TILL_1=sk_test_sandbox", "rotate-password": "till-1*" });
  expect(key.log).toContain("TILL_1 is not set");
  const env = await rotate(
    { passwords: "" },
    { env: { TILL_1: "from the step", TILL_2: "from the step", TILL_3: "x".repeat(9) } },
  );
  expect(env.outputs["result"]).toBe("applied");
});

test.each([
  ["kiosk-*", "usage", "rotate-password kiosk-*: no file lists an address that it matches as managed."],
  ["ada@example.com", "usage", "rotate-password ada@example.com: no file lists this address as managed."],
])("a pattern of nobody is an error: %s", async (pattern, reason, message) => {
  const run = await rotate({ "rotate-password": pattern });
  expect(run.outputs["failure-reason"]).toBe(reason);
  expect(run.log).toContain(message);
  expect(await story.writes()).toEqual([]);
});

test("runs on the default branch only, and only where somebody asks for it", async () => {
  const event = otherEvent("workflow_dispatch", story.github);
  const topic = await rotate({}, { event: { ...event, ref: "refs/heads/topic" } });
  expect(topic.outputs["failure-reason"]).toBe("wrong-branch");
  for (const name of ["push", "pull_request", "issue_comment", "workflow_run"]) {
    const run = await rotate({}, { event: otherEvent(name, story.github) });
    expect(run.outputs["failure-reason"]).toBe("unsafe-event");
  }
  expect((await rotate({ only: "due" })).outputs["failure-reason"]).toBe("usage");
  expect((await rotate({}, { event: otherEvent("schedule", story.github) })).outputs["result"]).toBe(
    "applied",
  );
  expect(await story.writes()).toHaveLength(3);
});

test("disabled users are left out, and enabled only by name and with an override", async () => {
  await story.behind("POST", "/merchants/MC1/members/till-2@shop.example/disable");
  const some = await rotate();
  expect(some.outputs["result"]).toBe("applied");
  expect(some.log).toContain("1 disabled user (till-2@shop.example).");
  expect(await story.writes()).toHaveLength(2);
  const named = await rotate({ "rotate-password": "till-2@shop.example" });
  expect(named.outputs["failure-reason"]).toBe("refused");
  expect(await story.writes()).toHaveLength(2);
  const [allow = ""] = /password-enables=\S+@[0-9a-f]{12}/.exec(named.log) ?? [];
  const allowed = await rotate({ "rotate-password": "till-2@shop.example", allow });
  expect(allowed.outputs["result"]).toBe("applied");
  expect(await story.writes()).toHaveLength(3);
});

test("a commit whose file has changed since sets nothing", async () => {
  const old = otherEvent("workflow_dispatch", story.github);
  await story.pushToMain({ [FILE]: BASE.replace("TILL_1 }", "OTHER }") });
  const run = await rotate({}, { event: old });
  expect(run.outputs["failure-reason"]).toBe("stale-commit");
  expect(await story.writes()).toEqual([]);
});

test("an ordinary apply takes first passwords from the input, too", async () => {
  const pull = await story.openPull({
    [FILE]: `${BASE}  - { email: till-4@shop.example, roles: [], managed: { password_env: TILL_4 } }\n`,
  });
  await story.plan(pull);
  await story.review(pull, "APPROVED");
  await story.merge(pull);
  expect((await story.apply()).outputs["failure-reason"]).toBe("key-missing");
  expect((await story.apply({ passwords: "TILL_4=first pass of till" })).outputs["result"]).toBe("applied");
});
