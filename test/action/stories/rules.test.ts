import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
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
const RULES = `guards:
  protect: { members: [ada@example.com] }
policies:
  email_domains: [example.com]
checks:
  - { can: refunds_create, only: [ada@example.com] }
`;
const fileOf = (people: readonly string[], rules = RULES): string => `version: 1
merchant: MC1
${rules}members:
  - { email: ada@example.com, roles: [role_owner] }
${people.map((name) => `  - { email: ${name}@example.com, roles: [role_employee] }\n`).join("")}`;
const BASE = fileOf(PEOPLE);
const LOOSE = RULES.replace("guards:", "guards:\n  max_removals: 100%");
const SECTION = "### ⚠️ Rules: 1 looser than on the base branch";
const LINE = "! MC1: at most 25% → 100% may be removed";

let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, { [FILE]: BASE });
});

afterEach(async () => {
  await story.stop();
});

function comment(pull: number): string {
  const all = story.comments(pull);
  expect(all).toHaveLength(1);
  return all[0] ?? "";
}

describe("a pull request is judged by the rules of its base branch, too", () => {
  test("a dropped guard lets nothing through in the same pull request, even if it is merged anyway", async () => {
    const pull = await story.openPull({ [FILE]: fileOf([], LOOSE) });
    const run = await story.plan(pull);
    expect(run.code).toBe(1);
    expect(run.outputs).toMatchObject({ result: "refused", "failure-reason": "refused", deletes: "6" });
    expect(comment(pull)).toContain(`${SECTION}\n\n\`\`\`diff\n${LINE}\n\`\`\``);
    const told = "a rule of the base branch, which this pull request loosens.";
    expect(comment(pull).replaceAll(/\n- {3}/g, " ")).toContain(told);
    expect(comment(pull)).not.toContain("--allow");
    expect(run.summary).toContain(LINE);
    expect(run.log).toContain("! MC1: at most 25% → 100% may be removed");
    expect(run.log).toMatch(/::error .*max-removals/);
    await story.merge(pull);
    const apply = await story.apply();
    expect(apply.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
    expect(apply.log).toContain(`A rule of the base branch refused the plan of #${pull}`);
    expect(await story.writes()).toEqual([]);
  });

  test.each([
    ["a link to a file", "access", { [FILE]: "-> ../shared/mc1.yaml" }, "shared/mc1.yaml"],
    ["a linked folder", "access", { access: "-> shared" }, "shared/mc1.yaml"],
    ["a hidden folder", ".rolecall/access", {}, ".rolecall/access/mc1.yaml"],
  ])("also where they are in %s", async (_, paths, links, real) => {
    await story.pushToMain({ [FILE]: null, ...links, [real]: BASE });
    const pull = await story.openPull({ [real]: fileOf([], LOOSE) });
    const run = await story.plan(pull, { paths });
    expect(run.outputs).toMatchObject({ result: "refused", "failure-reason": "refused", deletes: "6" });
    expect(comment(pull)).toContain(LINE);
    const other = await story.openPull({ "README.md": "Access.\n" });
    expect((await story.plan(other, { paths })).outputs["result"]).toBe("no-changes");
  });

  test("a new project does not decide what is sensitive in what it grants", async () => {
    const limited = BASE.replace("guards:", "guards:\n  max_gains: { sensitive: 2 }");
    await story.pushToMain({ [FILE]: limited });
    const roles = "roles:\n  - { name: Payer, permissions: [payouts_edit] }\n";
    const granted = limited.replaceAll("[role_employee]", "[role_employee, Payer]");
    const pull = await story.openPull({
      [FILE]: granted.replace("members:\n  -", `${roles}members:\n  -`),
      "rolecall.yaml": 'version: 1\nsensitive: ["members_*"]\n',
    });
    expect((await story.plan(pull)).outputs["failure-reason"]).toBe("refused");
    expect(comment(pull)).toContain("gain sensitive permissions");
    expect(comment(pull).replaceAll(/\n- {3}/g, " ")).toContain("This is a rule of the base branch");
    await story.review(pull, "APPROVED");
    await story.merge(pull);
    expect((await story.apply()).outputs["failure-reason"]).toBe("not-approved");
    expect(await story.writes()).toEqual([]);
  });

  test("a rule that was loosened in a pull request of its own counts in the next one", async () => {
    const first = await story.openPull({ [FILE]: fileOf(PEOPLE, LOOSE) });
    const run = await story.plan(first);
    expect(run.outputs["result"]).toBe("no-changes");
    expect(comment(first)).toContain("## ⚠️ rolecall plan: no changes, with looser rules");
    expect(comment(first)).toContain(LINE);
    await story.merge(first);
    expect((await story.apply()).outputs["result"]).toBe("no-changes");
    const second = await story.openPull({ [FILE]: fileOf([], LOOSE) });
    expect((await story.plan(second)).outputs["result"]).toBe("changes");
    expect(comment(second)).not.toContain("Rules");
    await story.merge(second);
    expect((await story.apply()).outputs["result"]).toBe("applied");
    expect(await story.writes()).toHaveLength(6);
  });

  test("policies and checks that are dropped with what they forbid refuse it", async () => {
    const pull = await story.openPull({
      [FILE]: `${fileOf([...PEOPLE], "")}  - { email: eve@evil.example, roles: [Cashier] }
roles:
  - { name: Cashier, permissions: [refunds_create] }
`,
    });
    const run = await story.plan(pull);
    expect(run.outputs["failure-reason"]).toBe("refused");
    expect(comment(pull)).toContain(
      "- MC1: policy email-domains: The address eve@evil.example is in none of the",
    );
    expect(comment(pull)).toContain("- MC1: check check-only: eve@evil.example would have refunds_create");
    expect(comment(pull)).toContain("### ⚠️ Rules: 3 looser than on the base branch");
  });

  test("do not refuse what the base branch's own files have already: their rule can be loosened", async () => {
    const EVE = "  - { email: eve@evil.example, roles: [role_employee] }\n";
    await story.pushToMain({ [FILE]: `${fileOf([...PEOPLE])}${EVE}` });
    const pull = await story.openPull({ [FILE]: `${fileOf([...PEOPLE], "")}${EVE}` });
    const run = await story.plan(pull);
    expect(run.outputs["result"]).toBe("changes");
    expect(comment(pull)).toContain("looser rules");
    const other = await story.openPull({
      [FILE]: `${fileOf([...PEOPLE], "")}${EVE}${EVE.replace("eve", "eva")}`,
    });
    expect((await story.plan(other)).outputs["failure-reason"]).toBe("refused");
    expect(comment(other)).not.toContain("The address eve@");
  });

  test("rules that cannot be read refuse the plan", async () => {
    await story.stop();
    story = await openStory(SEED, { [FILE]: BASE }, { withGit: true });
    const pull = await story.openPull({ [FILE]: fileOf(PEOPLE, LOOSE) });
    const base = story.github.branches.get("main") ?? "";
    rmSync(join(story.refs, "objects", base.slice(0, 2), base.slice(2)));
    const run = await story.plan(pull);
    expect(run.outputs).toMatchObject({ result: "failed", "failure-reason": "github" });
    expect(comment(pull)).toContain(`The files of ${base.slice(0, 7)} could not be read. git: `);
  });
});

test("a plan that a stricter base branch refuses by now takes back what was stored before", async () => {
  const shared = "shared/guards.yaml";
  const including = (rules: string): string => fileOf(PEOPLE, `include: [../${shared}]\n${rules}`);
  await story.pushToMain({
    [shared]: "version: 1\nguards: { max_removals: 100% }\n",
    [FILE]: including(""),
  });
  // The pull request writes into the file itself what it has included.
  const own = "guards: { max_removals: 100% }\n";
  const pull = await story.openPull({ [FILE]: fileOf([], own) });
  expect((await story.plan(pull)).outputs["result"]).toBe("changes");
  await story.pushToMain({ [shared]: "version: 1\nguards: { max_removals: 25% }\n" });
  expect((await story.plan(pull)).outputs["result"]).toBe("refused");
  await story.merge(pull);
  expect((await story.apply()).outputs["failure-reason"]).toBe("not-approved");
  expect(await story.writes()).toEqual([]);
});

test("a file that has an error on the base branch has no rules to compare with, which is said", async () => {
  await story.pushToMain({
    [FILE]: BASE.replace("max_removals", "max_removal").replace("protect", "protects"),
  });
  const pull = await story.openPull({ [FILE]: fileOf(PEOPLE, LOOSE) });
  expect((await story.plan(pull)).outputs["result"]).toBe("no-changes");
  expect(comment(pull)).toContain("### ⚠️ Rules: 1 not compared");
  expect(comment(pull)).toContain(
    `! ${FILE}: has errors on the base branch, so its rules there are not known`,
  );
});

describe("what changes nothing at the service is told all the same", () => {
  test.each([
    [
      "an emptied protect",
      RULES.replace("[ada@example.com] }\npol", "[] }\npol"),
      ["the member ada@example.com is no longer protected"],
    ],
    [
      "additive sync",
      `${RULES}sync: { members: additive }\n`,
      ["members are no longer removed when unlisted (sync: additive)"],
    ],
    [
      "no rules at all",
      "",
      [
        "the member ada@example.com is no longer protected",
        "addresses may be in any domain",
        "the check that only ada@example.com can refunds_create is gone",
      ],
    ],
  ])("%s", async (_, rules, lines) => {
    const pull = await story.openPull({ [FILE]: fileOf(PEOPLE, rules) });
    expect((await story.plan(pull)).outputs["result"]).toBe("no-changes");
    for (const line of lines) expect(comment(pull)).toContain(`! MC1: ${line}`);
  });

  test("a section that is gone, and what is ignored instead of removed", async () => {
    const gone = await story.openPull({ [FILE]: BASE.slice(0, BASE.indexOf("members:\n")) });
    expect((await story.plan(gone)).outputs["result"]).toBe("no-changes");
    expect(comment(gone)).toContain('! MC1: members are no longer managed (no section "members")');
    const ignored = await story.openPull({
      [FILE]: fileOf(PEOPLE.slice(1), `${RULES}ignore: { members: ["ben@*"] }\n`),
    });
    await story.plan(ignored);
    expect(comment(ignored)).toContain('! MC1: members that match "ben@*" are no longer managed (ignore)');
  });

  test("an end date that is later, which no plan shows before its time", async () => {
    const until = (day: string): string =>
      `${BASE}    until: ${day}\n`.replace(
        /roles: \[role_employee\] \}\n {4}until: (.*)\n$/,
        "roles: [role_employee], until: $1 }\n",
      );
    await story.pushToMain({ [FILE]: until("2099-01-31") });
    const pull = await story.openPull({ [FILE]: BASE });
    expect((await story.plan(pull)).outputs["result"]).toBe("no-changes");
    expect(comment(pull)).toContain("! MC1: gil@example.com is a member until 2099-01-31 → without end");
  });

  test("for a fork, whose files are only checked, and in a public repository without addresses", async () => {
    story.github.isPrivate = false;
    const pull = await story.openPull({ [FILE]: fileOf(PEOPLE, "") });
    const run = await story.plan(pull, { "api-key": "", "base-url": "" });
    expect(run.outputs["result"]).toBe("unplanned");
    expect(comment(pull)).toContain("! MC1: the member a***@example.com is no longer protected");
    expect(comment(pull)).not.toContain("ada@");
    const again = "  - { email: gil@example.com, roles: [role_employee] }\n";
    await story.push(pull, { [FILE]: `${BASE}${again}${again}` });
    const broken = await story.plan(pull, { "api-key": "", "base-url": "" });
    expect(broken.log).toMatch(/::error .*g\*\*\*@example\.com/);
    expect(broken.log).not.toContain("gil@");
  });

  test("looser rules are listed before anything that is folded, however little room there is", async () => {
    const shifts = Array.from(
      { length: 40 },
      (_, index) => `  - { name: Shift ${index}, permissions: [catalog_view] }`,
    );
    const pull = await story.openPull({ [FILE]: `${fileOf(PEOPLE, LOOSE)}roles:\n${shifts.join("\n")}\n` });
    story.github.maxBody = 2_500;
    await story.plan(pull);
    expect(comment(pull)).toContain("Left out to keep this short");
    expect(comment(pull)).toContain(LINE);
    story.github.maxBody = 65_536;
    await story.plan(pull);
    expect(comment(pull).indexOf(LINE)).toBeLessThan(comment(pull).indexOf("<details>"));
  });
});

