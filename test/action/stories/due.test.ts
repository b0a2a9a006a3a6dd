import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BASE, FILE, SEED, WITH_ROLE } from "../support/one-merchant.ts";
import { openStory, type Run, type Story } from "../support/story.ts";

const DAY = 86_400_000;
/** Ben's access ends two days after the story begins. */
const ENDING = BASE.replace(
  "ben@example.com, roles: [role_employee]",
  "ben@example.com, roles: [role_employee], until: 2026-11-03",
);

let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, { [FILE]: BASE });
  expect((await story.apply()).outputs["result"]).toBe("no-changes");
});

afterEach(async () => {
  await story.stop();
});

/** Plans, reviews and merges files; without `apply` nothing is applied yet. */
async function merged(text: string, apply = true): Promise<number> {
  const pull = await story.openPull({ [FILE]: text });
  await story.plan(pull);
  await story.review(pull, "APPROVED");
  await story.merge(pull);
  if (apply) expect((await story.apply()).outputs["failure-reason"]).toBe("");
  return pull;
}

const due = (): Promise<Run> => story.due();
const removals = async () => (await story.writes()).filter((one) => one.startsWith("DELETE"));

test("access is removed on the day after its end, without another review, and only then", async () => {
  await merged(ENDING);
  expect((await due()).outputs["result"]).toBe("no-changes");
  story.clock.advance(2 * DAY);
  await story.drift();
  expect(story.github.issues[0]?.body).toContain(
    "### What to do\n\n**What is due:** the nightly `due` run or",
  );
  const end = await due();
  expect(end.outputs["result"]).toBe("applied");
  expect(await removals()).toHaveLength(1);
  expect((await story.drift()).outputs["result"]).toBe("clean");
  expect((await due()).outputs["result"]).toBe("no-changes");
});

test("an end counts as a removal in the review of its date, and not on its day", async () => {
  const limited = (text: string): string =>
    text.replace("members:\n", "guards: { max_removals: 0 }\nmembers:\n");
  await merged(limited(BASE));
  const refused = await story.plan(await story.openPull({ [FILE]: limited(ENDING) }));
  expect(refused.outputs["result"]).toBe("refused");
  expect(refused.log).toContain("1 of them by end dates that were added or brought forward; the limit is 0.");

  await merged(BASE);
  await merged(ENDING);
  await merged(limited(ENDING));
  story.clock.advance(2 * DAY);
  expect((await due()).outputs["result"]).toBe("applied");
  expect(await removals()).toHaveLength(1);
});

test("an end takes effect whatever is wrong elsewhere, which fails the run all the same", async () => {
  const file = `${ENDING}${WITH_ROLE.slice(BASE.length)}`;
  await merged(file);
  const path = "/v0.1/merchants/MC1/roles";
  const { items } = (await story.behind("GET", path)) as {
    readonly items: readonly { readonly id: string }[];
  };
  await merged(file.replace("name: Cashier,", `name: Cashier, id: ${items[0]?.id},`));
  await story.behind("DELETE", `${path}/${items[0]?.id}`, {});
  story.clock.advance(2 * DAY);
  const run = await due();
  expect(await removals()).toHaveLength(1);
  expect(run.log).toContain(`is pinned to ${items[0]?.id}, which does not exist`);
  expect(run.outputs["failure-reason"]).not.toBe("");
});

/** Cleo gets the role two days after the story begins. */
const starting = (text: string): string =>
  text.replace(
    "roles: [role_employee] }\n",
    "roles: [role_employee] }\n  - { email: cleo@example.com, roles: [Cashier], from: 2026-11-04 }\n",
  );
const invitations = async () => (await story.writes()).filter((one) => one.endsWith("/members"));
const changeRole = async (): Promise<void> => {
  const path = "/v0.1/merchants/MC1/roles";
  const { items } = (await story.behind("GET", path)) as { readonly items: readonly { id: string }[] };
  await story.behind("PATCH", `${path}/${items[0]?.id}`, { permissions: ["catalog_view", "refunds_create"] });
};

test("access that begins gives a role that grants what its file declares", async () => {
  await merged(starting(WITH_ROLE));
  story.clock.advance(2 * DAY);
  expect((await due()).outputs["result"]).toBe("applied");
  expect(await invitations()).toHaveLength(1);
});

