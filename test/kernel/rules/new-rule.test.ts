import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { main } from "../../../src/cli/main.ts";
import { copySources, importCopy } from "../../support/copied-program.ts";
import type { TestIo } from "../../support/io.ts";
import { type Ended, type RunningSandbox, realIo, startSandbox } from "../../support/rolecall.ts";

/** The kind of both settings: one number, of which the smaller is stricter. */
const KIND = `{
    combine: (written) => (written.length === 0 ? undefined : Math.min(...written)),
    renamed: (value) => value,
    meaning: (value) => value,
    readable: (written) => written,
    names: () => [],
    lists: () => [],
    keys: () => [],
    limits: (value) => typeof value === "number" ? [{ path: [], role: null, unit: "count", value, strictness: -value, stricter: "less" }] : [],
  }`;

const POLICY_SETTING = `import { count, optional } from "../../values/text-schemas.ts";
export const maxRolesSetting = {
  section: "policies",
  key: "max_roles",
  schema: optional(count(), { title: "Most roles", description: "Most roles that one member may hold.", examples: [3] }),
  kind: ${KIND},
};
`;

const POLICY = `import { subjectOf } from "./judged.ts";
import { breachOf, policyRefusal } from "./rule.ts";
import { maxRolesSetting } from "./settings/max-roles-setting.ts";
export const maxRoles = {
  ...maxRolesSetting,
  codes: ["max-roles"],
  diagnostics: { "policy-max-roles": { level: "error", description: "Members must not hold too many roles.", kind: "refusal" } },
  list: (max) => max === undefined ? [] : [{ text: \`max_roles: \${max}\`, keys: [], entry: null, violated: "max-roles", alone: max }],
  looser: (before, after) => before !== undefined && (after ?? Infinity) > before ? [\`a member may hold \${before} → \${after ?? "any number of"} roles\`] : [],
  lint: (written) => written > 50 ? [{ code: "idle-policy", path: [], message: "Nobody holds so many roles.", hint: "Set fewer." }] : [],
  isOff: (max) => max === undefined,
  judge: (max, { index }) => max === undefined ? [] : index.people.filter(({ roles }) => roles.length > max).map((person) => {
    const refusal = () => policyRefusal("max-roles", "member", person.name, \`\${person.name} would hold too many roles.\`, "Remove some.");
    return {
      rule: "max-roles",
      subject: subjectOf(person),
      extent: person.roles,
      check: null,
      refusal,
      breaches: () => [breachOf("policy-max-roles", "max_roles", { kind: "member", email: person.name }, refusal())],
    };
  }),
};
`;

const GUARD_SETTING = `import { count, optional } from "../../values/text-schemas.ts";
export const maxChangedSetting = {
  section: "guards",
  key: "max_changed",
  schema: optional(count(), { title: "Most changed", description: "Most members that one apply may change.", examples: [3] }),
  kind: ${KIND},
  overrides: { "max-changed": { value: "[0-9]+" } },
  ofRun: {
    schema: optional(count(), { title: "Most changed in a run", description: "Most members that one run may change.", examples: [3] }),
    default: Infinity,
    code: "run-changed",
    override: { value: "[0-9]+" },
  },
};
`;

const GUARD = `import { guardRefusal } from "../findings/refusals.ts";
import { refusedIfMore } from "./people-in-run.ts";
import { maxChangedSetting } from "./settings/max-changed-setting.ts";
export const maxChanged = {
  ...maxChangedSetting,
  codes: ["max-changed"],
  off: Infinity,
  list: (_, max) => max === undefined ? [] : [{ text: \`max_changed: \${max}\`, keys: [], entry: null, violated: null, alone: max, item: { kind: "max-changed", max } }],
  looser: (before, after) => before !== undefined && (after ?? Infinity) > before ? [\`at most \${before} → \${after ?? "any number"} may be changed\`] : [],
  ofRun: {
    ...maxChangedSetting.ofRun,
    looser: (before, after) => after > before ? [\`at most \${before} → \${after} may be changed\`] : [],
    refuse: (limits, run) => {
      const changed = ({ plan }) => plan.changes.flatMap(({ resource, name }) => resource === "member" ? [[name, []]] : []);
      const refused = refusedIfMore(run, limits.map((count) => ({ count })), changed, ({ people }) =>
        guardRefusal("run-changed", "member", null, \`\${people.size} people would change in this run.\`, "Change fewer.", \`run-changed=\${people.size}\`));
      return refused ? [{ ...refused, limit: "changed" }] : [];
    },
  },
  refuse: (max = Infinity, { changes }) => changes.members.length <= max ? [] : [
    guardRefusal("max-changed", "member", null, \`\${changes.members.length} members would change; so many may not.\`, "Change fewer.", \`max-changed=\${changes.members.length}\`),
  ],
};
`;

