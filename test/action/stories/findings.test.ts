import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FileChanges, openStory, type Run, type Story } from "../support/story.ts";

const DAY = 86_400_000;
const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: bob@example.com, roles: [role_employee] }
  - code: MC2
    members: [{ email: ada@example.com, roles: [role_owner] }]
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const SHARED = "shared/people.yaml";
const BOB = "  - { email: bob@example.com, roles: [role_employee] }\n";
const file = (code: string): string => `access/${code.toLowerCase()}.yaml`;
const text = (code: string, members = "", more = ""): string =>
  `version: 1\nmerchant: ${code}\n${code === "MC1" ? `include: [../${SHARED}]\n` : ""}members:\n  - { email: ada@example.com, roles: [role_owner] }\n${members}${more}`;
const START = {
  "README.md": "Access.\n",
  [SHARED]: "version: 1\n",
  [file("MC1")]: text("MC1", BOB),
  [file("MC2")]: text("MC2"),
};
const roles = (...all: readonly (readonly [name: string, ...permissions: string[]])[]): string =>
  `roles:\n${all.map(([name, ...permissions]) => `  - { name: ${name}, permissions: [${permissions.join(", ")}] }\n`).join("")}`;

let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, START);
  expect((await story.apply()).outputs["result"]).toBe("no-changes");
});

afterEach(async () => {
  await story.stop();
});

const reviewed = async (files: FileChanges): Promise<number> => {
  const pull = await story.openPull(files);
  await story.plan(pull);
  await story.review(pull, "APPROVED");
  return pull;
};

const merged = async (files: FileChanges): Promise<number> => {
  const pull = await reviewed(files);
  await story.merge(pull);
  return pull;
};

interface Listed {
  readonly items: readonly {
    readonly id: string;
    readonly name?: string;
    readonly invite?: { readonly email: string };
    readonly user?: { readonly email: string };
  }[];
}

const listed = async (what: "roles" | "members", code = "MC1"): Promise<Listed["items"]> =>
  ((await story.behind("GET", `/v0.1/merchants/${code}/${what}?limit=25`)) as Listed).items;

const addresses = async (code = "MC1"): Promise<readonly string[]> =>
  (await listed("members", code)).map(({ invite, user }) => user?.email ?? invite?.email ?? "").toSorted();

const status = (context: string) => story.github.statuses.findLast((one) => one.context === context);

const issueText = (): string => story.github.issues[0]?.body ?? "";
const tip = (): string | undefined => story.github.branches.get("main")?.slice(0, 7);

/** The texts of all records. */
const recordText = async (): Promise<string> => [...(await story.records()).values()].join();

const inviteDan = (code: string): Promise<unknown> =>
  story.behind("POST", `/v0.1/merchants/${code}/members`, {
    email: "dan@example.com",
    roles: ["role_employee"],
  });

