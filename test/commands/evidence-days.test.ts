import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runs } from "../support/property-runs.ts";
import { rolecall } from "../support/rolecall.ts";
import { openShopRepository, type ShopRepository } from "../support/shop-repository.ts";

const PEOPLE = ["ben", "cy", "di"];
const CUSTOM = [
  { id: "role_cash", name: "Cashier" },
  { id: "role_lead", name: "Shift Lead" },
];

const SEED = `merchants:
  - code: MC1
    roles:
${CUSTOM.map(({ id, name }) => `      - { id: ${id}, name: ${name}, permissions: [catalog_view] }`).join("\n")}
    members:
      - { id: mem_ada, email: ada@example.com, roles: [role_owner] }
${PEOPLE.map((name) => `      - { id: mem_${name}, email: ${name}@example.com, roles: [Cashier] }`).join("\n")}
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

type Holdings = Readonly<Record<string, readonly string[]>>;
type Permissions = readonly (readonly string[])[];

const fileOf = (holdings: Holdings, permissions: Permissions): string => `version: 1
merchant: MC1
sync: { replace_roles: true }
guards: { max_removals: 100, max_gains: {} }
roles:
${CUSTOM.map(({ name }, index) => `  - { name: ${name}, permissions: [${permissions[index]}] }`).join("\n")}
members:
  - { email: ada@example.com, roles: [role_owner] }
