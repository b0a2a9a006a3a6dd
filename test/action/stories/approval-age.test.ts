import { afterEach, beforeEach, describe, expect, test } from "vitest";
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
const WANTED = `${BASE}  - { email: cleo@example.com, roles: [role_employee] }\n`;
const FILE = "access/mc1.yaml";
const CHANGED = "**Changed since it was approved**";

let repository: Repository;

beforeEach(async () => {
  repository = await openRepository(SEED, { [FILE]: BASE });
  await repository.propose(7, { [FILE]: WANTED });
});

afterEach(async () => {
  await repository.stop();
});

const plan = (): Promise<StepEnd> => repository.step({ command: "plan" }, { pull: 7 });
const apply = (): Promise<StepEnd> => repository.step({ command: "apply" });
const comment = (): string => repository.github.comments.at(-1)?.body ?? "";

/** Somebody invites Dan at the dashboard, so that a new plan of the same commit removes him. */
const inviteDan = (): Promise<unknown> =>
  repository.behind("POST", "/v0.1/merchants/MC1/members", {
    email: "dan@example.com",
    roles: ["role_employee"],
  });

const refused = async (...sentences: readonly string[]): Promise<void> => {
  const end = await apply();
  expect(end.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
  for (const sentence of sentences) expect(end.log).toContain(sentence);
  expect(await repository.writes()).toEqual([]);
};

describe("an approval is as old as its review", () => {
  test("a plan that was run again after the merge approves nothing, and says so", async () => {
    await plan();
    repository.github.review(7);
    await repository.merge(7);
    await inviteDan();
    const checks = repository.github.checks.length;
    const again = await plan();
    expect(again.log).toContain("::notice::The pull request is closed or merged");
    expect(again.summary).toContain("**This pull request is merged**");
    expect(again.summary).not.toContain("**On merge**");
    expect(repository.github.checks).toHaveLength(checks);
    await refused("MC1: not approved: delete member dan@example.com.");
  });

  test("what slips in around the merge does not count either", async () => {
    await plan();
    await repository.merge(7);
    await inviteDan();
    const [pull] = repository.github.pulls;
    // The run saw the pull request as open, and stored its records a moment later.
    if (pull) pull.merged = null;
    await plan();
    if (pull) pull.merged = repository.github.branches.get("main") ?? "";
    expect(repository.github.checks).toHaveLength(2);
    await refused(
      "MC1: not approved: delete member dan@example.com.",
      "A record on #7 is from after the merge.",
    );
  });

  test("a plan that was run again after the review is shown as changed, and counts once somebody approves it", async () => {
    await plan();
    repository.github.review(7);
    await plan();
    expect(comment()).not.toContain(CHANGED);
    await inviteDan();
    await plan();
    expect(comment()).toContain(`${CHANGED}, at 2026-11-01 00:02 UTC: the plan of <code>MC1</code>.`);
    expect(comment()).toContain("To approve this plan, submit an approving review again.");
    const sha = await repository.merge(7);
    await refused(
      "MC1: not approved: delete member dan@example.com.",
      "A record on #7 is from after the last approving review: nobody approved that plan.",
    );
    // The same pull request, approved again before its merge.
    const [pull] = repository.github.pulls;
    repository.github.review(7);
    if (pull) Object.assign(pull, { merged: sha, mergedAt: repository.github.tick() });
    expect((await apply()).outputs["result"]).toBe("applied");
  });

  test("without a review the merge is the approval, and the newest plan before it counts", async () => {
    await plan();
    await inviteDan();
    await plan();
    expect(comment()).not.toContain(CHANGED);
    await repository.merge(7);
    expect((await apply()).outputs["result"]).toBe("applied");
    expect(await repository.writes()).toHaveLength(2);
  });

  test("the newest of two records is told by GitHub's time, not by its number", async () => {
    await plan();
    await inviteDan();
    await plan();
    const { checks } = repository.github;
    const [older, newer] = checks.splice(0);
    if (older && newer) checks.push({ ...newer, id: 1 }, { ...older, id: 2 });
    repository.github.review(7);
    await repository.merge(7);
    expect((await apply()).outputs["result"]).toBe("applied");
  });

  test("a dismissed review, a comment, and an outsider's approval move nothing", async () => {
    const { github } = repository;
    await plan();
    github.review(7, { author: "rita" });
    await inviteDan();
    await plan();
    github.review(7, { author: "rita", state: "COMMENTED" });
    github.review(7, { author: "otto", state: "DISMISSED" });
    github.review(7, { author: "mallory", association: "NONE" });
    await repository.merge(7);
    await refused("MC1: not approved: delete member dan@example.com.");
  });

  test("a record cannot be given an earlier time: it names the reviews that it came after", async () => {
    const { github } = repository;
    await plan();
    const review = github.review(7);
    await inviteDan();
    await plan();
    await repository.merge(7);
    const [, late] = github.checks;
    // With checks: write, any workflow can copy it with a time of its choice.
    if (late) github.checks.push({ ...late, id: 5000, completed_at: "2026-11-01T00:01:30Z" });
    expect(Date.parse("2026-11-01T00:01:30Z")).toBeLessThan(Date.parse(review.submittedAt));
    await refused("MC1: not approved: delete member dan@example.com.");
  });
});

describe("a push after the review", () => {
  test("that only updates the branch keeps what was approved", async () => {
    const { github } = repository;
    await plan();
    github.review(7);
    await repository.propose(7, { [FILE]: WANTED, "README.md": "News from the base branch.\n" });
    await plan();
    expect(comment()).not.toContain(CHANGED);
    await repository.merge(7);
    expect((await apply()).outputs["result"]).toBe("applied");
  });

  test("that changes the plan is not approved with it", async () => {
    const { github } = repository;
    await plan();
    github.review(7);
    const more = `${WANTED}  - { email: eve@example.com, roles: [role_admin] }\n`;
    await repository.propose(7, { [FILE]: more });
    await plan();
    expect(comment()).toContain(CHANGED);
    await repository.merge(7);
    await refused("MC1: not approved: create member eve@example.com.");
  });

  test("whose plan never ran is not approved", async () => {
    await plan();
    repository.github.review(7);
    await repository.propose(7, { [FILE]: WANTED });
    await repository.merge(7);
    await refused("MC1: no plan of this merchant was approved.");
  });
});
