import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../support/property-runs.ts";
import { openShop, type Shop } from "../../support/shop.ts";

const FILE = "access/mc0a.yaml";
const PEOPLE = ["ada", "bob", "cy", "dan", "eva", "fay", "gil"].map((name) => `${name}@example.com`);
const ROLES = ["Cashier", "Lead", "Night"];
const PERMISSIONS = ["catalog_view", "refunds_create", "stock_edit", "orders_view"];

const permissions = fc.subarray(PERMISSIONS, { minLength: 1 });
const held = fc.subarray([...ROLES, "role_employee"], { minLength: 1 });

/** A change, of the file or in the dashboard. */
const change = fc.oneof(
  fc.record({ what: fc.constant("member" as const), email: fc.constantFrom(...PEOPLE), roles: held }),
  fc.record({ what: fc.constant("gone" as const), email: fc.constantFrom(...PEOPLE) }),
  fc.record({ what: fc.constant("expired" as const), email: fc.constantFrom(...PEOPLE) }),
  fc.record({ what: fc.constant("role" as const), role: fc.constantFrom(...ROLES), permissions }),
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

const worlds = fc.record({
  roles: fc.tuple(permissions, permissions, permissions),
  members: fc.uniqueArray(
    fc.record({ email: fc.constantFrom(...PEOPLE), roles: held, expired: fc.boolean() }),
    {
      selector: ({ email }) => email,
      minLength: 2,
    },
  ),
  twin: fc.boolean(),
  rounds: fc.array(
    fc.record({ edits: fc.array(change, { maxLength: 2 }), dashboard: fc.array(change, { maxLength: 3 }) }),
    { minLength: 5, maxLength: 5 },
  ),
});
type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

function seedOf({ roles, members, twin }: World): string {
  const lines = [
    ...ROLES.map((name, index) => `{ name: ${name}, permissions: [${roles[index]?.join(", ")}] }`),
    // A file cannot list a name twice.
    ...(twin ? [`{ name: Night, id: role_twin, permissions: [payouts_edit] }`] : []),
  ];
  const people = members.map(({ email, roles, expired }, index) => {
    const all = twin && index === 0 ? [...roles.filter((role) => role !== "Night"), "role_twin"] : roles;
    return `{ email: ${email}, roles: [${all.join(", ")}]${expired ? ", status: expired" : ""} }`;
  });
  return `merchants:
  - code: MC0A
    roles:
${lines.map((line) => `      - ${line}\n`).join("")}    members:
      - { email: owner@example.com, roles: [role_owner] }
${people.map((line) => `      - ${line}\n`).join("")}keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
`;
}

test("after init, and after each pull, a plan is empty; what nobody changed keeps its bytes and comments", async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const shop = await openShop(seedOf(world));
      try {
        await live(world, shop);
      } finally {
        await shop.stop();
      }
    }),
    { numRuns: runs(2), endOnFailure: true },
  );
}, 3_600_000);

async function live({ rounds, twin }: World, shop: Shop): Promise<void> {
  const started = await shop.run(["init", "MC0A", "--yes", "-q"]);
  expect([started.code, started.stderr]).toEqual([0, ""]);
  await expectEmptyPlan(shop);
  const path = join(shop.folder, FILE);
  expect((await readFile(path, "utf8")).includes("Also has ignored roles: Night (role_twin)")).toBe(twin);
  await writeFile(path, annotated(await readFile(path, "utf8")));
  for (const [number, { edits, dashboard }] of rounds.entries()) {
    for (const edit of edits) await editFile(edit, number, shop);
    const applied = await shop.run(["apply", "--yes", "-q"]);
    expect([0, 3], applied.stderr).toContain(applied.code);
    for (const made of dashboard) await changeLive(made, shop);
    const before = await readFile(path, "utf8");
    const changed = new Set(
      // What could not be applied is pulled back.
      (applied.code === 0
        ? dashboard
        : [...edits, ...rounds.flatMap((round) => [...round.edits, ...round.dashboard])]
      ).map((made) => ("email" in made ? made.email : made.role)),
    );
    const pulled = await shop.run(["pull", "--yes", "-q"]);
    expect([pulled.code, pulled.stderr]).toEqual([0, ""]);
    const after = await readFile(path, "utf8");
    for (const [about, block] of blocksOf(before)) {
      if (!changed.has(about)) expect(after, `${about} of\n${before}\n====\n${after}`).toContain(block);
    }
    await expectEmptyPlan(shop);
  }
}