${Object.entries(holdings)
  .map(([name, roles]) => `  - { email: ${name}@example.com, roles: [${roles}] }\n`)
  .join("")}`;

const HOUR = 3_600_000;
const START = Date.parse("2026-03-01T09:00:00Z");

const KEY = { ROLECALL_APPROVAL_SECRET: "0123456789abcdef0123456789abcdef" };

let shop: ShopRepository;
let now = START;

beforeEach(async () => {
  now = START;
  const date = `${START / 1000 - 3600} +0000`;
  const files = {
    "access/mc1.yaml": fileOf({}, [["catalog_view"], ["catalog_view"]]),
    "rolecall.yaml": "version: 1\nlive_branch: rolecall-live\nrecords: push\n",
  };
  const env = { GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date };
  shop = await openShopRepository(SEED, files, env, { now: () => now });
});

afterEach(() => shop.stop());

const run = (...args: readonly string[]) =>
  rolecall(args, {
    cwd: shop.folder,
    env: { ...shop.sandbox.env, ...KEY },
    now: () => now,
    sleep: async () => undefined,
  });

interface Listed {
  readonly items: readonly {
    readonly id: string;
    readonly name?: string;
    readonly roles?: readonly string[];
    readonly permissions?: readonly string[];
    readonly user?: { readonly email: string };
    readonly invite?: { readonly email: string };
  }[];
}

const list = async (what: string): Promise<Listed["items"]> =>
  ((await shop.control("GET", `/v0.1/merchants/MC1/${what}`)) as Listed).items;

/** What each role and member has at the service, by kind, id and name. */
async function access(): Promise<ReadonlyMap<string, string>> {
  const roles = (await list("roles")).filter(({ id }) => CUSTOM.some((one) => one.id === id));
  return new Map([
    ...roles.map(
      ({ id, name, permissions }) => [`role ${id} ${name}`, `${permissions?.toSorted()}`] as const,
    ),
    ...(await list("members")).map(
      ({ id, user, invite, roles: held }) =>
        [`member ${id} ${(user ?? invite)?.email}`, `${held?.toSorted()}`] as const,
    ),
  ]);
}

/** Returns the kinds and names of what differs. */
function differences(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): readonly string[] {
  const keys = [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key));
  return [...new Set(keys.map((key) => key.replace(/ \S+/, "")))];
}

const someRoles = fc.uniqueArray(fc.constantFrom("role_cash", "role_lead", "role_employee"), {
  minLength: 1,
});
const somePermissions = fc.uniqueArray(fc.constantFrom("catalog_view", "refunds_create", "payouts_view"), {
  minLength: 1,
});

/** What somebody does at the service beside rolecall. */
const edit = fc.oneof(
  fc.record({ name: fc.constantFrom(...PEOPLE), roles: fc.option(someRoles, { nil: null }) }),
  fc.record({ role: fc.constantFrom(...CUSTOM.map(({ id }) => id)), permissions: somePermissions }),
);
type Edit = typeof edit extends fc.Arbitrary<infer One> ? One : never;

async function make(one: Edit): Promise<void> {
  if ("role" in one) {
    await shop.control("PATCH", `/v0.1/merchants/MC1/roles/${one.role}`, { permissions: one.permissions });
    return;
  }
  const path = "/v0.1/merchants/MC1/members";
  const email = `${one.name}@example.com`;
  const member = (await list("members")).find(({ user, invite }) => (user ?? invite)?.email === email);
  if (member === undefined) {
    if (one.roles !== null) await shop.control("POST", path, { email, roles: one.roles });
  } else if (one.roles === null) await shop.control("DELETE", `${path}/${member.id}`);
  else await shop.control("PUT", `${path}/${member.id}`, { roles: one.roles });
}

const faults = [
  [],
  [{ kind: "status", status: 422, operation: "members.update", nth: 1 }],
  [{ kind: "reset-after", operation: "members.update", nth: 1 }],
  [{ kind: "status", status: 422, operation: "members.delete", nth: 1 }],
];

const day = fc.record({
  edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
  /** Whether a drift records what the apply meets. */
  isSeen: fc.boolean(),
  apply: fc.option(
    fc.record({
      holdings: fc.dictionary(fc.constantFrom(...PEOPLE), someRoles),
      permissions: fc.tuple(somePermissions, somePermissions),
      rules: fc.constantFrom(...faults),
    }),
    { nil: null, freq: 9 },
  ),
});

interface Facts {
  readonly changes: readonly {
    readonly at: string;
    readonly kind: string;
    readonly resource: string;
    readonly name: string;
    readonly run: string | null;
  }[];
  readonly gaps: readonly { readonly kind: string; readonly at: string; readonly what: string }[];
}

test("evidence has each change of access of random days, made by a run or not, and no other", async () => {
  // Two hundred days with `npm run fuzz`.
  const days = fc.sample(fc.array(day, { minLength: 4, maxLength: 4 }), Math.min(50, runs(1))).flat();
  const [outside, made]: [string[], string[]] = [[], []];
  await run("drift");
  let known = await access();
  for (const [index, { edits, isSeen, apply }] of days.entries()) {
    now = START + (index + 1) * 24 * HOUR;
    const at = new Date(now).toISOString().slice(0, 10);
    for (const one of edits) await make(one);
    const met = await access();
    outside.push(...differences(known, met).map((name) => `${at} ${name}`));
    now += HOUR;
    if (isSeen) await run("drift");
    if (apply !== null) {
      await shop.write("access/mc1.yaml", fileOf(apply.holdings, apply.permissions));
      await shop.control("PUT", "/faults", { rules: apply.rules });
      now += HOUR;
      await run("apply", "--yes");
      await shop.control("PUT", "/faults", { rules: [] });
    }
    now += HOUR;
    await run("drift");
    known = await access();
    made.push(...differences(met, known).map((name) => `${at} ${name}`));
  }
  now += 24 * HOUR;
  await run("drift");
  const { stdout } = await run(
    "evidence",
    "--from",
    "2026-03-01",
    "--to",
    new Date(now).toISOString().slice(0, 10),
    "--format",
    "json",
  );
  const { changes, gaps } = JSON.parse(stdout) as Facts;
  const namesOf = (isMade: boolean): readonly string[] =>
    [
      ...new Set(
        changes
          .filter((change) => (change.run !== null) === isMade)
          .map((change) => `${change.at.slice(0, 10)} ${change.resource} ${change.name}`),
      ),
    ].sort();
  expect(namesOf(false)).toEqual([...new Set(outside)].sort());
  expect(namesOf(true)).toEqual([...new Set(made)].sort());
  expect(gaps.filter(({ kind }) => kind !== "outside-git" && kind !== "unreviewed-apply")).toEqual([]);
});
