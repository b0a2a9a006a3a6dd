import { afterEach, expect, test } from "vitest";
import { openStory, type Story } from "../support/story.ts";

const ROLES = { MC1: "Approver", MC2: "Payer" } as const;

const seed = `merchants:
${Object.entries(ROLES)
  .map(
    ([code, role]) => `  - code: ${code}
    roles: [{ name: ${role}, permissions: [catalog_view] }]
    members: [{ email: ada@example.com, roles: [role_owner] }]
`,
  )
  .join("")}keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const fileOf = (
  code: keyof typeof ROLES,
  ...people: readonly string[]
): Readonly<Record<string, string>> => ({
  [`access/${code}.yaml`]: `version: 1
merchant: ${code}
roles:
  - { name: ${ROLES[code]}, permissions: [catalog_view] }
members:
  - { email: ada@example.com, roles: [role_owner] }
${people.map((email) => `  - { email: ${email}, roles: [${ROLES[code]}] }\n`).join("")}`,
});

const PROJECT = {
  "rolecall.yaml": "version: 1\nacross_merchants: { separate: [[Approver, Payer]] }\n",
};
const TOGETHER = /bo@example\.com would hold "Approver" and "Payer" together/;

let story: Story;

afterEach(async () => {
  await story.stop();
});

const open = async (): Promise<void> => {
  story = await openStory(seed, { ...fileOf("MC1"), ...fileOf("MC2"), ...PROJECT });
  expect((await story.apply()).code).toBe(0);
};

const unescaped = (text = ""): string =>
  text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));

test("two pull requests that each give one of two separate roles: the second is refused in review, and not applied", async () => {
  await open();
  const first = await story.openPull(fileOf("MC1", "bo@example.com"));
  expect((await story.plan(first)).outputs["result"]).toBe("changes");
  await story.merge(first);
  expect((await story.apply()).outputs["result"]).toBe("applied");
  const second = await story.openPull(fileOf("MC2", "bo@example.com"));
  const plan = await story.plan(second);
  expect(plan.code).not.toBe(0);
  expect(unescaped(story.comments(second)[0])).toMatch(TOGETHER);
  await story.merge(second);
  const writes = (await story.writes()).filter((line) => line.startsWith("POST")).length;
  const apply = await story.apply();
  expect(apply.outputs["result"]).toBe("refused");
  expect((await story.writes()).filter((line) => line.startsWith("POST"))).toHaveLength(writes);
});

test("two that were reviewed apart and are merged together: neither review saw both, and neither is applied", async () => {
  await open();
  const pulls = [
    await story.openPull(fileOf("MC1", "bo@example.com")),
    await story.openPull(fileOf("MC2", "bo@example.com")),
  ];
  for (const pull of pulls) expect((await story.plan(pull)).outputs["result"]).toBe("changes");
  for (const pull of pulls) await story.merge(pull);
  expect((await story.apply()).outputs["result"]).toBe("refused");
});

test("a pull request that drops the rule which it breaks is refused by the rule of the base branch", async () => {
  await open();
  await story.merge(await story.openPull(fileOf("MC1", "bo@example.com")));
  const pull = await story.openPull({ ...fileOf("MC2", "bo@example.com"), "rolecall.yaml": "version: 1\n" });
  expect((await story.plan(pull)).outputs["result"]).toBe("refused");
  const comment = unescaped(story.comments(pull)[0]);
  expect(comment).toMatch(TOGETHER);
  expect(comment.replaceAll(/\n- +/g, " ")).toContain("This is a rule of the base branch");
  expect(comment).toContain('"Approver" and "Payer" may be held together (across merchants)');
});

test("somebody who goes from one merchant to another stays out of the new one while the old one lacks a password", async () => {
  await open();
  const first = await story.openPull(fileOf("MC1", "bo@example.com"));
  await story.plan(first);
  await story.merge(first);
  expect((await story.apply()).outputs["result"]).toBe("applied");
  const [[path, text] = ["", ""]] = Object.entries(fileOf("MC1"));
  const managed =
    "{ email: till@example.com, managed: { nickname: T, password_env: TILL }, roles: [Approver] }";
  const move = await story.openPull({
    [path]: `${text}  - ${managed}\n`,
    ...fileOf("MC2", "bo@example.com"),
  });
  expect((await story.plan(move)).outputs["result"]).toBe("changes");
  await story.merge(move);
  const before = (await story.writes()).length;
  expect((await story.apply()).code).not.toBe(0);
  expect(await story.writes()).toHaveLength(before);
});
