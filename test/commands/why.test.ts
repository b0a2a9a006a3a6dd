import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rolecall } from "../support/rolecall.ts";

let cwd = "";

const SHARED = `version: 1
roles:
  - name: Shift Lead
    permissions:
      - catalog_view
      - refunds_create
members:
  - email: ada@example.com
    roles: [Shift Lead]
`;

const SHOP = `version: 1
merchant: MCA
include: [../shared/all.yaml]
roles:
  - { name: Refunder, permissions: [refunds_create] }
members:
  - email: ada@example.com
    roles:
      - Shift Lead
      - { role: Refunder, until: 2026-06-30 }
      - role_employee
  - email: bob@example.com
    roles: [Refunder, { role: Shift Lead, until: 2026-05-31 }]
  - email: cy@example.com
    roles: [role_employee]
  - email: di@example.com
    roles: [{ role: Refunder, until: 2026-05-31 }]
  - email: eve@example.com
    roles: []
  - email: flo@example.com
`;

const why = (member: string, permission: string, ...rest: readonly string[]) =>
  rolecall(["why", member, "can", permission, ...rest], {
    cwd,
    now: () => Date.parse("2026-06-15T12:00:00Z"),
  });

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-why-"));
  await mkdir(join(cwd, "access"));
  await mkdir(join(cwd, "shared"));
  await writeFile(join(cwd, "access/a.yaml"), SHOP);
  await writeFile(join(cwd, "shared/all.yaml"), SHARED);
});

afterEach(() => rm(cwd, { recursive: true }));

test("every way is shown, with every line that has to go", async () => {
  const { stdout, code } = await why("ada@example.com", "refunds_create");
  expect(stdout).toMatchInlineSnapshot(`
    "ada@example.com can refunds_create at MCA through 2 roles, each of which is
      enough:
      Shift Lead
        granted at    shared/all.yaml:9
                  access/a.yaml:9
        grants it at  shared/all.yaml:6
      Refunder, until 2026-06-30
        granted at    access/a.yaml:10
        grants it at  access/a.yaml:5

    To end it, take all of these from ada@example.com:
      shared/all.yaml:9 Shift Lead
      access/a.yaml:9   Shift Lead
      access/a.yaml:10  Refunder
    Or take refunds_create from Shift Lead (no other holder) and Refunder (1 other
      holder).
    It is not known whether role_employee grants it too.
    "
  `);
  expect(code).toBe(0);
});

test("that somebody cannot is said plainly, with what has ended", async () => {
  const { stdout, code } = await why("di@example.com", "refunds_create");
  expect(stdout).toMatchInlineSnapshot(`
    "di@example.com cannot refunds_create at MCA any more:
      Refunder: ended 2026-05-31
        granted at    access/a.yaml:17
        ended at      access/a.yaml:17
    "
  `);
  expect(code).toBe(0);
  expect((await why("eve@example.com", "refunds_create")).stdout).toBe(
    "eve@example.com cannot refunds_create at MCA.\n",
  );
  expect((await why("eve@example.com", "refund_create")).stdout).toBe(
    "eve@example.com cannot refund_create at MCA: no role is known to grant it. Did\n  you mean refunds_create?\n",
  );
});

test("what the files do not say is not taken for a no", async () => {
  expect((await why("cy@example.com", "refunds_create")).stdout).toMatchInlineSnapshot(`
    "It is not known whether cy@example.com can refunds_create at MCA: the files do
      not say what role_employee grants; --live does.
    "
  `);
  expect((await why("flo@example.com", "refunds_create")).stdout).toMatchInlineSnapshot(`
    "It is not known whether flo@example.com can refunds_create at MCA: the files do
      not say what roles they hold; --live does.
    "
  `);
  const { stdout } = await why("*", "refunds_create", "--format", "json");
  const { explanations } = JSON.parse(stdout);
  expect(
    explanations.map(({ member, can }: { member: { name: string }; can: boolean | null }) => [
      member.name,
      can,
    ]),
  ).toEqual([
    ["ada@example.com", true],
    ["bob@example.com", true],
    ["cy@example.com", null],
    ["di@example.com", false],
    ["eve@example.com", false],
    ["flo@example.com", null],
  ]);
});

