import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BASE, FILE, SEED } from "../support/one-merchant.ts";
import { openStory, type Run, type Story } from "../support/story.ts";

const WANTED = `${BASE}  - { email: cleo@example.com, roles: [role_employee] }\n`;
const CHANGED = "**Changed since it was approved**";
const DAN_IS_NEW = "MC1: not approved: delete member dan@example.com";

let story: Story;
let pull: number;
let planned: Run;

beforeEach(async () => {
  story = await openStory(SEED, { [FILE]: BASE });
  pull = await story.openPull({ [FILE]: WANTED });
  planned = await story.plan(pull);
});

afterEach(async () => {
  await story.stop();
});

const comment = (): string => story.comments(pull).at(-1) ?? "";

/** Somebody invites Dan at the dashboard, so that a new plan of the same commit removes him. */
const inviteDan = (): Promise<unknown> =>
  story.behind("POST", "/v0.1/merchants/MC1/members", { email: "dan@example.com", roles: ["role_employee"] });

const refused = async (...sentences: readonly string[]): Promise<void> => {
  const end = await story.apply();
  expect(end.code).toBe(1);
  expect(["partial", "refused"]).toContain(end.outputs["result"]);
  for (const sentence of sentences) expect(end.log).toContain(sentence);
  expect((await story.writes()).filter((one) => one !== "POST /v0.1/merchants/MC1/members")).toEqual([]);
};

describe("an approval is as old as its review", () => {
  test("a plan that was run again after the merge approves nothing, and says so", async () => {
    await story.review(pull, "APPROVED");
    await story.merge(pull);
    await inviteDan();
    const again = await story.rerun(planned);
    expect(again.log).toContain("::notice::The pull request is closed or merged");
    expect(again.summary).toContain("**This pull request is merged**");
    expect(again.summary).not.toContain("**On merge**");
    expect(await story.recordedPlans(pull)).toBe(1);
    await refused(DAN_IS_NEW);
  });

  test("a record that is stored while the pull request is being merged does not count", async () => {
    await inviteDan();
    let asked = 0;
    const next = (): void => {
      asked += 1;
      // After the plan was recorded, the pull request is asked for once more.
      if (asked === 4) void story.merge(pull);
      else story.github.incidents.push({ method: "POST", path: /graphql$/, happens: next });
    };
    next();
    asked = 0;
    const run = await story.rerun(planned);
    expect(run.log).toContain("The pull request was merged in the meantime, so this plan is not recorded.");
    expect(await story.recordedPlans(pull)).toBe(1);
    await refused(DAN_IS_NEW);
  });

  test("a plan that was run again after the review is shown as changed, and refused", async () => {
    await story.review(pull, "APPROVED");
    await story.rerun(planned);
    expect(comment()).not.toContain(CHANGED);
    await inviteDan();
    await story.rerun(planned);
    expect(comment()).toContain(`${CHANGED}, at `);
    expect(comment()).toContain("the plan of <code>MC1</code>.");
    expect(comment()).toContain("To approve this plan, submit an approving review again.");
    await story.merge(pull);
    await refused(DAN_IS_NEW);
  });

  test("a plan that was run again after the review counts once somebody approves it", async () => {
    await story.review(pull, "APPROVED");
    await inviteDan();
    await story.rerun(planned);
    await story.review(pull, "APPROVED", "otto");
    await story.merge(pull);
    expect((await story.apply()).outputs["result"]).toBe("applied");
    expect(await story.writes()).toHaveLength(2);
  });

  test("without a review the merge is the approval, and the newest plan before it counts", async () => {
    await inviteDan();
    await story.rerun(planned);
    expect(comment()).not.toContain(CHANGED);
    await story.merge(pull);
    expect((await story.apply()).outputs["result"]).toBe("applied");
  });

  test("a comment, a dismissed review, and the approval of somebody who may not push move nothing", async () => {
    await story.review(pull, "APPROVED");
    await inviteDan();
    await story.rerun(planned);
    await story.review(pull, "COMMENTED");
    await story.review(pull, "APPROVED", "otto");
    await story.dismiss(pull, "otto");
    await story.review(pull, "APPROVED", "mallory", false);
    await story.merge(pull);
    await refused(DAN_IS_NEW);
  });

  test("more comments and opinions than GitHub lists at once hide no approval", async () => {
    await story.review(pull, "APPROVED");
    await inviteDan();
    const crowd = [
      ...Array.from({ length: 100 }, () => ({ state: "COMMENTED" }) as const),
      ...Array.from({ length: 250 }, (_, at) => ({ state: "APPROVED", author: `m${at}` }) as const),
    ];
    for (const opinion of crowd) story.github.review(pull, { ...opinion, mayPush: false });
    const again = await story.rerun(planned);
    expect(again.outputs["failure-reason"]).toBe("not-approved");
    await story.merge(pull);
    await refused(DAN_IS_NEW);
  });

  test("a review that is submitted or dismissed after the merge moves nothing", async () => {
    await story.review(pull, "APPROVED");
    await inviteDan();
    await story.rerun(planned);
    await story.merge(pull);
    await story.review(pull, "APPROVED", "otto");
    await refused(DAN_IS_NEW);
    await story.dismiss(pull, "rita");
    await refused(DAN_IS_NEW);
  });
});

