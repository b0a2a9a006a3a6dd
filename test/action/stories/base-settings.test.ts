import { afterEach, expect, test } from "vitest";
import { type FileChanges, openStory, type Story } from "../support/story.ts";

const PEOPLE = Array.from({ length: 30 }, (_, index) => `u${index}@example.com`);
const CODES = ["MC1", "MC2"];

const seed = `merchants:
${CODES.map(
  (code) => `  - code: ${code}
    roles: [{ name: Cashier, permissions: [catalog_view] }]
    members:
      - { email: ada@example.com, roles: [role_owner] }
${PEOPLE.map((email) => `      - { email: ${email}, roles: [Cashier] }\n`).join("")}`,
).join("")}keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const filesWith = (permission: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    CODES.map((code) => [
      `access/${code}.yaml`,
      `version: 1
merchant: ${code}
roles:
  - { name: Cashier, permissions: [catalog_view${permission}] }
members:
  - { email: ada@example.com, roles: [role_owner] }
${PEOPLE.map((email) => `  - { email: ${email}, roles: [Cashier] }\n`).join("")}`,
    ]),
  );

const project = (rest = ""): FileChanges => ({ "rolecall.yaml": `version: 1\n${rest}` });
const ENFORCED = 'enforce: [{ files: ["access/**"], rules: hq.yaml }]\n';
const LOOSER = 'sensitive: ["members_*"]\n';
const RULES = { "hq.yaml": "version: 1\nguards: { max_gains: { sensitive: 2 } }\n" };
const SENSITIVE = /30 members would newly hold sensitive permissions \(payouts_edit\); the limit is (10|2)/;

let story: Story;

afterEach(async () => {
  await story.stop();
});

test.each([
  ["without a project", {}, project(LOOSER), "payouts_edit", SENSITIVE],
  ["whose project has the default settings", project(), project(LOOSER), "payouts_edit", SENSITIVE],
  [
    "whose project enforces a limit",
    { ...project(ENFORCED), ...RULES },
    project(ENFORCED + LOOSER),
    "payouts_edit",
    SENSITIVE,
  ],
  [
    "whose project limits a run",
    project("run: { max_gains: { catalog_edit: 3 } }\n"),
    project(),
    "catalog_edit",
    /would give 30 people new access to catalog_edit at 2 merchants; the limit for the run is 3/,
  ],
  [
    "whose project, which is deleted, limits a run",
    project("run: { max_gains: { catalog_edit: 3 } }\n"),
    { "rolecall.yaml": null },
    "catalog_edit",
    /would give 30 people new access to catalog_edit at 2 merchants; the limit for the run is 3/,
  ],
])(
  "settings of a base branch %s judge a pull request that loosens them",
  async (_, before, after, permission, said) => {
    story = await openStory(seed, { ...filesWith(""), ...(before as Record<string, string>) });
    await story.apply();
    const pull = await story.openPull({ ...after, ...filesWith(`, ${permission}`) });
    const plan = await story.plan(pull);
    expect(plan.outputs["result"]).toBe("refused");
    const comment = (story.comments(pull)[0] ?? "").replaceAll(/\s+(?:- +)?/g, " ");
    expect(comment).toMatch(said);
    expect(comment).toContain("This is a rule of the base branch, which this pull request loosens.");
    if (permission === "payouts_edit") expect(comment).toContain("gain sensitive permissions");
    await story.merge(pull);
    expect((await story.apply()).outputs["failure-reason"]).toBe("not-approved");
    expect(await story.writes()).toEqual([]);
  },
);
