import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runs } from "../support/property-runs.ts";
import { rolecall } from "../support/rolecall.ts";
import { gitIn, openShopRepository, type ShopRepository } from "../support/shop-repository.ts";

const ROLES = ["role_cash", "role_lead", "role_employee"];
const PEOPLE = ["ben", "cy", "di"];

const SEED = `merchants:
  - code: MC1
    roles:
      - { id: role_cash, name: Cashier, permissions: [catalog_view] }
      - { id: role_lead, name: Shift Lead, permissions: [refunds_create] }
    members:
      - { id: mem_ada, email: ada@example.com, roles: [role_owner] }
${PEOPLE.map((name) => `      - { id: mem_${name}, email: ${name}@example.com, roles: [Cashier] }`).join("\n")}
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const FILE = `version: 1
merchant: MC1
roles:
  - { name: Cashier, permissions: [catalog_view] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com, roles: [Cashier] }
`;

const DAY = 24 * 3_600_000;
const START = Date.parse("2026-03-01T09:00:00Z");

let shop: ShopRepository;

/** The time of the commits in git. */
const date = `${START / 1000 - 3600} +0000`;

beforeEach(async () => {
  const files = { "access/mc1.yaml": FILE, "rolecall.yaml": "version: 1\nlive_branch: rolecall-live\n" };
  shop = await openShopRepository(SEED, files, { GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date });
});

afterEach(() => shop.stop());

const at = (now: number, ...args: readonly string[]) =>
  rolecall(args, { cwd: shop.folder, env: shop.sandbox.env, now: () => now });

const dayOf = (day: number): string => new Date(START + day * DAY).toISOString().slice(0, 10);

/** What somebody does at the service beside rolecall. */
type Edit = { readonly name: string; readonly roles: readonly string[] | null };

async function edit({ name, roles }: Edit): Promise<void> {
  const path = "/v0.1/merchants/MC1/members";
  const email = `${name}@example.com`;
  const member = (await members()).find(({ user, invite }) => (user ?? invite)?.email === email);
  if (member === undefined) {
    if (roles !== null) await shop.control("POST", path, { email, roles });
    return;
  }
  const own = `${path}/${member.id}`;
  await (roles === null ? shop.control("DELETE", own) : shop.control("PUT", own, { roles }));
}

interface SandboxMember {
  readonly id: string;
  readonly roles: readonly string[];
  readonly user?: { readonly email: string };
  readonly invite?: { readonly email: string };
}

async function members(): Promise<readonly SandboxMember[]> {
  const { items } = (await shop.control("GET", "/v0.1/merchants/MC1/members")) as {
    readonly items: readonly SandboxMember[];
  };
  return items;
}

/** Who holds what now, as the sandbox itself says. */
async function holders(): Promise<readonly string[]> {
  return (await members()).flatMap(({ id, roles }) => roles.map((role) => `${id} ${role}`)).sort();
}

async function answer(
  day: number,
): Promise<{ readonly code: number | null; readonly held: readonly string[] }> {
  const asked = ["who", "is", "*", "--at", dayOf(day), "--live", "--format", "json"];
  const { stdout, code } = await at(START + 1000 * DAY, ...asked);
  const { answers } = JSON.parse(stdout || "{}");
  return { code, held: (answers ?? []).map(heldOf).sort() };
}

const heldOf = (grant: {
  readonly member: { readonly id: string };
  readonly role: { readonly id: string };
}) => `${grant.member.id} ${grant.role.id}`;

const edits = fc.array(
  fc.record({
    name: fc.constantFrom(...PEOPLE),
    roles: fc.option(fc.uniqueArray(fc.constantFrom(...ROLES), { minLength: 1 }), { nil: null, freq: 6 }),
  }),
  { maxLength: 2 },
);
const days = fc.array(
  fc.record({ before: edits, record: fc.constantFrom("drift", "apply", null), after: edits }),
  { minLength: 8, maxLength: 8 },
);

test("who --at --live is what the service had, for every day with a recorded state", async () => {
  // 200 days with `npm run fuzz`.
  const plan = fc.sample(days, Math.min(25, runs(1))).flat();
  let recorded: readonly string[] | null = null;
  const expected: (readonly string[] | null)[] = [];
  for (const [day, { before, record, after }] of plan.entries()) {
    for (const one of before) await edit(one);
    if (record !== null) {
      await at(
        START + day * DAY,
        record,
        ...(record === "apply" ? ["--yes", "--allow", "max-removals"] : []),
      );
      // An apply that has nothing to do, or is refused, records nothing.
      if (record === "drift") recorded = await holders();
      else {
        await at(START + day * DAY, "drift");
        recorded = await holders();
      }
    }
    expected.push(recorded);
    for (const one of after) await edit(one);
  }
  for (const [day, held] of expected.entries()) {
    const found = await answer(day);
    if (held === null) expect(found.code, dayOf(day)).toBe(1);
    else expect(found, dayOf(day)).toEqual({ code: 0, held });
  }
});

test("the recorded state answers why and report, and says which commit it is from", async () => {
  await at(START, "drift");
  await shop.control("PUT", "/v0.1/merchants/MC1/members/mem_ben", { roles: ["role_lead"] });
  await at(START + 2 * DAY, "drift");
  const asked = ["why", "ben@example.com", "can", "refunds_create", "--live"];
  const [then, later] = [
    await at(START + 3 * DAY, ...asked, "--at", dayOf(1)),
    await at(START + 3 * DAY, ...asked, "--at", dayOf(2)),
  ];
  expect([then.code, later.code]).toEqual([0, 0]);
  expect(then.stdout).not.toContain("Shift Lead");
  expect(later.stdout).toContain("Shift Lead");
  expect(then.stdout.replaceAll(/\s+/g, " ")).toContain(
    "What was live as recorded last by 2026-03-02 23:59 UTC: commit ",
  );
  const report = await at(START + 3 * DAY, "report", "--at", dayOf(1), "--live");
  expect([report.code, report.stdout]).toEqual([0, expect.stringContaining("recorded in commit ")]);
  const early = await at(START + 3 * DAY, "who", "is", "*", "--live", "--at", "2026-02-01");
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("begins after 2026-02-01")]);
});

test("a membership under a previous address has its roles since the commit that granted them", async () => {
  const moved = FILE.replace("email: ben@example.com", "email: ben@new.example, previously: ben@example.com");
  await shop.write("access/mc1.yaml", moved);
  gitIn(shop.folder, ["commit", "--quiet", "--all", "--message=move"], { GIT_COMMITTER_DATE: date });
  const { stdout } = await at(START, "who", "is", "ben@new.example", "--live", "--format", "json");
  expect(JSON.parse(stdout).answers).toMatchObject([
    {
      member: { email: "ben@example.com" },
      since: { kind: "commit", time: expect.stringMatching(/^2026-03-01T08/) },
    },
  ]);
});