describe("what a role grants", () => {
  const WITH_ROLES = text("MC1", BOB, roles(["Cashier", "catalog_view"], ["Helper", "catalog_view"]));
  const GRANTED = text(
    "MC1",
    `${BOB}  - { email: hal@example.com, roles: [Helper] }\n`,
    roles(["Cashier", "catalog_view", "refunds_create"], ["Helper", "catalog_view"]),
  );

  beforeEach(async () => {
    await merged({ [file("MC1")]: WITH_ROLES });
    expect((await story.apply()).outputs["result"]).toBe("applied");
  });

  test("a grant that was reviewed when the role granted less does not give more", async () => {
    await merged({ [file("MC1")]: GRANTED });
    const helper = (await listed("roles")).find(({ name }) => name === "Helper");
    await story.behind("PATCH", `/v0.1/merchants/MC1/roles/${helper?.id}`, {
      permissions: ["catalog_view", "payouts_edit", "members_update"],
    });
    const run = await story.apply();
    expect(run.code).toBe(1);
    expect(run.log).toContain("payouts_edit");
    expect(await addresses()).not.toContain("hal@example.com");
    // What was reviewed is made all the same.
    expect(run.log).toContain("Cashier");
    expect(status("rolecall apply")?.state).toBe("failure");
  });

  test("a permission that a later review takes from the role is not lost", async () => {
    const WIDE = WITH_ROLES.replace("Helper, permissions: [", "Helper, permissions: [refunds_create, ");
    await merged({ [file("MC1")]: WIDE });
    expect((await story.apply()).outputs["result"]).toBe("applied");
    const granting = await reviewed({
      [file("MC1")]: WIDE.replace(BOB, `${BOB}  - { email: hal@example.com, roles: [Helper] }\n`),
    });
    const narrowing = await reviewed({ [file("MC1")]: WITH_ROLES });
    for (const pull of [granting, narrowing]) await story.merge(pull);
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "applied", "failure-reason": "" });
    expect(await addresses()).toContain("hal@example.com");
  });

  test("two pull requests together do not give a permission that neither review has shown", async () => {
    const one = await reviewed({
      [file("MC1")]: WITH_ROLES.replace(BOB, `${BOB}  - { email: hal@example.com, roles: [Helper] }\n`),
    });
    const other = await reviewed({
      [file("MC1")]: WITH_ROLES.replace(
        "name: Helper, permissions: [catalog_view]",
        "name: Helper, permissions: [catalog_view, payouts_edit]",
      ),
    });
    for (const pull of [one, other]) await story.merge(pull);
    await story.pushToMain({
      [file("MC1")]: WITH_ROLES.replace(
        BOB,
        `${BOB}  - { email: hal@example.com, roles: [Helper] }\n`,
      ).replace(
        "name: Helper, permissions: [catalog_view]",
        "name: Helper, permissions: [catalog_view, payouts_edit]",
      ),
    });
    const run = await story.apply();
    expect(run.code).toBe(1);
    expect(run.log).toContain("payouts_edit");
    expect(await addresses()).not.toContain("hal@example.com");
    // The reviewer of the waiting change reads what hal gets by then.
    const [, waits = ""] = run.summary.split("### Waits for approval");
    expect(waits.split("<details")[0]).toContain("hal@example.com: payouts_edit");
    expect(waits).toMatch(/create member hal@example\.com[^#]*\n\+ {5}gains: catalog_view, payouts_edit\n/);
    expect(waits.split("<details")[0]).not.toContain("bob");
  });

  test("is not among what waits, where the run has given it", async () => {
    const wide = ["catalog_view", "refunds_create"] as const;
    const both = roles(["Cashier", ...wide], ["Helper", "catalog_view", "payouts_edit"]);
    const holder = (...held: readonly string[]): string =>
      BOB.replace("[role_employee]", `[role_employee, ${held.join(", ")}]`);
    await merged({
      [file("MC1")]: text(
        "MC1",
        holder("Cashier"),
        roles(["Cashier", "catalog_view"], ["Helper", "catalog_view", "payouts_edit"]),
      ),
    });
    expect((await story.apply()).code).toBe(0);
    await merged({ [file("MC1")]: text("MC1", holder("Cashier"), both) });
    await story.pushToMain({ [file("MC1")]: text("MC1", holder("Cashier", "Helper"), both) });
    const run = await story.apply();
    expect(run.outputs["result"]).toBe("partial");
    const [, waits = ""] = run.summary.split("### Waits for approval");
    const [access = ""] = waits.split("```text");
    expect(access).toMatch(/1 member gains sensitive permissions/);
    expect(access).toContain("+     gains: payouts_edit\n");
    expect(access).not.toMatch(/refunds|update role/);
  });
});

