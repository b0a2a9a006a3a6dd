import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FileChanges, Story } from "../support/story.ts";
import { merchant, mergeReviewed, openTwoMerchants } from "../support/two-merchants.ts";

let story: Story;

beforeEach(async () => {
  story = await openTwoMerchants();
});

afterEach(async () => {
  await story.stop();
});

const merged = (files: FileChanges, method?: Parameters<Story["merge"]>[1]) =>
  mergeReviewed(story, files, method);

const created = async (): Promise<readonly string[]> => (await story.writes()).slice(2);

describe("the approvals of what was merged", () => {
  test("are found through more merges than GitHub lists on a page", async () => {
    await merged(merchant("MC1", "Day"));
    for (let index = 0; index < 20; index++) await story.pushToMain({ "notes.txt": `Note ${index}` });
    expect((await story.apply()).outputs["result"]).toBe("applied");
  });

  test("do not come back after more commits than are searched for an apply", async () => {
    await merged(merchant("MC1", "Day"));
    await story.apply();
    await merged(merchant("MC1"));
    await story.apply();
    for (let index = 0; index < 100; index++) await story.pushToMain({ "notes.txt": `Note ${index}` });
    await story.pushToMain(merchant("MC1", "Day"));
    expect((await story.apply()).outputs["failure-reason"]).toBe("not-approved");
  });

  test("are found behind a merge of a branch with many commits, which are not asked for one by one", async () => {
    await merged(merchant("MC1", "Day"));
    const long = await story.openPull({ "notes.txt": "Note" });
    for (let index = 0; index < 40; index++) await story.push(long, { "notes.txt": `Note ${index}` });
    await story.plan(long);
    await story.merge(long, "merge");
    const run = await story.apply();
    expect(run.outputs["result"]).toBe("applied");
    expect(run.requests.length).toBeLessThanOrEqual(12);
  });

  test("are found where GitHub takes a while to say which pull request a commit is of", async () => {
    story.github.lags.pulls = 4;
    const { sha } = await merged(merchant("MC1", "Day"));
    const run = await story.apply({}, { sha });
    expect(run.outputs["result"]).toBe("applied");
  });

  test("are waited for only while a planned pull request is open, which may have been merged", async () => {
    await story.pushToMain(merchant("MC1", "Day"));
    const refusedAfter = async (): Promise<number> => {
      const before = story.clock.now();
      const run = await story.apply();
      expect(run.outputs["failure-reason"]).toBe("not-approved");
      expect(run.requests.length).toBeLessThanOrEqual(12);
      return story.clock.now() - before;
    };
    expect(await refusedAfter()).toBeLessThan(90_000);
    await story.plan(await story.openPull(merchant("MC2", "Day")));
    await story.pushToMain(merchant("MC1", "Day", "Dusk"));
    expect(await refusedAfter()).toBeGreaterThanOrEqual(90_000);
  });

  test("are those of all parents of a merge", async () => {
    const [one, other] = [
      await story.openPull(merchant("MC1", "Day")),
      await story.openPull(merchant("MC2", "Day")),
    ];
    for (const pull of [one, other]) await story.plan(pull);
    story.clock.advance(60_000);
    const { git, branches, pulls } = story.github;
    const tip = branches.get("main") ?? "";
    const proposed = pulls.filter(({ number }) => number === one || number === other);
    const heads = proposed.map(({ head }) => head);
    const files = heads.reduce((ours, head) => {
      const at = git.addCommit({
        tree: git.addTree(ours),
        parents: [tip],
        message: "Merge",
        at: story.clock.now(),
      });
      return git.merged(at, head);
    }, git.files(tip));
    const parents = [tip, ...heads];
    const sha = git.addCommit({
      tree: git.addTree(files),
      parents,
      message: "Merge both",
      at: story.clock.now(),
    });
    branches.set("main", sha);
    for (const pull of proposed)
      Object.assign(pull, { merged: pull.head, mergedAt: new Date(story.clock.now()).toISOString() });
    const run = await story.apply();
    expect(run.outputs["result"]).toBe("applied");
    expect(await created()).toHaveLength(2);
  });

  test("do not count twice: not behind an apply, even on another parent of a merge", async () => {
    const old = await merged(merchant("MC1", "Day"));
    const late = await story.openPull(merchant("MC1", "Day", "Dusk"));
    expect((await story.apply()).outputs["result"]).toBe("applied");
    await story.plan(late);
    // Somebody removes by hand what was applied; an old approval does not bring it back.
    const { items } = (await story.behind("GET", "/v0.1/merchants/MC1/roles?limit=100")) as {
      readonly items: readonly { readonly id: string; readonly name: string }[];
    };
    const day = items.find(({ name }) => name === "Day")?.id;
    await story.behind("DELETE", `/v0.1/merchants/MC1/roles/${day}`);
    await story.merge(late, "merge");
    const run = await story.apply();
    expect(run.outputs["failure-reason"]).toBe("partial");
    expect(run.log).toContain("MC1: not approved: create role Day");
    expect(run.log).not.toContain(`#${old.pull}`);
  });
});
