import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { accessProjects, PEOPLE, writeProject } from "../../support/access-project.ts";
import { runs } from "../../support/property-runs.ts";
import { type Ended, type RunningSandbox, rolecall, startSandbox } from "../../support/rolecall.ts";

let folder = "";
let sandbox: RunningSandbox;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-offboard-"));
  await cp("examples/retail", folder, { recursive: true });
  sandbox = await startSandbox(["--seed", "examples/retail/live.yaml"]);
});

afterEach(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true });
});

describe("offboard", () => {
  test("takes people out of every file, with the rules that name them, and keeps the rest", async () => {
    const before = await linesOf("shared/group.yaml");
    const { code } = await run("ada@example.com", "mei.lin@example.com", "--yes");
    expect(code).toBe(0);
    const texts = await Promise.all(
      ["access/harbour-street.yaml", "access/station-road.yaml", "shared/group.yaml"].map(text),
    );
    expect(texts.join("")).not.toMatch(/ada@example|mei\.lin@example/);
    const after = await linesOf("shared/group.yaml");
    expect(after.filter((line) => !before.includes(line))).toEqual([
      "    members: []",
      "  - { can: payouts_edit, only: [] }",
    ]);
    expect(await rolecall(["validate"], { cwd: folder })).toMatchObject({ code: 0 });
    expect((await run("ada@example.com", "--check", "--declared")).stdout).toBe(
      "ada@example.com  in no file\n\n",
    );
  });

  test("says what nobody else can do, shows the plan and the patch, and with --check writes nothing", async () => {
    const before = await text("access/station-road.yaml");
    const { code, stdout } = await run("ada@example.com", "--check");
    expect(code).toBe(2);
    expect(stdout).toContain(
      "ada@example.com  in access/harbour-street.yaml, access/station-road.yaml; live\n  at MC4F7K2P, MC9Q3T8X\n",
    );
    expect(stdout).toMatch(/Nobody else\n {2}MC4F7K2P, MC9Q3T8X: can api_keys_edit,[^;]*; has Owner\n/);
    expect(stdout).toContain("- delete ada@example.com (not in the file)");
    expect(stdout).toContain("+++ b/access/station-road.yaml\n");
    expect(await text("access/station-road.yaml")).toBe(before);
  });

  test("says that the files alone may not name everybody who can do something", async () => {
    const { stdout } = await run("ada@example.com", "--check", "--declared");
    expect(stdout).toContain("According to the files, nobody else\n  MC4F7K2P, MC9Q3T8X: has role_owner\n");
  });

  test("finds people in no file where they are live, whatever the case of their address", async () => {
    const { code, stdout } = await run("Karim.Benali@example.com");
    expect(code).toBe(0);
    expect(stdout).toContain("karim.benali@example.com  in no file; live at MC9Q3T8X\n");
    expect(stdout).toContain("- delete karim.benali@example.com (not in the file)");
  });

  test("takes somebody out under every address, by any of them", async () => {
    const file = "access/station-road.yaml";
    const before = await text(file);
    const moving = `${before}  - { email: New@example.com, previously: [oldest@example.com, Karim.Benali@example.com], roles: [] }\n`;
    const shop = SHOP.replace("[shared.yaml]", "[]").replace("ada@", "newest@");
    await mkdir(join(folder, "other"));
    await writeFile(join(folder, "other/c.yaml"), shop.replace(", roles", ", previously: new@example.com$&"));
    await writeFile(join(folder, file), moving);
    for (const address of ["KARIM.benali@example.com", "new@example.com", "oldest@example.com"]) {
      const { stdout } = await run(address, "--check");
      expect(stdout).toContain(`karim.benali@example.com  in ${file}; live at MC9Q3T8X\n`);
      expect(stdout).toContain(`new@example.com  in ${file}; live at 0 of 2 merchants\n`);
      expect(stdout).toContain("- delete karim.benali@example.com (not in the file)");
    }
    const { stdout } = await run("new@example.com", "--check", "--declared");
    expect(stdout.replaceAll(/\s+/g, " ")).toContain("Also listed in other/c.yaml, which was not searched.");
    expect((await run("karim.benali@example.com", "access", "other", "--declared", "--yes")).code).toBe(0);
    expect(await text(file)).toBe(before);
    expect(await text("other/c.yaml")).toBe(
      shop.replace("[{ email: newest@example.com, roles: [Payer] }]", "[]"),
    );
  });

  test("says where the next plan leaves them, because unlisted members are left alone", async () => {
    const file = "access/station-road.yaml";
    const own = (await text(file)).replace(/^sync:$/m, "sync:\n  members: additive");
    await writeFile(join(folder, file), own);
    const { stdout } = await run("karim.benali@example.com", "--check");
    expect(stdout).toContain("The next plan does not remove it at MC9Q3T8X");
    const { people } = JSON.parse(
      (await run("karim.benali@example.com", "--check", "--format", "json")).stdout,
    );
    expect(people).toEqual([
      {
        email: "karim.benali@example.com",
        files: [],
        elsewhere: [],
        live: ["MC9Q3T8X"],
        unknown: [],
        stays: [{ merchant: "MC9Q3T8X", because: "unlisted", live: true }],
        listed: [],
      },
    ]);
  });

  test("says the true reason why somebody stays, also with --quiet", async () => {
    await serve((seed) => seed.replace("- { email: karim.benali@example.com,", "$&  service_account: true,"));
    const asked = ["karim.benali@example.com", "--check", "--quiet"];
    expect((await run(...asked)).stdout.replaceAll(/\s+/g, " ")).toContain(
      "The next plan does not remove it at MC9Q3T8X: it is a service account, which is not removed for being unlisted.",
    );
    const file = "access/station-road.yaml";
    await writeFile(
      join(folder, file),
      (await text(file)).replace(/^sync:$/m, "ignore: { members: [karim.*] }\nsync:"),
    );
    expect((await run(...asked)).stdout.replaceAll(/\s+/g, " ")).toContain(
      'The next plan does not remove it at MC9Q3T8X: the files there have it under "ignore".',
    );
  });

  test("with the service down, says what is not known, shows what the files know, fails, and writes nothing", async () => {
    const file = "access/station-road.yaml";
    const before = (await text(file)).replace(/^sync:$/m, "sync:\n  members: additive");
    await writeFile(join(folder, file), before);
    await sandbox.stop();
    const down = ["ada@example.com", "--retry-for", "0"];
    const { code, stdout, stderr } = await run(...down, "--check");
    const said = stdout.replaceAll(/\s+/g, " ");
    expect(code).toBe(1);
    expect(said).toContain("; live: not known at MC4F7K2P, MC9Q3T8X ");
    expect(said).toContain(
      "If it is live at MC9Q3T8X, the next plan does not remove it there: the files there leave unlisted members alone.",
    );
    expect(stdout).toContain("According to the files, nobody else\n  MC4F7K2P, MC9Q3T8X: has role_owner\n");
    expect(stderr.match(/nothing is listening/g)).toHaveLength(1);
    const json = JSON.parse((await run(...down, "--check", "--format", "json")).stdout);
    expect(json.people[0]).toMatchObject({ live: [], unknown: ["MC4F7K2P", "MC9Q3T8X"] });
    expect(json.sole.map(({ source }: { readonly source: string }) => source)).toEqual([
      "declared",
      "declared",
    ]);
    const written = await run(...down, "--yes");
    expect(written).toMatchObject({ code: 1, stderr: expect.stringContaining("Nothing was written") });
    expect(await text(file)).toBe(before);
  });

  test("finds people at the merchants without a file that the key reaches", async () => {
    await serve((seed) => seed.replace("\norganizations:", `\n${UNFILED}organizations:`));
    const { stdout } = await run("zed@x.example", "--check");
    expect(stdout).toContain("zed@x.example  in no file; live at MS2\n");
    expect(stdout).toContain("does not remove it at MS2: no valid file declares it.");
  });

  test("finds people at a merchant whose file has an error and does not name them", async () => {
    await serve((seed) => seed.replace("\norganizations:", `\n${UNFILED}organizations:`));
    const file = "version: 1\nmerchant: MS2\nenviroment: test\nsync: { members: additive }\nmembers: []\n";
    await writeFile(join(folder, "access/ms2.yaml"), file);
    const { stdout } = await run("zed@x.example", "--check");
    expect(stdout).toContain("zed@x.example  in no file; live at MS2\n");
    expect(stdout).toContain("does not remove it at MS2: no valid file declares it.");
  });

  test("says that merchants without a file are not known to a key that cannot list memberships", async () => {
    await serve((seed) => seed.replace(", user.profile_readonly]", "]"));
    const { stdout } = await rolecall(["offboard", "zed@x.example", "--check"], {
      cwd: folder,
      env: { ...sandbox.env, ROLECALL_API_KEY: "sk_test_readonly" },
    });
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      "zed@x.example in no file; live at 0 of 2 merchants ! Not known at merchants without a file: The key in ROLECALL_API_KEY cannot list memberships",
    );
  });

  test("names the other files of the project that list somebody", async () => {
    await mkdir(join(folder, "other"));
    await writeFile(join(folder, "other/c.yaml"), SHOP.replace("ada@", "Only@"));
    const { code, stdout } = await run("only@example.com", "--check", "--declared");
    expect(code).toBe(0);
    expect(stdout.replaceAll(/\s+/g, " ")).toBe(
      "only@example.com in no file that was searched ! Also listed in other/c.yaml, which was not searched. To remove it there: rolecall offboard only@example.com other/c.yaml ",
    );
  });

  test("writes nothing if a file has errors, or would have them", async () => {
    const file = "access/station-road.yaml";
    await writeFile(join(folder, file), `${await text(file)}  - email: [\n`);
    const { code, stderr } = await run("ada@example.com", "--yes");
    expect(code).toBe(1);
    expect(stderr).toContain("Some files have errors, and may still list these people.");
    expect(stderr.replaceAll(/\s+/g, " ")).toContain('To end access at once, add an entry under "leavers"');
    expect(await text("access/harbour-street.yaml")).toContain("ada@example.com");
  });

  test("writes nothing if a file that is not valid YAML names the person with escapes", async () => {
    const broken = 'version: 1\nmerchant: MC0OTHER\nmembers: [{ email: "\\u0061d\\x61@exam\\\n  ple.com" }\n';
    await writeFile(join(folder, "access/other.yaml"), broken);
    const { code, stderr } = await run("ada@example.com", "--yes");
    expect(code).toBe(1);
    expect(stderr).toContain("Some files have errors, and may still list these people.");
  });

  test("does not stop at errors in a file that does not name the person", async () => {
    const broken = "version: 1\nmerchant: MC0OTHER\nmembers: [\n";
    await writeFile(join(folder, "access/other.yaml"), broken);
    const { code, stderr } = await run("bernd.hoffmann@example.com", "tomasz.kowalczyk@example.com", "--yes");
    expect(stderr).toContain("access/other.yaml:3:");
    expect(stderr).toContain("The files with errors do not name these people, and are left as they are.");
    expect(code).toBe(0);
    expect(await text("access/harbour-street.yaml")).not.toContain("tomasz.kowalczyk@example.com");
    expect(await text("access/other.yaml")).toBe(broken);
  });

  test("shows which rules the files would break", async () => {
    await rm(join(folder, "access"), { recursive: true });
    await mkdir(join(folder, "access"));
    const files = {
      "mc1.yaml": SHOP,
      "mc2.yaml": SHOP.replace("MC1", "MC2"),
      "shared.yaml": "version: 1\nchecks:\n  - { can: sales_view, only: [ada@example.com] }\n",
    };
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(folder, "access", name), content);
    }
    const { stderr } = await run("ada@example.com", "access/mc1.yaml", "--check", "--declared");
    expect(stderr).toContain("access/shared.yaml:3:30: error: ada@example.com would have sales_view");
    expect(stderr).toContain("\nWithout these people, the files would break the rules above.\n");
  });

  test("takes addresses, then paths", async () => {
    const { code, stderr } = await run("Ada");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: "Ada" is not an e-mail address or a path.\n',
    });
    expect((await run("access")).stderr).toContain("error: offboard needs an e-mail address.\n");
  });

  test("with paths, takes people out of these files and what they include, and plans all that include it", async () => {
    const declared = ["--check", "--declared", "--format", "json"];
    const filesOf = async (...args: readonly string[]): Promise<readonly string[]> => {
      const { files } = JSON.parse((await run("ada@example.com", ...args, ...declared)).stdout);
      return files.map(({ file }: { readonly file: string }) => file).sort();
    };
    expect(await filesOf("access/station-road.yaml")).toEqual([
      "access/station-road.yaml",
      "shared/group.yaml",
    ]);
    expect(await filesOf("access")).toEqual(await filesOf());
    // Harbour Street includes the file that changes, too.
    const { stdout } = await run("ada@example.com", "access/station-road.yaml", "--check");
    expect(stdout).toContain(
      "ada@example.com  in access/station-road.yaml; live at MC4F7K2P, MC9Q3T8X\n  ! Other files still list it, at MC4F7K2P.\n\n",
    );
    expect(stdout).toMatch(/\nNobody else\n {2}MC9Q3T8X: can /);
  });
});