test("access that begins does not give a role that grants something else by now", async () => {
  await merged(starting(WITH_ROLE));
  await changeRole();
  story.clock.advance(2 * DAY);
  const run = await due();
  expect(run.outputs["failure-reason"]).toBe("not-approved");
  expect(run.log).toContain("not approved: create member cleo@example.com");
  expect(await invitations()).toEqual([]);
});

test("access that begins between the review and the apply does not give such a role either", async () => {
  await merged(WITH_ROLE);
  await merged(starting(BASE), false);
  await changeRole();
  story.clock.advance(2 * DAY);
  const run = await story.apply();
  expect(run.outputs["failure-reason"]).toBe("not-approved");
  expect(run.log).toContain("not approved: create member cleo@example.com");
  expect(await invitations()).toEqual([]);
});

test("an end that passes while an apply is at work is due afterwards", async () => {
  await merged(ENDING);
  await merged(`${ENDING}${WITH_ROLE.slice(BASE.length)}`, false);
  const happens = (): void => story.clock.advance(2 * DAY);
  story.github.incidents.push({ method: "POST", path: /statuses/, happens });
  expect((await story.apply()).outputs["result"]).toBe("applied");
  expect(await removals()).toEqual([]);
  expect((await due()).outputs["result"]).toBe("applied");
  expect(await removals()).toHaveLength(1);
});

test("an end that passes between the review and the apply needs no second review", async () => {
  await merged(`${ENDING}${WITH_ROLE.slice(BASE.length)}`, false);
  story.clock.advance(2 * DAY);
  expect((await story.apply()).outputs["result"]).toBe("applied");
  expect(await story.writes()).toHaveLength(2);
});

test("a role and a membership that end on the same day are removed together", async () => {
  const nested = WITH_ROLE.replace(
    "ben@example.com, roles: [role_employee] }",
    "ben@example.com, roles: [role_employee, { role: Cashier, until: 2026-11-03 }], until: 2026-11-03 }",
  );
  await merged(nested);
  story.clock.advance(2 * DAY);
  expect((await due()).outputs["result"]).toBe("applied");
  expect(await removals()).toHaveLength(1);
  expect((await story.drift()).outputs["result"]).toBe("clean");
  // Nothing of it is left for the next night, nor once the file forgets it.
  expect((await due()).outputs["result"]).toBe("no-changes");
  await story.pushToMain({ [FILE]: nested.replace(/^.*ben@.*\n/m, "") });
  expect((await story.apply()).outputs["result"]).toBe("no-changes");
});

test("an end that had passed when it was merged is no matter of time alone", async () => {
  await merged(WITH_ROLE);
  await story.pushToMain({
    [FILE]: WITH_ROLE.replace("[role_employee] }", "[role_employee], until: 2026-10-01 }"),
  });
  const end = await due();
  expect(end.outputs["result"]).toBe("no-changes");
  expect(await removals()).toEqual([]);
  const apply = await story.apply();
  expect(apply.outputs["failure-reason"]).toBe("not-approved");
});

test("ended access that somebody gave again outside git is drift, and stays", async () => {
  await merged(ENDING);
  story.clock.advance(2 * DAY);
  await due();
  await story.behind("POST", "/v0.1/merchants/MC1/members", {
    email: "ben@example.com",
    roles: ["role_employee"],
  });
  expect((await due()).outputs["failure-reason"]).toBe("not-approved");
  expect((await story.drift()).outputs["result"]).toBe("drift");
  expect(await removals()).toHaveLength(1);
});

test("a role that ends is told where somebody has given another one outside git", async () => {
  await merged(WITH_ROLE.replace(/(ben.*)\] \}/, "$1, { role: Cashier, until: 2026-11-03 }] }"));
  const { items } = (await story.behind("GET", "/v0.1/merchants/MC1/members")) as {
    readonly items: readonly { readonly id: string; readonly roles: readonly string[] }[];
  };
  const ben = items.find(({ roles }) => roles.includes("role_employee"));
  const roles = [...(ben?.roles ?? []), "role_manager"];
  await story.behind("PUT", `/v0.1/merchants/MC1/members/${ben?.id}`, { roles });
  expect((await due()).outputs["result"]).toBe("no-changes");
  story.clock.advance(2 * DAY);
  const run = await due();
  expect(run.outputs["result"]).toBe("partial");
  expect(run.log).toContain("not approved: update member ben@example.com");
  const after = (await story.behind("GET", `/v0.1/merchants/MC1/members/${ben?.id}`)) as { roles: string[] };
  expect(after.roles).toEqual(["role_employee", "role_manager"]);
});