describe("a reviewed removal", () => {
  const removal = { [file("MC1")]: text("MC1") };
  const listing = { [SHARED]: `version: 1\nmembers:\n${BOB}` };

  test("a reviewed removal that another pull request undoes unseen fails the run, and both pull requests report it", async () => {
    const first = await reviewed(removal);
    const second = await reviewed(listing);
    await story.merge(first);
    await story.merge(second);
    const run = await story.apply();
    expect(run.code).toBe(1);
    expect(run.log).toContain(`#${first} was to remove bob@example.com, and was lost`);
    expect(run.log).toContain(`${SHARED}:3`);
    expect(status("rolecall apply")?.state).toBe("failure");
    expect(story.comments(first).join()).toContain("was lost");
    expect(story.comments(second).join()).toContain("was lost");
    expect(await addresses()).toContain("bob@example.com");
    // It is told at night too, and nobody can read of whom in the records.
    expect((await story.drift()).outputs["result"]).toBe("drift");
    expect(issueText()).toContain(
      `MC1, since the apply of ${tip()} (#${first}, #${second}):\n  #${first} was to remove`,
    );
    expect(await recordText()).toContain("reviews/");
    expect(await recordText()).not.toContain("example.com");
    // Later runs for other commits do not fail because of it, and the nightly issue keeps it.
    expect((await story.rerun(run)).code).toBe(1);
    const commit = tip();
    await merged({ "README.md": "Access as code.\n" });
    const later = await story.apply();
    expect(later.code).toBe(0);
    expect(later.log).toContain(`MC1: differs from its files, as reported for ${commit}.`);
    expect((await story.drift()).outputs["result"]).toBe("drift");
    expect(issueText()).toContain(`MC1, since the apply of ${commit} (#${first}, #${second}):`);
    const stays = await merged({ [file("MC1")]: `${text("MC1")}# Bob stays.\n` });
    expect(story.comments(stays)[0]).toContain(
      "### Access lost earlier, not reported again after this merge",
    );
    expect(story.comments(stays)[0]).toContain(`MC1: #${first} was to remove bob@example.com, and was lost`);
    expect((await story.apply()).code).toBe(0);
    expect((await story.drift()).outputs["result"]).toBe("clean");
  });

  test("that was lost is made once the files declare it again, and then no longer reported", async () => {
    const pulls = [await reviewed(removal), await reviewed(listing)];
    for (const pull of pulls) await story.merge(pull);
    expect((await story.apply()).code).toBe(1);
    await story.pushToMain({ [SHARED]: "version: 1\nmembers: []\n" });
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "applied", "failure-reason": "" });
    expect(run.log).not.toContain("lost");
    expect(await addresses()).not.toContain("bob@example.com");
    expect((await story.drift()).outputs["result"]).toBe("clean");
  });

  test("that was lost is named in a plan that gives the person more instead", async () => {
    const pulls = [await reviewed(removal), await reviewed(listing)];
    for (const pull of pulls) await story.merge(pull);
    expect((await story.apply()).code).toBe(1);
    const more = await reviewed({ [file("MC1")]: text("MC1", BOB.replace(/\[.*\]/, "[role_manager]")) });
    expect(story.comments(more)[0]).toContain("### Access lost earlier, not reported again after this merge");
    expect(story.comments(more)[0]).toContain(
      `MC1: #${pulls[0]} was to remove bob@example.com, and was lost`,
    );
  });

  test("that was lost is named in a plan that only gives the person a new address", async () => {
    const pulls = [await reviewed(removal), await reviewed(listing)];
    for (const pull of pulls) await story.merge(pull);
    expect((await story.apply()).code).toBe(1);
    const renamed = BOB.replace("bob@example.com", "bob@new.example, previously: bob@example.com");
    const pull = await reviewed({ [SHARED]: `version: 1\nmembers:\n${renamed}` });
    expect(story.comments(pull)[0]).toContain(
      `MC1: #${pulls[0]} was to remove bob@example.com, and was lost: bob@example.com continues as bob@new.example.`,
    );
  });

  test("that was lost is not settled by a plan that was made before", async () => {
    const zoe = "  - { email: zoe@example.com, roles: [role_employee] }\n";
    const pulls = [await reviewed(removal), await reviewed(listing)];
    const other = await reviewed({ [file("MC1")]: text("MC1", `${BOB}${zoe}`) });
    for (const pull of pulls) await story.merge(pull);
    expect((await story.apply()).code).toBe(1);
    await story.merge(other);
    const run = await story.apply();
    expect(run.outputs["failure-reason"]).toBe("partial");
    expect(run.log).toContain(`#${pulls[0]} was to remove bob@example.com, and was lost`);
    expect(await addresses()).toContain("zoe@example.com");
    await story.drift();
    expect(issueText()).toContain("was to remove bob@example.com");
  });

  test("is told as replaced where the person keeps another role", async () => {
    const first = await merged(removal);
    const manager = BOB.replace("role_employee", "role_manager");
    const second = await merged({ [file("MC1")]: text("MC1", manager) });
    expect((await story.apply()).outputs["result"]).toBe("applied");
    expect(story.comments(first).join()).toContain(
      `#${first} was to remove bob@example.com; #${second} has decided otherwise since.`,
    );
  });

  test("fails the plan of a push that deletes the file of the merchant", async () => {
    const pull = await reviewed({ [file("MC1")]: text("MC1") });
    await story.push(pull, { [file("MC1")]: null });
    const run = await story.plan(pull);
    expect(run.outputs["failure-reason"]).toBe("not-approved");
    expect(run.log).toContain(`The reviewed changes of #${pull} to MC1 were lost: no file declares MC1`);
  });

  test("is told on every pull request that has to do with it, with few requests", async () => {
    await story.stop();
    const files = { ...START, [file("MC2")]: text("MC2", BOB) };
    const both = SEED.replace(
      "MC2\n    members: [",
      "MC2\n    members: [{ email: bob@example.com, roles: [role_employee] }, ",
    );
    story = await openStory(both, files);
    expect((await story.apply()).outputs["result"]).toBe("no-changes");
    const first = await reviewed(removal);
    const second = await reviewed({ [file("MC2")]: text("MC2") });
    const third = await reviewed({
      ...listing,
      "shared/more.yaml": listing[SHARED],
      [file("MC2")]: text("MC2", BOB, "include: [../shared/more.yaml]\n"),
    });
    for (const pull of [first, second, third]) await story.merge(pull);
    const run = await story.apply();
    expect(run.code).toBe(1);
    for (const pull of [first, second, third]) expect(story.comments(pull).join()).toContain("was lost");
    expect(run.log).toContain(`#${third} changed that file last`);
    expect(run.requests.length).toBeLessThanOrEqual(12);
  });

  test("is told with few requests where four are lost in four files, by three commits", async () => {
    await story.stop();
    const names = ["a", "b", "c", "d"];
    const people = names.map((name) => `  - { email: ${name}@example.com, roles: [role_employee] }\n`);
    const shared = (name: string): string => `shared/${name}.yaml`;
    const listing = (index: number): string => `version: 1\nmembers:\n${people[index]}`;
    const includes = `include: [${names.map((name) => `../${shared(name)}`).join(", ")}]\n`;
    const all = Object.fromEntries(names.map((name, index) => [shared(name), listing(index)]));
    const seed = SEED.replace(/( {6}- \{ email: )bob(.*\n)/, names.map((name) => `$1${name}$2`).join(""));
    story = await openStory(seed, {
      ...START,
      ...all,
      [file("MC1")]: text("MC1").replace(/include.*\n/, includes),
    });
    expect((await story.apply()).outputs["result"]).toBe("no-changes");
    const pulls: number[] = [];
    for (const name of names) pulls.push(await reviewed({ [shared(name)]: "version: 1\nmembers: []\n" }));
    for (const pull of pulls) await story.merge(pull);
    await story.pushToMain({ [shared("a")]: listing(0), [shared("b")]: listing(1) });
    await story.pushToMain({ [shared("c")]: listing(2) });
    await story.pushToMain({ [shared("d")]: listing(3) });
    const run = await story.apply();
    for (const [index, name] of names.entries()) {
      expect(run.log).toContain(`#${pulls[index]} was to remove ${name}@example.com, and was lost`);
    }
    expect(run.requests).toHaveLength(11);
  });

  test.each([
    ["a push", async (files: FileChanges) => void (await story.pushToMain(files))],
    ["another pull request", merged],
  ])("is lost aloud if %s removes the file of its merchant", async (_, remove) => {
    const first = await merged(removal);
    const other = await remove({ [file("MC1")]: null });
    const run = await story.apply();
    expect(run.outputs["failure-reason"]).toBe("not-approved");
    const by = other === undefined ? "." : `; #${other} changed its file last.`;
    const lost = `MC1: The reviewed changes of #${first} to MC1 were lost: no file declares MC1 any longer${by}`;
    expect(run.log.split(`\n${lost}\n`)).toHaveLength(2);
    if (other !== undefined) expect(story.comments(other).join()).toMatch(/changed its\s+file last\./);
    expect(story.comments(first).join()).toContain("no file declares MC1 any longer");
    // It is not forgotten: the nightly issue lists it until somebody runs an apply by hand.
    await merged({ "README.md": "Access as code.\n" });
    const later = await story.apply();
    expect(later.code).toBe(0);
    expect(later.log).toContain("MC1: no file declares it any longer, as reported for");
    await story.due();
    await story.drift();
    expect(issueText()).toContain(`The reviewed changes of #${first} to MC1 were lost`);
    expect((await story.run({ command: "apply" })).code).toBe(1);
    expect((await story.drift()).outputs["result"]).toBe("clean");
  });

  test("is made after an apply with another secret", async () => {
    await merged(removal);
    expect((await story.apply({ "approval-secret": "x".repeat(32) })).code).toBe(1);
    expect(await addresses()).toContain("bob@example.com");
    const run = await story.apply();
    expect(run.log).toContain("is not signed with the current approval secret");
    expect(await addresses()).not.toContain("bob@example.com");
  });

  test("is told on the pull request that undoes it, where that is up to date, and that one decides", async () => {
    const first = await merged(removal);
    const second = await story.openPull(listing);
    await story.plan(second);
    expect(story.comments(second)[0]).toContain(
      `MC1: member bob@example.com: already live; #${first}, merged and not applied yet, removes it`,
    );
    await story.review(second, "APPROVED");
    await story.merge(second);
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "no-changes", "failure-reason": "" });
    expect(await addresses()).toContain("bob@example.com");
    const told = `#${first} was to remove bob@example.com; #${second} has decided otherwise since.`;
    expect(run.log).toContain(told);
    expect(story.comments(first).join()).toContain(`#${second} has decided`);
  });

  test("of somebody new is told where the next pull request takes it back before an apply", async () => {
    const EVE = "  - { email: eve@example.com, roles: [role_employee] }\n";
    const first = await merged({ [file("MC1")]: text("MC1", BOB + EVE) });
    const second = await merged({ [file("MC1")]: text("MC1", BOB, roles(["Cashier", "catalog_view"])) });
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", creates: "1" });
    expect(story.comments(first)[0]?.replaceAll(/\s+/g, " ")).toContain(
      `#${first} was to add somebody who is no longer live or listed; #${second} has decided otherwise since.`,
    );
  });
});

