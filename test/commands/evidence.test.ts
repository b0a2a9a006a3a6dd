import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rolecall } from "../support/rolecall.ts";
import { gitIn, openShopRepository, type ShopRepository } from "../support/shop-repository.ts";

const SEED = `merchants:
  - code: MC1
    roles:
      - { id: role_cash, name: Cashier, permissions: [catalog_view] }
      - { id: role_lead, name: Shift Lead, permissions: [refunds_create] }
    members:
      - { id: mem_ada, email: ada@example.com, roles: [role_owner] }
      - { id: mem_ben, email: ben@example.com, roles: [Cashier] }
      - { id: mem_eve, email: eve@example.com, roles: [Cashier] }
      - { id: mem_fay, email: fay@example.com, roles: [Cashier] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const FILE = `version: 1
merchant: MC1
guards:
  protect: { members: [ben@example.com] }
roles:
  - { name: Cashier, permissions: [catalog_view] }
  - { name: Shift Lead, permissions: [refunds_create] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com, roles: [Cashier] }
  - { email: eve@example.com, roles: [Cashier], until: 2026-11-15 }
  - { email: fay@example.com, roles: [Cashier], until: 2026-11-24 }
`;

const KEY = "0123456789abcdef0123456789abcdef";
const HOSTILE = "<img src=x onerror=alert(1)> =1+1";

let shop: ShopRepository;
let github: Server;
let now = 0;
/** Whether GitHub refuses every request. */
let isForbidden = false;
/** The commits that a pull request has brought, with its number. */
const merged = new Map<string, number>();

const set = (time: string): void => {
  now = Date.parse(time);
};

const git = (...args: readonly string[]): string => {
  const date = `${now / 1000} +0000`;
  return gitIn(shop.folder, args, { GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date });
};

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  rolecall(args, {
    cwd: shop.folder,
    env: { ...shop.sandbox.env, ROLECALL_APPROVAL_SECRET: KEY, ...env },
    now: () => now,
  });

/** Commits the files, as a merged pull request if it has a number, and returns the commit. */
async function commit(text: string, pull: number | null, message = "change"): Promise<string> {
  await shop.write("access/mc1.yaml", text);
  git("add", "access");
  git("commit", "--quiet", `--message=${message}`);
  git("push", "--quiet", "origin", "main");
  const id = git("rev-parse", "HEAD");
  if (pull !== null) merged.set(id, pull);
  return id;
}

/** Applies, and returns the id of the run. */
async function apply(...args: readonly string[]): Promise<string> {
  const { code, stderr } = await run(["apply", "--yes", "--no-color", ...args]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("refs/rolecall/runs/")]);
  return /refs\/rolecall\/runs\/([\w-]+)/.exec(stderr)?.[1] ?? "";
}

interface Facts {
  readonly gaps: readonly {
    readonly kind: string;
    readonly at: string;
    readonly what: string;
    readonly run: string | null;
    readonly commit: string | null;
  }[];
  readonly changes: readonly { readonly name: string; readonly kind: string; readonly run: string | null }[];
  readonly unasked: Readonly<Record<string, string>>;
  readonly unknown: readonly string[];
  readonly reviews: readonly unknown[];
}

const QUARTER = ["evidence", "--from", "2026-10-01", "--to", "2026-12-31"];

const withToken = (): Readonly<Record<string, string>> => ({
  GH_TOKEN: "gho_secret",
  GH_REPO: "acme/access",
  GITHUB_API_URL: `http://127.0.0.1:${(github.address() as AddressInfo).port}`,
});

const json = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Facts> =>
  JSON.parse((await run([...QUARTER, ...args, "--format", "json"], env)).stdout);

const facts = async (env: Readonly<Record<string, string>>): Promise<Facts> => json([], env);

const NAMES: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "#39" };

/** What must be found, by kind. */
const expected: Record<string, { readonly run?: string; readonly commit?: string }> = {};