describe("a push after the review", () => {
  beforeEach(async () => {
    await story.review(pull, "APPROVED");
  });

  test("that only updates the branch keeps what was approved", async () => {
    await story.pushToMain({ "README.md": "News.\n" });
    await story.updateBranch(pull);
    await story.plan(pull);
    expect(comment()).not.toContain(CHANGED);
    await story.merge(pull);
    expect((await story.apply()).outputs["result"]).toBe("applied");
  });

  test("that changes the plan is not approved with it", async () => {
    await story.push(pull, { [FILE]: `${WANTED}  - { email: eve@example.com, roles: [role_admin] }\n` });
    await story.plan(pull);
    expect(comment()).toContain(CHANGED);
    await story.merge(pull);
    await refused("MC1: not approved: create member eve@example.com");
  });

  test("that takes back what was approved is not approved with it", async () => {
    await story.review(pull, "APPROVED");
    await story.push(pull, { [FILE]: BASE });
    const run = await story.plan(pull);
    expect(run.outputs["failure-reason"]).toBe("not-approved");
    expect(run.log).toContain(
      "it was approved to add somebody who is no longer live or listed, but no longer",
    );
  });

  test("whose plan never ran leaves what was approved before", async () => {
    await story.push(pull, { "README.md": "News.\n" });
    await story.merge(pull);
    expect((await story.apply()).outputs["result"]).toBe("applied");
    expect(await story.writes()).toEqual(["POST /v0.1/merchants/MC1/members"]);
  });

  test("is not approved by a review of the commit before it, even if that comes after its plan", async () => {
    const before = story.github.pulls.find(({ number }) => number === pull)?.head ?? "";
    await story.push(pull, { [FILE]: `${WANTED}  - { email: eve@example.com, roles: [role_admin] }\n` });
    await story.plan(pull);
    story.clock.advance(60_000);
    story.github.review(pull, { author: "tom", commit: before });
    await story.merge(pull);
    await refused("MC1: not approved: create member eve@example.com");
  });
});

test("a plan for another base branch, with rules of its own, is not what was approved for this one", async () => {
  const own = story.github.pulls.find(({ number }) => number === pull);
  story.github.branches.set("release", story.github.branches.get("main") ?? "");
  Object.assign(own ?? {}, { base: "release" });
  await story.push(pull, { [FILE]: `${WANTED}# again\n` });
  const other = await story.plan(pull);
  expect(other.outputs["result"]).toBe("changes");
  expect(await story.recordedPlans(pull)).toBe(1);
  Object.assign(own ?? {}, { base: "main" });
  expect((await story.rerun(other)).outputs["failure-reason"]).toBe("not-approved");
  expect(comment()).toContain("Close the pull request and reopen it");
  await story.review(pull, "APPROVED");
  await story.merge(pull);
  await refused("MC1: not approved: create member cleo@example.com");
});

test("what a later pull request took back is not approved any more, though nothing was applied in between", async () => {
  await story.review(pull, "APPROVED");
  await story.merge(pull);
  const second = await story.openPull({ [FILE]: BASE });
  await story.plan(second);
  await story.review(second, "APPROVED");
  await story.merge(second);
  await story.pushToMain({ [FILE]: WANTED });
  await refused("MC1: not approved: create member cleo@example.com");
});