describe("many merchants", () => {
  const shared = (limit: string): string => `version: 1\nguards: { max_removals: ${limit} }\n`;
  const codes = Array.from({ length: 8 }, (_, index) => `MC${index + 1}`);
  const files = Object.fromEntries(
    codes.map((code) => [
      `access/${code}.yaml`,
      `version: 1\nmerchant: ${code}\ninclude: [shared.yaml]\nmembers: []\n`,
    ]),
  );

  beforeEach(async () => {
    await story.stop();
    const owner = "    members:\n      - { email: ada@example.com, roles: [role_owner] }\n";
    const merchants = codes.map((code) => `  - code: ${code}\n${owner}`).join("");
    const seed = `merchants:\n${merchants}keys:\n  - { key: sk_test_sandbox, owner: ada@example.com }\n`;
    story = await openStory(seed, { ...files, "access/shared.yaml": shared("10%") });
  });

  test("an equal loosening through a shared file is one line, and so are merchants whose files are gone", async () => {
    const pull = await story.openPull({
      "access/shared.yaml": shared("50%"),
      "access/MC6.yaml": null,
      "access/MC7.yaml": null,
      "access/MC8.yaml": null,
    });
    const run = await story.plan(pull, { "api-key": "", "base-url": "" });
    expect(run.code).toBe(0);
    const text = comment(pull).replaceAll(/\n! {3}/g, " ");
    expect(text).toContain("### ⚠️ Rules: 2 looser than on the base branch");
    expect(text).toContain("! 5 merchants (MC1, MC2, MC3, MC4, MC5): at most 10% → 50% may be removed");
    expect(text).toContain(
      "! 3 merchants (MC6, MC7, MC8): no longer managed, because no file declares it; the live state stays as it is",
    );
  });
});
