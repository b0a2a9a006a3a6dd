import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { main } from "../../src/cli/main.ts";
import { type RunningSandbox, realIo, rolecall, startSandbox } from "../support/rolecall.ts";

const SEED = `merchants:
  - code: MC0DEMO1
    roles:
      - { name: Cashier, id: role_c, permissions: [b], updated_at: "2026-03-01T00:00:00Z", created_at: "2026-01-01T00:00:00Z" }
      - { name: Lead, id: role_l, permissions: [b], updated_at: "2026-01-01T00:00:00Z", created_at: "2026-01-01T00:00:00Z" }
    members: [{ email: owner@example.com, roles: [role_owner] }]
  - code: MC0DEMO2
    members:
      - { email: owner@example.com, roles: [role_owner] }
      - { email: bob@example.com, roles: [role_admin] }
keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
`;
const FILE = `version: 1
merchant: MC0DEMO1
sync: { roles: additive }
roles:
  - name: Cashier
    permissions: [a, b]
  - name: Lead
    permissions: [a, b]
`;

let cwd = "";
let sandbox: RunningSandbox;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-drift-"));
  await mkdir(join(cwd, "access"));
  await writeFile(join(cwd, "access/shop.yaml"), FILE);
  await writeFile(join(cwd, "seed.yaml"), SEED);
  sandbox = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
});

afterAll(async () => {
  await sandbox.stop();
  await rm(cwd, { recursive: true });
});

test("without git the differences are reported, and that the side that changed is unknown", async () => {
  const { code, stdout } = await rolecall(["drift"], { cwd, env: sandbox.env });
  expect(code).toBe(2);
  expect(stdout).toContain("Drift: 2 differences (2 unknown).");
});

test("without git no patch is known, which drift and pull say", async () => {
  const note =
    'MC0DEMO1: 2 differences stay, since it is unknown which side changed. "rolecall drift" shows them; "rolecall pull MC0DEMO1" adopts the whole live state.\n';
  const drift = await rolecall(["drift", "--patch"], { cwd, env: sandbox.env });
  expect([drift.code, drift.stdout]).toEqual([2, ""]);
  expect(drift.stderr).toContain(`${note}The patch is empty: there is nothing to adopt.\n`);
  const pull = await rolecall(["pull", "--adopt-drift", "--yes"], { cwd, env: sandbox.env });
  expect([pull.code, pull.stdout]).toEqual([0, "There is no change outside git to adopt.\n"]);
  expect(pull.stderr).toContain(note);
});

test("with git it reports what changed outside it, and what is merged but not applied", async () => {
  const date = "2026-02-01T00:00:00Z";
  const env = { PATH: process.env["PATH"], GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date, HOME: cwd };
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd, env, stdio: "ignore" });
  git("init", "--quiet");
  git("add", "access");
  git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "access");
  const { code, stdout } = await rolecall(["drift"], { cwd, env: sandbox.env });
  expect(code).toBe(2);
  expect(stdout.indexOf("Changed outside git")).toBeLessThan(stdout.indexOf("~ changed outside git Cashier"));
  expect(stdout.indexOf("Merged, but not applied")).toBeLessThan(stdout.indexOf("~ update Lead"));
  expect(stdout).toContain("Drift: 2 differences (1 changed outside git, 1 not applied).");
  const json = await rolecall(["drift", "--format", "json"], { cwd, env: sandbox.env });
  const [{ changes }] = JSON.parse(json.stdout).drifts;
  expect(changes.map(({ cause }: { cause: string }) => cause)).toEqual(["outside-git", "not-applied"]);
  expect(changes.map(({ event }: { event: string }) => event)).toEqual(["changed", null]);
  const markdown = await rolecall(["drift", "--format", "markdown"], { cwd, env: sandbox.env });
  expect(markdown.stdout).toContain(
    "## ⚠️ rolecall drift: 2 differences (1 changed outside git, 1 not applied)",
  );
});

