import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StoryEvent } from "../support/event-payload.ts";
import { BASE, FILE, SEED } from "../support/one-merchant.ts";
import { type FileChanges, openStory, type Run, type Story } from "../support/story.ts";

const KEY = "sk_test_sandbox";
/** The keys that the workflow gives; the file chooses which one, and where it is sent. */
const INPUTS = { "base-url": "", "api-key": "" };
const ENV = { RETAIL_KEY: KEY, DEPLOY_TOKEN: "hunter2-hunter2" };

let story: Story;
/** What main has: the service's own URL, and a key for it. */
let trusted: string;

const withApi = (url: string, key = "RETAIL_KEY"): string =>
  BASE.replace("members:", `api: { base_url: "${url}", key_env: ${key} }\nmembers:`);

beforeEach(async () => {
  story = await openStory(SEED, {});
  trusted = withApi(story.service.url);
  await story.pushToMain({ [FILE]: trusted });
});

afterEach(async () => {
  await story.stop();
});

/** Commits to another branch than main; gives an event of that commit. */
const elsewhere = async (name: string, files: FileChanges, ref = "refs/heads/topic"): Promise<StoryEvent> => {
  const pull = await story.openPull(files);
  const sha = story.github.pulls.find(({ number }) => number === pull)?.head ?? "";
  story.github.branches.set("topic", sha);
  const repository = { full_name: "acme/access", default_branch: "main", private: true };
  return { name, sha, ref, payload: { repository } };
};

const expectNoRequest = async (run: Run): Promise<void> => {
  expect(run.outputs).toMatchObject({ result: "failed", "failure-reason": "unsafe-access" });
  expect(run.log).toContain("No request was sent.");
  const { items } = (await story.behind("GET", "/requests")) as {
    readonly items: readonly { readonly path: string }[];
  };
  expect(items.filter(({ path }) => !path.startsWith("/_sandbox"))).toEqual([]);
};

// The events run a workflow of main; what it checks out is for the workflow to say, so it can be a branch of anybody's.
describe.each(["push", "workflow_dispatch", "check_run", "repository_dispatch", "schedule", "release"])(
  "on %s",
  (name) => {
    for (const command of ["plan", "drift"]) {
      test(`${command} sends no key where main does not send it`, async () => {
        const moved = await elsewhere(name, { [FILE]: withApi("http://127.0.0.1:1") });
        await expectNoRequest(await story.run({ command, ...INPUTS }, { event: moved, env: ENV }));
        const other = await elsewhere(name, { [FILE]: withApi(story.service.url, "DEPLOY_TOKEN") });
        await expectNoRequest(await story.run({ command, ...INPUTS }, { event: other, env: ENV }));
      });

      test(`${command} reads with main's own key and URL`, async () => {
        const event = await elsewhere(name, { [FILE]: `# a remark\n${trusted}` });
        const run = await story.run({ command, ...INPUTS }, { event, env: ENV });
        expect(run.outputs["failure-reason"]).toBe("");
      });
    }
  },
);

test("an apply of another branch that is allowed has the keys of main, too", async () => {
  const event = await elsewhere("push", { [FILE]: withApi("http://127.0.0.1:1") });
  const inputs = { command: "apply", ...INPUTS, allow: "branch=topic" };
  await expectNoRequest(await story.run(inputs, { event, env: ENV }));
});

test("a merge group cannot send a key elsewhere, even one that is built on a group that would", async () => {
  const evil = await story.openPull({ [FILE]: withApi("http://127.0.0.1:1") });
  const group = await story.queue(evil);
  await expectNoRequest(await story.planQueued(group, INPUTS, { env: ENV }));
  const harmless = await story.openPull({ "notes.txt": "nothing" });
  const next = await story.queue(evil, harmless);
  await expectNoRequest(await story.planQueued({ ...next, baseSha: group.sha }, INPUTS, { env: ENV }));
});

test("a pull request is compared with its base branch, and its review is, too", async () => {
  const pull = await story.openPull({ [FILE]: withApi("http://127.0.0.1:1") });
  await expectNoRequest(await story.plan(pull, INPUTS, { env: ENV }));
  const event = story.reviewEvent(pull);
  await expectNoRequest(await story.plan(pull, INPUTS, { event, env: ENV }));
});

test("a new merchant may use what another one uses, but not the general key for that one's URL", async () => {
  const file = "access/mc2.yaml";
  const same = trusted.replaceAll("MC1", "MC2");
  const event = await elsewhere("push", { [file]: same });
  const run = await story.run({ command: "plan", ...INPUTS }, { event, env: ENV });
  expect(run.outputs["failure-reason"]).toBe("service");
  const inputs = { "base-url": "", "api-key": KEY, "api-keys": `MC1=${KEY}` };
  const general = await elsewhere("push", { [file]: same.replace(", key_env: RETAIL_KEY", "") });
  const refused = await story.run({ command: "plan", ...inputs }, { event: general, env: ENV });
  expect(refused.outputs["failure-reason"]).toBe("unsafe-access");
});

test("a base branch that anybody can make decides nothing, unless it is one that is applied", async () => {
  const pull = await story.openPull({ [FILE]: withApi("http://127.0.0.1:1") });
  const own = story.github.pulls.find(({ number }) => number === pull);
  story.github.branches.set("topic", own?.head ?? "");
  Object.assign(own ?? {}, { base: "topic" });
  await expectNoRequest(await story.plan(pull, INPUTS, { env: ENV }));
  story.github.branches.set("topic", story.github.branches.get("main") ?? "");
  const allowed = { ...INPUTS, allow: "branch=topic" };
  expect((await story.plan(pull, allowed, { env: ENV })).outputs["failure-reason"]).toBe("unsafe-access");
  await story.push(pull, { [FILE]: `${trusted}# the same\n` });
  expect((await story.plan(pull, allowed, { env: ENV })).outputs["failure-reason"]).toBe("");
});
