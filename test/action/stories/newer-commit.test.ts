import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FileChanges, Story } from "../support/story.ts";
import { file, merchant, mergeReviewed, openTwoMerchants, roles, SHARED } from "../support/two-merchants.ts";

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

describe("an apply whose commit is not the tip any more", () => {
  test("goes on where the newer commit changes nothing of its merchants", async () => {
    const { sha } = await merged(merchant("MC1", "Day"));
    await story.pushToMain({
      "README.md": "Read me.",
      [file("MC2")]: `# a remark\n${merchant("MC2")[file("MC2")]}`,
    });
    const run = await story.apply({}, { sha });
    expect(run.outputs).toMatchObject({ result: "applied", "failure-reason": "" });
    expect(await created()).toEqual(["POST /v0.1/merchants/MC1/roles"]);
    expect((await story.apply()).outputs["result"]).toBe("no-changes");
  });

  test("leaves a merchant that the newer commit changes to that commit's run, and applies the others", async () => {
    const first = await merged({ ...merchant("MC1", "Day"), ...merchant("MC2", "Day") });
    const second = await merged(merchant("MC2", "Day", "Dusk"));
    const run = await story.apply({}, { sha: first.sha });
    expect(run.outputs["result"]).toBe("applied");
    expect(run.log).toContain(
      `::notice::MC2: changed again by the newer commit ${second.sha.slice(0, 7)}, whose run applies both changes, or asks for approval again.`,
    );
    expect(story.comments(first.pull).join()).toContain(
      `changed again by the newer commit ${second.sha.slice(0, 7)}`,
    );
    expect(await created()).toEqual(["POST /v0.1/merchants/MC1/roles"]);
    // What was left is approved by the first pull request, and what is new by the second.
    expect((await story.apply()).outputs["result"]).toBe("applied");
    expect(await created()).toHaveLength(3);
  });

  test("ends green where nothing is left, and tells the pull request which run does it", async () => {
    const first = await merged(merchant("MC1", "Day"));
    const second = await merged(merchant("MC1", "Day", "Dusk"));
    const run = await story.apply({}, { sha: first.sha });
    expect(run.code).toBe(0);
    expect(run.outputs).toMatchObject({ result: "superseded", "failure-reason": "" });
    const comment = story.comments(first.pull).join();
    expect(comment).toContain("rolecall apply: left to a newer commit");
    expect(comment).toContain(`/acme/access/commit/${second.sha}/checks`);
    expect(await created()).toEqual([]);
    expect((await story.apply()).outputs["result"]).toBe("applied");
  });

  test("counts what a merchant includes", async () => {
    const { sha } = await merged(merchant("MC1", "Day"));
    await story.pushToMain({ [SHARED]: `version: 1\n${roles("Night", "Dawn")}` });
    expect((await story.apply({}, { sha })).outputs["result"]).toBe("superseded");
  });

  test("looks once more before it writes", async () => {
    const { sha } = await merged(merchant("MC1", "Day"));
    const atTip = (happens: () => void): void => {
      story.github.incidents.push({ method: "GET", path: /git\/ref\/heads\/main$/, happens });
    };
    // The second time that the tip is asked for.
    atTip(() =>
      atTip(() => {
        const text = merchant("MC1", "Day", "Dusk")[file("MC1")] ?? "";
        const blobs = new Map(story.github.git.files(sha)).set(file("MC1"), story.github.git.addBlob(text));
        const tree = story.github.git.addTree(blobs);
        const at = story.clock.now();
        const tip = story.github.git.addCommit({ tree, parents: [sha], message: "Meanwhile", at });
        story.github.branches.set("main", tip);
      }),
    );
    expect((await story.apply({}, { sha })).outputs["result"]).toBe("superseded");
    expect(await created()).toEqual([]);
  });

  test("waits where GitHub still returns the tip before its commit", async () => {
    const before = story.github.branches.get("main") ?? "";
    const { sha } = await merged(merchant("MC1", "Day"));
    story.github.branches.set("main", before);
    const happens = (): void => void story.github.branches.set("main", sha);
    story.github.incidents.push({ method: "GET", path: /\/compare\//, happens });
    expect((await story.apply({}, { sha })).outputs["result"]).toBe("applied");
  });

  test("does not approve again what was taken back since, though somebody pushed it without a review", async () => {
    const { sha } = await merged(merchant("MC1", "Day"));
    await story.apply({}, { sha });
    await merged(merchant("MC1"));
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", deletes: "1" });
    await story.pushToMain(merchant("MC1", "Day"));
    const before = await created();
    expect((await story.apply({}, { sha })).outputs["failure-reason"]).toBe("not-approved");
    expect(await created()).toEqual(before);
  });

  test("is refused where the branch does not have it any more", async () => {
    const before = story.github.branches.get("main") ?? "";
    const { sha } = await merged(merchant("MC1", "Day"));
    story.github.branches.set("main", before);
    await story.pushToMain({ "README.md": "Read me." });
    const run = await story.apply({}, { sha });
    expect(run.outputs["failure-reason"]).toBe("stale-commit");
    expect(await created()).toEqual([]);
  });
});