test("in a shallow clone it says that the sides cannot be told apart, and why", async () => {
  const clone = join(cwd, "clone");
  execFileSync("git", ["clone", "--quiet", "--depth=1", `file://${cwd}`, clone], {
    env: { PATH: process.env["PATH"], HOME: cwd },
  });
  const { stdout, stderr } = await rolecall(["drift"], { cwd: clone, env: sandbox.env });
  expect(stdout).toContain("Drift: 2 differences (2 unknown).");
  expect(stderr).toContain(
    "The clone is shallow, so it is unknown which side of older entries changed last.",
  );
  await rm(clone, { recursive: true });
});

test("the patch takes over what changed outside git, and nothing else", async () => {
  const { code, stdout } = await rolecall(["drift", "--patch"], { cwd, env: sandbox.env });
  expect(code).toBe(2);
  expect(stdout).toBe(`--- a/access/shop.yaml
+++ b/access/shop.yaml
@@ -3,6 +3,6 @@
 sync: { roles: additive }
 roles:
   - name: Cashier
-    permissions: [a, b]
+    permissions: [b]
   - name: Lead
     permissions: [a, b]
`);
  const pull = await rolecall(["pull", "--adopt-drift", "--check"], { cwd, env: sandbox.env });
  expect([pull.code, pull.stdout]).toEqual([2, stdout]);
  execFileSync("git", ["apply", "--check"], { cwd, input: stdout, env: { PATH: process.env["PATH"] } });
});

const SHOP = `version: 1
merchant: MC0DEMO2
checks:
  - { can: members_delete, only: [owner@example.com] }
`;
const OWNER = `members: [{ email: owner@example.com, roles: [role_owner] }]\n`;

test("an administrator who was added outside git is listed first, with the check that this breaks", async () => {
  await writeFile(join(cwd, "shop2.yaml"), SHOP + OWNER);
  const date = "2020-02-01T00:00:00Z";
  const env = { PATH: process.env["PATH"], GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date, HOME: cwd };
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd, env, stdio: "ignore" });
  git("add", "shop2.yaml");
  git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "shop");
  const { code, stdout } = await rolecall(["drift", "shop2.yaml"], { cwd, env: sandbox.env });
  expect(code).toBe(2);
  expect(stdout).toContain("check check-only: bob@example.com has members_delete, through Admin");
  expect(stdout).toContain("written at shop2.yaml:4:5");
  expect(stdout).toContain("Access: 1 member gained or lost permissions outside git");
  expect(stdout).toContain("! 1 member became an administrator outside git");
  expect(stdout).toContain("+ added outside git bob@example.com");
  expect(stdout).toContain("Drift: live access breaks 1 rule; 1 difference (1 added outside git).");
  const json = await rolecall(["drift", "shop2.yaml", "--format", "json"], { cwd, env: sandbox.env });
  const [{ violations, impact, risks }] = JSON.parse(json.stdout).drifts;
  expect(violations).toMatchObject([{ code: "check-only", name: "bob@example.com" }]);
  expect(impact.members).toMatchObject([{ name: "bob@example.com", lost: [] }]);
  expect(risks[0]).toMatchObject({ kind: "administrators", items: [{ name: "bob@example.com" }] });
});

test("live access that breaks a rule is a difference, also where the files manage no members", async () => {
  await writeFile(join(cwd, "shop3.yaml"), SHOP);
  const { code, stdout } = await rolecall(["drift", "shop3.yaml", "--quiet"], { cwd, env: sandbox.env });
  expect(stdout).toContain("Live access breaks these rules:");
  expect(stdout).toContain("Drift: live access breaks 1 rule.");
  expect(code).toBe(2);
});

test("without differences there is no drift", async () => {
  await writeFile(join(cwd, "same.yaml"), FILE.replaceAll("[a, b]", "[b]"));
  const { code, stdout } = await rolecall(["drift", "same.yaml"], { cwd, env: sandbox.env });
  expect(stdout).toContain("Drift: none.");
  expect(code).toBe(0);
});

