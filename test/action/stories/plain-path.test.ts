import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BASE, FILE, SEED, WITH_ROLE } from "../support/one-merchant.ts";
import { openStory, type Story } from "../support/story.ts";

let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, { [FILE]: BASE }, { withGit: true });
});

afterEach(async () => {
  await story.stop();
});

for (const method of ["squash", "merge", "rebase"] as const) {
  test(`what was planned and reviewed is applied after the merge (${method}), once, and clean at night`, async () => {
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    expect((await story.plan(pull)).outputs["result"]).toBe("changes");
    await story.review(pull, "APPROVED");
    await story.merge(pull, method);
    const apply = await story.apply();
    expect(apply.outputs["result"]).toBe("applied");
    expect(story.comments(pull)).toHaveLength(1);
    expect(await story.writes()).toEqual(["POST /v0.1/merchants/MC1/roles"]);
    expect((await story.rerun(apply)).outputs["result"]).toBe("no-changes");
    expect((await story.due()).outputs["result"]).toBe("no-changes");
    expect((await story.drift()).outputs["result"]).toBe("clean");
  });
}

test("an apply is recorded on its commit, with its pull request and who started it, and its states remain", async () => {
  const pull = await story.openPull({ [FILE]: WITH_ROLE });
  await story.plan(pull);
  await story.review(pull, "APPROVED");
  const sha = await story.merge(pull, "squash");
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["--git-dir", story.refs, ...args], { encoding: "utf8" }).trim();
  git("update-ref", "refs/heads/main", sha);
  const apply = await story.apply({}, { env: { GITHUB_ACTOR: "ada", GITHUB_TRIGGERING_ACTOR: "ben" } });
  const ref = git("for-each-ref", "--format=%(refname)", "refs/rolecall/runs");
  expect(apply.log).toContain(`Recorded in acme/access: ${ref}.`);
  expect(git("rev-parse", `${ref}^`)).toBe(sha);
  const trailers = git("log", "--max-count=1", "--format=%(trailers:only,unfold)", ref);
  for (const trailer of ["Merchant: MC1", "Outcome: done", "Actor: ben", `Pull-Request: #${pull}`])
    expect(trailers.split("\n")).toContain(trailer);
  expect(trailers).toMatch(/^Signature: \w+ \w+$/m);
  expect((await story.due()).outputs["result"]).toBe("no-changes");
});

test("of two pull requests in a row the second is planned on the merge of both", async () => {
  const first = await story.openPull({ [FILE]: WITH_ROLE });
  const second = await story.openPull({ "access/notes.txt": "nothing" });
  await story.plan(first);
  await story.merge(first);
  await story.apply();
  await story.updateBranch(second);
  expect((await story.plan(second)).outputs["result"]).toBe("no-changes");
  expect(story.files("main")).toEqual({ [FILE]: WITH_ROLE });
  await story.merge(second, "merge");
  expect(Object.keys(story.files("main"))).toEqual([FILE, "access/notes.txt"]);
});

test("a secondary limit in the middle of a run is waited out", async () => {
  const pull = await story.openPull({ [FILE]: WITH_ROLE });
  story.github.limit("secondary", { after: 2, seconds: 30 });
  const before = story.clock.now();
  const run = await story.plan(pull);
  expect(run.outputs["result"]).toBe("changes");
  expect(story.clock.now() - before).toBeGreaterThanOrEqual(30_000);
  expect(story.comments(pull)).toHaveLength(1);
});
