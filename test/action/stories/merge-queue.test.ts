import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BASE, FILE, SEED } from "../support/one-merchant.ts";
import { type FileChanges, openStory, type Story } from "../support/story.ts";

let story: Story;

const ROLES = "shared/roles.yaml";
const START = { [FILE]: `${BASE}include: [../${ROLES}]\n`, [ROLES]: "version: 1\n" };
const WITH_CLEO = {
  [FILE]: `${BASE}  - { email: cleo@example.com, roles: [role_employee] }\ninclude: [../${ROLES}]\n`,
};
const OWNER_ONLY = BASE.replace(/.*ben@example\.com.*\n/, "");
const WITH_ROLE = { [ROLES]: "version: 1\nroles: [{ name: Cashier, permissions: [catalog_view] }]\n" };

beforeEach(async () => {
  story = await openStory(SEED, START);
});

afterEach(async () => {
  await story.stop();
});

const proposed = async (files: FileChanges): Promise<number> => {
  const pull = await story.openPull(files);
  expect((await story.plan(pull)).outputs["result"]).toBe("changes");
  await story.review(pull, "APPROVED");
  return pull;
};

describe("a merge group", () => {
  test("passes if it is what was approved on its pull requests, and is then applied", async () => {
    const pulls = [await proposed(WITH_ROLE), await proposed(WITH_CLEO)];
    const [records, comments] = [pulls.map(story.records), pulls.map(story.comments)];
    const group = await story.queue(...pulls);
    const run = await story.planQueued(group);
    expect(run.outputs).toMatchObject({ result: "changes", "failure-reason": "" });
    expect(run.summary).toContain("**Approved**");
    // It approves nothing itself, and leaves the reviewed plans where they are.
    expect(pulls.map(story.records)).toEqual(records);
    expect(pulls.map(story.comments)).toEqual(comments);
    expect(story.github.statuses.at(-1)).toMatchObject({
      sha: group.sha,
      context: "rolecall plan",
      state: "success",
    });
    await story.mergeQueued(group);
    expect((await story.apply()).outputs["result"]).toBe("applied");
    expect(await story.writes()).toHaveLength(2);
    for (const pull of pulls) expect(story.comments(pull).join()).toContain("✅ rolecall apply: applied");
  });

  test("passes on top of a merge that is not applied yet", async () => {
    const first = await proposed(WITH_ROLE);
    const second = await proposed(WITH_CLEO);
    await story.merge(first);
    const run = await story.planQueued(await story.queue(second));
    expect(run.outputs).toMatchObject({ result: "changes", "failure-reason": "" });
  });

  test("fails if anything in it is new since the review", async () => {
    const pull = await proposed(WITH_ROLE);
    await story.behind("POST", "/v0.1/merchants/MC1/members", {
      email: "dan@example.com",
      roles: ["role_employee"],
    });
    const run = await story.planQueued(await story.queue(pull));
    expect(run.code).toBe(1);
    expect(run.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
    expect(run.summary).toContain("MC1: not approved: delete member dan@example.com");
    expect(run.log).toContain("Update the pull request");
  });

  test("fails if one of its pull requests has no plan, as of a fork", async () => {
    const pulls = [await story.openPull(WITH_ROLE, { fork: true }), await proposed(WITH_CLEO)];
    const run = await story.planQueued(await story.queue(...pulls));
    expect(run.outputs["failure-reason"]).toBe("not-approved");
    expect(run.summary).toContain("create role Cashier");
  });

  test("fails if one of its pull requests undoes what another was approved to do", async () => {
    const withoutBen = await proposed({ [FILE]: `${OWNER_ONLY}include: [../${ROLES}]\n` });
    const withBen = await story.openPull({
      [ROLES]: "version: 1\nmembers: [{ email: ben@example.com, roles: [role_employee] }]\n",
    });
    expect((await story.plan(withBen)).outputs["failure-reason"]).toBe("");
    const run = await story.planQueued(await story.queue(withoutBen, withBen));
    expect(run.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
    expect(run.summary).toContain("it was approved to remove ben@example.com, but no longer does so");
  });

  test("does not count the plan of a pull request that is not in it", async () => {
    await proposed(WITH_ROLE);
    const other = await story.openPull(WITH_ROLE);
    const run = await story.planQueued(await story.queue(other));
    expect(run.outputs["failure-reason"]).toBe("not-approved");
  });
});

describe("a review", () => {
  test("passes while the plan is the stored one, and changes nothing", async () => {
    const pull = await proposed(WITH_ROLE);
    const [records, comments] = [await story.recordedPlans(pull), story.comments(pull)];
    const run = await story.plan(pull, {}, { event: story.reviewEvent(pull) });
    expect(run.outputs).toMatchObject({ result: "changes", "failure-reason": "" });
    expect(await story.recordedPlans(pull)).toBe(records);
    expect(story.comments(pull)).toEqual(comments);
  });

  test("fails if the plan has changed, which another review approves", async () => {
    const pull = await proposed(WITH_ROLE);
    await story.behind("POST", "/v0.1/merchants/MC1/members", {
      email: "dan@example.com",
      roles: ["role_employee"],
    });
    const run = await story.plan(pull, {}, { event: story.reviewEvent(pull) });
    expect(run.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
    expect(story.comments(pull).join()).toContain("**Not what was approved**");
    expect(story.github.statuses.at(-1)).toMatchObject({ context: "rolecall plan", state: "failure" });
    await story.review(pull, "APPROVED");
    const again = await story.plan(pull, {}, { event: story.reviewEvent(pull) });
    expect(again.outputs["failure-reason"]).toBe("");
    expect(story.github.statuses.at(-1)).toMatchObject({ context: "rolecall plan", state: "success" });
    await story.merge(pull);
    expect((await story.apply()).outputs["result"]).toBe("applied");
    expect(await story.writes()).toHaveLength(2);
  });

  test("passes again after the plan was made and approved again", async () => {
    const pull = await proposed(WITH_ROLE);
    await story.behind("POST", "/v0.1/merchants/MC1/members", {
      email: "dan@example.com",
      roles: ["role_employee"],
    });
    await story.plan(pull);
    const early = await story.plan(pull, {}, { event: story.reviewEvent(pull) });
    expect(early.outputs["failure-reason"]).toBe("not-approved");
    await story.review(pull, "APPROVED");
    const late = await story.plan(pull, {}, { event: story.reviewEvent(pull) });
    expect(late.outputs["failure-reason"]).toBe("");
    await story.merge(pull);
    expect((await story.apply()).outputs["result"]).toBe("applied");
  });
});
