import { afterEach, beforeEach, expect, test } from "vitest";
import { openStory, type Story } from "../support/story.ts";

const PEOPLE = ["ben", "cy", "di", "eve", "fay", "gil"];
const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner] }
${PEOPLE.map((name) => `      - { email: ${name}@example.com, roles: [role_employee] }\n`).join("")}
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;
const FILE = "access/mc1.yaml";
const fileOf = (people: readonly string[], guards = ""): string => `version: 1
merchant: MC1
${guards === "" ? "" : `guards:\n  ${guards}\n`}members:
  - { email: ada@example.com, roles: [role_owner] }
${people.map((name) => `  - { email: ${name}@example.com, roles: [role_employee] }\n`).join("")}`;

let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, { [FILE]: fileOf(PEOPLE) });
});

afterEach(async () => {
  await story.stop();
});

function comment(pull: number): string {
  const all = story.comments(pull);
  expect(all).toHaveLength(1);
  return all[0] ?? "";
}

/** The line that a comment says to add. */
function lineIn(pull: number): string {
  return /^ +(overrides: \[.*\])$/m.exec(comment(pull))?.[1] ?? "";
}

test("a meant mass removal: red with the line to add, green with it, applied, and then left over", async () => {
  const pull = await story.openPull({ [FILE]: fileOf(["ben"]) });
  const red = await story.plan(pull);
  expect(red.code).toBe(1);
  expect(red.outputs["failure-reason"]).toBe("refused");
  const line = lineIn(pull);
  expect(line).toBe(`overrides: [max-removals=5@${red.outputs["fingerprint"]?.slice(0, 12)}]`);

  await story.push(pull, { [FILE]: fileOf(["ben"], line) });
  const green = await story.plan(pull);
  expect(green.code).toBe(0);
  expect(green.outputs).toMatchObject({ result: "changes", deletes: "5" });
  expect(green.outputs["fingerprint"]).toBe(red.outputs["fingerprint"]);
  expect(green.log).not.toMatch(/^::error/m);
  expect(comment(pull)).toContain("### ⚠️ Rules: 1 overridden for this plan");
  expect(comment(pull).replaceAll(/\n! {3}/g, " ")).toContain(
    "! MC1: overrides max-removals for this plan: 5 of 7 members would be removed or lose something; the limit is 3.",
  );
  expect(comment(pull)).not.toContain("would be refused");

  await story.merge(pull);
  const apply = await story.apply();
  expect(apply.outputs["result"]).toBe("applied");
  expect(apply.log).not.toMatch(/^::error/m);
  expect(await story.writes()).toHaveLength(5);

  const later = await story.openPull({ [FILE]: fileOf(["ben", "cy"], line) });
  const warned = await story.plan(later);
  expect(warned.code).toBe(0);
  expect(warned.log).toMatch(
    /^::warning title=override-left-over,file=access\/mc1\.yaml,line=4::MC1: The override max-removals=5@/m,
  );
  expect(comment(later).replaceAll(/\n {4}/g, " ")).toContain(
    "has no effect: it is for another plan. (written at access/mc1.yaml:4:",
  );
  expect(comment(later)).not.toContain("Rules");
});

test("a removal that was merged before, and refused, is applied by a pull request with nothing but the line", async () => {
  await story.pushToMain({ [FILE]: fileOf([]) });
  expect((await story.apply()).outputs["result"]).toBe("refused");
  const first = await story.openPull({ [FILE]: `# Everybody has left.\n${fileOf([])}` });
  await story.plan(first, { scope: "all" });
  const pull = await story.openPull({ [FILE]: fileOf([], lineIn(first)) });
  expect((await story.plan(pull)).outputs["result"]).toBe("changes");
  await story.merge(pull);
  expect((await story.apply()).outputs["result"]).toBe("applied");
  expect(await story.writes()).toHaveLength(6);
});

test("a plan that became another one is refused again, with the new line", async () => {
  const pull = await story.openPull({ [FILE]: fileOf([]) });
  await story.plan(pull);
  const line = lineIn(pull);
  await story.push(pull, { [FILE]: fileOf([], line) });
  expect((await story.plan(pull)).code).toBe(0);
  await story.push(pull, { [FILE]: fileOf(["ben"], line) });
  const red = await story.plan(pull);
  expect(red.outputs["failure-reason"]).toBe("refused");
  expect(lineIn(pull)).toMatch(/^overrides: \[max-removals=5@[0-9a-f]{12}\]$/);
  expect(lineIn(pull)).not.toBe(line);
});

test("the loosened rule of the base branch can be overridden as well, and the override is no loosening", async () => {
  const loose = "max_removals: 100%";
  const pull = await story.openPull({ [FILE]: fileOf(["ben"], loose) });
  expect((await story.plan(pull)).outputs["failure-reason"]).toBe("refused");
  await story.push(pull, { [FILE]: fileOf(["ben"], `${loose}\n  ${lineIn(pull)}`) });
  expect((await story.plan(pull)).outputs["result"]).toBe("changes");
  expect(comment(pull)).toContain(
    "### ⚠️ Rules: 1 looser than on the base branch, 1 overridden for this plan",
  );
  await story.merge(pull);
  expect((await story.apply()).outputs["result"]).toBe("applied");
});

test("an override that is brought in for another plan is looser than the base branch, though it does nothing now", async () => {
  const pull = await story.openPull({ [FILE]: fileOf(PEOPLE, "overrides: [max-removals=99@0123456789ab]") });
  expect((await story.plan(pull)).outputs["result"]).toBe("no-changes");
  expect(comment(pull)).toContain("! MC1: an override for another plan: max-removals=99@0123456789ab");
});
