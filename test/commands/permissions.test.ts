import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { applyToService } from "../../src/api/apply-to-service.ts";
import { openService, planMerchant } from "../../src/api/remote-service.ts";
import { parseMerchantFile } from "../../src/index.ts";
import { isProbe, type LoggedRequest } from "../support/probes.ts";
import { openShop, type Shop } from "../support/shop.ts";

const READS = "roles_list, roles_view, merchant_read, members_view";

const SEED = `merchants:
  - code: MC1
    members:
      - { id: mem_ada, email: ada@example.com, roles: [role_owner] }
      - { id: mem_ben, email: ben@example.com, roles: [role_employee] }
  - code: MC2
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: ben@example.com, roles: [role_employee] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
  - { key: sk_test_adds, owner: ada@example.com, permissions: [${READS}, members_create] }
  - { key: sk_test_scoped, owner: ada@example.com, permissions: [members.read, roles.read] }
  - { key: sk_test_blind, owner: ada@example.com, permissions: [roles_list, roles_view, merchant_read, roles_create, members_create, members_update] }
`;

const file = (merchant: string, members: string): string => `version: 1
merchant: ${merchant}
members:
  - { email: ada@example.com, roles: [role_owner] }
${members}`;

const NEW = "  - { email: new@example.com, roles: [role_employee] }\n";
const ADDS = { ROLECALL_API_KEY: "sk_test_adds" };
const flat = (text: string): string => text.replaceAll(/\s+/g, " ");

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
  for (const code of ["MC1", "MC2"]) await shop.write(`${code}.yaml`, file(code, NEW));
});

afterEach(() => shop.stop());

const apply = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  shop.run(["apply", ...args, "--yes"], env);

async function probes(): Promise<readonly string[]> {
  const { items } = (await shop.control("GET", "/requests")) as { readonly items: readonly LoggedRequest[] };
  return items.filter(isProbe).map(({ method, path }) => `${method} ${path.split("/").slice(3).join("/")}`);
}

describe("an apply whose key may make only some of the plan's changes", () => {
  test("makes none of them, and says which permission of which key is missing at which merchant", async () => {
    const { code, stderr } = await apply(["MC1.yaml"], ADDS);
    expect(flat(stderr)).toContain(
      "The key in ROLECALL_API_KEY may not delete members at MC1: it lacks members_delete.",
    );
    expect(flat(stderr)).toContain(
      'Grant the key this permission, or use a key that has it; "rolecall doctor"',
    );
    expect(code).toBe(1);
    expect(await shop.writes()).toEqual([]);
    expect(existsSync(join(shop.folder, ".rolecall", "runs"))).toBe(false);
  });

  test("names all of them, as scopes where the service does", async () => {
    await shop.write("MC1.yaml", `${file("MC1", NEW)}roles:\n  - { name: Till, permissions: [refunds] }\n`);
    const { stderr } = await apply(["MC1.yaml"], { ROLECALL_API_KEY: "sk_test_scoped" });
    expect(flat(stderr)).toContain("may not create roles, create members or delete members at MC1");
    expect(flat(stderr)).toContain("it lacks roles.write and members.write.");
  });

  test("counts the reads that precede the writes, unless they are turned off", async () => {
    const blind = { ROLECALL_API_KEY: "sk_test_blind" };
    const desk = '  - { email: ben@example.com, roles: [role_employee], metadata: { desk: "1" } }\n';
    await shop.write("MC1.yaml", `${file("MC1", desk)}roles:\n  - { name: Till, permissions: [refunds] }\n`);
    const { stderr } = await apply(["MC1.yaml"], blind);
    expect(flat(stderr)).toContain("may not retrieve members at MC1: it lacks members_view.");
    expect(await shop.writes()).toEqual([]);
    expect((await apply(["MC1.yaml", "--no-recheck"], blind)).code).toBe(0);
  });

  test("leaves the other merchants as they are by --on-error stop, else goes on with them", async () => {
    const keys = { ROLECALL_API_KEY_MC1: "sk_test_adds", ROLECALL_API_KEY_MC2: "sk_test_sandbox" };
    const lacking = "The key in ROLECALL_API_KEY_MC1 may not delete members at MC1";
    const stopped = await apply(["MC1.yaml", "MC2.yaml", "--on-error", "stop"], keys);
    expect(flat(stopped.stderr)).toContain(lacking);
    expect(stopped.code).toBe(1);
    expect(await shop.writes()).toEqual([]);
    const { code, stderr } = await apply(["MC1.yaml", "MC2.yaml"], keys);
    expect(flat(stderr)).toContain("Nothing is changed at MC1; the apply continues at 1 other merchant.");
    expect(flat(stderr)).toContain(`failed at MC1: ${lacking}`);
    expect(code).toBe(4);
    expect((await shop.writes()).every((one) => one.includes("/MC2/"))).toBe(true);
  });

  test("is refused by undo and offboard too", async () => {
    expect((await apply(["MC1.yaml"])).code).toBe(0);
    const before = await shop.writes();
    const undo = await shop.run(["undo", "latest", "MC1.yaml", "--yes"], ADDS);
    expect(flat(undo.stderr)).toContain("may not delete members at MC1");
    expect(undo.code).toBe(1);
    await shop.write(
      "MC2.yaml",
      file("MC2", `${NEW}  - { email: ben@example.com, roles: [role_employee] }\n`),
    );
    const offboard = await shop.run(["offboard", "ben@example.com", "MC2.yaml", "--apply", "--yes"], ADDS);
    expect(offboard.code).not.toBe(0);
    expect(await shop.writes()).toEqual(before);
  });
});