test("a removal that waited for an acceptance is made by the daily run", async () => {
  const handed = BASE.replace("ben@example.com", "eve@example.com");
  await merged(`${handed}guards: { min_holders: { role_employee: 1 } }\n`);
  expect(await removals()).toEqual([]);
  expect((await due()).outputs["result"]).toBe("no-changes");
  const { items } = (await story.behind("GET", "/v0.1/merchants/MC1/members")) as {
    readonly items: readonly { readonly id: string; readonly invite?: { readonly email: string } }[];
  };
  const eve = items.find(({ invite }) => invite?.email === "eve@example.com");
  await story.behind("POST", `/merchants/MC1/members/${eve?.id}/accept`, {});
  const end = await due();
  expect(end.outputs["result"]).toBe("applied");
  expect(await removals()).toHaveLength(1);
});

test("an expired invitation is left by applies of older plans, and renewed by the next change of the merchant", async () => {
  const invited = BASE.replace(
    "ben@example.com,",
    "eve@example.com, roles: [role_employee] }\n  - { email: ben@example.com,",
  );
  await merged(invited);
  const withRole = `${invited}${WITH_ROLE.slice(BASE.length)}`;
  const pull = await story.openPull({ [FILE]: withRole });
  await story.plan(pull);
  story.clock.advance(9 * DAY);
  expect((await due()).outputs["failure-reason"]).toBe("");
  await story.merge(pull);
  const late = await story.apply();
  expect(late.outputs).toMatchObject({ result: "applied", "failure-reason": "" });
  expect(late.outputs["waiting"]).toBeUndefined();
  expect(late.log).toContain(
    "MC1: the invitation of eve@example.com has expired; the next pull request that changes the merchant renews it.",
  );
  expect(await invitations()).toHaveLength(1);
  await merged(withRole.replace("catalog_view", "refunds_create"));
  expect(await invitations()).toHaveLength(2);
});

test("what waits for the apply of its merge is left to that, however often the daily run has looked", async () => {
  const pull = await merged(WITH_ROLE, false);
  const [planned] = story.comments(pull);
  const run = await due();
  expect(run.outputs["result"]).toBe("no-changes");
  expect((await due()).outputs["result"]).toBe("no-changes");
  expect(story.comments(pull)).toEqual([planned]);
  expect(await story.writes()).toEqual([]);
  expect((await story.apply()).outputs["result"]).toBe("applied");
});

test("the daily run makes no merchant the business of an apply that nobody has changed", async () => {
  await story.behind("POST", "/v0.1/merchants/MC1/members", {
    email: "eve@example.com",
    roles: ["role_employee"],
  });
  expect((await due()).outputs["result"]).toBe("no-changes");
  const pull = await story.openPull({ "README.md": "Access.\n" });
  await story.merge(pull);
  expect((await story.apply()).outputs["result"]).toBe("no-changes");
});

