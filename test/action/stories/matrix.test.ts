import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { changedFleet, codesOf, fleetFiles, fleetSeed } from "../support/fleet.ts";
import { downloadParts } from "../support/parts.ts";
import { openStory, type Run, type RunInputs, type Story } from "../support/story.ts";

const CODES = codesOf(4);
const [FIRST = "", SECOND = "", THIRD = ""] = CODES;

let story: Story;
let pull: number;

beforeEach(async () => {
  story = await openStory(fleetSeed(4), fleetFiles(CODES));
  pull = await story.openPull(changedFleet([FIRST, SECOND, THIRD]));
});

afterEach(async () => {
  await story.stop();
});

const part = (merchants: string, inputs: RunInputs = {}): Promise<Run> =>
  story.plan(pull, { publish: "later", merchants, ...inputs });
const publish = async (plans: string, inputs: RunInputs = {}): Promise<Run> =>
  story.plan(pull, { command: "publish", "api-key": "", plans, ...inputs });
const comment = (): string => story.comments(pull).join("\n");

describe("plans of a matrix", () => {
  test("are published by the last job alone, as one comment and one approval, which the apply takes", async () => {
    const jobs = [await part(FIRST), await part(`${SECOND} ${THIRD}`)];
    expect([story.comments(pull), story.github.checks]).toEqual([[], []]);
    expect(jobs[0]?.summary).toContain("create role Night");
    const published = await publish(await downloadParts(jobs));
    expect(published.outputs).toMatchObject({ result: "changes", creates: "3" });
    expect(story.comments(pull)).toHaveLength(1);
    expect(comment()).toContain("3 of 4 merchants are planned; nothing changes for the others.");
    expect(story.github.checks.map(({ name }) => name)).toEqual(["rolecall plan"]);
    await story.merge(pull);
    const apply = await story.apply({ merchants: `${FIRST} ${THIRD}` });
    expect(apply.outputs["result"]).toBe("applied");
    expect(await story.writes()).toHaveLength(2);
  });

  test("are red where a job has failed or its part is missing, and the merchant is named", async () => {
    const dead = await part(SECOND, { "api-key": "sk_test_revoked" });
    expect(dead.outputs["failure-reason"]).toBe("service");
    const published = await publish(await downloadParts([await part(FIRST), dead]));
    expect(published.outputs).toMatchObject({ result: "failed", "failure-reason": "service" });
    expect(published.log).toContain(`${SECOND} could not be planned.`);
    expect(comment()).toContain(`${THIRD} could not be read`);
    expect(comment()).toContain("No job has planned this merchant.");
  });

  test("of a fork, whose jobs have no key, are the comparison of files", async () => {
    const jobs = [await part(FIRST, { "api-key": "" }), await part(SECOND, { "api-key": "" })];
    const published = await publish(await downloadParts(jobs));
    expect(published.outputs["result"]).toBe("compared");
    expect(comment()).toContain("**Not compared with the live state.**");
    expect(story.github.checks).toEqual([]);
  });

  test("are red where one job has a key and another has none", async () => {
    const jobs = [await part(FIRST), await part(`${SECOND} ${THIRD}`, { "api-key": "" })];
    const published = await publish(await downloadParts(jobs));
    expect(published.outputs).toMatchObject({ result: "failed", "failure-reason": "service" });
    expect(comment()).toContain(`${SECOND}, ${THIRD} could not be read`);
  });

  test("are none where nothing changes", async () => {
    pull = await story.openPull({ "README.md": "news" });
    const published = await publish("plans");
    expect(published.outputs["result"]).toBe("no-changes");
    expect(story.comments(pull)).toEqual([]);
  });

  test("of members are no artifact of a public repository", async () => {
    story.github.isPrivate = false;
    const run = await part(FIRST);
    expect(run.outputs).toMatchObject({ "failure-reason": "usage" });
    expect(run.outputs["part-path"]).toBeUndefined();
    expect(run.log).toContain("anybody can read the artifacts of a public repository");
  });

  test("are for pull requests: on other events each job publishes its own", async () => {
    const later = await story.run({ command: "plan", publish: "later" });
    expect(later.outputs["failure-reason"]).toBe("usage");
    const now = await story.run({ command: "publish" });
    expect(now.outputs["failure-reason"]).toBe("usage");
  });
});

describe("a part that somebody has meddled with", () => {
  const refused = async (plans: string, why: string): Promise<void> => {
    const published = await publish(plans);
    expect(published.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
    expect(published.log).toContain(why);
    expect(story.github.checks).toEqual([]);
    expect(comment()).not.toContain("Night");
  };
  const edited = async (edit: (text: string) => string): Promise<string> => {
    const plans = await downloadParts([await part(FIRST), await part(`${SECOND} ${THIRD}`)]);
    const path = join(plans, "plan-0", "part.json");
    await writeFile(path, edit(await readFile(path, "utf8")));
    return plans;
  };

  test.each([
    ["is not JSON", () => "{", "it is not a part of a plan"],
    ["is something else", () => '{"part":1,"file":[]}', "it is not for the commit"],
    ["has no plan in it", (text: string) => text.replace('"plans"', '"plants"'), "it is not a plan"],
    [
      "has another change than its fingerprint says",
      (text: string) => text.replaceAll("catalog_view", "payouts_edit"),
      "has been edited: its fingerprints do not match",
    ],
    [
      "has a merchant that no file declares",
      (text: string) => text.replaceAll(`"${FIRST}"`, '"MC9999"'),
      "has been edited",
    ],
    [
      "is edited where no fingerprint tells",
      (text: string) => text.replace('"withoutKey":false', '"withoutKey":true'),
      "it has been edited, or made by a job with another approval-secret",
    ],
  ])("is refused if it %s", async (_, edit, why) => {
    await refused(await edited(edit), why);
  });

  test("is refused with approval-secret if its job had none, or another one", async () => {
    const secret = { "approval-secret": "s".repeat(32) };
    const parts = [await part(FIRST), await part(`${SECOND} ${THIRD}`, secret)];
    await refused(await downloadParts(parts), "made by a job with another approval-secret");
    const signed = await downloadParts([await part(FIRST, secret), await part(`${SECOND} ${THIRD}`, secret)]);
    expect((await publish(signed, { "approval-secret": "t".repeat(32) })).outputs["result"]).toBe("refused");
    expect((await publish(signed, secret)).outputs["result"]).toBe("changes");
  });

  test("is refused if it is of another commit", async () => {
    const plans = await downloadParts([await part(FIRST), await part(`${SECOND} ${THIRD}`)]);
    await story.push(pull, { "README.md": "news" });
    await refused(plans, "it is not for the commit");
  });

  test("is refused if it is there twice", async () => {
    const one = await part(FIRST);
    await refused(await downloadParts([one, one]), `another part has a plan of ${FIRST} already`);
  });

  test("cannot name a file of the runner by a link", async () => {
    const plans = await downloadParts([await part(CODES.join(" "))]);
    await mkdir(join(plans, "more"));
    await symlink("/etc/hostname", join(plans, "more", "part.json"));
    expect((await publish(plans)).outputs["result"]).toBe("changes");
  });
});