describe("the question for permissions", () => {
  test("is asked once for each key and kind of change that the first one does not show, side by side", async () => {
    expect((await apply(["MC1.yaml", "MC2.yaml"])).code).toBe(0);
    expect(await probes()).toEqual(
      ["MC1/members/mem_rolecallNoSuch"].flatMap((path) => [`GET ${path}`, `DELETE ${path}`]),
    );
  });

  test("is not asked for a plan with one kind of changes", async () => {
    await shop.write("MC1.yaml", file("MC1", ""));
    expect((await apply(["MC1.yaml"])).code).toBe(0);
    expect(await probes()).toEqual([]);
  });

  test.each([404, 500])("refuses nothing on a %s, and the apply goes on", async (status) => {
    const rule = { kind: "status", status, operation: "members.delete" };
    await shop.control("PUT", "/faults", { rules: [{ ...rule, times: status === 500 ? 4 : 1 }] });
    const { stdout, code } = await apply(["MC1.yaml"]);
    expect(stdout).toContain("Apply complete at MC1: 2 changes done.");
    expect(code).toBe(0);
  });
});

test("the library's result says which permission is missing, and nothing is changed", async () => {
  const env = { ROLECALL_API_KEY: "sk_test_adds", ROLECALL_BASE_URL: shop.sandbox.url };
  const service = openService({ env });
  const { state } = parseMerchantFile("MC1.yaml", file("MC1", NEW));
  if (state === null) throw new Error("the file is invalid");
  const { plan } = await planMerchant(service, state);
  expect(await applyToService(service, state, plan)).toEqual({
    merchant: "MC1",
    status: "failed",
    reasons: [expect.stringContaining("may not delete members at MC1: it lacks members_delete")],
    outcomes: [],
    journal: null,
  });
  await service.close();
  expect(await shop.writes()).toEqual([]);
});

test("the membership of the key's own user goes last: without it the key can do nothing", async () => {
  const people = ["ben", "cleo"].map((name) => `  - { email: ${name}@example.com, until: 2020-01-01 }\n`);
  const owner = "  - { email: ada@example.com, until: 2020-01-01 }\n";
  await shop.write(
    "MC1.yaml",
    `version: 1\nmerchant: MC1\nguards: { min_holders: {} }\nmembers:\n${owner}${people.join("")}`,
  );
  const refused = await apply(["MC1.yaml"]);
  const [override = ""] = /self-lockout=\S+@[0-9a-f]{12}/.exec(refused.stderr) ?? [];
  await apply(["MC1.yaml", "--allow", override]);
  const { items } = (await shop.control("GET", "/requests")) as {
    readonly items: readonly LoggedRequest[];
  };
  const gone = items.filter(({ method }) => method === "DELETE").map(({ path }) => path.split("/").at(-1));
  expect(gone).toEqual(["mem_ben", "mem_ada"]);
});

test("a permission that only the last change needs, to the own role of the key's user, is tested as well", async () => {
  const boss = await openShop(`merchants:
  - code: MC1
    roles: [{ name: Boss, permissions: [${READS}, members_delete, refunds_create] }]
    members:
      - { email: ada@example.com, roles: [Boss] }
      - { email: ben@example.com, roles: [role_employee] }
keys:
  - { key: sk_test_removes, owner: ada@example.com, permissions: [${READS}, members_delete, user.profile_readonly] }
`);
  try {
    await boss.write(
      "MC1.yaml",
      `version: 1
merchant: MC1
guards: { max_removals: 100% }
roles: [{ name: Boss, permissions: [${READS}, members_delete] }]
members: [{ email: ada@example.com, roles: [Boss] }]
`,
    );
    const env = { ROLECALL_API_KEY: "sk_test_removes" };
    const planned = await boss.run(["plan", "MC1.yaml"], env);
    const allowed = [...planned.stdout.matchAll(/[a-z-]+=\S+@[0-9a-f]{12}/g)].flatMap(([one]) => [
      "--allow",
      one,
    ]);
    const { stderr } = await boss.run(["apply", "MC1.yaml", "--yes", ...allowed], env);
    expect(flat(stderr)).toContain("it lacks roles_update");
    expect(await boss.writes()).toEqual([]);
  } finally {
    await boss.stop();
  }
});