describe("afterwards", () => {
  const at = fc.record({
    marks: fc.array(
      fc.constantFrom("", "", "suspended: true", "suspended: { until: 2099-01-31 }", "from: 2025-01-31"),
      { minLength: 7, maxLength: 7 },
    ),
    rules: fc.boolean(),
    person: fc.constantFrom(...PEOPLE),
    capitals: fc.boolean(),
  });

  test("who is finds nobody, and the files are as valid as before", async () => {
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(accessProjects, at, async (project, { marks, rules, person, capitals }) => {
        await Promise.all(["access", "shared"].map((one) => rm(join(folder, one), { recursive: true })));
        for (const [file, written] of Object.entries(writeProject(project).files)) {
          await mkdir(dirname(join(folder, file)), { recursive: true });
          await writeFile(join(folder, file), marked(written, marks) + (rules ? rulesAbout(person) : ""));
        }
        const here = { cwd: folder };
        // Two files may not say different things of one person.
        if ((await rolecall(["validate"], here)).code === 1) return;
        const who = ["who", "is", person, "--verbose", "--format", "json"];
        asked += JSON.parse((await rolecall(who, here)).stdout).answers.length;
        const email = capitals ? person.toUpperCase() : person;
        const { code } = await rolecall(["offboard", email, "--declared", "--yes"], here);
        expect(code).toBe(0);
        const { answers, failures } = JSON.parse((await rolecall(who, here)).stdout);
        expect({ answers, failures }).toEqual({ answers: [], failures: [] });
        expect((await rolecall(["validate"], here)).code).not.toBe(1);
        // What no merchant includes is not of the project.
        const isShared = project.merchants.some(({ includes }) => includes);
        const texts = await Promise.all(
          ["access/mca.yaml", ...(isShared ? ["shared/all.yaml"] : [])].map(text),
        );
        expect(texts.join("").toLowerCase()).not.toContain(person.toLowerCase());
      }),
      { numRuns: runs(15) },
    );
    expect(asked).toBeGreaterThan(20);
  }, 60_000);

  /** Adds a line to each member. */
  function marked(written: string, marks: readonly string[]): string {
    return written.replaceAll(/^ {2}- email: (.*)\n/gm, (line, email: string) => {
      const mark = marks[email.length % marks.length] ?? "";
      return mark === "" ? line : `${line}    ${mark}\n`;
    });
  }

  function rulesAbout(person: string): string {
    return [
      "guards:",
      `  protect: { members: [${person}] }`,
      "checks:",
      `  - { member: ${person}, cannot: [settings_edit] }`,
      `  - { can: settings_edit, only: [dan@example.com, ${person}] }`,
      "",
    ].join("\n");
  }
});

const SHOP = `version: 1
merchant: MC1
include: [shared.yaml]
roles: [{ name: Payer, permissions: [sales_view] }]
members: [{ email: ada@example.com, roles: [Payer] }]
`;

const UNFILED = `  - code: MS2
    name: Without a file
    sandbox: true
    parent: { type: organization, id: org_1 }
    roles: []
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: Zed@x.example, roles: [role_manager] }
`;

/** Replaces the sandbox by one with another seed. */
async function serve(change: (seed: string) => string): Promise<void> {
  await sandbox.stop();
  const file = join(folder, "live.yaml");
  await writeFile(file, change(await text("live.yaml")));
  sandbox = await startSandbox(["--seed", file]);
}

function run(...args: readonly string[]): Promise<Ended> {
  return rolecall(["offboard", ...args], { cwd: folder, env: sandbox.env });
}

function text(file: string): Promise<string> {
  return readFile(join(folder, file), "utf8");
}

async function linesOf(file: string): Promise<readonly string[]> {
  return (await text(file)).split("\n");
}
