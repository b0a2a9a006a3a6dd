import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Io } from "../../../../src/app/io/io.ts";
import { fmtCommand } from "../../../../src/cli/commands/files/fmt-command.ts";

const UNTIDY = "merchant: M # the shop\nversion:   1\n";
const TIDY = "version: 1\nmerchant: M # the shop\n";

let cwd = "";

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-fmt-"));
  await mkdir(join(cwd, "access"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

const put = (name: string, text: string) => writeFile(join(cwd, "access", name), text);
const get = (name: string) => readFile(join(cwd, "access", name), "utf8");

/** Runs the command as the program does. */
async function fmt(...args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }> {
  let [stdout, code] = ["", -1];
  const sink = {
    write: (text: string) => {
      stdout += text;
    },
    isTTY: false,
    columns: undefined,
  };
  const io = { cwd, env: {}, now: () => 0, stdout: sink, stderr: sink } as unknown as Io;
  const command = fmtCommand(io, (ended) => {
    code = ended;
  });
  await command.parseAsync([...args], { from: "user" });
  return { code, stdout };
}

describe("fmt", () => {
  test("writes the files that change, names them, and is silent about the rest", async () => {
    await put("shop.yaml", UNTIDY);
    await put("tidy.yaml", TIDY.replace("M", "N"));
    expect(await fmt()).toEqual({
      code: 0,
      stdout: "formatted access/shop.yaml\n1 formatted, 1 unchanged\n",
    });
    expect(await get("shop.yaml")).toBe(TIDY);
    expect(await fmt()).toEqual({ code: 0, stdout: "2 unchanged\n" });
    expect(await readdir(join(cwd, "access"))).toEqual(["shop.yaml", "tidy.yaml"]);
  });

  test("--check writes nothing, names what would change, and exits 1", async () => {
    await put("shop.yaml", UNTIDY);
    expect(await fmt("--check")).toEqual({ code: 1, stdout: "would format access/shop.yaml\n1 to format\n" });
    expect(await get("shop.yaml")).toBe(UNTIDY);
    await fmt();
    expect(await fmt("--check")).toEqual({ code: 0, stdout: "1 already formatted\n" });
  });

  test("--sort also sorts entries, and --check knows that", async () => {
    const text = `${TIDY}members:\n  - email: b@x.example\n  - email: a@x.example\n`;
    await put("shop.yaml", text);
    expect((await fmt("--check")).code).toBe(0);
    expect((await fmt("--check", "--sort")).stdout).toBe("would format access/shop.yaml\n1 to format\n");
    await fmt("--sort");
    expect(await get("shop.yaml")).toBe(`${TIDY}members:\n  - email: a@x.example\n  - email: b@x.example\n`);
  });

  test("leaves a file with errors alone, reports them, and formats the others", async () => {
    await put("bad.yaml", `${UNTIDY}rolls: []\n`);
    await put("shop.yaml", UNTIDY);
    const { code, stdout } = await fmt();
    expect(code).toBe(1);
    expect(stdout).toContain("access/bad.yaml:3:1: error:");
    expect(stdout).toMatch(/1 formatted, 1 with errors\n$/);
    expect(await get("bad.yaml")).toBe(`${UNTIDY}rolls: []\n`);
    expect(await get("shop.yaml")).toBe(TIDY);
  });

  test("keeps a file's permissions, and a link a link", async () => {
    await put("real.yml", UNTIDY);
    await chmod(join(cwd, "access/real.yml"), 0o640);
    await symlink("access/real.yml", join(cwd, "link.yaml"));
    expect((await fmt("link.yaml")).code).toBe(0);
    expect(await get("real.yml")).toBe(TIDY);
    expect((await stat(join(cwd, "access/real.yml"))).mode & 0o777).toBe(0o640);
    expect((await lstat(join(cwd, "link.yaml"))).isSymbolicLink()).toBe(true);
  });

  test("keeps a hard link's other name the same file", async () => {
    await put("shop.yaml", UNTIDY);
    await link(join(cwd, "access/shop.yaml"), join(cwd, "other"));
    expect((await fmt()).code).toBe(0);
    expect(await readFile(join(cwd, "other"), "utf8")).toBe(TIDY);
  });

  test("never writes through a link that stands beside the file", async () => {
    await put("shop.yaml", UNTIDY);
    await writeFile(join(cwd, "victim"), "precious");
    await symlink(join(cwd, "victim"), join(cwd, "access/.shop.yaml.draft"));
    expect((await fmt()).code).toBe(0);
    expect(await readFile(join(cwd, "victim"), "utf8")).toBe("precious");
    expect(await readdir(join(cwd, "access"))).toEqual([".shop.yaml.draft", "shop.yaml"]);
  });

  test("leaves a file alone that is too large to format, says so, and formats the others", async () => {
    const many = Array.from(
      { length: 20_000 },
      (_, index) => `  - {email: "p${index}@example.com", roles: []}\n`,
    );
    const large = `version: 1\nmerchant: LARGE\nmembers:\n${many.join("")}`;
    await put("large.yaml", large);
    await put("shop.yaml", UNTIDY);
    expect(await fmt()).toEqual({
      code: 0,
      stdout: [
        "formatted access/shop.yaml",
        "access/large.yaml is left alone: it is longer than 700,000 characters. To format it, split it with include.",
        "1 formatted, 1 too large\n",
      ].join("\n"),
    });
    expect(await get("large.yaml")).toBe(large);
  });

  test("a file's name cannot inject workflow commands", async () => {
    await put("a\n::error::.yaml", UNTIDY);
    expect((await fmt()).stdout).toBe("formatted access/a\\n::error::.yaml\n1 formatted\n");
  });
});

describe("--fix after a rename", () => {
  const shared = (name: string, text: string) => writeFile(join(cwd, "shared", name), text);
  const sharedText = (name: string) => readFile(join(cwd, "shared", name), "utf8");
  const ROLES = `version: 1
roles:
  - name: Shift Lead
    previously: Lead
    permissions: [catalog_view]
`;

  beforeEach(async () => {
    await mkdir(join(cwd, "shared"));
    await shared("roles.yaml", ROLES);
  });

  test("writes the current name in every file, wherever a role is named, and keeps comments", async () => {
    await shared(
      "group.yaml",
      `version: 1
guards:
  min_holders: { "Lead": 1 } # at least one
policies:
  separate: [[Lead, role_admin]]
  max_holders:
    Lead: 30 # Lead of a shift
  require_mfa: ['Lead']
checks:
  - can: catalog_view
    only: ["role:Lead", "role: Leader"]
`,
    );
    const shop = (code: string, role: string) => `version: 1
merchant: ${code}
include: [../shared/roles.yaml, ../shared/group.yaml]
guards:
  protect:
    roles: [${role}, "Lead*"]
roles:
  - name: ${role}
    adjust:
      add: [catalog_edit]
  - name: Leader
    permissions: []
members:
  # Lead until spring
  - email: ada@example.com
    roles:
      - ${role} # for now
      - Leader
    metadata:
      title: Lead
  - email: bob@example.com
    roles:
      - role: ${role}
        until: 2099-01-31
`;
    await put("a.yaml", shop("MCA", "Lead"));
    await put("b.yaml", shop("MCB", "Lead"));
    await put("c.yaml", shop("MCC", "Shift Lead"));
    const check = await fmt("--fix", "--check");
    expect([check.code, check.stdout.match(/^would format .*/gm)?.length]).toEqual([1, 3]);
    expect(await fmt("--fix")).toMatchObject({ code: 0 });
    expect(await get("a.yaml")).toBe(shop("MCA", "Shift Lead"));
    expect(await get("b.yaml")).toBe(shop("MCB", "Shift Lead"));
    expect(await sharedText("group.yaml")).toBe(`version: 1
guards:
  min_holders: { "Shift Lead": 1 } # at least one
policies:
  separate: [[Shift Lead, role_admin]]
  max_holders:
    Shift Lead: 30 # Lead of a shift
  require_mfa: ['Shift Lead']
checks:
  - can: catalog_view
    only: ["role:Shift Lead", "role: Leader"]
`);
    expect(await sharedText("roles.yaml")).toBe(ROLES);
    expect((await fmt("--fix")).stdout).toBe("3 unchanged\n");
  });

  test("writes the current name for each of several previous ones", async () => {
    const roles = ROLES.replace("previously: Lead", "previously: [Lead, Supervisor] # until 2026");
    await shared("roles.yaml", roles);
    const shop = (code: string, role: string) =>
      `version: 1\nmerchant: ${code}\ninclude: [../shared/roles.yaml]\nmembers:\n  - email: ada@example.com\n    roles: [${role}]\n`;
    await put("a.yaml", shop("MCA", "Lead"));
    await put("b.yaml", shop("MCB", "Supervisor"));
    expect(await fmt("--fix")).toMatchObject({ code: 0 });
    expect(await get("a.yaml")).toBe(shop("MCA", "Shift Lead"));
    expect(await get("b.yaml")).toBe(shop("MCB", "Shift Lead"));
    expect(await sharedText("roles.yaml")).toBe(roles);
  });

  test("leaves a shared name alone that is another role to another merchant, and what it cannot write", async () => {
    const group = "version: 1\npolicies:\n  require_mfa: [Lead]\n";
    await shared("group.yaml", group);
    await put("a.yaml", "version: 1\nmerchant: MCA\ninclude: [../shared/roles.yaml, ../shared/group.yaml]\n");
    await put(
      "b.yaml",
      "version: 1\nmerchant: MCB\ninclude: [../shared/group.yaml]\nroles:\n  - name: Lead\n    permissions: []\n",
    );
    const twice = (role: string) =>
      `version: 1\nmerchant: MCC\ninclude: [../shared/roles.yaml]\npolicies:\n  max_holders: { Lead: 2, Shift Lead: 2 }\n  require_mfa: [${role}]\n`;
    await put("c.yaml", twice("Lead"));
    await fmt("--fix");
    expect([await sharedText("group.yaml"), await get("c.yaml")]).toEqual([group, twice("Shift Lead")]);
  });

  test("quotes a name that needs it, and writes only the files of the given paths", async () => {
    await shared("roles.yaml", ROLES.replace("Shift Lead", '"Lead: #1"'));
    const shop = "version: 1\nmerchant: MCA\ninclude: [../shared/roles.yaml]\nmembers:\n";
    await put("a.yaml", `${shop}  - email: ada@example.com\n    roles: [Lead]\n`);
    await put("b.yaml", `${shop.replace("MCA", "MCB")}  - email: ada@example.com\n    roles: [Lead]\n`);
    await fmt("--fix", "access/a.yaml");
    expect(await get("a.yaml")).toContain('roles: ["Lead: #1"]');
    expect(await get("b.yaml")).toContain("roles: [Lead]");
  });
});
