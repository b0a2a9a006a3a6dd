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
    said: "This run would give 360 people new access to sensitive permissions (api_keys_create, members_update, payouts_edit) at 40 merchants; the limit for the run is 20.",
    lines: /overrides: \[run-gains=sensitive:[0-9a-f]{12}@[0-9a-f]{12}\]/,
  },
  {
    title: "three of ten members removed at each of 40 merchants",
    live: 10,
    files: cashierFiles(7),
    said: "This run would remove 120 members, or take roles from them, at 40 merchants; the limit for the run is 22.",
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

const CODES = ["MC1", "MC2", "MC3"];
const people = (code: string): readonly string[] =>
  ["a", "b", "c", "d"].map((name) => `${name}@${code.toLowerCase()}.example.com`);

const fileOf = (
  code: string,
  permissions = "catalog_view",
  guards = "",
): Readonly<Record<string, string>> => ({
  [`access/${code}.yaml`]: `version: 1
merchant: ${code}
${guards}roles:
  - { name: Cashier, permissions: [${permissions}] }
members:
  - { email: ada@example.com, roles: [role_owner] }
${people(code)
  .map((email) => `  - { email: ${email}, roles: [Cashier] }\n`)
  .join("")}`,
});

const openSmall = async (): Promise<void> => {
  const merchants = CODES.map(
    (code) => `  - code: ${code}
    roles: [{ name: Cashier, permissions: [catalog_view] }]
    members:
      - { email: ada@example.com, roles: [role_owner] }
${people(code)
  .map((email) => `      - { email: ${email}, roles: [Cashier] }\n`)
  .join("")}`,
  );
  const seed = `merchants:\n${merchants.join("")}keys:\n  - { key: sk_test_sandbox, owner: ada@example.com }\n`;
  const project = { "rolecall.yaml": "version: 1\nrun: { max_gains: { catalog_edit: 5 } }\n" };
  story = await openStory(seed, { ...project, ...Object.assign({}, ...CODES.map((code) => fileOf(code))) });
  expect((await story.apply()).outputs["result"]).toBe("no-changes");
};

const EDIT = "catalog_view, catalog_edit";

test("the limits of a run judge what each pull request changes, however many are merged before an apply", async () => {
  await openSmall();
  for (const code of ["MC1", "MC2"]) {
    const pull = await story.openPull(fileOf(code, EDIT));
    expect((await story.plan(pull)).outputs["result"]).toBe("changes");
    await story.merge(pull);
  }
  expect((await story.apply()).outputs["result"]).toBe("applied");
});

test("what the limits of a run refuse does not count against other pull requests, and can be overridden", async () => {
  await openSmall();
  const both = { ...fileOf("MC1", EDIT), ...fileOf("MC2", EDIT) };
  const refused = await story.openPull(both);
  expect((await story.plan(refused)).outputs["result"]).toBe("refused");
  await story.merge(refused);
  expect((await story.apply()).outputs["result"]).toBe("refused");
  const other = await story.openPull(fileOf("MC3", EDIT));
  expect((await story.plan(other)).outputs["result"]).toBe("changes");
  await story.merge(other);
  expect((await story.apply()).outputs["result"]).toBe("applied");

  const [override] =
    /run-gains=catalog_edit:[0-9a-f]{12}@[0-9a-f]{12}/.exec(story.comments(refused)[0] ?? "") ?? [];
  const guards = `guards: { overrides: ["${override}"] }\n`;
  const again = await story.openPull({ ...fileOf("MC1", EDIT, guards), ...fileOf("MC2", EDIT, guards) });
  expect((await story.plan(again)).outputs["result"]).toBe("changes");
  await story.merge(again);
  const last = await story.openPull(fileOf("MC3", "catalog_view, catalog_edit, taxes_view"));
  await story.plan(last);
  await story.merge(last);
  expect((await story.apply()).outputs["result"]).toBe("applied");
});

/** Three people become editors on the day after the access of a fourth has ended. */
const datedFile = (code: string, guards = ""): Readonly<Record<string, string>> => {
  const [ended = "", ...others] = people(code);
  const editors = others.map(
    (email) => `  - { email: ${email}, roles: [Cashier, { role: Editor, from: 2026-11-04 }] }\n`,
  );
  return {
    [`access/${code}.yaml`]: `version: 1
merchant: ${code}
${guards}roles:
  - { name: Cashier, permissions: [catalog_view] }
  - { name: Editor, permissions: [${EDIT}] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ${ended}, roles: [Cashier], until: 2026-11-03 }
${editors.join("")}`,
  };
};

test.each([
  { by: "a limit of the run", guards: "", merchants: ["MC1", "MC2"] },
  {
    by: "a rule of the merchant",
    guards: "guards: { max_gains: { catalog_edit: 2 } }\n",
    merchants: ["MC1"],
  },
])("$by that refuses what dates give keeps no ended access, and fails", async ({ guards, merchants }) => {
  await openSmall();
  for (const code of merchants) {
    const pull = await story.openPull(datedFile(code));
    await story.plan(pull);
    await story.merge(pull);
    expect((await story.apply()).outputs["result"]).toBe("applied");
  }
  if (guards !== "") {
    const pull = await story.openPull(datedFile("MC1", guards));
    await story.plan(pull);
    await story.merge(pull);
    await story.apply();
  }
  const before = (await story.writes()).length;
  story.clock.advance(4 * 86_400_000);
  const due = await story.due();
  expect([due.code, due.outputs["result"]]).toEqual([1, "partial"]);
  expect(due.log).toMatch(/(?:give 6 people new access|newly hold catalog_edit)/);
  const writes = (await story.writes()).slice(before);
  expect(writes.map((line) => line.split(" ")[0])).toEqual(merchants.map(() => "DELETE"));
  expect((await story.due()).code).toBe(1);
  expect((await story.writes()).slice(before)).toEqual(writes);
});