describe("an end that nobody reviewed", () => {
  const unseen =
    "MC1: not approved: after 2026-11-03, ben@example.com loses the membership, which no review shows.";
  const pushed = async (): Promise<Run> => {
    await story.pushToMain({ [FILE]: ENDING });
    return story.apply();
  };
  const made = async (): Promise<void> => {
    story.clock.advance(2 * DAY);
    expect((await due()).outputs["result"]).toBe("applied");
    expect(await removals()).toHaveLength(1);
    expect((await story.drift()).outputs["result"]).toBe("clean");
  };

  test("is told at once and until its day, and takes effect neither then nor by the daily run", async () => {
    const push = await pushed();
    expect(push.outputs).toMatchObject({ result: "refused", "failure-reason": "not-approved" });
    expect(push.log).toContain(unseen);
    expect((await due()).outputs["failure-reason"]).toBe("");
    await story.drift();
    expect(story.github.issues[0]?.body).toContain(unseen.slice("MC1: ".length));
    const other = await story.openPull({ "README.md": "Access.\n" });
    await story.merge(other);
    expect((await story.apply()).outputs["failure-reason"]).toBe("");
    story.clock.advance(2 * DAY);
    expect((await due()).outputs["failure-reason"]).toBe("not-approved");
    expect(await removals()).toEqual([]);
    await story.drift();
    expect(story.github.issues[0]?.body).toContain("which no review shows");
    expect(story.github.issues[0]?.body).toContain("except for what is refused above");
    const late = await story.openPull({ "README.md": "Access as code.\n" });
    await story.plan(late);
    expect(story.comments(late)[0]).toContain("1 person whose access has ended is still live");
    await story.pushToMain({ [FILE]: `${ENDING}# a remark\n` });
    expect((await story.run({ command: "apply", scope: "all" })).outputs["failure-reason"]).toBe(
      "not-approved",
    );
    expect(await removals()).toEqual([]);
  });

  test("waits, and takes effect on its day once a reviewer of the environment has approved it", async () => {
    const push = await pushed();
    expect(push.outputs["waiting"]).toBe(`${story.lastRun()}-1`);
    expect(push.summary).toContain(unseen);
    await story.approve("unreviewed-access");
    const approved = await story.applyApproved("unreviewed-access");
    expect(approved.outputs).toMatchObject({ result: "no-changes", "failure-reason": "" });
    const counts = "1 date to come counts from now on.";
    expect(approved.summary).toContain(`## ✅ rolecall apply: approved\n`);
    expect(approved.summary).toContain(counts);
    expect(approved.summary).toContain(
      "MC1: approved: after 2026-11-03, ben@example.com loses the membership.",
    );
    expect(story.github.statuses.at(-1)?.description).toBe(`Approved: ${counts}`);
    expect((await story.drift()).outputs["result"]).toBe("clean");
    await made();
  });

  test("waits on a page that names what people gain on its day, if nothing else waits and if something does", async () => {
    const later = BASE.replace(
      "ben@example.com, roles: [role_employee]",
      "ben@example.com, roles: [role_employee, { role: role_admin, from: 2026-11-03 }]",
    );
    const waitsFor = (page: string): string => page.slice(page.indexOf("### Waits for approval"));
    for (const text of [later, later.replace("role_employee,", "")]) {
      await story.pushToMain({ [FILE]: text });
      const waits = waitsFor((await story.apply()).summary);
      expect(waits).toContain("### ⚠️ 1 member gains sensitive permissions on a later date");
      expect(waits).toMatch(/ben@example\.com: .*role_admin.* on 2026-11-03/);
    }
  });

  test("takes effect on its day once a pull request that touches its file was reviewed", async () => {
    await pushed();
    await merged(`# a remark\n${ENDING}`);
    await made();
  });

  test("waits if it is in the first commit", async () => {
    await story.stop();
    story = await openStory(SEED, { [FILE]: ENDING });
    const first = await story.apply();
    expect(first.log).toContain(unseen);
    expect(first.outputs["waiting"]).toBeDefined();
  });

  test("waits if two pull requests have it together", async () => {
    const shared = "shared/leavers.yaml";
    const from = "from: 2026-11-04 }]\n";
    await merged(BASE);
    await story.pushToMain({ [shared]: `version: 1\nleavers: [{ email: eve@example.com, ${from}` });
    const pulls = [
      await story.openPull({ [shared]: `version: 1\nleavers: [{ email: ben@example.com, ${from}` }),
      await story.openPull({ [FILE]: BASE.replace("members:", `include: [../${shared}]\nmembers:`) }),
    ];
    for (const pull of pulls) await story.plan(pull);
    for (const pull of pulls) await story.merge(pull);
    const run = await story.apply();
    expect(run.log).toContain("not approved: on 2026-11-04, ben@example.com leaves, which no review shows.");
    // Nothing would happen to somebody who is neither listed nor live.
    expect(run.log).not.toContain("eve");
    expect(run.outputs["failure-reason"]).toBe("not-approved");
  });
});

