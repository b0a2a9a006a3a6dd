import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStory, type Story } from "../support/story.ts";

const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner] }
  - code: MC2
    members:
      - { email: ada@example.com, roles: [role_owner] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;
const PROJECT = "rolecall.yaml";
const POLICY = "hq/policy.yaml";
const FILE = "access/franchise/mc1.yaml";
const fileOf = (merchant: string, people: readonly string[], rest = ""): string => `version: 1
merchant: ${merchant}
${rest}members:
  - { email: ada@example.com, roles: [role_owner] }
${people.map((email) => `  - { email: ${email}, roles: [role_employee] }\n`).join("")}`;
const RULES = `version: 1
enforce:
  - files: ["access/franchise/**"]
    rules: hq/policy.yaml
    allow: [members]
`;
const BASE = {
  [PROJECT]: RULES,
  [POLICY]: "version: 1\npolicies: { email_domains: [example.com] }\n",
  [FILE]: fileOf("MC1", []),
};
const EVIL = "joe@evil.example";
const REFUSED = `policy email-domains: The address ${EVIL} is in none of the allowed domains: example.com. Enforced by`;

let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, BASE);
});

afterEach(async () => {
  await story.stop();
});

function comment(pull: number): string {
  const all = story.comments(pull);
  expect(all).toHaveLength(1);
  return (all[0] ?? "").replaceAll(/\n- {3}/g, " ");
}

describe("a pull request does not escape the rules that its base branch enforces", () => {
  test.each([
    ["as it is", {}],
    ["with looser rules", { [POLICY]: "version: 1\n" }],
    ["without the project's file", { [PROJECT]: null, [POLICY]: null }],
    [
      "with another glob",
      { [PROJECT]: RULES.replace("franchise/**", "hq.yaml"), "access/hq.yaml": fileOf("MC2", []) },
    ],
  ])("%s", async (_, rules) => {
    const pull = await story.openPull({ ...rules, [FILE]: fileOf("MC1", [EVIL]) });
    const run = await story.plan(pull);
    expect(run.code).toBe(1);
    expect(comment(pull)).toContain(REFUSED);
    expect(comment(pull)).not.toContain("--allow");
    await story.merge(pull);
    expect((await story.apply()).outputs["result"]).not.toBe("applied");
    expect(await story.writes()).toEqual([]);
  });

  test("a franchisee cannot escape with its own merchant, a moved file, or sections that are not allowed", async () => {
    const added = await story.openPull({
      [PROJECT]: null,
      "access/franchise/mc2.yaml": fileOf("MC2", [EVIL], "ignore: { members: [x] }\n"),
    });
    const run = await story.plan(added);
    expect(run.log).toMatch(/must not have "ignore"\. Enforced by [0-9a-f]{7}:rolecall\.yaml:5:5/);
    expect(run.outputs["result"]).toBe("failed");
    const moved = await story.openPull({
      [FILE]: null,
      "access/mc1.yaml": fileOf("MC1", [EVIL]),
      "access/franchise/mc2.yaml": fileOf("MC2", []),
    });
    expect((await story.plan(moved)).outputs["result"]).toBe("refused");
    expect(comment(moved)).toContain(`${REFUSED} ${POLICY} of the base branch.`);
  });
});

test("a pull request that takes a leaver out of the rules shows it, with who comes back", async () => {
  const gone = await story.openPull({
    [POLICY]: `${BASE[POLICY]}leavers: [{ email: kim@example.com, from: 2020-01-15 }]\n`,
  });
  await story.plan(gone);
  await story.merge(gone);
  await story.apply();
  const listed = await story.openPull({ [FILE]: fileOf("MC1", ["kim@example.com"]) });
  expect((await story.plan(listed)).outputs["result"]).toBe("no-changes");
  const back = await story.openPull({
    [POLICY]: BASE[POLICY],
    [FILE]: fileOf("MC1", ["kim@example.com"]),
  });
  expect((await story.plan(back)).outputs["result"]).toBe("changes");
  expect(comment(back)).toContain("! MC1: kim@example.com no longer leaves (leavers, from 2020-01-15)");
});

test("a pull request that changes the rules shows this, and the new rules count after its merge", async () => {
  const pull = await story.openPull({
    [PROJECT]: RULES.replace("[members]", "[ignore, members]"),
    [POLICY]: "version: 1\npolicies: { email_domains: [example.com, evil.example] }\n",
  });
  expect((await story.plan(pull)).outputs["result"]).toBe("no-changes");
  expect(comment(pull)).toContain(
    "### ⚠️ Rules: 2 looser than on the base branch, 2 files of enforced rules changed",
  );
  expect(comment(pull)).toContain("! MC1: addresses may be in evil.example (hq/policy.yaml)");
  expect(comment(pull)).toContain("! MC1: the file may also have ignore");
  expect(comment(pull)).toContain("! rolecall.yaml: what the project enforces has changed");
  expect(comment(pull)).toContain("! hq/policy.yaml: enforced rules have changed");
  await story.merge(pull);
  await story.apply();
  const next = await story.openPull({ [FILE]: fileOf("MC1", [EVIL]) });
  expect((await story.plan(next)).outputs["result"]).toBe("changes");
  expect(comment(next)).not.toContain("Rules");
});