const CHECK_SETTING = `import * as z from "zod/mini";
import { described } from "../../values/text-schemas.ts";
import { canSchema, nameAt, reachSchema } from "./check-setting.ts";
export const nobodySetting = {
  keys: ["can", "nobody"],
  schema: described(z.strictObject({ can: canSchema(), nobody: z.literal(true), reach: reachSchema() }), { title: "Nobody can", description: "Forbids a permission to everybody.", examples: [{ can: "payouts_edit", nobody: true }] }),
  parse: ({ can }) => ({ kind: "nobody", can }),
  renamed: (check) => check,
  subject: ({ can }) => can,
  names: (written) => nameAt(written, "can", "permission"),
  lists: [],
};
`;

const CHECK = `import { violationsOfPeople } from "./check-of-people.ts";
import { nobodySetting } from "./settings/nobody-setting.ts";
export const nobodyCheck = {
  ...nobodySetting,
  diagnostic: { severity: "error", refusal: true, summary: "Nobody must have a permission." },
  text: ({ can }, reach) => \`nobody can\${reach} \${can}\`,
  subjects: (_, people) => people,
  judge: (check, context) => violationsOfPeople(check, context.index.people, [check.can], { code: "check-nobody", sentence: "nobody may", subject: () => ({ kind: "check", origin: check.origin, key: "nobody" }) }, context),
  looser: ({ can }, others, reach) => others.length > 0 ? [] : [\`the check that nobody can\${reach} \${can} is gone\`],
  lint: ({ can }) => can === "everything" ? { path: ["can"], message: "Nobody has everything.", hint: "Remove it." } : null,
};
`;

const FILE = `version: 1
merchant: MC1
policies:
  max_roles: 1
guards:
  max_changed: 0
roles:
  - { name: Clerk, permissions: [catalog_view] }
  - { name: Porter, permissions: [catalog_edit] }
members:
  - { email: owner@example.com, roles: [role_owner] }
  - { email: ada@example.com, roles: [Clerk] }
`;

const SEED = `merchants:
  - code: MC1
    roles:
      - { name: Clerk, permissions: [catalog_view] }
      - { name: Porter, permissions: [catalog_edit] }
    members:
      - { email: owner@example.com, roles: [role_owner] }
      - { email: ada@example.com, roles: [Clerk] }
`;

const home = mkdtempSync(join(tmpdir(), "rolecall-new-rule-"));
const work = join(home, "work");
let program: typeof main;
let sandbox: RunningSandbox;

beforeAll(async () => {
  copySources(home);
  const rules = "src/kernel/rules";
  addRule("policy", "maxRoles", "max-roles", POLICY_SETTING, POLICY);
  addRule("guard", "maxChanged", "max-changed", GUARD_SETTING, GUARD);
  expect(readFileSync(join(home, rules, "every-rule.ts"), "utf8")).toContain("maxChanged");
  addCheck("nobody", CHECK_SETTING, CHECK);
  program = await importCopy(home);
  write("seed.yaml", SEED);
  sandbox = await startSandbox(["--seed", join(work, "seed.yaml")]);
});