describe("what a reviewed date brings by two merges together", () => {
  const widened = async (text: string): Promise<Run> => {
    await merged(text);
    const wider = text.replace("[catalog_view]", "[catalog_view, payouts_edit]");
    const pulls = [await story.openPull({ [FILE]: starting(text) }), await story.openPull({ [FILE]: wider })];
    for (const pull of pulls) await story.plan(pull);
    for (const pull of pulls) await story.merge(pull);
    return story.apply();
  };
  const told =
    "MC1: not approved: on 2026-11-04, cleo@example.com would get payouts_edit, which no review shows.";

  test("is told by the apply, and waits until it is approved", async () => {
    const run = await widened(WITH_ROLE);
    expect(run.log).toContain(told);
    expect(run.outputs).toMatchObject({ "failure-reason": "partial", waiting: `${story.lastRun()}-1` });
    const waits = run.summary.slice(run.summary.indexOf("### Waits for approval"));
    expect(waits).toContain("member cleo@example.com: payouts_edit on 2026-11-04");
    await story.approve("unreviewed-access");
    const approved = await story.applyApproved("unreviewed-access");
    expect(approved.outputs).toMatchObject({ result: "no-changes", "failure-reason": "" });
    expect(approved.log).toContain("MC1: approved: on 2026-11-04, cleo@example.com would get payouts_edit.");
    story.clock.advance(2 * DAY);
    expect((await due()).outputs["result"]).toBe("applied");
    expect(await invitations()).toHaveLength(1);
  });

  test("is told by a pull request that touches the file, and approved with it", async () => {
    await widened(WITH_ROLE);
    const wide = starting(WITH_ROLE).replace("[catalog_view]", "[catalog_view, payouts_edit]");
    const pull = await merged(`# A remark\n${wide}`, false);
    expect(story.comments(pull)[0]).toContain(
      "### Not shown by an earlier review, and approved by merging this\n\n```text\nMC1: on 2026-11-04, cleo@example.com would get payouts_edit\n```",
    );
    expect((await story.apply()).outputs["failure-reason"]).toBe("");
    const other = await merged(`# Another remark\n${wide}`, false);
    expect(story.comments(other).join()).not.toContain("Not shown");
    story.clock.advance(2 * DAY);
    expect((await due()).outputs["result"]).toBe("applied");
    expect(await invitations()).toHaveLength(1);
  });

  test("is nothing to tell of somebody who has it already", async () => {
    const cleo =
      "  - { email: cleo@example.com, roles: [role_admin, { role: Cashier, from: 2026-11-04 }] }\n";
    const before = WITH_ROLE.replace(
      "roles: [role_employee] }\n",
      `roles: [role_employee] }\n${cleo.replace(/, \{.*\}(?=\])/, "")}`,
    );
    await merged(before);
    const pulls = [
      await story.openPull({ [FILE]: before.replace(/.*cleo.*\n/, cleo) }),
      await story.openPull({ [FILE]: before.replace("[catalog_view]", "[catalog_view, payouts_edit]") }),
    ];
    for (const pull of pulls) await story.plan(pull);
    for (const pull of pulls) await story.merge(pull);
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "applied", "failure-reason": "" });
    story.clock.advance(2 * DAY);
    expect((await due()).outputs["result"]).toBe("applied");
  });
});

