import { afterEach, expect, test } from "vitest";
import { cashierFiles, cashierSeed, SHARED, sharedRole } from "../../support/cashiers.ts";
import { openStory, type Story } from "../support/story.ts";

let story: Story;

afterEach(async () => {
  await story.stop();
});

const unescaped = (text = ""): string =>
  text
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll(/\s+(?:-\s+)?/g, " ");

const open = async (live: number): Promise<void> => {
  story = await openStory(cashierSeed(live), { ...cashierFiles(live), [SHARED]: sharedRole() });
  expect((await story.apply({ concurrency: "32" })).outputs["result"]).toBe("no-changes");
};

test.each([
  {
    title: "one line in a shared file that gives 360 people sensitive permissions",
    live: 9,
    files: { [SHARED]: sharedRole("payouts_edit", "members_update", "api_keys_create") },
    said: "This run would newly give 360 people sensitive permissions (api_keys_create, members_update, payouts_edit) at 40 merchants; the limit of the run is 20.",
    lines: /overrides: \[run-gains=sensitive:[0-9a-f]{12}@[0-9a-f]{12}\]/,
  },
  {
    title: "three of ten members removed at each of 40 merchants",
    live: 10,
    files: cashierFiles(7),
    said: "This run would remove 120 members, or roles from them, at 40 merchants; the limit of the run is 22.",
    lines: /overrides: \[run-removals=120@[0-9a-f]{12}\]/,
  },
])(
  "$title: refused in review, with the line that overrides it, and after the merge",
  async ({ live, files, said, lines }) => {
    await open(live);
    const pull = await story.openPull(files);
    const plan = await story.plan(pull, { concurrency: "32" });
    expect(plan.code).not.toBe(0);
    expect(plan.outputs["result"]).toBe("refused");
    const comment = unescaped(story.comments(pull)[0]);
    expect(comment).toContain(said);
    await story.merge(pull);
    const apply = await story.apply({ concurrency: "32" });
    expect(apply.code).not.toBe(0);
    expect(apply.outputs["result"]).toBe("refused");
    const [line] = lines.exec(comment) ?? [];
    expect(line).toBeDefined();
  },
);