test("a merchant that cannot be read is not reported as without drift", async () => {
  const env = { ...sandbox.env, ROLECALL_API_KEY: "sk_test_wrong" };
  const { code, stderr } = await rolecall(["drift"], { cwd, env });
  expect(code).toBe(1);
  expect(stderr).toContain("401");
});

test("merchants that cannot be read are reported before the totals of the others", async () => {
  const folder = join(cwd, "some");
  await mkdir(folder);
  for (const code of ["MC0DEMO1", "MC0DEMO2"]) {
    await writeFile(join(folder, `${code}.yaml`), `version: 1\nmerchant: ${code}\n`);
  }
  await writeFile(join(folder, "other.yaml"), "version: 1\nmerchant: MC9\napi: { key_env: NO_KEY }\n");
  let output = "";
  const write = (text: string): void => {
    output += text;
  };
  const stream = { write, isTTY: false, columns: undefined };
  const { io } = realIo({ cwd, env: sandbox.env }, { stdout: stream, stderr: stream });
  expect(await main(["drift", "some"], io)).toBe(1);
  expect(output.indexOf("MC9 could not be planned.")).toBeGreaterThanOrEqual(0);
  expect(output.indexOf("MC9 could not be planned.")).toBeLessThan(output.indexOf("of 2 merchants drifted"));
});

test("which side changed is told by what the file declares of a person, not by when the file was committed", async () => {
  const shop = await mkdtemp(join(tmpdir(), "rolecall-drift-"));
  const at = (day: number) => `2026-02-${String(day).padStart(2, "0")}T12:00:00Z`;
  const dated = (fields: string, day: number) =>
    `{ ${fields}, created_at: "${at(1)}", updated_at: "${at(day)}" }`;
  const seed = `merchants:
  - code: MC0DEMO1
    roles:
      - ${dated("name: Till, id: role_t, permissions: [a]", 2)}
    members:
      - ${dated("email: owner@example.com, roles: [role_owner]", 2)}
      - ${dated("email: eve@example.com, roles: [role_employee]", 10)}
      - ${dated("email: old@example.com, roles: [role_employee]", 2)}
      - ${dated("email: gone@example.com, roles: [role_employee]", 2)}
      - ${dated("email: bob@example.com, roles: [role_manager]", 10)}
      - ${dated("email: cleo@example.com, roles: [role_employee]", 2)}
      - ${dated("email: dan@example.com, roles: [role_employee]", 16)}
      - ${dated("email: fay@example.com, roles: [role_employee]", 16)}
      - ${dated("email: gus@example.com, roles: [role_employee, role_manager]", 10)}
      - ${dated("email: hal@old.example, roles: [role_employee, role_manager]", 10)}
keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
`;
  const file = (gone: string, role: string, comment = "") => `version: 1
merchant: MC0DEMO1
guards: { max_removals: 100% }
members:
  - { email: owner@example.com, roles: [role_owner] }${comment}
  - { email: bob@example.com, roles: [role_employee] }${comment}
  - { email: cleo@example.com, roles: [${role}] }${comment}
  - { email: dan@example.com, roles: [${role}] }${comment}
  - email: gus@example.com
    roles: [role_employee]
    metadata: { desk: ${role} }${comment}
  - { email: hal@${comment === "" ? "old.example" : "new.example, previously: hal@old.example"}, roles: [role_employee] }
${gone}`;
  const commit = async (text: string, day: number, name = "shop"): Promise<void> => {
    await rm(join(shop, "access"), { recursive: true, force: true });
    await mkdir(join(shop, "access"));
    await writeFile(join(shop, `access/${name}.yaml`), text);
    const env = {
      PATH: process.env["PATH"],
      HOME: shop,
      GIT_COMMITTER_DATE: at(day),
      GIT_AUTHOR_DATE: at(day),
    };
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], {
        cwd: shop,
        env,
        stdio: "ignore",
      });
    git("init", "--quiet", "--initial-branch=main");
    git("add", "access");
    git("commit", "--quiet", "-m", "change");
  };
  await writeFile(join(shop, "seed.yaml"), seed);
  const entry = ["gone", "fay"]
    .map((name) => `  - { email: ${name}@example.com, roles: [role_employee] }\n`)
    .join("");
  await commit(file(entry, "role_employee"), 5);
  await commit(file("", "role_manager"), 15);
  await commit(file("", "role_manager", " # a comment"), 20);
  await commit(file("", "role_manager", " # a comment"), 25, "renamed");
  const service = await startSandbox(["--seed", join(shop, "seed.yaml")]);
  try {
    const { stdout } = await rolecall(["drift", "--format", "json"], { cwd: shop, env: service.env });
    const [drift] = JSON.parse(stdout).drifts;
    const causes = Object.fromEntries(
      drift.plan.changes.map(({ name }: { name: string }, index: number) => [
        name,
        drift.changes[index].cause,
      ]),
    );
    expect(causes).toEqual({
      // Never declared, added before and after the first commit.
      "eve@example.com": "outside-git",
      "old@example.com": "outside-git",
      // Removed from the file later.
      "gone@example.com": "not-applied",
      // Changed at the service, and nothing but a comment in the file.
      "bob@example.com": "outside-git",
      "cleo@example.com": "not-applied",
      // Removed from the file, and edited at the service later, where nobody added them again.
      "fay@example.com": "not-applied",
      // What is live was declared once, and something changed at the service after the file did.
      "dan@example.com": "unknown",
      // A role that no commit declared, before the file changed another field.
      "gus@example.com": "outside-git",
      // Changed at the service under the address before, and nothing but the address in the file.
      "hal@old.example": "outside-git",
      "hal@new.example": "unknown",
    });
  } finally {
    await service.stop();
    await rm(shop, { recursive: true });
  }
});