describe("a reviewed end", () => {
  const later = ENDING.replace("2026-11-03", "2027-11-03");
  const joining = (until: string): string =>
    `${BASE}  - { email: cleo@example.com, roles: [role_employee], from: 2026-11-04, until: ${until} }\n`;

  test("that a push moves is given up by an approval of the new one, which shows both", async () => {
    const pull = await merged(joining("2026-11-08"));
    await story.pushToMain({ [FILE]: joining("2027-11-08") });
    const run = await story.apply();
    const waits = run.summary.slice(run.summary.indexOf("### Waits for approval"));
    expect(waits.replaceAll(/\s+/g, " ")).toContain(
      `MC1: #${pull} showed: after 2026-11-08, cleo@example.com loses the membership; by now the files say: after 2027-11-08.`,
    );
    expect(story.comments(pull)[0]).toContain("was lost");
    await story.approve("unreviewed-access");
    const approved = await story.applyApproved("unreviewed-access");
    expect(approved.outputs["failure-reason"]).toBe("");
    expect(approved.log).toContain(
      `MC1: the loss of what #${pull} changed is settled: an approval has accepted it.`,
    );
    const [comment = ""] = story.comments(pull);
    expect(comment.slice(0, comment.indexOf("<details>"))).toContain(
      "is settled: an approval has accepted it.",
    );
    expect((await story.drift()).outputs["result"]).toBe("clean");
    story.clock.advance(3 * DAY);
    expect((await due()).outputs["result"]).toBe("applied");
    expect(await invitations()).toHaveLength(1);
    story.clock.advance(6 * DAY);
    expect((await due()).outputs["result"]).toBe("no-changes");
    expect(await removals()).toEqual([]);
  });

  test.each([
    ["another review", true, (pull: number) => `#${pull} showed the merchant without it`],
    ["a push that takes the first one back", false, () => "the files make the change again"],
  ])("that a push moves is settled by %s, and its pull request says so", async (_, isReview, why) => {
    const pull = await merged(ENDING);
    await story.pushToMain({ [FILE]: later });
    await story.apply();
    expect(story.comments(pull)[0]).toContain("## ⛔ rolecall apply: refused");
    let by = 0;
    if (isReview) by = await merged(`# A remark\n${later}`);
    else {
      await story.pushToMain({ [FILE]: ENDING });
      expect((await story.apply()).outputs["failure-reason"]).toBe("");
    }
    const [comment = ""] = story.comments(pull);
    const newest = comment.slice(0, comment.indexOf("<details>"));
    expect(newest).toContain("✅");
    expect(newest.replaceAll(/\s+/g, " ")).toContain(
      `MC1: the loss of what #${pull} changed is settled: ${why(by)}.`,
    );
  });

  test("that a push changes is lost aloud, on the pull request that set it", async () => {
    const pull = await merged(ENDING);
    await story.pushToMain({ [FILE]: later });
    const run = await story.apply();
    expect(run.outputs["failure-reason"]).toBe("not-approved");
    const lost = `#${pull} was to remove ben@example.com, and was lost: its date is no longer in the files (${FILE}:5).`;
    expect(run.log).toContain(lost);
    expect(story.comments(pull).join()).toContain("was lost");
    story.clock.advance(3 * DAY);
    await due();
    await story.drift();
    expect(story.github.issues[0]?.body).toContain("was to remove ben");
  });

  test("that a push deletes before the apply of its merge is lost as well", async () => {
    await merged(ENDING, false);
    await story.pushToMain({ [FILE]: BASE });
    const run = await story.apply();
    expect(run.outputs["failure-reason"]).toBe("not-approved");
    expect(run.log).toContain("was to remove ben@example.com, and was lost");
  });

  test("is changed by another review, before or after the apply", async () => {
    await merged(ENDING);
    const pull = await merged(later);
    expect(story.comments(pull).join()).not.toContain("lost");
    await merged(BASE);
    await merged(ENDING, false);
    await merged(later);
    story.clock.advance(3 * DAY);
    expect((await due()).outputs["result"]).toBe("no-changes");
    expect(await removals()).toEqual([]);
  });

  test("counts again where a later one, which was lost, hid it", async () => {
    await merged(ENDING.replace("2026-11-03", "2026-11-08"));
    const left = `${ENDING.replace("2026-11-03", "2026-11-08")}leavers: [{ email: ben@example.com, from: 2026-11-05 }]\n`;
    const pull = await merged(left);
    await story.pushToMain({ [FILE]: ENDING.replace("2026-11-03", "2026-11-08") });
    const run = await story.apply();
    expect(run.log).toContain(
      `#${pull} was to remove ben@example.com, and was lost: its date is no longer in the files.`,
    );
    story.clock.advance(8 * DAY);
    expect((await due()).outputs["result"]).toBe("applied");
    expect(await removals()).toHaveLength(1);
  });

  test.each([
    ["before the day", true],
    ["with the same apply", false],
  ])(
    "that a push takes from somebody who joins %s is lost aloud, and nothing is given without it",
    async (_, later) => {
      const from = later ? "from: 2026-11-04, " : "";
      const joining = (until: string): string =>
        `${BASE}  - { email: cleo@example.com, roles: [role_employee], ${from}until: ${until} }\n`;
      const pull = await merged(joining("2026-11-08"), later);
      await story.pushToMain({ [FILE]: joining("2027-11-08") });
      const run = await story.apply();
      expect(run.outputs["failure-reason"]).toBe("not-approved");
      expect(run.log).toContain(`#${pull} was to remove cleo@example.com, and was lost`);
      if (later) story.clock.advance(3 * DAY);
      const end = later ? await due() : run;
      expect(end.outputs["failure-reason"]).toBe("not-approved");
      expect(end.log.replaceAll(/\s+/g, " ")).toContain(
        `create member cleo@example.com: the end that #${pull} showed is no longer in the files`,
      );
      expect(await invitations()).toEqual([]);
      const again = await merged(joining("2027-11-08").replace(BASE, `${BASE}  # until next year\n`));
      expect(story.comments(again)[0]).toContain("cleo");
      expect(await invitations()).toHaveLength(1);
    },
  );

  test.each([
    ["earlier", "2026-11-03", "2026-11-08", [0, 1]],
    ["later", "2026-11-08", "2026-11-03", [0, 1]],
  ])("that a push makes %s takes effect once both days have passed", async (_, pushed, reviewed, made) => {
    await merged(ENDING.replace("2026-11-03", reviewed));
    await story.pushToMain({ [FILE]: ENDING.replace("2026-11-03", pushed) });
    await story.apply();
    for (const count of made) {
      story.clock.advance(3 * DAY);
      await due();
      expect(await removals()).toHaveLength(count);
      story.clock.advance(3 * DAY);
    }
  });

  test("of a membership takes effect whatever roles somebody has given outside git", async () => {
    await merged(ENDING);
    const { items } = (await story.behind("GET", "/v0.1/merchants/MC1/members")) as {
      readonly items: readonly { readonly id: string; readonly roles: readonly string[] }[];
    };
    const ben = items.find(({ roles }) => roles.includes("role_employee"));
    await story.behind("PUT", `/v0.1/merchants/MC1/members/${ben?.id}`, {
      roles: ["role_employee", "role_manager"],
    });
    story.clock.advance(2 * DAY);
    expect((await due()).outputs["result"]).toBe("applied");
    expect(await removals()).toHaveLength(1);
  });

  test("or beginning keeps its review where the role or the person has a new name", async () => {
    const named = starting(WITH_ROLE).replace(
      "roles: [role_employee] }\n",
      "roles: [role_employee], until: 2026-11-03 }\n",
    );
    await merged(named);
    const pull = await merged(
      named
        .replace("name: Cashier,", "name: Till, previously: Cashier,")
        .replace("roles: [Cashier]", "roles: [Till]")
        .replace("email: ben@example.com", "email: benno@example.com, previously: ben@example.com"),
    );
    expect(story.comments(pull).join()).not.toContain("lost");
    story.clock.advance(2 * DAY);
    const end = await due();
    expect(end.outputs["failure-reason"]).toBe("");
    expect(end.outputs["result"]).toBe("applied");
    expect((await story.drift()).outputs["result"]).toBe("clean");
  });

  test("is nothing to tell of somebody who is gone, or after it was enforced", async () => {
    await merged(ENDING);
    story.clock.advance(3 * DAY);
    expect((await due()).outputs["result"]).toBe("applied");
    const tidied = ENDING.replace(/^.*ben@.*\n/m, "");
    await story.pushToMain({ [FILE]: tidied });
    expect((await story.apply()).outputs["result"]).toBe("no-changes");
  });
});

