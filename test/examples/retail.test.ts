import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Change, Plan } from "../../src/model/plan.ts";
import { withoutTimes } from "../support/reviews.ts";
import { type Ended, type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const FILES = "examples/retail/access";

let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox(["--seed", "examples/retail/live.yaml"]);
});

afterAll(async () => {
  await sandbox.stop();
});

test("the example's files are valid, without a warning", async () => {
  const { code, stdout } = await rolecall(["validate", FILES, "--format", "json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).diagnostics).toEqual([]);
});

test("the example's files are in the canonical style", async () => {
  const { code, stdout } = await rolecall(["fmt", "--check", FILES, "examples/retail/shared"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "3 already formatted\n" });
});

const NO_DOMAIN =
  "none of the allowed domains: example.com, ledger.example, harbour.example, station.example.";

test("the first plan changes a little of everything and leaves most as it is", async () => {
  const plans = await firstPlans();
  expect(plans.map(({ merchant, summary }) => ({ merchant, ...summary }))).toEqual([
    {
      merchant: "MC4F7K2P",
      roles: { create: 1, update: 2, replace: 0, delete: 1, unchanged: 2 },
      members: { create: 2, update: 3, replace: 0, delete: 2, unchanged: 19, unmanaged: 1 },
    },
    {
      merchant: "MC9Q3T8X",
      roles: { create: 0, update: 0, replace: 0, delete: 0, unchanged: 3, unmanaged: 1 },
      members: { create: 1, update: 2, replace: 0, delete: 1, unchanged: 13 },
    },
  ]);
  expect(plans.flatMap(({ findings }) => findings.map(({ message }) => message))).toEqual([
    "1 live member is ignored: Accountant (year-end@auditor.example).",
    `Existing violation: The address stock-sync@apps.example is in ${NO_DOMAIN}`,
    "stock-sync@apps.example is a service account that the file does not list; it is left alone.",
    `Existing violation: The address year-end@auditor.example is in ${NO_DOMAIN}`,
  ]);
});

test("the first plan is the one that the example's README describes", async () => {
  const [harbourStreet, stationRoad] = await firstPlans();
  expect(harbourStreet?.changes.map(brief)).toEqual([
    "update role Bookkeeping: name",
    "update role Cashier: permissions",
    "create role Refund Approver",
    "delete role Weekend Helper",
    "delete member bernd.hoffmann@example.com",
    "create member fatima.benjelloun@example.com",
    "update member hana.sato@example.com: roles",
    "update member samir.aziz@example.com: metadata",
    "delete member summer-desk@agency.example",
    "create member till-7@harbour.example",
    "update member tomasz.kowalczyk@example.com: roles",
  ]);
  expect(stationRoad?.changes.map(brief)).toEqual([
    "delete member karim.benali@example.com",
    "create member omar.farouk@example.com",
    "update member till-12@station.example: nickname",
    "update member yuki.tanaka@example.com: roles",
  ]);
});

test("a pending member is a member: nobody is invited twice", async () => {
  const path = "/_sandbox/v0.1/merchants/MC4F7K2P/members?email=oisin.byrne@example.com";
  const { items } = (await (await fetch(sandbox.url + path)).json()) as { readonly items: unknown };
  expect(items).toMatchObject([{ status: "pending" }]);
  const plans = await firstPlans();
  const named = plans.flatMap(({ changes }) => changes.map(({ name }) => name));
  expect(named).not.toContain("oisin.byrne@example.com");
});

test("the read-only key plans the same, and an apply with it changes nothing", async () => {
  const env = { ...sandbox.env, ROLECALL_API_KEY: "sk_test_readonly", TILL_7_PASSWORD: "not-a-secret" };
  const timeless = async () => withoutTimes(JSON.stringify(await firstPlans()));
  const before = await timeless();
  const { code, stdout, stderr } = await rolecall(["apply", "--yes", FILES], { env });
  expect(code).toBe(1);
  expect(stdout + stderr).toContain("roles_update");
  expect(await timeless()).toEqual(before);
});

test("an ignored member is in no plan's changes and refusals", async () => {
  const path = "/_sandbox/v0.1/merchants/MC4F7K2P/members?email=year-end@auditor.example";
  const { items } = (await (await fetch(sandbox.url + path)).json()) as { readonly items: unknown };
  expect(items).toHaveLength(1);
  for (const { changes, deferred, impact, refusals } of await firstPlans()) {
    expect(JSON.stringify([changes, deferred, impact, refusals])).not.toContain("auditor.example");
  }
});

describe("what the example's README suggests to try", () => {
  let folder = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rolecall-retail-"));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  /** Changes a shop's file in a copy of the example, and runs the program there. */
  async function tried(
    args: readonly string[],
    file: string,
    change: (text: string) => string,
  ): Promise<Ended> {
    await cp(resolve(import.meta.dirname, "../../examples"), join(folder, "examples"), { recursive: true });
    const path = join(folder, FILES, file);
    const before = await readFile(path, "utf8");
    await writeFile(path, change(before));
    expect(await readFile(path, "utf8")).not.toBe(before);
    return rolecall([...args, FILES], { cwd: folder, env: sandbox.env });
  }

  test("a file without its cashiers is refused: too many members would be removed at once", async () => {
    const cashier =
      /^ {2}- email: .*\n(?: {4}managed: .*\n)? {4}roles: \[Cashier\]\n(?: {4}metadata: .*\n)?/gm;
    const plan = await tried(["plan"], "harbour-street.yaml", (text) => text.replace(cashier, ""));
    expect(plan.stdout).toMatch(/guard max-removals: \d+ of 25 members/);
    expect(plan.code).toBe(3);
  });

  test("a file without the owner is refused for three reasons", async () => {
    const plan = await tried(["plan"], "station-road.yaml", (text) =>
      text.replace(/ {2}- email: ada@.*\n.*\n/, ""),
    );
    expect(plan.stdout.match(/^ {4}(guard|policy|check) \S+/gm)).toEqual([
      "    guard min-holders:",
      "    guard protect:",
      "    guard self-lockout:",
    ]);
    expect(plan.code).toBe(3);
  });

  test("a member with two separate roles is refused without the service", async () => {
    const validate = await tried(["validate"], "harbour-street.yaml", (text) =>
      text.replace("roles: [Bookkeeping]", "roles: [Bookkeeping, Refund Approver]"),
    );
    expect(validate.stdout).toContain("elena.petrova@example.com");
    expect(validate.code).toBe(3);
  });

  test("an undo of the first apply lists the limit and the check that it breaks once each, and one override accepts both", async () => {
    await cp(resolve(import.meta.dirname, "../../examples"), join(folder, "examples"), { recursive: true });
    const shop = await startSandbox(["--seed", "examples/retail/live.yaml"]);
    try {
      const run = (args: readonly string[]): Promise<Ended> =>
        rolecall([...args, FILES], {
          cwd: folder,
          env: { ...shop.env, TILL_7_PASSWORD: "only-for-the-sandbox" },
        });
      expect((await run(["apply", "--yes"])).code).toBe(0);
      const refused = await run(["undo", "latest", "--yes"]);
      expect(refused.code).toBe(3);
      const text = refused.stdout.replaceAll(/\s+/g, " ");
      expect(text).toContain(
        "! 2 rules are broken again guard max-gains: 12 members would newly hold sensitive permissions (refunds_create); the limit is 10:",
      );
      expect(text).toContain("can refunds_create: only role:Refund Approver,");
      expect(text.match(/the limit is 10/g)).toHaveLength(1);
      expect(text.match(/a check does not allow this/g)).toHaveLength(1);
      const [override = "", ...others] = refused.stdout.match(/(?<=--allow )\S+/g) ?? [];
      expect(others).toEqual([]);
      const undone = await run(["undo", "latest", "--yes", "--allow", override]);
      expect(undone.stdout).toContain("✓ Undo complete at 2 merchants: 14 changes done.");
      expect(undone.code).toBe(0);
    } finally {
      await shop.stop();
    }
  });

  test("a plan as of a later day shows whose access has ended by then", async () => {
    const plan = await rolecall(["plan", "--as-of", "2099-02-01", FILES], { env: sandbox.env });
    expect(plan.stdout).toContain(
      "~ update ruben.dejong@example.com (its end date has passed)\n             roles        - Stock Keeper\n",
    );
    expect(plan.code).toBe(0);
  });
});

async function firstPlans(): Promise<readonly Plan[]> {
  const { code, stdout } = await rolecall(["plan", FILES, "--format", "json"], { env: sandbox.env });
  expect(code).toBe(0);
  return JSON.parse(stdout).plans;
}

function brief({ kind, resource, name, fields }: Change): string {
  const what = fields.map(({ field }) => field).join(", ");
  return `${kind} ${resource} ${name}${what === "" ? "" : `: ${what}`}`;
}
