import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openShop, type Shop } from "../support/shop.ts";

const PEOPLE = ["ben", "cleo", "dan", "eve", "finn"].map((name) => `${name}@example.com`);

const SEED = `merchants:
  - code: MC1
    roles:
      - { name: Shift Lead, permissions: [catalog_view] }
    members:
      - { email: ada@example.com, roles: [role_owner] }
${PEOPLE.map((email) => `      - { email: ${email}, roles: [Shift Lead] }`).join("\n")}
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const HEAD = "version: 1\nmerchant: MC1\n";

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
});

afterEach(async () => {
  await shop.stop();
});

/** What a plan tells to give to `apply` for each refusal, as a shell would take it apart. */
function allowed(stdout: string): readonly string[] {
  return [...stdout.matchAll(/→ To override: apply (--allow .*)$/gm)].flatMap(([, words]) =>
    String(words).replaceAll("'", "").replace(" ", "\n").split("\n"),
  );
}

describe("a file that has lost most of its members", () => {
  const LOST = `${HEAD}members:\n  - { email: ada@example.com, roles: [role_owner] }\n`;

  beforeEach(() => shop.write("shop.yaml", LOST));

  test("plan shows everything all the same, says what would be refused and how to override it, and exits 3", async () => {
    const plan = await shop.run(["plan", "shop.yaml"]);
    expect(plan.code).toBe(3);
    for (const email of PEOPLE) expect(plan.stdout).toContain(`- delete ${email} (not in the file)`);
    expect(plan.stdout.replaceAll(/@[0-9a-f]{12}(?=\]?$)/gm, "@FINGERPRINT")).toContain(
      `

  An apply would be refused:
    guard max-removals: 5 of 6 members would be removed or lose something; the
      limit is 3.
      → Check that the file is complete. To write the live state to the file,
        run "rolecall pull".
      → To override: apply --allow max-removals=5@FINGERPRINT
    → To override in git, add under guards in the file:
      overrides: [max-removals=5@FINGERPRINT]

  Plan: 5 to delete; 1 unchanged, 1 not managed.
  An apply would be refused, for the reason above.
`,
    );
    const { plans } = JSON.parse((await shop.run(["plan", "shop.yaml", "--format", "json"])).stdout);
    const [allow, override] = allowed(plan.stdout);
    expect([allow, override]).toEqual(["--allow", `max-removals=5@${plans[0].fingerprint.slice(0, 12)}`]);
  });

  test("apply refuses with 3, says why, and sends nothing that changes anything", async () => {
    const apply = await shop.run(["apply", "shop.yaml", "--yes"]);
    expect(apply.code).toBe(3);
    expect(apply.stderr).toContain("refused: guard max-removals: 5 of 6 members would be removed or lose");
    expect(apply.stderr).toMatch(/^ {2}→ To override: apply --allow max-removals=5@[0-9a-f]{12}$/m);
    expect(apply.stderr).toMatch(/^✗ Apply refused at MC\w+: nothing was changed\.$/m);
    expect(await shop.writes()).toEqual([]);
  });

  test("apply with the override that the plan prints does it", async () => {
    const plan = await shop.run(["plan", "shop.yaml"]);
    const apply = await shop.run(["apply", "shop.yaml", "--yes", ...allowed(plan.stdout)]);
    expect(apply.stderr).toBe("");
    expect(apply.code).toBe(0);
    expect(apply.stdout).toContain("Verified: no changes remain");
    expect(apply.stdout).toContain("  overridden: guard max-removals: ");
    expect(apply.stdout).not.toContain("refused");
    expect(await shop.writes()).toHaveLength(5);
  });

  test("the line that the plan prints does it in the file, survives fmt and pull, and is left over then", async () => {
    const line = /^ +(overrides: .*)$/m.exec((await shop.run(["plan", "shop.yaml"])).stdout)?.[1];
    await mkdir(join(shop.folder, "access"));
    await shop.write("access/shop.yaml", LOST.replace("members:", `guards:\n  ${line}\nmembers:`));
    expect((await shop.run(["fmt"])).code).toBe(0);
    const plan = await shop.run(["plan"]);
    expect(plan.code).toBe(0);
    expect(plan.stdout).toContain("  overridden: guard max-removals: ");
    expect(plan.stdout).not.toContain("refused");
    const apply = await shop.run(["apply", "--yes"]);
    expect(apply.code).toBe(0);
    expect(await shop.writes()).toHaveLength(5);
    const later = await shop.run(["plan"]);
    expect(later.code).toBe(0);
    expect(later.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /warning: The override max-removals=5@[0-9a-f]{12} in the file has no effect: this plan has no changes\. written at access\/shop\.yaml:\d+:\d+ → Remove it from guards\.overrides\./,
    );
    await shop.control("POST", "/v0.1/merchants/MC1/members", {
      email: "gil@example.com",
      roles: ["role_employee"],
    });
    expect((await shop.run(["pull", "MC1", "--yes"])).code).toBe(0);
    const text = await readFile(join(shop.folder, "access/shop.yaml"), "utf8");
    expect([text.includes(String(line)), text.includes("gil@example.com")]).toEqual([true, true]);
  });

  test("an override for another plan does not count: exit 3, and a hint to review the plan", async () => {
    const plan = await shop.run(["plan", "shop.yaml"]);
    await shop.control("POST", "/v0.1/merchants/MC1/members", {
      email: "gil@example.com",
      roles: ["role_employee"],
    });
    const apply = await shop.run(["apply", "shop.yaml", "--yes", ...allowed(plan.stdout)]);
    expect(apply.code).toBe(3);
    expect(apply.stderr).toContain("is for a different plan.");
    expect(apply.stderr).toContain("→ The plan has changed since.");
    expect(await shop.writes()).toEqual([]);
  });

  test("a malformed override is reported", async () => {
    const apply = await shop.run(["apply", "shop.yaml", "--yes", "--allow", "max-removals"]);
    expect(apply.code).toBe(1);
    expect(apply.stderr).toContain("--allow max-removals is not an override.");
    expect(await shop.writes()).toEqual([]);
  });
});

test("the last owner stays, whoever the file forgets; and so does the key's own membership", async () => {
  await shop.write(
    "shop.yaml",
    `${HEAD}members: [${PEOPLE.map((email) => `{ email: ${email}, roles: [Shift Lead] }`).join(", ")}]\n`,
  );
  const plan = await shop.run(["plan", "shop.yaml"]);
  expect(plan.code).toBe(3);
  expect(plan.stdout).toContain('guard min-holders: The role "Owner" would lose its only accepted');
  expect(plan.stdout).toContain("guard self-lockout: The API key belongs to ada@example.com");
  const [, minHolders = ""] = allowed(plan.stdout);
  const half = await shop.run(["apply", "shop.yaml", "--yes", "--allow", minHolders]);
  expect(half.code).toBe(3);
  expect(half.stderr).not.toContain('"Owner" would lose');
  expect(half.stderr).toContain("The API key belongs to ada@example.com");
  expect(await shop.writes()).toEqual([]);
});

test("a protected role is left as it is, until the override for its name is pasted from the plan", async () => {
  await shop.write(
    "shop.yaml",
    `${HEAD}guards: { protect: { roles: [Shift *] } }\nroles:\n  - { name: Shift Lead, description: Opens, permissions: [catalog_view] }\n`,
  );
  const plan = await shop.run(["plan", "shop.yaml"]);
  expect(plan.stdout).toMatch(/apply --allow 'protect=Shift Lead@[0-9a-f]{12}'$/m);
  expect((await shop.run(["apply", "shop.yaml", "--yes"])).code).toBe(3);
  expect((await shop.run(["apply", "shop.yaml", "--yes", ...allowed(plan.stdout)])).code).toBe(0);
});

describe("what a file's policies and checks forbid", () => {
  const RULES = `policies:
  email_domains: [example.com]