beforeAll(async () => {
  github = createServer((request, response) => {
    const [, sha = ""] = /\/commits\/(\w+)\/pulls/.exec(request.url ?? "") ?? [];
    const number = merged.get(sha);
    const pull = { number, user: { login: "ada" }, merged_at: "2026-10-01T00:00:00Z", head: { sha } };
    const review = { user: { login: "grace" }, state: "APPROVED" };
    const answer = request.url?.includes("/commits/")
      ? sha === ""
        ? { check_runs: [{ name: "rolecall plan", conclusion: "success" }], statuses: [] }
        : number === undefined
          ? []
          : [pull]
      : [review];
    response.statusCode = isForbidden ? 403 : 200;
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify(isForbidden ? { message: "no access" } : answer));
  });
  await new Promise<void>((resolve) => github.listen(0, "127.0.0.1", resolve));
  set("2026-09-20T09:00:00Z");
  const date = { GIT_COMMITTER_DATE: `${now / 1000} +0000`, GIT_AUTHOR_DATE: `${now / 1000} +0000` };
  const files = {
    "access/mc1.yaml": FILE,
    "rolecall.yaml": "version: 1\nlive_branch: rolecall-live\nrecords: push\n",
    ".gitignore": "seed.yaml\n",
  };
  shop = await openShopRepository(SEED, files, date, { now: () => now });
  await run(["drift"]);

  set("2026-10-05T09:00:00Z");
  const cy = `${FILE}  - { email: cy@example.com, roles: [Cashier] }\n`;
  await commit(cy, 1);
  await apply();

  set("2026-10-12T14:00:00Z");
  await shop.control("PUT", "/v0.1/merchants/MC1/members/mem_eve", { roles: ["role_cash", "role_lead"] });
  set("2026-10-13T02:00:00Z");
  await run(["drift"]);
  expected["outside-git"] = { commit: gitIn(shop.remote, ["rev-parse", "rolecall-live"]) };
  set("2026-10-14T09:00:00Z");
  await apply();

  set("2026-10-20T09:00:00Z");
  const di = `${cy}  - { email: di@example.com, roles: [Cashier] }\n`;
  expected["unreviewed-push"] = { commit: await commit(di, null, HOSTILE) };
  await apply();

  set("2026-11-02T09:00:00Z");
  const withoutBen = di.replace(/.*ben@.*roles.*\n/, "");
  await commit(withoutBen, 2);
  const { plans } = JSON.parse((await run(["plan", "--format", "json"])).stdout);
  const [{ refusals, fingerprint }] = plans;
  const allow = `${refusals[0].override}@${fingerprint.slice(0, 12)}`;
  expected["override"] = { run: await apply("--allow", allow) };

  set("2026-11-10T09:00:00Z");
  const gus = `${withoutBen}  - { email: gus@example.com, roles: [Cashier] }\n`;
  await shop.write("access/mc1.yaml", gus);
  expected["unreviewed-apply"] = { run: await apply() };
  await commit(gus, 3);

  // The access of eve ended on 15 November, that of fay on the day before.
  set("2026-11-25T03:00:00Z");
  expected["ended-late"] = { run: await apply() };

  set("2026-12-01T09:00:00Z");
  await commit(`${gus}  - { email: hal@example.com, roles: [Cashier] }\n`, 4);
  const lost = await apply();
  gitIn(shop.remote, ["update-ref", "-d", `refs/rolecall/runs/${lost}`]);
  expected["unrecorded-run"] = { run: lost };

  set("2027-01-05T09:00:00Z");
});

afterAll(async () => {
  await shop.stop();
  await new Promise((resolve) => github.close(resolve));
});