test("an end that a later push sets is not covered by the review of another change", async () => {
  await merged(WITH_ROLE, false);
  const ending = WITH_ROLE.replace("[role_employee] }", '[role_employee], until: "2026-11-02T18:00:00Z" }');
  await story.pushToMain({ [FILE]: ending });
  story.clock.advance(DAY);
  const run = await story.apply();
  expect(run.outputs["failure-reason"]).toBe("partial");
  expect(run.log).toContain("not approved: delete member ben@example.com");
  expect(await removals()).toEqual([]);
});

test("ends that were there before need no review where something else changes", async () => {
  await merged(ENDING);
  await merged(`${ENDING}${WITH_ROLE.slice(BASE.length)}`);
  await story.pushToMain({ [FILE]: `${ENDING}${WITH_ROLE.slice(BASE.length)}# a comment\n` });
  expect((await story.apply()).outputs["result"]).toBe("no-changes");
  story.clock.advance(2 * DAY);
  expect((await due()).outputs["result"]).toBe("applied");
  expect(await removals()).toHaveLength(1);
});

test("who joins, is suspended and comes back, and who leaves, on the days that were reviewed", async () => {
  const joins = "  - { email: new@example.com, roles: [role_employee], from: 2026-11-04 }\n";
  const away = "[role_employee], suspended: { from: 2026-11-04, until: 2026-11-05 } }";
  const leavers = "leavers:\n  - { email: NEW@example.com, from: 2026-11-08 }\n";
  await merged(`${BASE.replace("[role_employee] }", away)}${joins}${leavers}`);
  expect(await story.writes()).toEqual([]);
  const writes = async (): Promise<readonly string[]> => {
    const before = (await story.writes()).length;
    const { outputs } = await due();
    const made = (await story.writes()).slice(before);
    expect(outputs["result"]).toBe(made.length === 0 ? "no-changes" : "applied");
    return made.map((one) => one.split(" ")[0] ?? "").sort();
  };
  expect(await writes()).toEqual([]);
  story.clock.advance(2 * DAY);
  expect(await writes()).toEqual(["POST", "PUT"]);
  expect(await writes()).toEqual([]);
  story.clock.advance(2 * DAY);
  expect(await writes()).toEqual(["PUT"]);
  story.clock.advance(2 * DAY);
  expect(await writes()).toEqual(["DELETE"]);
  expect((await story.drift()).outputs["result"]).toBe("clean");
});