describe("an end date", () => {
  const ENDING = text("MC1", BOB.replace("] }", "], until: 2026-11-03 }"));

  test("is not forgotten with the file of its merchant", async () => {
    const dated = await merged({ [file("MC1")]: ENDING });
    expect((await story.apply()).code).toBe(0);
    const pull = await story.openPull({ [file("MC1")]: null });
    await story.plan(pull);
    expect(story.comments(pull)[0]).toMatch(/as it is, and 1 date to\s+!\s+come no longer counts/);
    await story.merge(pull);
    const run = await story.apply();
    expect(run.outputs["failure-reason"]).toBe("not-approved");
    expect(run.log).toContain(
      `The reviewed changes of #${dated} to MC1 were lost: no file declares MC1 any longer`,
    );
    story.clock.advance(4 * DAY);
    await story.due();
    await story.drift();
    expect(issueText()).toContain(`The reviewed changes of #${dated} to MC1 were lost`);
    expect((await story.run({ command: "apply" })).code).toBe(1);
    expect((await story.drift()).outputs["result"]).toBe("clean");
  });

  test("is enforced by the nightly run, whatever was applied elsewhere since", async () => {
    await merged({ [file("MC1")]: ENDING });
    await story.apply();
    story.clock.advance(2 * DAY);
    // This run does not look at MC1.
    await merged({ [file("MC2")]: text("MC2", "  - { email: eve@example.com, roles: [role_employee] }\n") });
    expect((await story.apply()).outputs["result"]).toBe("applied");
    expect(await addresses()).toContain("bob@example.com");
    expect((await story.due()).outputs["result"]).toBe("applied");
    expect(await addresses()).not.toContain("bob@example.com");
  });

  test("is enforced by every apply that looks at its merchant", async () => {
    await merged({ [file("MC1")]: ENDING });
    await story.apply();
    story.clock.advance(2 * DAY);
    await merged({ [file("MC1")]: `${ENDING}${roles(["Night", "catalog_view"])}` });
    expect((await story.apply()).outputs["result"]).toBe("applied");
    expect(await addresses()).not.toContain("bob@example.com");
  });

  test("that nobody enforces is the first thing that a comment says", async () => {
    await merged({ [file("MC1")]: ENDING });
    await story.apply();
    await story.due();
    story.clock.advance(40 * DAY);
    const pull = await story.openPull({ "README.md": "Access as code.\n" });
    await story.plan(pull);
    const [, , first] = (story.comments(pull)[0] ?? "").split("\n\n");
    expect(first?.trim()).toBe(
      "> [!CAUTION]\n> 1 person whose access has ended is still live; the last nightly run was 40 days ago.",
    );
    expect(story.comments(pull)[0]).not.toContain("nothing changes");
    await story.due();
    await story.plan(pull);
    expect(story.comments(pull)[0]).not.toContain("still live");
  });
});

