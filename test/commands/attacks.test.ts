import { chmod, mkdir, readdir, readFile, stat } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { processorTime } from "../support/processor-time.ts";
import { openShop, type Shop } from "../support/shop.ts";

const ESCAPE = "\u001b";
const SEED = `merchants:
  - code: MC1
    roles:
      - { name: Refunder, permissions: [refunds_create] }
      - { name: "Till \\e[2J\\u202e", permissions: [sales_view] }
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: eve@example.com, roles: [Refunder] }
${Array.from({ length: 12 }, (_, index) => `      - { email: user${index}@example.com, roles: [role_employee] }\n`).join("")}keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;
const HEAD = "version: 1\nmerchant: MC1\n";
const OWNER = "  - { email: ada@example.com, roles: [role_owner] }\n";

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
});

afterEach(async () => {
  await shop.stop();
});

async function inject(rule: object): Promise<void> {
  await shop.control("PUT", "/faults", { rules: [rule] });
}

async function told(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly text: string }> {
  const { code, stdout, stderr } = await shop.run([...args, "mc1.yaml"]);
  return { code, text: `${stdout}${stderr}`.replaceAll(/\s+/g, " ") };
}

/** Runs with a server in the place of the service. */
async function at(listener: RequestListener, run: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("a secret", () => {
  test("a key and a password that the service repeats are written nowhere", async () => {
    const [key, password] = ["sk_test_sandbox", "hunter2-hunter2"];
    const encoded = Buffer.from(`Bearer ${key}`).toString("base64");
    await inject({
      kind: "status",
      status: 400,
      operation: "members.create",
      detail: `The request had ${key}, ${encoded} and ${password}.`,
    });
    await shop.write(
      "mc1.yaml",
      `${HEAD}sync: { members: additive }\nmembers:\n  - { email: till@example.com, roles: [role_employee], managed: { nickname: Till, password_env: TILL } }\n`,
    );
    const runs = await Promise.all([
      shop.run(["plan", "mc1.yaml", "--out", "plan.json"], { TILL: password }),
      shop.run(["apply", "mc1.yaml", "--yes"], { TILL: password }),
    ]);
    const folder = join(shop.folder, ".rolecall", "runs");
    const files = [
      join(shop.folder, "plan.json"),
      ...(await readdir(folder)).map((name) => join(folder, name)),
    ];
    const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
    const [plan = "", journal = ""] = texts;
    expect(plan).toContain("till@example.com");
    expect(journal).toContain("[secret]");
    const all = [...runs.flatMap(({ stdout, stderr }) => [stdout, stderr]), ...texts].join("\n");
    for (const secret of [key, password, encoded]) expect(all).not.toContain(secret);
  });

  test("a secret in a file is an error that does not show it", async () => {
    const [key, password] = ["sk_live_0123456789abcdef", "hunter2-hunter2"];
    await shop.write(
      "mc1.yaml",
      `${HEAD}api: { key_env: ${key} }\nmembers:\n  - { email: t@example.com, managed: { nickname: T, password_env: ${password} } }\n`,
    );
    for (const command of ["validate", "plan"]) {
      const { code, text } = await told(command);
      expect(code).toBe(1);
      expect(text).toContain("mc1.yaml:3:");
      expect(text).not.toContain(key);
      expect(text).not.toContain(password);
    }
  });

  test("a key follows no redirect, and is not sent unencrypted over a network", async () => {
    await shop.write("mc1.yaml", HEAD);
    const seen: unknown[] = [];
    await at(
      (request, response) => response.end(seen.push(request.headers) && "{}"),
      async (other) => {
        await at(
          (_, response) => response.writeHead(302, { location: other }).end(),
          async (url) => {
            const { code, stderr } = await shop.run(["plan", "mc1.yaml", "--base-url", url]);
            expect(code).toBe(1);
            expect(stderr).toContain("302");
          },
        );
      },
    );
    expect(seen).toEqual([]);
    const plain = await shop.run(["plan", "mc1.yaml", "--base-url", "http://api.example.com"]);
    expect(plain).toMatchObject({ code: 1, stderr: expect.stringContaining("unencrypted") });
  });
});

describe("the service", () => {
  test.each([
    ["that answers with a page", { kind: "html" }],
    ["that asks for a wait of a day", { kind: "status", status: 429, wait: 86_400 }],
  ])("no bad response removes anybody: %s", async (_, fault) => {
    await shop.write("mc1.yaml", `${HEAD}members:\n${OWNER}`);
    await inject({ ...fault, operation: "members.list" });
    const { code, text } = await told("apply", "--yes");
    expect(code).toBe(1);
    expect(text).not.toContain("delete ");
    expect(await shop.writes()).toEqual([]);
  });

  test("a create whose response was lost is not sent again", async () => {
    await shop.write(
      "mc1.yaml",
      `${HEAD}sync: { members: additive }\nmembers:\n  - { email: new@example.com, roles: [role_employee] }\n`,
    );
    await inject({ kind: "status", status: 503, effect: "after", operation: "members.create", nth: 1 });
    expect((await told("apply", "--yes")).code).toBe(0);
    expect(await shop.writes()).toHaveLength(1);
  });
});

describe("a file", () => {
  test("a truncated file removes nobody, and the guard prints the override", async () => {
    await shop.write("mc1.yaml", `${HEAD}members:\n${OWNER}`);
    const { code, text } = await told("apply", "--yes");
    expect(code).toBe(3);
    expect(text).toContain("guard max-removals");
    expect(await shop.writes()).toEqual([]);
  });

  test("the old owner stays until the new one has accepted", async () => {
    await shop.write("mc1.yaml", `${HEAD}members:\n${OWNER.replace("ada", "new")}`);
    const { text } = await told("plan");
    expect(text).toContain("waits until new@example.com has accepted");
  });

  test("neither ignoring somebody nor changing the case of a name hides a violation", async () => {
    const rules = "checks:\n  - { can: refunds_create, at_most: 0 }\n";
    await shop.write("mc1.yaml", `${HEAD}ignore: { members: [eve@example.com] }\n${rules}`);
    expect((await told("plan", "--verbose")).text).toMatch(/Existing violation: .*eve@example\.com/);
    await shop.write(
      "mc1.yaml",
      `${HEAD}sync: { roles: additive }\nroles:\n  - { name: REFUNDER, permissions: [refunds_create] }\n`,
    );
    const { code, text } = await told("plan");
    expect(code).toBe(1);
    expect(text).toContain("only in upper and lower case");
  });

  test("a plan that lets somebody give themselves more shows this as a risk", async () => {
    await shop.write(
      "mc1.yaml",
      `${HEAD}sync: { roles: additive, members: additive }\nroles:\n  - { name: Helper, permissions: [members_update, payouts_edit_x] }\n  - { name: Paid, permissions: [payouts_edit] }\nmembers:\n  - { email: eve@example.com, roles: [Helper] }\nchecks:\n  - { can: payouts_edit, reach: true, at_most: 1 }\n`,
    );
    const { text } = await told("plan");
    expect(text).toMatch(/can newly reach sensitive permissions eve@example\.com: .*payouts_edit,/);
    expect(text).toContain("check check-at-most: 2 members could reach payouts_edit");
  });

  const many = (count: number, text: (n: number) => string): string =>
    Array.from({ length: count }, (_, n) => text(n)).join("");
  const members = (count: number, roles: (n: number) => string): string =>
    `members:\n${many(count, (n) => `  - { email: u${n}@example.com, roles: [${roles(n)}] }\n`)}`;
  const everyRole = many(150, (n) => `R${n},`);
  const rolesWith = (count: number, permissions: (n: number) => string): string =>
    `roles:\n${many(count, (n) => `  - { name: R${n}, permissions: [${permissions(n)}] }\n`)}`;
  const power = (n: number): string => (n % 3 === 0 ? "members_update" : "roles_update");

  const greedy: readonly (readonly [name: string, code: number, says: string, content: string])[] = [
    [
      "with more checks of reach than a run has time for",
      1,
      "would take too long",
      rolesWith(1500, (n) => `p${n}, p${(n * 7) % 1500}, ${power(n)}, roles_create, q${n}`) +
        members(1500, (n) => `R${n}, R${(n * 11) % 1500}`) +
        `checks:\n${many(1000, (n) => `  - { can: p${n}, ${n % 2 === 0 ? `only: [u${n}@example.com]` : "at_most: 1"}, reach: true }\n`)}`,
    ],
    [
      "with people who hold hundreds of roles of hundreds of separate sets",
      3,
      "u149@example.com would hold",
      rolesWith(150, () => "p") +
        members(150, () => everyRole) +
        `policies:\n  separate:\n${many(100, (n) => `  - [${everyRole.replace(`R${n},`, "")}]\n`)}`,
    ],
    [
      "with a grant that is repeated a hundred thousand times",
      0,
      "duplicate-member-role",
      `${rolesWith(1, () => "p")}${members(1, () => many(100_000, () => "R0,"))}`,
    ],
  ];
  test.each(greedy)(
    "a greedy file ends within seconds, and the error says why: %s",
    async (_, expected, says, content) => {
      await shop.write("mc1.yaml", `${HEAD}${content}`);
      const before = processorTime();
      const { code, text } = await told("validate");
      expect(processorTime() - before).toBeLessThan(10_000);
      expect(code).toBe(expected);
      expect(text).toContain(says);
    },
  );

  test("with globs that take too long to match ends soon, and says why", async () => {
    const stars = "*a".repeat(100);
    const names = members(1000, () => "role_employee").replaceAll(
      "@example.com",
      `${"a".repeat(120)}@example.com`,
    );
    await shop.write(
      "mc1.yaml",
      `${HEAD}${names}ignore:\n  members:\n${many(1000, (n) => `  - "${stars}${n}{x,y}"\n`)}`,
    );
    const before = processorTime();
    expect(await told("plan")).toEqual({
      code: 1,
      text: expect.stringContaining("Matching the globs of the file would take too long."),
    });
    await shop.write("mc1.yaml", HEAD);
    await shop.write("rules.yaml", "version: 1\nguards: { max_removals: 1 }\n");
    await shop.write(
      "rolecall.yaml",
      `version: 1\nenforce:\n${many(900, (n) => `  - { files: ["access/*${stars}${n}{x,y}"], rules: rules.yaml }\n`)}`,
    );
    await mkdir(join(shop.folder, "access"));
    for (let n = 0; n < 200; n += 1) await shop.write(`access/${"a".repeat(200)}${n}.yaml`, HEAD);
    expect(await told("validate")).toEqual({
      code: 1,
      text: expect.stringContaining("Matching the globs of rolecall.yaml would take too long."),
    });
    expect(processorTime() - before).toBeLessThan(20_000);
  });

  test("a file whose people can give themselves thousands of roles ends soon, and the error says why", async () => {
    const count = 4000;
    await shop.write(
      "mc1.yaml",
      `${HEAD}sync: { roles: additive, members: additive }\n${rolesWith(count, (n) => `p_${n}`)}  - { name: A, permissions: [members_update] }\n${members(count, (n) => `R${n}, A`)}`,
    );
    const before = processorTime();
    for (const command of ["plan", "drift"]) {
      expect(await told(command)).toEqual({
        code: 1,
        text: expect.stringContaining("could newly give themselves too many permissions to list"),
      });
    }
    expect(processorTime() - before).toBeLessThan(10_000);
    const asked = processorTime();
    const { code, text } = await told("who", "can", "*");
    expect(code).toBe(0);
    expect(text).toContain("members_update: 4,000 people at MC1");
    expect(processorTime() - asked).toBeLessThan(6000);
  });

  test("with thousands of overrides, and of violations, is planned soon", async () => {
    const overrides = many(5000, (n) => `max-removals=${n}@${(n + 0x100000000000).toString(16)}, `);
    const allowed = many(80, (n) => `"role:S${n}", `);
    await shop.write(
      "mc1.yaml",
      `${HEAD}sync: { roles: additive, members: additive }\nguards:\n  overrides: [${overrides}]\n${rolesWith(2, () => "p")}${many(80, (n) => `  - { name: S${n}, permissions: [q] }\n`)}${members(200, () => "R0, R1")}checks:\n${many(100, (n) => `  - { can: p, only: [${allowed}"role:S${n % 80}", x${n}@example.com] }\n`)}`,
    );
    const before = processorTime();
    const { code, text } = await told("plan");
    expect(processorTime() - before).toBeLessThan(10_000);
    expect(code).toBe(3);
    expect(text).toContain("… and 4,000 more (--format json shows all)");
    expect(text).toContain("This also applies to 199 other members");
  });

  test("a file cannot set a prototype", async () => {
    await shop.write(
      "mc1.yaml",
      `${HEAD}members:\n  - { email: ada@example.com, metadata: { __proto__: { polluted: 1 } } }\n`,
    );
    expect((await told("plan")).code).toBe(1);
    expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
  });

  test("a rule file that cannot be read stops every merchant", async () => {
    await shop.write("mc1.yaml", HEAD);
    await shop.write("rolecall.yaml", "version: 1\nenforce:\n  - { files: [mc1.yaml], rules: gone.yaml }\n");
    const { code, text } = await told("plan");
    expect(code).toBe(1);
    expect(text).toContain("rolecall.yaml:3:");
    expect(text).not.toContain("Plan:");
  });
});

test("only their owner can read journals and saved plans", async () => {
  await chmod(shop.folder, 0o755);
  await shop.write(
    "mc1.yaml",
    `${HEAD}sync: { members: additive }\nmembers:\n  - { email: new@example.com, roles: [role_employee] }\n`,
  );
  await told("plan", "--out", "plan.json");
  await told("apply", "--yes");
  const runs = join(shop.folder, ".rolecall", "runs");
  const files = [join(shop.folder, "plan.json"), ...(await readdir(runs)).map((name) => join(runs, name))];
  expect(files).toHaveLength(2);
  for (const file of files) expect((await stat(file)).mode & 0o077).toBe(0);
});

test("a name cannot control a terminal, or reverse the text around it", async () => {
  await shop.write("mc1.yaml", `${HEAD}roles:\n  - { name: Refunder }\n`);
  const { stdout } = await shop.run(["plan", "mc1.yaml"]);
  expect(stdout).toContain("Till ");
  expect(stdout).not.toContain(ESCAPE);
  expect(stdout).not.toContain("\u202e");
});