describe("a quarter with one gap of each kind", () => {
  test("has each of them, and nothing else", async () => {
    const { gaps, unasked, unknown } = await facts(withToken());
    expect(gaps.map(({ kind }) => kind).sort()).toEqual(Object.keys(expected).sort());
    for (const gap of gaps) expect(gap).toMatchObject(expected[gap.kind] ?? {});
    expect([unasked, unknown]).toEqual([{}, []]);
  });

  test("says what was not asked without a token, and names no push as a gap", async () => {
    const { gaps, unasked, reviews } = await facts({});
    const offline = Object.keys(expected).filter((kind) => kind !== "unreviewed-push");
    expect(gaps.map(({ kind }) => kind).sort()).toEqual(offline.sort());
    for (const kind of ["unreviewed-push", "unreviewed-apply"])
      expect(unasked[kind]).toContain("GitHub was not asked");
    expect(reviews).toEqual([]);
    const counts = (await run(QUARTER)).stdout;
    expect(counts).toContain("Pushed without a review: not asked");
    expect(counts).toContain("Applied without a review: 1 or more");
    const october = ["evidence", "--from", "2026-10-01", "--to", "2026-10-31"];
    expect((await run(october)).stdout).toContain("Applied without a review: not asked");
    expect((await run([...october, "--format", "html"])).stdout).toContain(
      '<dt>Applied without a review</dt><dd class="unknown">not asked</dd>',
    );
    expect((await run(october, withToken())).stdout).toContain("Applied without a review: none");
    const { stdout, stderr } = await run([...QUARTER, "--format", "csv"]);
    expect(stdout).toMatch(/^commit,.*,"not asked","not asked","not asked",$/m);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(
      "Pushed without a review and Applied without a review: not asked. GitHub was not asked.",
    );
  });

  test("does not take a refused question for the answer that nothing was found", async () => {
    isForbidden = true;
    const { stdout } = await run(QUARTER, withToken()).finally(() => {
      isForbidden = false;
    });
    expect(stdout).toContain("Pushed without a review: not known");
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      "not known. The reviews of 5 commits are unknown: GitHub answered 403 (no access).",
    );
  });

  test("of one merchant has none of the gaps of others", async () => {
    const { gaps, unknown } = await json(["-m", "MC2"]);
    // Of a missing record, nobody knows the merchants.
    expect(gaps.map(({ kind }) => kind)).toEqual(["unrecorded-run"]);
    expect(unknown).toContain("No recorded run and no recorded live state names MC2.");
    expect((await json(["-m", "MC1"])).unknown).toEqual([]);
  });

  test("names the run, the approval and the checks of each change", async () => {
    const { stdout } = await run([...QUARTER, "--format", "csv"], withToken());
    const [head = "", ...rows] = stdout.split("\n");
    expect(head).toContain("pull_requests,approved_by,checks,asked_at");
    const changed = (name: string): string =>
      rows.find((row) => row.startsWith("change,") && row.includes(name)) ?? "";
    expect(changed("cy@example.com")).toContain(
      '"#1 of ada",grace,"passed: rolecall plan",2027-01-05T09:00:00.000Z',
    );
    expect(changed("di@example.com")).toContain(",none,nobody,");
    expect(changed("eve@example.com")).toContain('"roles: + Shift Lead","outside git",');
    expect(changed("hal@example.com")).toContain(expected["unrecorded-run"]?.run);
    expect(stdout).not.toContain("gho_secret");
  });

  test("is a page without a script, in which hostile texts are only shown", async () => {
    const { code, stdout } = await run([...QUARTER, "--format", "html"], withToken());
    expect(code).toBe(0);
    expect(stdout).toContain("Evidence of access: 2026-10-01 to 2026-12-31");
    expect(stdout).toContain("&lt;img src=x onerror=alert(1)&gt; =1+1");
    expect(stdout).not.toMatch(/<img|<script|script-src/);
    for (const { what } of (await facts(withToken())).gaps) {
      expect(stdout).toContain(what.replaceAll(/[&<>"']/g, (character) => `&${NAMES[character]};`));
    }
  });

  test("does not count a record that is not signed, and finds runs that never ended", async () => {
    const text = "Run 2026-12-24T09-00-00-000Z: began\n\nRun: 2026-12-24T09-00-00-000Z\nOutcome: began\n";
    const tree = gitIn(shop.remote, ["hash-object", "-w", "-t", "tree", "/dev/null"]);
    const forged = gitIn(shop.remote, ["commit-tree", tree, "-m", text]);
    gitIn(shop.remote, ["update-ref", "refs/rolecall/runs/2026-12-24T09-00-00-000Z", forged]);
    const unrecorded = async (env: Readonly<Record<string, string>>) =>
      (await facts(env)).gaps.flatMap(({ kind, what }) => (kind === "unrecorded-run" ? what : []));
    expect(await unrecorded({})).toContain("the record of the run is extra: it is not signed");
    const withoutKey = await unrecorded({ ROLECALL_APPROVAL_SECRET: "" });
    expect(withoutKey).toContainEqual(
      expect.stringContaining("began the run, and its end was never recorded"),
    );
    gitIn(shop.remote, ["update-ref", "-d", "refs/rolecall/runs/2026-12-24T09-00-00-000Z"]);
  });

  test("has the runs whose records were deleted, with or without a recorded live state", async () => {
    const { run: ended = "" } = expected["ended-late"] ?? {};
    const prune = await run(["runs", "prune", "--who", "eve@example.com", "--yes"]);
    expect([prune.code, prune.stdout]).toEqual([0, expect.stringContaining("Deleted")]);
    const { gaps } = await facts({});
    const deleted = gaps.filter(({ what }) => what === "the record of the run was deleted with runs prune");
    expect(deleted.map(({ kind, run }) => [kind, run])).toContainEqual(["unrecorded-run", ended]);
    expect(gaps.filter(({ run, kind }) => run === ended && kind === "unrecorded-run")).toHaveLength(1);
  });

  test("is empty before anything was recorded, and says so", async () => {
    const { stdout, code } = await run(["evidence", "--from", "2026-08-01", "--to", "2026-08-31"]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("Evidence of 2026-08-01 to 2026-08-31: 0 gaps"),
    ]);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain("Changed outside git: not known");
    const future = await run(["evidence", "--from", "2027-02-01"]);
    expect([future.code, future.stderr]).toEqual([1, expect.stringContaining("--from is after --to")]);
  });
});