test("JSON has the lines of each way, and all that have to go", async () => {
  const { stdout } = await why("bob@example.com", "refunds_create", "--format", "json");
  const { question, merchants, explanations, failures } = JSON.parse(stdout);
  expect(question).toEqual({
    kind: "why",
    member: "bob@example.com",
    permission: "refunds_create",
    source: "declared",
    at: null,
  });
  expect({ merchants, failures }).toEqual({ merchants: ["MCA"], failures: [] });
  const grantedAt = [{ file: "access/a.yaml", line: 13, column: 13 }];
  expect(explanations).toEqual([
    {
      merchant: "MCA",
      environment: null,
      member: { name: "bob@example.com", email: "bob@example.com", id: null, status: "declared" },
      permission: "refunds_create",
      can: true,
      ways: [
        {
          role: { name: "Refunder", id: null, predefined: false },
          status: "active",
          from: null,
          end: null,
          otherHolders: 1,
          suspended: null,
          grantedAt,
          permittedAt: [{ file: "access/a.yaml", line: 5, column: 37 }],
          statusAt: [],
        },
      ],
      without: [
        {
          role: { name: "Shift Lead", id: null, predefined: false },
          status: "ended",
          from: null,
          end: { by: "grant", text: "2026-05-31", ends: Date.parse("2026-06-01T00:00:00Z") },
          otherHolders: 1,
          suspended: null,
          grantedAt: [{ file: "access/a.yaml", line: 13, column: 23 }],
          permittedAt: [{ file: "shared/all.yaml", line: 6, column: 9 }],
          statusAt: [{ file: "access/a.yaml", line: 13, column: 50 }],
        },
      ],
      unclear: [],
      toEnd: grantedAt,
    },
  ]);
});

test("an unknown address gets a suggestion, and another word than can is an error", async () => {
  expect((await why("bop@example.com", "refunds_create")).stdout).toBe(
    "bop@example.com is not a member in the files of 1 merchant. Did you mean\n  bob@example.com?\n",
  );
  expect(await rolecall(["why", "bob@example.com", "has", "x"], { cwd })).toMatchObject({ code: 1 });
});

test("the merchants whose files do not list all members are named, unless the member is there", async () => {
  const additive = "version: 1\nmerchant: MCB\nsync: { members: additive }\nmembers: []\n";
  await writeFile(join(cwd, "access/b.yaml"), additive);
  const { stdout } = await why("bob@example.com", "refunds_create");
  expect(stdout).toContain("\n\nThe files of MCB do not list all members; --live shows the others.\n");
  const { incomplete } = JSON.parse(
    (await why("bob@example.com", "refunds_create", "--format", "json")).stdout,
  );
  expect(incomplete).toEqual(["MCB"]);
  await writeFile(
    join(cwd, "access/b.yaml"),
    additive.replace("[]", "[{ email: bob@example.com, roles: [role_admin, role_manager] }]"),
  );
  const known = (await why("bob@example.com", "refunds_create")).stdout;
  expect(known).not.toContain("do not list all members");
  expect(known.replaceAll(/\s+/g, " ")).toContain("the files do not say what role_admin, role_manager grant");
});

test("who cannot yet or for the moment is not said to be somebody who no longer can", async () => {
  await writeFile(
    join(cwd, "access/a.yaml"),
    `version: 1
merchant: MCA
roles: [{ name: A, permissions: [a_b] }]
members:
  - { email: soon@example.com, roles: [A], from: 2026-07-01 }
  - { email: away@example.com, roles: [A], suspended: true }
  - { email: gone@example.com, roles: [A], until: 2026-05-31 }
`,
  );
  expect((await why("*", "a_b")).stdout).toMatchInlineSnapshot(`
    "away@example.com cannot a_b at MCA now:
      A: suspended
        granted at    access/a.yaml:6
        suspended at  access/a.yaml:6

    gone@example.com cannot a_b at MCA any more:
      A: ended 2026-05-31
        granted at    access/a.yaml:7
        ended at      access/a.yaml:7

    soon@example.com cannot a_b at MCA yet:
      A: from 2026-07-01
        granted at    access/a.yaml:5
    "
  `);
});

test("somebody who holds a role at several merchants is one other holder", async () => {
  const shop = (code: string, email: string): string =>
    `version: 1\nmerchant: ${code}\ninclude: [../shared/all.yaml]\nmembers: [{ email: ${email}, roles: [Shift Lead] }]\n`;
  await writeFile(join(cwd, "access/a.yaml"), shop("MCA", "Bob@example.com"));
  await writeFile(join(cwd, "access/b.yaml"), shop("MCB", "bob@example.com"));
  const { stdout } = await why("ada@example.com", "catalog_view");
  expect(stdout).toContain("Or take catalog_view from Shift Lead (1 other holder).");
  const json = JSON.parse((await why("bob@example.com", "catalog_view", "--format", "json")).stdout);
  expect(json.explanations[0].ways[0]).toMatchObject({ otherHolders: 1 });
  expect(json.explanations[0].ways[0]).not.toHaveProperty("holders");
});