afterAll(async () => {
  await sandbox.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Adds the two files of a rule to the copied sources, and its line in each of the two tables: types are erased. */
function addRule(kind: "policy" | "guard", name: string, file: string, setting: string, judge: string): void {
  const folder = join(home, "src/kernel/rules");
  writeFileSync(join(folder, `settings/${file}-setting.ts`), setting);
  writeFileSync(join(folder, `${file}.ts`), judge);
  const [ofPolicies, ofGuards] = [
    / {2}escalation(?:: escalationSetting)?,\n/,
    / {2}minHolders(?:: minHoldersSetting)?,\n/,
  ];
  for (const [table, value, path] of [
    ["settings/every-setting.ts", `${name}Setting`, `./${file}-setting.ts`],
    ["every-rule.ts", name, `./${file}.ts`],
  ] as const) {
    const text = readFileSync(join(folder, table), "utf8").replace(
      "const GUARDS = { maxRemovals, maxGains, protect, minHolders }",
      "const GUARDS = { maxRemovals, maxGains, protect,\n  minHolders,\n }",
    );
    const line = kind === "policy" ? ofPolicies : ofGuards;
    expect(text).toMatch(line);
    const edited = text.replace(line, (last) => `${last}  ${name}: ${value},\n`);
    writeFileSync(join(folder, table), `import { ${value} } from "${path}";\n${edited}`);
  }
}

/** Adds the two files of a form of checks to the copied sources, and its line in each of the two tables. */
function addCheck(form: string, setting: string, judge: string): void {
  const folder = join(home, "src/kernel/rules");
  writeFileSync(join(folder, `settings/${form}-setting.ts`), setting);
  writeFileSync(join(folder, `check-${form}.ts`), judge);
  for (const [table, last, value, path] of [
    ["settings/every-check-setting.ts", "cannot: cannotSetting", `${form}Setting`, `./${form}-setting.ts`],
    ["checks.ts", "cannot: cannotCheck", `${form}Check`, `./check-${form}.ts`],
  ] as const) {
    const text = readFileSync(join(folder, table), "utf8");
    expect(text).toContain(last);
    writeFileSync(
      join(folder, table),
      `import { ${value} } from "${path}";\n${text.replace(last, `${last}, ${form}: ${value}`)}`,
    );
  }
}

function write(path: string, text: string): void {
  const target = join(work, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}

/** Runs the program with the new rules. */
async function run(...args: readonly string[]): Promise<Ended> {
  const { io, written } = realIo({ cwd: work, env: sandbox.env, waitFactor: 0 });
  const code = await program(args, io);
  return { code, ...written };
}

/** Returns what `plan --interactive` draws on a terminal where keys are pressed. */
async function browse(keys: string): Promise<string> {
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  });
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 120, rows: 40 });
  let drawn = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    drawn += text;
  });
  stdin.write(keys);
  const { io } = realIo(
    { cwd: work, env: sandbox.env, waitFactor: 0 },
    {
      stdinIsTTY: true,
      stderr: { write: () => undefined, isTTY: true, columns: 120 },
      terminal: { stdin, stderr } as unknown as TestIo["io"]["terminal"],
    },
  );
  expect(await program(["plan", "--interactive"], io)).toBe(3);
  return stripVTControlCharacters(drawn);
}

/** The file with a second role and a third member, which both rules refuse. */
const BROKEN = `${FILE.replace("[Clerk] }\n", "[Clerk, Porter] }\n")}`;

test("a rule that is added to the tables is in the schema, and validated", async () => {
  const { stdout } = await run("schema");
  expect(stdout).toContain("Most roles that one member may hold.");
  expect(stdout).toContain("Most members that one apply may change.");
  write("access/mc1.yaml", FILE);
  expect((await run("validate")).code).toBe(0);
  write("access/mc1.yaml", FILE.replace("max_roles: 1", "max_roles: many"));
  expect((await run("validate")).stdout).toContain("access/mc1.yaml:4:14");
  write("access/mc1.yaml", BROKEN);
  const broken = await run("validate");
  expect(broken.code).toBe(3);
  expect(broken.stdout + broken.stderr).toContain("ada@example.com would hold too many roles.");
});