async function expectEmptyPlan(shop: Shop): Promise<void> {
  const { code, stdout, stderr } = await shop.run(["plan", "--detailed-exitcode"]);
  expect(code, stdout + stderr).toBe(0);
}

/** Adds somebody's own comments above entries, behind their lines, and at the ends of the file. */
function annotated(text: string): string {
  const lines = text.split("\n").flatMap((line, at) => {
    if (!/^ {2}- (?:name|email): \S+$/.test(line)) return [line];
    return at % 2 === 0 ? [`  # Above ${at}.`, line] : [`${line}   # behind ${at}`];
  });
  return `# The shop's own file.\n\n${lines.join("\n")}\n# The end.\n`;
}

/** Returns the lines of each entry with the comments above it, by its name or address. */
function blocksOf(text: string): ReadonlyMap<string, string> {
  const blocks = new Map<string, string>();
  for (const [block, about = ""] of text.matchAll(
    /(?:^ {2}# (?!- ).*\n)*^ {2}- (?:name|email): (\S+).*\n(?: {4}.*\n)*/gm,
  )) {
    blocks.set(about, block);
  }
  return blocks;
}

/** Changes the file as somebody would who only edits it. */
async function editFile(edit: Change, number: number, shop: Shop): Promise<void> {
  const path = join(shop.folder, FILE);
  if (edit.what === "role") {
    const text = await readFile(path, "utf8");
    const entry = new RegExp(`(- name: ${edit.role}\\b.*\\n {4}permissions: ).*`);
    await writeFile(path, text.replace(entry, `$1[ ${edit.permissions.join(",")} ] # round ${number}`));
  } else if (edit.what === "member") {
    const asked = ["grant", edit.email, ...edit.roles, "--reason", `round ${number}`, "--yes", "--declared"];
    expect((await shop.run(asked)).code).toBe(0);
  } else {
    await shop.run(["revoke", edit.email, "--yes", "--declared"]);
  }
}

interface Listed {
  readonly items: readonly {
    readonly id: string;
    readonly name?: string;
    readonly status?: string;
    readonly user?: { readonly email?: string };
    readonly invite?: { readonly email?: string };
  }[];
}

/** Changes the account as somebody would in the dashboard. */
async function changeLive(made: Change, { control }: Shop): Promise<void> {
  const base = "/v0.1/merchants/MC0A";
  const roles = (await control("GET", `${base}/roles`)) as Listed;
  const idOf = (name: string): string => roles.items.find((role) => role.name === name)?.id ?? name;
  if (made.what === "role") {
    await control("PATCH", `${base}/roles/${idOf(made.role)}`, { permissions: made.permissions });
    return;
  }
  const { items } = (await control("GET", `${base}/members`)) as Listed;
  const member = items.find(({ user, invite }) => (user?.email ?? invite?.email) === made.email);
  if (made.what === "member") {
    const ids = made.roles.map(idOf);
    if (member === undefined) await control("POST", `${base}/members`, { email: made.email, roles: ids });
    else if (member.status !== "expired")
      await control("PUT", `${base}/members/${member.id}`, { roles: ids });
  } else if (member !== undefined) {
    if (made.what === "gone") await control("DELETE", `${base}/members/${member.id}`);
    else if (member.status === "pending")
      await control("POST", `/merchants/MC0A/members/${member.id}/expire`);
  }
}
