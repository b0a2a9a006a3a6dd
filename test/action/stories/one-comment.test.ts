import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BASE, FILE, SEED, WITH_ROLE } from "../support/one-merchant.ts";
import { openStory, type Story } from "../support/story.ts";

let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, { [FILE]: BASE });
});

afterEach(async () => {
  await story.stop();
});

const only = (pull: number): string => {
  const all = story.comments(pull);
  expect(all).toHaveLength(1);
  return all[0] ?? "";
};

describe("the comment of a pull request", () => {
  test("shows the reviewed plan below the result of the apply, also after a second apply", async () => {
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    await story.plan(pull);
    const reviewed = only(pull);
    await story.merge(pull);
    await story.behind("PUT", "/faults", {
      rules: [{ kind: "status", status: 422, operation: "roles.create", times: 1 }],
    });
    const failed = await story.apply();
    expect(failed.outputs["failure-reason"]).toBe("service");
    const [marker = "", verdict, ...rest] = reviewed.split("\n\n");
    const plan = [verdict, ...rest].join("\n\n");
    expect(only(pull).startsWith(`${marker}\n`)).toBe(true);
    expect(only(pull)).toContain("❌ rolecall apply: stopped");
    expect(only(pull)).toContain(`<summary>The reviewed plan</summary>\n\n${plan}\n\n</details>`);
    const applied = await story.rerun(failed);
    expect(applied.outputs["result"]).toBe("applied");
    const body = only(pull);
    expect(body).toContain("✅ rolecall apply: applied");
    expect(body).toContain(`<summary>The reviewed plan</summary>\n\n${plan}\n\n</details>`);
    expect(body.match(/The reviewed plan/g)).toHaveLength(1);
    const earlier = body.indexOf("<summary>Earlier results</summary>");
    expect(earlier).toBeGreaterThan(body.indexOf("✅ rolecall apply: applied"));
    expect(body.indexOf("❌ rolecall apply: stopped")).toBeGreaterThan(earlier);
    // There is nothing left to do, so nothing is to be told.
    expect((await story.rerun(applied)).outputs["result"]).toBe("no-changes");
    expect(only(pull)).toBe(body);
  });

  test("is missed, and nothing else, where the pull request is locked", async () => {
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    const message = "Unable to create comment because issue is locked.";
    story.github.refusals.push({ method: "POST", path: /comments$/, status: 403, times: 1, message });
    const run = await story.plan(pull);
    expect(run.outputs).toMatchObject({ result: "changes", "failure-reason": "" });
    expect(run.log).toContain("::notice::The comment could not be written: the pull request is locked.");
    await story.merge(pull);
    expect((await story.apply()).outputs["result"]).toBe("applied");
  });

  test("is never rewritten by a plan that is run again after the merge", async () => {
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    const plan = await story.plan(pull);
    await story.merge(pull);
    const merged = only(pull);
    await story.rerun(plan);
    expect(only(pull)).toBe(merged);
    await story.apply();
    const applied = only(pull);
    const again = await story.rerun(plan);
    expect(only(pull)).toBe(applied);
    expect(again.log).toContain("The pull request is closed: its comment is left as it is.");
    expect(story.github.comments[0]?.history.join()).not.toContain("planning…");
  });

  test("does not go on planning where the merge came before the end of the plan", async () => {
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    await story.plan(pull);
    await story.push(pull, { [FILE]: WITH_ROLE.replace("catalog_view", "refunds_create") });
    const happens = (): void => {
      const [proposed] = story.github.pulls;
      if (proposed) proposed.closed = true;
    };
    story.github.incidents.push({ method: "PATCH", path: /comments\/\d+$/, happens });
    await story.plan(pull);
    expect(only(pull)).toContain("refunds_create");
  });

  test("stays within GitHub's length with both, and leaves parts of the plan out whole", async () => {
    const members = Array.from(
      { length: 200 },
      (_, index) => `  - { email: person${index}@example.com, roles: [role_employee] }`,
    );
    const pull = await story.openPull({ [FILE]: `${BASE}${members.join("\n")}\n` });
    story.github.maxBody = 20_000;
    await story.plan(pull);
    await story.merge(pull);
    const apply = await story.apply();
    expect(apply.outputs["result"]).toBe("applied");
    const body = only(pull);
    expect(body.length).toBeLessThanOrEqual(20_000);
    expect(body).toContain("<summary>The reviewed plan</summary>");
    expect(body.match(/<details>/g)?.length).toBe(body.match(/<\/details>/g)?.length);
    expect(body.match(/^```/gm)?.length ?? 0).toSatisfy((count: number) => count % 2 === 0);
  });
});

test("the comment is written where statuses may not be", async () => {
  story.github.rights.delete("statuses");
  const pull = await story.openPull({ [FILE]: WITH_ROLE });
  const run = await story.plan(pull);
  expect(run.log).toContain(
    "::warning::The status of the commit could not be set: this requires the permission statuses: write",
  );
  expect(only(pull)).toContain("Cashier");
});

describe("a second service or team has a comment of its own", () => {
  test("by the base URL, however it is spelled", async () => {
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    await story.plan(pull);
    await story.plan(pull, { "base-url": `${story.service.url.toUpperCase().replace("HTTP", "http")}//` });
    expect(story.comments(pull)).toHaveLength(1);
    await story.plan(pull, { "base-url": story.service.url.replace("127.0.0.1", "localhost") });
    expect(story.comments(pull)).toHaveLength(2);
  });

  test("by its label, which the status has too", async () => {
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    await story.plan(pull, { label: "staging" });
    await story.plan(pull, { label: "production" });
    const [staging, production] = story.comments(pull);
    expect(staging).toContain("<code>staging</code>");
    expect(production).toContain("<code>production</code>");
    expect(story.github.statuses.map(({ context }) => context)).toEqual([
      "rolecall plan: staging",
      "rolecall plan: production",
    ]);
    const wrong = await story.plan(pull, { label: "x".repeat(61) });
    expect(wrong.outputs["failure-reason"]).toBe("usage");
  });
});

describe("a list of comments that lags", () => {
  test("leads to no second comment, neither on a new run nor on a new commit nor on the apply", async () => {
    story.github.lags.comments = 1000;
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    const plan = await story.plan(pull);
    await story.rerun(plan);
    await story.push(pull, { [FILE]: WITH_ROLE.replace("catalog_view", "refunds_create") });
    await story.plan(pull);
    expect(only(pull)).toContain("refunds_create");
    await story.merge(pull);
    await story.apply();
    expect(only(pull)).toContain("✅ rolecall apply: applied");
    expect(only(pull)).toContain("<summary>The reviewed plan</summary>");
  });

  test("is not read as a second comment to be where the first one's response was lost", async () => {
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    story.github.refusals.push({ method: "POST", path: /comments$/, status: 502, done: true, times: 1 });
    await story.plan(pull);
    expect(story.comments(pull)).toHaveLength(1);
  });
});