checks:
  - { can: catalog_view, only: [ada@example.com] }
`;

  test("cannot be overridden: plan exits with 3, apply refuses with 3", async () => {
    const members = "members: [{ email: gil@example.com, roles: [Shift Lead] }]\n";
    await shop.write("shop.yaml", `${HEAD}sync: { members: additive }\n${RULES}${members}`);
    const plan = await shop.run(["plan", "shop.yaml"]);
    expect(plan.code).toBe(3);
    expect(plan.stdout).toContain("check check-only: gil@example.com would have catalog_view, through Shift");
    expect(allowed(plan.stdout)).toEqual([]);
    expect((await shop.run(["apply", "shop.yaml", "--yes"])).code).toBe(3);
    expect(await shop.writes()).toEqual([]);
  });

  test("does not refuse an existing violation, and warns of it", async () => {
    const members = 'members: [{ email: ben@example.com, metadata: { till: "4" } }]\n';
    await shop.write("shop.yaml", `${HEAD}sync: { members: additive }\n${RULES}${members}`);
    const plan = await shop.run(["plan", "shop.yaml"]);
    expect(plan.stdout).toContain(
      "warning: Existing violation: ben@example.com has catalog_view, through Shift",
    );
    expect(plan.code).toBe(0);
    expect((await shop.run(["apply", "shop.yaml", "--yes"])).code).toBe(0);
    expect(await shop.writes()).toEqual([expect.stringMatching(/^PUT \/v0\.1\/merchants\/MC1\/members\//)]);
  });

  test("lets validate exit 3, where it can be known without the network; a file that is wrong, 1", async () => {
    const members = "members:\n  - { email: ida@elsewhere.example, roles: [Teller] }\n";
    const roles = "roles:\n  - { name: Teller, permissions: [catalog_view] }\n";
    await shop.write("shop.yaml", HEAD + RULES + roles + members);
    const broken = await shop.run(["validate", "shop.yaml"]);
    expect(broken.code).toBe(3);
    expect(broken.stdout).toContain("ida@elsewhere.example");
    await shop.write("shop.yaml", `${HEAD}enviroment: test\n${RULES}${roles}${members}`);
    expect((await shop.run(["validate", "shop.yaml"])).code).toBe(1);
  });
});

test("a new owner first, the old one after: a removal waits until the invited have accepted", async () => {
  await shop.write(
    "shop.yaml",
    `${HEAD}sync: { members: additive }
members:
  - { email: ada@example.com, roles: [role_manager] }
  - { email: bea@example.com, roles: [role_owner] }
`,
  );
  const first = await shop.run(["apply", "shop.yaml", "--yes"]);
  expect(await shop.writes()).toEqual(["POST /v0.1/merchants/MC1/members"]);
  expect(first.code).toBe(0);

  const waiting = await shop.run(["plan", "shop.yaml"]);
  expect(waiting.stdout).toContain(`  Deferred
    ~ update ada@example.com
             roles        - Owner (role_owner)
                          + Manager (role_manager)
             waits until bea@example.com has accepted: "Owner" would have too
             few holders
`);
  expect(waiting.stdout).toContain("Plan: no changes");
  expect(waiting.code).toBe(0);

  await shop.control("POST", "/merchants/MC1/members/bea@example.com/accept");
  const due = await shop.run(["plan", "shop.yaml"]);
  expect(due.stdout).not.toContain("Deferred");
  expect(due.stdout).toContain("~ update ada@example.com");
});