test("what was merged before more than a hundred other commits is applied, with as few requests", async () => {
  await merged({ [file("MC1")]: text("MC1") });
  for (let index = 0; index < 120; index++) await story.pushToMain({ "notes.txt": `Note ${index}` });
  for (let index = 0; index < 12; index++) {
    const pull = await story.openPull({ "notes.txt": `Again ${index}` });
    await story.merge(pull);
  }
  const run = await story.apply();
  expect(run.outputs["result"]).toBe("applied");
  expect(run.requests.length).toBeLessThanOrEqual(12);
  expect(await addresses()).not.toContain("bob@example.com");
});

test("a plan that its comment cannot show is not recorded", async () => {
  const pull = await story.openPull({ [file("MC1")]: text("MC1") });
  await story.plan(pull);
  await inviteDan("MC1");
  const message = "Unable to create comment because issue is locked.";
  story.github.refusals.push({ method: "PATCH", path: /comments/, status: 403, message, times: 2 });
  const again = await story.plan(pull);
  expect(again.outputs["failure-reason"]).toBe("github");
  expect(status("rolecall plan")?.state).toBe("failure");
  expect(await story.recordedPlans(pull)).toBe(1);
  await story.plan(pull);
  expect(await story.recordedPlans(pull)).toBe(2);
});

test.each([
  { method: "GET", path: /comments/, status: 500 },
  { method: "GET", path: /comments/, status: 403 },
  { method: "POST", path: /comments/, status: 500 },
])("a plan whose comment cannot be found or written is not recorded: $method, $status", async (refusal) => {
  const pull = await story.openPull({ [file("MC1")]: text("MC1") });
  const isFirst = refusal.method === "POST";
  if (!isFirst) await story.plan(pull);
  await inviteDan("MC1");
  story.github.refusals.push({ ...refusal, message: "Something went wrong.", times: 30 });
  const again = await story.plan(pull);
  expect(again.outputs["failure-reason"]).toBe("github");
  expect(status("rolecall plan")?.state).toBe("failure");
  expect(await story.recordedPlans(pull)).toBe(isFirst ? 0 : 1);
});