test("a plan is refused in every format, and the guard is overridden", async () => {
  write("access/mc1.yaml", BROKEN);
  for (const format of ["text", "json", "markdown", "html"]) {
    const { code, stdout } = await run("plan", "--format", format);
    expect([format, code]).toEqual([format, 3]);
    expect(stdout).toContain("would hold too many roles");
    expect(stdout.replaceAll(/\s+/g, " ")).toContain("1 members would change");
  }
  write("access/mc1.yaml", BROKEN.replace("max_roles: 1", "max_roles: 2"));
  const plan = await run("plan");
  const [, override = ""] = /(max-changed=1@[0-9a-f]{12,})/.exec(plan.stdout) ?? [];
  expect(override).not.toBe("");
  write(
    "access/mc1.yaml",
    BROKEN.replace("max_roles: 1", "max_roles: 2").replace("0\n", `0\n  overrides: [${override}]\n`),
  );
  expect((await run("plan")).code).toBe(0);
});

test("the browser lists what both rules refuse", async () => {
  write("access/mc1.yaml", BROKEN);
  // The first key lists the refusals, the second leaves.
  expect((await browse("rq")).replaceAll(/\s+/g, " ")).toMatch(
    /An apply would be refused \(2\).*guard max-changed.*policy max-roles/,
  );
});

test("loosening the rules is told, and a project enforces them", async () => {
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", args, { cwd: work, stdio: "ignore" });
  write("access/mc1.yaml", FILE);
  git("init", "--initial-branch", "main");
  git("add", ".");
  git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-m", "Begin");
  write(
    "access/mc1.yaml",
    FILE.replace("max_roles: 1", "max_roles: 3").replace("max_changed: 0", "max_changed: 9"),
  );
  const { stdout } = await run("plan", "--changed-since", "main");
  expect(stdout).toContain("a member may hold 1 → 3 roles");
  expect(stdout).toContain("at most 0 → 9 may be changed");

  write("hq/rules.yaml", "version: 1\npolicies: { max_roles: 1 }\nguards: { max_changed: 0 }\n");
  write("rolecall.yaml", 'version: 1\nenforce:\n  - { files: ["access/**"], rules: hq/rules.yaml }\n');
  write(
    "access/mc1.yaml",
    BROKEN.replace("max_roles: 1", "max_roles: 3").replace("max_changed: 0", "max_changed: 9"),
  );
  const enforced = (await run("plan")).stdout.replaceAll(/\s+/g, " ");
  expect(enforced).toContain("would hold too many roles. Enforced by hq/rules.yaml.");
  expect(enforced).toContain("so many may not. Enforced by hq/rules.yaml.");
  rmSync(join(work, "rolecall.yaml"));
});

