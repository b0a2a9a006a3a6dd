import { afterEach, beforeEach, expect, test } from "vitest";
import { BASE, FILE, SEED } from "../support/one-merchant.ts";
import { openStory, type Run, type Story } from "../support/story.ts";

const COMMENTED = BASE.replace("members:", "# who works here\nmembers:");
let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, { [FILE]: COMMENTED });
});

afterEach(async () => {
  await story.stop();
});

const drift = (): Promise<Run> => story.drift({ "on-drift": "pull-request" });
const invite = (email: string): Promise<unknown> =>
  story.behind("POST", "/v0.1/merchants/MC1/members", { email, roles: ["role_employee"] });
const proposal = () => {
  const [pull, ...others] = story.github.pulls.filter(({ author }) => author === "github-actions[bot]");
  expect(others).toEqual([]);
  if (pull === undefined) throw new Error("there is no pull request");
  return pull;
};

test("a pull request adopts what changed outside git, keeps comments, and merged leaves no drift", async () => {
  await invite("eve@example.com");
  const run = await drift();
  expect(run.outputs).toMatchObject({ result: "drift", "issue-url": expect.stringContaining("/pull/") });
  const pull = proposal();
  expect(pull).toMatchObject({ title: "Adopt what changed outside git", base: "main" });
  expect(pull.body).toContain("eve");
  expect(pull.body).toContain("merge this pull request");
  expect(pull.body).not.toContain("The patch");
  expect(story.files(pull.head)).toEqual({
    [FILE]: expect.stringContaining("# who works here\n"),
  });
  expect(story.files(pull.head)[FILE]).toContain("eve@example.com");
  await story.merge(pull.number);
  expect((await drift()).outputs["result"]).toBe("clean");
  expect(story.github.issues).toEqual([]);
});

test("it is committed again only if something else changed, and closed when nothing differs", async () => {
  await invite("eve@example.com");
  await drift();
  const { head } = proposal();
  await drift();
  expect(proposal().head).toBe(head);
  await invite("dan@example.com");
  await drift();
  expect(proposal().head).not.toBe(head);
  expect(story.files(proposal().head)[FILE]).toContain("dan@example.com");
  await story.pushToMain({ [FILE]: story.files(proposal().head)[FILE] ?? "" });
  await drift();
  expect(proposal().closed).toBe(true);
  expect(story.github.comments.at(-1)?.body).toContain("nothing differs any longer");
});

test("closed by hand, it stays closed until something else changes", async () => {
  await invite("eve@example.com");
  await drift();
  await story.close(proposal().number);
  const again = await drift();
  expect(again.log).toContain("was closed, and the differences have not changed: it stays closed.");
  expect(proposal().closed).toBe(true);
  await invite("dan@example.com");
  await drift();
  expect(story.github.pulls.filter(({ closed }) => !closed)).toHaveLength(1);
});

test("without the permission to push, there is a warning that names what is missing", async () => {
  await invite("eve@example.com");
  story.github.rights.delete("push");
  const run = await drift();
  expect(run.log).toContain("this requires the permissions contents: write and pull-requests: write");
  expect(run.code).toBe(0);
  expect(story.github.pulls).toEqual([]);
});

test("what is merged and not applied yet is not taken back: there is nothing to adopt", async () => {
  await story.pushToMain({ [FILE]: `${COMMENTED}  - { email: new@example.com, roles: [role_employee] }\n` });
  const run = await drift();
  expect(run.outputs["result"]).toBe("drift");
  expect(run.log).toContain("There is nothing to adopt; the job summary lists the differences.");
  expect(story.github.pulls).toEqual([]);
});

test("with on-drift: none, only the job summary has the differences", async () => {
  await invite("eve@example.com");
  const run = await story.drift({ "on-drift": "none" });
  expect(run.summary).toContain("eve");
  expect([story.github.issues, story.github.pulls]).toEqual([[], []]);
});