test("who gains sensitive permissions on a later date is a risk of the pull request that causes it", async () => {
  const comment = (pull: number): string => story.comments(pull)[0] ?? "";
  const withHelper = (permissions: string, ben: string): string =>
    `${BASE.replace("[role_employee] }", `[Helper]${ben} }`)}roles:\n  - { name: Helper, permissions: [${permissions}] }\n`;
  const away = ", suspended: { until: 2026-11-05 }";
  expect(comment(await merged(withHelper("catalog_view", away)))).not.toContain("later date");

  const wider = await merged(withHelper("catalog_view, payouts_edit", away));
  expect(comment(wider)).toContain("## ⚠️ rolecall plan: changes with risks\n");
  expect(comment(wider)).toContain("1 member gains sensitive permissions on a later date");
  expect(comment(wider)).toContain("member ben@example.com: payouts_edit after 2026-11-05");

  const admin = "  - { email: new@example.com, roles: [role_admin], from: 2026-11-04 }\n";
  const text = withHelper("catalog_view, payouts_edit", away).replace("roles:\n", `${admin}roles:\n`);
  const later = await merged(text);
  expect(comment(later)).toContain("## ⚠️ rolecall plan: no changes, with risks\n");
  expect(comment(later)).toContain("member new@example.com: role_admin on 2026-11-04");
  expect(comment(later)).not.toContain("payouts_edit");
  const status = story.github.statuses.findLast(({ context }) => context === "rolecall plan");
  expect(status).toMatchObject({
    state: "success",
    description: "Nothing to apply now; risks on a later date",
  });

  const other = await merged(`# A remark\n${text}`);
  expect(comment(other)).not.toContain("risks");
});

test("access that has begun, and that somebody took outside git, is drift, and is not given again", async () => {
  await merged(`${BASE}  - { email: new@example.com, roles: [role_employee], from: 2026-11-04 }\n`);
  story.clock.advance(2 * DAY);
  expect((await due()).outputs["result"]).toBe("applied");
  const { items } = (await story.behind("GET", "/v0.1/merchants/MC1/members")) as {
    readonly items: readonly { readonly id: string; readonly invite?: { readonly email: string } }[];
  };
  const added = items.find(({ invite }) => invite?.email === "new@example.com");
  await story.behind("DELETE", `/v0.1/merchants/MC1/members/${added?.id}`);
  expect((await due()).outputs["failure-reason"]).toBe("not-approved");
  expect((await story.drift()).outputs["result"]).toBe("drift");
});

test("without a record of an apply the daily run fails, and says what to do", async () => {
  await story.stop();
  story = await openStory(SEED, { [FILE]: ENDING });
  const run = await due();
  expect(run.outputs["failure-reason"]).toBe("not-approved");
  expect(run.log).toContain("MC1: left alone: no apply of it is recorded: run the apply workflow by hand");
  expect(run.log).not.toContain("has not run yet");
  story.clock.advance(3 * DAY);
  const other = await story.openPull({ "README.md": "Access.\n" });
  await story.plan(other);
  expect(story.comments(other)[0]).toContain(
    "1 person whose access has ended may still be live: there is no valid record of an apply of MC1.",
  );
});