test("a guard's limit for a run is in the project's schema, refuses, is overridden, and its loosening is told", async () => {
  const other = SEED.replace("merchants:\n", "").replace("MC1", "MC2");
  write("both.yaml", `${SEED}${other.replace("ada@", "bo@")}`);
  const both = await startSandbox(["--seed", join(work, "both.yaml")]);
  const folder = mkdtempSync(join(tmpdir(), "rolecall-run-rule-"));
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", args, { cwd: folder, stdio: "ignore" });
  const put = (path: string, text: string): void => writeFileSync(join(folder, path), text);
  const runBoth = async (...args: readonly string[]): Promise<Ended> => {
    const { io, written } = realIo({ cwd: folder, env: both.env, waitFactor: 0 });
    return { code: await program(args, io), ...written };
  };
  try {
    mkdirSync(join(folder, "access"));
    const promoted = FILE.replace(/policies:.*max_changed: 0\n/s, "").replace(
      "[Clerk] }\n",
      "[Clerk, Porter] }\n",
    );
    put("access/mc1.yaml", promoted);
    put("access/mc2.yaml", promoted.replace("MC1", "MC2").replace("ada@", "bo@"));
    put("rolecall.yaml", "version: 1\nrun: { max_changed: 1 }\n");
    expect((await runBoth("schema", "project")).stdout).toContain("Most members that one run may change.");
    const refused = await runBoth("plan");
    expect(refused.code).toBe(3);
    expect(refused.stdout).toContain("2 people would change in this run.");
    const overrides = refused.stdout.match(/run-changed=2@[0-9a-f]{12,}/g) ?? [];
    const allow = overrides.flatMap((override) => ["--allow", override]);
    expect((await runBoth("apply", "--yes", ...allow)).code).toBe(0);

    git("init", "--initial-branch", "main");
    git("add", ".");
    git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-m", "Begin");
    put("rolecall.yaml", "version: 1\nrun: { max_changed: 2 }\n");
    put("access/mc1.yaml", promoted.replace("[catalog_view]", "[orders_view]"));
    expect((await runBoth("plan", "--changed-since", "main")).stdout).toContain(
      "at most 1 → 2 may be changed in a run",
    );
  } finally {
    await both.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("report, check, lint and coverage loop over the rule", async () => {
  write("access/mc1.yaml", BROKEN);
  const report = await run("report", "--output", "report.html");
  expect(report.stderr).toContain("Written to report.html.");
  const page = readFileSync(join(work, "report.html"), "utf8");
  expect(page).toContain("max_roles: 1");
  expect(page).toContain("max_changed: 0");
  const check = await run("check");
  expect(check.code).toBe(3);
  expect(check.stdout).toContain("broken  max_roles: 1 (access/mc1.yaml:4)");

  const unnoticed = async (text: string): Promise<readonly string[]> => {
    write("access/mc1.yaml", text);
    const { stdout } = await run("check", "--coverage", "--format", "json");
    const [{ coverage }] = JSON.parse(stdout).merchants;
    return coverage.groups.map(
      (group: { readonly change: string; readonly role: { readonly name: string } | null }) =>
        `${group.change} ${group.role?.name ?? ""}`,
    );
  };
  const without = FILE.replace(/policies:.*max_changed: 0\n/s, "");
  const subjects = await unnoticed(without);
  expect(subjects).toContain("role-given Porter");
  // Nobody may change at all.
  expect(await unnoticed(FILE)).not.toContain("role-given Porter");
  const policyOnly = FILE.replace("guards:\n  max_changed: 0\n", "");
  write("access/mc1.yaml", policyOnly);
  const { stdout } = await run("check", "--coverage", "--format", "json");
  const given = JSON.parse(stdout).merchants[0].coverage.groups.find(
    (group: { readonly change: string; readonly role: { readonly name: string } }) =>
      group.change === "role-given" && group.role.name === "Porter",
  );
  expect(given).toMatchObject({ subjects: [], toAnybody: true });

  write("access/mc1.yaml", FILE.replace("max_roles: 1", "max_roles: 99"));
  expect((await run("lint")).stdout).toContain("Nobody holds so many roles.");
});

test("a form of checks that is added to the tables works wherever checks do", async () => {
  expect((await run("schema")).stdout).toContain("Forbids a permission to everybody.");
  const [start = ""] = FILE.split("policies:");
  const rest = FILE.slice(FILE.indexOf("roles:\n"));
  const withCheck = (can: string): string => `${start}checks:\n  - { can: ${can}, nobody: true }\n${rest}`;
  const broken = withCheck("catalog_view");
  write("access/mc1.yaml", broken);
  const validated = await run("validate");
  expect(validated.code).toBe(3);
  expect(validated.stdout).toMatch(/access\/mc1\.yaml:4:\d+.*check-nobody/s);
  expect(validated.stdout).toContain("ada@example.com would have catalog_view, through Clerk; nobody may.");
  expect((await run("plan")).stdout).toContain("access/mc1.yaml:4");
  expect((await run("check")).stdout).toContain("broken  nobody can catalog_view (access/mc1.yaml:4)");
  expect((await run("drift")).stdout.replaceAll(/\s+/g, " ")).toContain(
    "ada@example.com has catalog_view, through Clerk; nobody may.",
  );

  write("access/mc1.yaml", withCheck("everything"));
  expect((await run("lint")).stdout).toContain("Nobody has everything.");
  write("access/mc1.yaml", withCheck("catalog_veiw"));
  expect((await run("plan")).stdout).toContain("catalog_view");

  const folder = mkdtempSync(join(tmpdir(), "rolecall-new-check-"));
  try {
    const git = (...args: readonly string[]): void =>
      void execFileSync("git", args, { cwd: folder, stdio: "ignore" });
    const runThere = async (...args: readonly string[]): Promise<Ended> => {
      const { io, written } = realIo({ cwd: folder, env: sandbox.env, waitFactor: 0 });
      return { code: await program(args, io), ...written };
    };
    mkdirSync(join(folder, "access"));
    const unnoticed = async (text: string): Promise<readonly string[]> => {
      writeFileSync(join(folder, "access/mc1.yaml"), text);
      const { stdout } = await runThere("check", "--coverage", "--format", "json");
      return JSON.parse(stdout).merchants[0].coverage.groups.map(
        (group: { readonly change: string; readonly role: { readonly name: string } | null }) =>
          `${group.change} ${group.role?.name ?? ""}`,
      );
    };
    expect(await unnoticed(`${start}${rest}`)).toContain("role-given Porter");
    expect(await unnoticed(withCheck("catalog_edit"))).not.toContain("role-given Porter");
    git("init", "--initial-branch", "main");
    git("add", ".");
    git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-m", "Begin");
    writeFileSync(join(folder, "access/mc1.yaml"), `${start}${rest}`);
    expect((await runThere("plan", "--changed-since", "main")).stdout).toContain(
      "the check that nobody can catalog_edit is gone",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("what is live is judged by drift, and an apply is allowed what the guard refuses", async () => {
  write("access/mc1.yaml", FILE.replace("max_roles: 1", "max_roles: 0"));
  const drift = await run("drift");
  expect(drift.code).toBe(2);
  expect(drift.stdout).toContain("ada@example.com would hold too many roles.");

  write("access/mc1.yaml", BROKEN.replace("max_roles: 1", "max_roles: 2"));
  const refused = await run("apply", "--yes");
  expect(refused.code).toBe(3);
  const [, override = ""] =
    /--allow (max-changed=1@[0-9a-f]{12,})/.exec(refused.stdout + refused.stderr) ?? [];
  expect(override).not.toBe("");
  expect((await run("apply", "--yes", "--allow", override)).code).toBe(0);
  expect((await run("drift")).code).toBe(0);
});

test("a rule that is taken out of the tables is unknown, and all else works", async () => {
  const without = mkdtempSync(join(tmpdir(), "rolecall-no-rule-"));
  try {
    copySources(without);
    const folder = join(without, "src/kernel/rules");
    for (const [table, name] of [
      ["settings/every-setting.ts", "requireMfa"],
      ["every-rule.ts", "requireMfa"],
    ] as const) {
      const lines = readFileSync(join(folder, table), "utf8").split("\n");
      writeFileSync(join(folder, table), lines.filter((line) => !line.includes(name)).join("\n"));
    }
    rmSync(join(folder, "require-mfa.ts"));
    rmSync(join(folder, "settings/require-mfa-setting.ts"));
    const fewer = await importCopy(without);
    const runFewer = async (...args: readonly string[]): Promise<Ended> => {
      const { io, written } = realIo({ cwd: work, env: sandbox.env, waitFactor: 0 });
      return { code: await fewer(args, io), ...written };
    };
    const own = FILE.replace(/policies:.*max_changed: 0\n/s, "");
    const withMfa = `${own}policies: { require_mfa: [role_owner] }\n`;
    write("access/mc1.yaml", withMfa);
    expect((await runFewer("validate")).stdout).toContain('"policies" has no key "require_mfa".');
    expect((await runFewer("schema")).stdout).not.toContain("require_mfa");
    write("access/mc1.yaml", `${own}policies: { max_holders: { role_owner: 1 } }\n`);
    for (const [command, code] of [
      [["validate"], 0],
      [["plan"], 0],
      [["check", "--coverage"], 0],
      [["lint"], 0],
      [["report", "--output", "fewer.html"], 0],
    ] as const) {
      expect([command, (await runFewer(...command)).code]).toEqual([command, code]);
    }
  } finally {
    rmSync(without, { recursive: true, force: true });
  }
});