test("a plan is not shown, nor recorded, if GitHub fails to say whether its commit is the newest", async () => {
  const pull = await story.openPull({ [file("MC1")]: text("MC1") });
  await story.plan(pull);
  const shown = story.comments(pull);
  await inviteDan("MC1");
  story.github.refusals.push({ method: "GET", path: /pulls\/\d+$/, status: 500, times: 30 });
  expect((await story.plan(pull)).outputs["failure-reason"]).toBe("github");
  expect(status("rolecall plan")?.state).toBe("failure");
  expect(story.comments(pull)).toEqual(shown);
  expect(await story.recordedPlans(pull)).toBe(1);
});

test("a review of before its plan fails the status, until somebody approves again", async () => {
  const pull = await story.openPull({ [file("MC1")]: text("MC1") });
  await story.review(pull, "APPROVED");
  const early = await story.plan(pull);
  expect(early.outputs["failure-reason"]).toBe("not-approved");
  expect(status("rolecall plan")).toMatchObject({
    state: "failure",
    description: "Approved before this plan was ready. Approve it again.",
  });
  await story.review(pull, "APPROVED");
  const again = await story.plan(pull, {}, { event: story.reviewEvent(pull) });
  expect(again.outputs["failure-reason"]).toBe("");
  expect(status("rolecall plan")?.state).toBe("success");
  expect(story.comments(pull)[0]).not.toContain("Approved before");
  await story.merge(pull);
  expect((await story.apply()).outputs["result"]).toBe("applied");
});

test("a review that requests changes keeps the status red, until its author approves or it is dismissed", async () => {
  const pull = await story.openPull({ [file("MC1")]: text("MC1") });
  const judged = async (state: "APPROVED" | "CHANGES_REQUESTED", author = "rita") => {
    await story.review(pull, state, author, author === "rita");
    const { outputs } = await story.plan(pull, {}, { event: story.reviewEvent(pull) });
    return [outputs["failure-reason"], status("rolecall plan")?.state];
  };
  await story.plan(pull);
  expect(await judged("CHANGES_REQUESTED", "reader")).toEqual(["", "success"]);
  expect(await judged("APPROVED")).toEqual(["", "success"]);
  await inviteDan("MC1");
  expect((await story.plan(pull)).outputs["failure-reason"]).toBe("not-approved");
  expect(await judged("CHANGES_REQUESTED")).toEqual(["not-approved", "failure"]);
  expect(status("rolecall plan")?.description).toContain("A review requests changes.");
  expect(await judged("APPROVED")).toEqual(["", "success"]);
  expect(await judged("CHANGES_REQUESTED")).toEqual(["not-approved", "failure"]);
  await story.dismiss(pull, "rita");
  const dismissed = await story.plan(pull, {}, { event: story.reviewEvent(pull) });
  expect([dismissed.outputs["failure-reason"], status("rolecall plan")?.state]).toEqual(["", "success"]);
});

test.each([
  { what: "graphql", method: "POST", path: /graphql/ },
  { what: "the pull request", method: "GET", path: /pulls\/\d+$/ },
  { what: "the comments", method: "GET", path: /comments/ },
])("a response that is cut off is no bug, and asked for again: $what", async (refusal) => {
  const pull = await story.openPull({ [file("MC1")]: text("MC1") });
  const cut = { ...refusal, status: 200, cut: true, times: 1 };
  story.github.refusals.push(cut);
  expect((await story.plan(pull)).outputs["failure-reason"]).toBe("");
  expect(cut.times).toBe(0);

  story.github.refusals.push({ ...cut, times: 99 });
  const failed = await story.plan(pull);
  expect(failed.outputs["failure-reason"]).not.toBe("bug");
  expect(failed.log).toMatch(/could not be read/);
  expect(failed.log).not.toMatch(/bug|^ +at /m);
});

test.each([500, 200])("a plan that fails before it has read anything sets its status: %s", async (code) => {
  const pull = await story.openPull({ [file("MC1")]: text("MC1") });
  await story.plan(pull);
  story.github.refusals.push({ method: "POST", path: /graphql/, status: code, cut: code === 200, times: 99 });
  const failed = await story.plan(pull);
  expect(failed.outputs["failure-reason"]).toBe("github");
  expect(failed.log).toContain("Run it again.");
  expect(status("rolecall plan")).toMatchObject({ state: "failure" });
  expect(status("rolecall plan")?.description).not.toContain("bug");
});