test("what no commit declared changed outside git before the first commit, and is unknown in a shallow clone", async () => {
  const shop = await mkdtemp(join(tmpdir(), "rolecall-drift-"));
  const at = (day: number) => `2026-02-${String(day).padStart(2, "0")}T12:00:00Z`;
  const dated = (fields: string) => `{ ${fields}, created_at: "${at(1)}", updated_at: "${at(5)}" }`;
  const seed = `merchants:
  - code: MC0DEMO1
    roles:
      - ${dated("name: Till, id: role_t, permissions: [a, refunds_create]")}
    members:
      - ${dated("email: owner@example.com, roles: [role_owner]")}
      - ${dated("email: ada@example.com, roles: [role_t, role_admin]")}
      - ${dated("email: eve@example.com, roles: [role_t]")}
keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
`;
  const env = { PATH: process.env["PATH"], HOME: shop };
  await mkdir(join(shop, "access"));
  await writeFile(join(shop, "seed.yaml"), seed);
  const commit = async (day: number, comment: string, ada = ""): Promise<void> => {
    const text = `${comment}version: 1
merchant: MC0DEMO1
roles: [{ name: Till, permissions: [a] }]
members:
  - { email: owner@example.com, roles: [role_owner] }
  - { email: ada@example.com, roles: [Till]${ada} }
`;
    await writeFile(join(shop, "access/shop.yaml"), text);
    const dates = { GIT_COMMITTER_DATE: at(day), GIT_AUTHOR_DATE: at(day) };
    for (const args of [
      ["init", "--quiet", "--initial-branch=main"],
      ["add", "access"],
      ["-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "change"],
    ]) {
      execFileSync("git", args, { cwd: shop, env: { ...env, ...dates }, stdio: "ignore" });
    }
  };
  await commit(10, "");
  await commit(15, "# a comment\n");
  const service = await startSandbox(["--seed", join(shop, "seed.yaml")]);
  const causesIn = async (cwd: string): Promise<Record<string, string>> => {
    const { stdout } = await rolecall(["drift", "--format", "json"], { cwd, env: service.env });
    const [{ plan, changes }] = JSON.parse(stdout).drifts;
    const rows = plan.changes.map(
      ({ name, fields }: { name: string; fields: { field: string }[] }, at: number) => [
        [name, ...fields.map(({ field }) => field)].join(" "),
        changes[at].cause,
      ],
    );
    return Object.fromEntries(rows);
  };
  try {
    const names = ["Till permissions", "ada@example.com roles", "eve@example.com"];
    const all = (cause: string) => Object.fromEntries(names.map((name) => [name, cause]));
    expect(await causesIn(shop)).toEqual(all("outside-git"));
    await commit(20, "", ", metadata: { desk: x }");
    await commit(21, "# another\n", ", metadata: { desk: x }");
    const clone = join(shop, "clone");
    execFileSync("git", ["clone", "--quiet", "--depth=3", `file://${shop}`, clone], { env });
    const causes = await causesIn(clone);
    expect(Object.keys(causes)).toEqual(expect.arrayContaining([names[0], names[2]]));
    expect([...new Set(Object.values(causes))]).toEqual(["unknown"]);
  } finally {
    await service.stop();
    await rm(shop, { recursive: true });
  }
});

test("of one entry the parts that changed outside git are told, and adopted, apart from those that git changed", async () => {
  const shop = await mkdtemp(join(tmpdir(), "rolecall-drift-"));
  const at = (day: number) => `2026-02-${day}T12:00:00Z`;
  const dated = (fields: string) => `{ ${fields}, created_at: "${at(10)}", updated_at: "${at(15)}" }`;
  const seed = `merchants:
  - code: MC0DEMO1
    roles:
      - ${dated("name: Till, id: role_t, permissions: [a, c]")}
      - ${dated("name: Boss, id: role_b, permissions: [payouts_edit]")}
      - ${dated("name: Aud, id: role_a, permissions: [a, c]")}
    members:
      - ${dated("email: owner@example.com, roles: [role_owner]")}
      - ${dated("email: ann@example.com, roles: [role_t, role_b, role_employee]")}
      - ${dated("email: ben@example.com, roles: [role_b, role_employee], metadata: { desk: 2, team: a }")}
      - ${dated("email: eve@example.com, roles: [role_t, role_employee]")}
keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
`;
  const file = (ann: string, ben: string, rest: string, till: string, added = "") => `version: 1
merchant: MC0DEMO1
roles:
  - { name: Till, permissions: ${till} }
  - { name: Boss, permissions: [payouts_edit] }
${added === "" ? "  - { name: Aud, permissions: [a] }\n" : added}members:
  - { email: owner@example.com, roles: [role_owner] }
  - { email: ann@example.com, roles: ${ann} }
  - { email: ben@example.com, ${ben} }
  - { email: eve@example.com, ${rest} }
`;
  const commit = async (text: string, day: number): Promise<void> => {
    await mkdir(join(shop, "access"), { recursive: true });
    await writeFile(join(shop, "access/shop.yaml"), text);
    const env = {
      PATH: process.env["PATH"],
      HOME: shop,
      GIT_COMMITTER_DATE: at(day),
      GIT_AUTHOR_DATE: at(day),
    };
    for (const args of [
      ["init", "--quiet", "--initial-branch=main"],
      ["add", "access"],
      ["-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "change"],
    ]) {
      execFileSync("git", args, { cwd: shop, env, stdio: "ignore" });
    }
  };
  await writeFile(join(shop, "seed.yaml"), seed);
  const eve = "roles: [Till]";
  const ben = "roles: [Boss], metadata: { desk: 1, team: a }";
  await commit(file("[Till, Boss]", ben, eve, "[a]"), 11);
  // Before somebody else gave ann a role.
  await commit(file("[Till]", ben, eve, "[a]"), 13);
  // After somebody gave ben a role and a desk, eve a role, and Till a permission.
  const later = 'roles: [New], metadata: { desk: 1, team: b, floor: "3" }';
  const suspended = "roles: [Till], suspended: { from: 2026-02-17 }";
  const added = `  - { name: New, permissions: [a] }
  - { name: Audit, previously: Aud, permissions: [a] }
`;
  await commit(file("[Till]", later, suspended, "[a, b]", added), 17);
  await commit(file("[Till], metadata: { note: x }", later, suspended, "[a, b]", added), 20);
  const service = await startSandbox(["--seed", join(shop, "seed.yaml")]);
  try {
    const { stdout } = await rolecall(["drift", "--format", "json"], { cwd: shop, env: service.env });
    const [drift] = JSON.parse(stdout).drifts;
    const told = drift.plan.changes.map(
      ({ name, fields }: { name: string; fields: readonly object[] }, index: number) =>
        [drift.changes[index].cause, name, JSON.stringify(fields).replaceAll('"', "")].join(" "),
    );
    expect(told.toSorted()).toMatchInlineSnapshot(`
      [
        "due eve@example.com [{field:roles,added:[],removed:[{id:role_t,name:Till}]}]",
        "not-applied Audit [{field:name,before:Aud,after:Audit}]",
        "not-applied Till [{field:permissions,added:[b],removed:[]}]",
        "not-applied ann@example.com [{field:metadata,before:{},after:{note:x}}]",
        "not-applied ben@example.com [{field:roles,added:[{id:null,name:New}],removed:[{id:role_b,name:Boss}]},{field:metadata,before:{desk:2,team:a},after:{desk:2,floor:3,team:b}}]",
        "outside-git Audit [{field:permissions,added:[],removed:[c]}]",
        "outside-git Till [{field:permissions,added:[],removed:[c]}]",
        "outside-git ann@example.com [{field:roles,added:[],removed:[{id:role_employee,name:Employee}]}]",
        "outside-git ben@example.com [{field:roles,added:[],removed:[{id:role_employee,name:Employee}]},{field:metadata,before:{desk:2,team:a},after:{desk:1,team:a}}]",
        "outside-git eve@example.com [{field:roles,added:[],removed:[{id:role_employee,name:Employee}]}]",
        "unknown New []",
        "unknown ann@example.com [{field:roles,added:[],removed:[{id:role_b,name:Boss}]}]",
      ]
    `);
    const text = await rolecall(["drift"], { cwd: shop, env: service.env });
    expect(text.stdout).toContain(`
    ! 2 members gained sensitive permissions outside git
      ben@example.com: refunds_create
      eve@example.com: refunds_create
    ! 1 member gained sensitive permissions (outside git, or not applied yet)
      ann@example.com: payouts_edit, refunds_create
`);
    const pull = await rolecall(["pull", "--adopt-drift", "--check"], { cwd: shop, env: service.env });
    expect(pull.stdout).toMatchInlineSnapshot(`
      "--- a/access/shop.yaml
      +++ b/access/shop.yaml
      @@ -1,12 +1,14 @@
       version: 1
       merchant: MC0DEMO1
       roles:
      -  - { name: Till, permissions: [a, b] }
      +  - { name: Till, permissions: [a, b, c] }
         - { name: Boss, permissions: [payouts_edit] }
         - { name: New, permissions: [a] }
      -  - { name: Audit, previously: Aud, permissions: [a] }
      +  - { name: Audit, previously: Aud, permissions: [a, c] }
       members:
         - { email: owner@example.com, roles: [role_owner] }
      -  - { email: ann@example.com, roles: [Till], metadata: { note: x } }
      -  - { email: ben@example.com, roles: [New], metadata: { desk: 1, team: b, floor: "3" } }
      +  - { email: ann@example.com, roles: [Till, role_employee], metadata: { note: x } }
      +  - email: ben@example.com
      +    roles: [New, role_employee] # role_employee: Employee
      +    metadata: { desk: 2, team: b, floor: "3" }
         - { email: eve@example.com, roles: [Till], suspended: { from: 2026-02-17 } }
      "
    `);
  } finally {
    await service.stop();
    await rm(shop, { recursive: true });
  }
});