test("a review of a pull request without access needs no plan", async () => {
  const pull = await story.openPull({ "README.md": "Access as code.\n" });
  await story.review(pull, "APPROVED");
  expect((await story.plan(pull)).outputs["failure-reason"]).toBe("");
  expect(status("rolecall plan")?.state).toBe("success");
});

test("a merchant that is refused is the business of its own pull request alone", async () => {
  await inviteDan("MC2");
  const refused = await merged({
    [file("MC2")]: text("MC2", "", "guards: { protect: { members: [dan@example.com] } }\n"),
  });
  expect((await story.apply()).outputs["failure-reason"]).toBe("refused");
  const before = story.comments(refused);
  const counts: number[] = [];
  for (const index of [1, 2, 3]) {
    const pull = await merged({
      [file("MC1")]: text("MC1", BOB, roles([`Shift ${index}`, "catalog_view"])),
    });
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "applied", "failure-reason": "" });
    expect(story.comments(pull)[0]).toContain("✅ rolecall apply: applied");
    expect(story.comments(pull)[0]).not.toContain(`#${refused}`);
    expect(status("rolecall apply")?.state).toBe("success");
    counts.push(run.requests.length);
  }
  expect(story.comments(refused)).toEqual(before);
  await story.drift();
  expect(issueText()).toMatch(
    new RegExp(`MC2, since the apply of \\w{7} \\(#${refused}\\):\n  guard protect: .*dan@example.com`),
  );
  expect(new Set(counts).size).toBe(1);
});

test("somebody who may only read cannot approve", async () => {
  const pull = await story.openPull({ [file("MC1")]: text("MC1") });
  await story.plan(pull);
  await story.review(pull, "APPROVED");
  await inviteDan("MC1");
  await story.plan(pull);
  await story.review(pull, "APPROVED", "reader", false);
  const again = await story.plan(pull, {}, { event: story.reviewEvent(pull) });
  expect(again.outputs["failure-reason"]).toBe("not-approved");
  await story.merge(pull);
  const run = await story.apply();
  expect(run.log).toContain("not approved: delete member dan@example.com");
  expect(await addresses()).toEqual(["ada@example.com", "dan@example.com"]);
});

test("a merge whose apply was cancelled is made by the next run", async () => {
  await merged({ [file("MC1")]: text("MC1") });
  // Its run never started: a third one had cancelled it.
  await merged({ "README.md": "Access as code.\n" });
  const run = await story.apply();
  expect(run.outputs["result"]).toBe("applied");
  expect(await addresses()).not.toContain("bob@example.com");
});

describe("what nobody has reviewed", () => {
  const unreviewed = async (): Promise<Run> => {
    await inviteDan("MC1");
    return story.run({ command: "apply", scope: "all" });
  };

  test("waits, and is applied once a reviewer of the environment has approved it", async () => {
    const run = await unreviewed();
    expect(run.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
    expect(run.outputs["waiting"]).toBe(`${story.lastRun()}-1`);
    expect(run.summary).toContain("### Waits for approval");
    expect(run.summary).toContain("- delete member dan@example.com");
    const early = await story.applyApproved("unreviewed-access");
    expect(early.outputs["failure-reason"]).toBe("not-approved");
    expect(early.log).toContain("Nobody has approved this run for the environment unreviewed-access.");
    await story.approve("unreviewed-access");
    const end = await story.applyApproved("unreviewed-access");
    expect(end.outputs["result"]).toBe("applied");
    expect(await addresses()).toEqual(["ada@example.com", "bob@example.com"]);
    // The approval is used up.
    expect((await story.applyApproved("unreviewed-access")).outputs["failure-reason"]).toBe("not-approved");
  });

  test("is applied as it was approved, and nothing that came later", async () => {
    await unreviewed();
    await story.behind("POST", "/v0.1/merchants/MC1/members", {
      email: "eve@example.com",
      roles: ["role_employee"],
    });
    await story.approve("unreviewed-access");
    const end = await story.applyApproved("unreviewed-access");
    expect(end.code).toBe(1);
    expect(await addresses()).toEqual(["ada@example.com", "bob@example.com", "eve@example.com"]);
  });

  test("waits even if it is a removal that waits for an acceptance, and is then made by the daily run", async () => {
    const EVE = "  - { email: eve@example.com, roles: [role_employee] }\n";
    await merged({ [file("MC1")]: text("MC1", BOB + EVE) });
    const renamed = EVE.replace("roles:", "previously: bob@example.com, roles:");
    await story.pushToMain({ [file("MC1")]: text("MC1", renamed) });
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "partial", creates: "1" });
    expect(run.log).toContain("not approved: delete member bob@example.com");
    expect(run.summary).toContain("delete bob@example.com (waits until eve@example.com has accepted)");
    await story.approve("unreviewed-access");
    expect((await story.applyApproved("unreviewed-access")).code).toBe(0);
    const eve = (await listed("members")).find(({ invite }) => invite?.email === "eve@example.com");
    await story.behind("POST", `/merchants/MC1/members/${eve?.id}/accept`, {});
    expect((await story.due()).outputs).toMatchObject({ result: "applied", deletes: "1" });
    expect(await addresses()).toEqual(["ada@example.com", "eve@example.com"]);
  });

  test("is not taken for applied where a newer commit changes its merchant", async () => {
    await unreviewed();
    const sha = story.github.branches.get("main") ?? "";
    await story.approve("unreviewed-access");
    await story.pushToMain({
      [file("MC1")]: text("MC1", `${BOB}  - { email: eve@example.com, roles: [role_employee] }\n`),
    });
    const end = await story.applyApproved("unreviewed-access", sha);
    expect(end.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
    expect(end.log).toContain(`the approval came too late: the newer commit ${tip()} changes`);
    expect(await addresses()).toContain("dan@example.com");
  });

  test("does not end the report of what was lost", async () => {
    const pulls = [
      await reviewed({ [file("MC1")]: text("MC1") }),
      await reviewed({ [SHARED]: `version: 1\nmembers:\n${BOB}` }),
    ];
    for (const pull of pulls) await story.merge(pull);
    const run = await unreviewed();
    expect(run.log).toContain(`#${pulls[0]} was to remove bob@example.com, and was lost`);
    await story.approve("unreviewed-access");
    expect((await story.applyApproved("unreviewed-access")).outputs["result"]).toBe("applied");
    await story.drift();
    expect(issueText()).toContain("was to remove bob@example.com");
    await merged({ "README.md": "Access as code.\n" });
    expect((await story.apply()).code).toBe(0);
  });

  test("is approved at once for all jobs of a matrix", async () => {
    const EVE = "  - { email: eve@example.com, roles: [role_employee] }\n";
    await story.pushToMain({ [file("MC2")]: text("MC2", EVE) });
    await inviteDan("MC1");
    const env = { GITHUB_RUN_ID: "77" };
    // MC1 is in the fourth part, MC2 in the second.
    for (const shard of ["2/5", "4/5"]) {
      expect((await story.run({ command: "apply", scope: "all", shard }, { env })).outputs["waiting"]).toBe(
        "77-1",
      );
    }
    await story.approve("unreviewed-access");
    const run = await story.run({ command: "apply", environment: "unreviewed-access" }, { env });
    expect(run.outputs["result"]).toBe("applied");
    expect(await addresses()).not.toContain("dan@example.com");
    expect(await addresses("MC2")).toContain("eve@example.com");
  });

  test("an approval of another environment, or of an earlier attempt, applies nothing", async () => {
    await story.approve("unreviewed-access");
    await unreviewed();
    await story.approve("production");
    const end = await story.applyApproved("unreviewed-access");
    expect(end.outputs["failure-reason"]).toBe("not-approved");
    expect(await addresses()).toContain("dan@example.com");
  });
});

describe("a refusal is told to nobody else", () => {
  const withEve = text("MC2", "  - { email: eve@example.com, roles: [role_admin] }\n");

  test("than whom it concerns, where an earlier pull request has lost something elsewhere", async () => {
    const pulls = [
      await reviewed({ [file("MC1")]: text("MC1") }),
      await reviewed({ [SHARED]: `version: 1\nmembers:\n${BOB}` }),
    ];
    for (const pull of pulls) await story.merge(pull);
    expect((await story.apply()).code).toBe(1);
    const before = pulls.map(story.comments);
    await story.pushToMain({ [file("MC2")]: withEve });
    expect((await story.apply()).log).toContain("not approved: create member eve@example.com");
    expect(pulls.map(story.comments)).toEqual(before);
  });

  test("than whom it concerns, where one run applies several pull requests", async () => {
    const made = await reviewed({ [file("MC1")]: text("MC1") });
    const readme = await reviewed({ "README.md": "Access as code.\n" });
    await story.merge(made);
    await story.pushToMain({ [file("MC2")]: withEve });
    const fork = await story.openPull({ [file("MC2")]: `# a remark\n${withEve}` }, { fork: true });
    await story.merge(fork);
    const run = await story.apply();
    expect(run.outputs["failure-reason"]).toBe("partial");
    expect(run.summary).toContain("eve@example.com");
    expect(story.comments(made)[0]).toContain("## ✅ rolecall apply: applied\n");
    expect(story.comments(made)[0]).not.toContain("eve@example.com");
    expect(story.comments(fork)[0]).toContain("## ⛔ rolecall apply: refused");
    expect(story.comments(fork)[0]).toContain("eve@example.com");
    expect(story.comments(fork)[0]).not.toContain("delete member bob@example.com");
    expect(story.comments(readme)).toEqual([]);
  });
});
