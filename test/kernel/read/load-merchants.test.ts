import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import type { ReadSource } from "../../../src/kernel/read/load-sources.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";

const NOW = Date.UTC(2026, 10, 21);

/** A reader of these files, which counts how often each is read. */
function reader(files: Readonly<Record<string, string>>): {
  readonly read: ReadSource;
  readonly reads: string[];
} {
  const reads: string[] = [];
  const read: ReadSource = (path, from) => {
    const file = posix.join(from === null ? "" : posix.dirname(from), path);
    reads.push(file);
    const text = Object.hasOwn(files, file) ? files[file] : undefined;
    return Promise.resolve(
      text === undefined ? { ok: false, reason: "missing" } : { ok: true, file, text: `version: 1\n${text}` },
    );
  };
  return { read, reads };
}

function load(files: Readonly<Record<string, string>>, roots = Object.keys(files), wholeProject = false) {
  return loadMerchants(roots, reader(files).read, { now: NOW, judge: judgeDeclared, wholeProject });
}

describe("a merchant's file with what it includes", () => {
  test("does not take all roles from somebody to whom an included one gives some", async () => {
    const { merchants, diagnostics } = await load({
      "access/a.yaml": `merchant: A
include: [../shared/people.yaml]
members: [{ email: ADA@example.com, roles: [] }]
`,
      "shared/people.yaml": "members: [{ email: ada@example.com, roles: [role_admin] }]\n",
    });
    expect(diagnostics.map(({ code, file, span }) => `${file}:${span?.line} ${code}`)).toEqual([
      "access/a.yaml:4 conflicting-member",
    ]);
    expect(diagnostics[0]?.message).toContain("shared/people.yaml:2");
    expect(merchants[0]?.state).toBeNull();
  });

  test("has a person leave under all addresses of the entry, from the earliest day of them", async () => {
    const { merchants } = await load({
      "access/a.yaml": `merchant: A
include: [../shared/gone.yaml]
members: [{ email: ada@new.example, previously: [Ada@old.example], roles: [role_admin] }]
`,
      "shared/gone.yaml":
        "leavers: [{ email: ada@old.example, from: 2026-11-01 }, { email: ada@new.example, from: 2026-12-01 }]\n",
    });
    expect(merchants[0]?.state?.leavers?.map(({ email, from }) => [email, from.text])).toEqual([
      ["Ada@old.example", "2026-11-01"],
      ["ada@new.example", "2026-11-01"],
    ]);
  });

  test("takes what another file says of a previous address as said of the same person", async () => {
    const { merchants, diagnostics } = await load({
      "access/a.yaml": `merchant: A
include: [../shared/away.yaml]
members: [{ email: ada@new.example, previously: Ada@old.example, roles: [role_admin] }]
`,
      "shared/away.yaml": "members: [{ email: ada@OLD.example, suspended: true }]\n",
      "access/b.yaml": `merchant: B
include: [../shared/renamed.yaml]
members: [{ email: ada@old.example, roles: [role_admin], metadata: { desk: "1" } }]
`,
      "shared/renamed.yaml": "members: [{ email: ada@new.example, previously: ada@old.example }]\n",
    });
    expect(diagnostics).toEqual([]);
    const [a, b] = merchants.map(({ state }) => state?.members);
    expect(a).toMatchObject([{ email: "ada@new.example", roles: [{ role: "role_admin" }], suspended: {} }]);
    expect(b).toMatchObject([
      { email: "ada@new.example", previously: ["ada@old.example"], metadata: { desk: "1" } },
    ]);
    expect(b).toMatchObject([{ roles: [{ role: "role_admin" }], origin: { file: "access/b.yaml" } }]);
  });

  test("refuses two files that contradict each other about a person under two addresses", async () => {
    const { diagnostics } = await load({
      "access/a.yaml": `merchant: A
include: [../shared/away.yaml]
members: [{ email: ada@new.example, previously: ada@old.example, roles: [], until: 2027-01-01 }]
`,
      "shared/away.yaml": "members: [{ email: ada@old.example, until: 2027-02-01 }]\n",
    });
    expect(diagnostics.map(({ code, file }) => `${file} ${code}`)).toEqual([
      "access/a.yaml conflicting-member",
    ]);
  });

  test("refuses a previous address that is still listed beside the current one, or whose renames go in a circle", async () => {
    const both = "members: [{ email: ada@new.example, roles: [] }, { email: ada@old.example, roles: [] }]\n";
    const { diagnostics } = await load({
      "access/a.yaml": `merchant: A
include: [../shared/renamed.yaml]
${both}`,
      "shared/renamed.yaml": "members: [{ email: ada@new.example, previously: ada@old.example }]\n",
      "access/b.yaml": `merchant: B
include: [../shared/circle.yaml]
members: [{ email: ada@old.example, previously: ada@new.example, roles: [] }]
`,
      "shared/circle.yaml": "members: [{ email: ada@new.example, previously: ada@old.example }]\n",
    });
    const errorsIn = (all: typeof diagnostics) =>
      all.filter(({ severity }) => severity === "error").map(({ code }) => code);
    expect(errorsIn(diagnostics)).toEqual(["previous-address", "previous-address", "previous-address"]);
    // Two people of one file are not one.
    const joined = await load({
      "access/a.yaml": `merchant: A
include: [../shared/two.yaml]
members: [{ email: ada@new.example, previously: [ada@old.example, a@old.example], roles: [] }]
`,
      "shared/two.yaml": "members: [{ email: ada@old.example }, { email: a@old.example }]\n",
    });
    expect(errorsIn(joined.diagnostics)).toEqual(["previous-address", "previous-address"]);
  });

  test("takes the environment of an included one, and agrees with it", async () => {
    const { merchants, diagnostics } = await load({
      "access/a.yaml": "merchant: A\ninclude: [../shared/group.yaml]\n",
      "access/b.yaml": "merchant: B\nenvironment: live\ninclude: [../shared/group.yaml]\n",
      "access/c.yaml": "merchant: C\nenvironment: test\ninclude: [../shared/group.yaml]\n",
      "shared/group.yaml": "environment: live\n",
    });
    expect(merchants.map(({ state }) => state?.environment)).toEqual(["live", "live", undefined]);
    expect(merchants[2]?.state).toBeNull();
    expect(diagnostics.map(({ code, file, span }) => `${file}:${span?.line} ${code}`)).toEqual([
      "access/c.yaml:3 conflicting-setting",
    ]);
    expect(diagnostics[0]?.message).toBe('"environment" has a different value at shared/group.yaml:2.');
  });

  test("has the place of its own entry for somebody who stands in an included one, too", async () => {
    const { merchants, diagnostics } = await load({
      "access/a.yaml": `merchant: A
include: [../shared/people.yaml]
members: [{ email: ada@example.com, metadata: {} }]
`,
      "shared/people.yaml":
        "members: [{ email: ada@example.com, until: 2027-01-31 }, { email: bob@example.com }]\n",
    });
    expect(diagnostics).toEqual([]);
    expect(merchants[0]?.state?.members?.map(({ origin }) => origin.file)).toEqual([
      "access/a.yaml",
      "shared/people.yaml",
    ]);
  });

  test("has the sections of all, the included ones first", async () => {
    const { merchants, diagnostics, sources } = await load({
      "access/a.yaml": `merchant: A
include: [../shared/roles.yaml, ../shared/people.yaml]
ignore: { roles: [x*] }
roles: [{ name: Own }]
members: [{ email: Ada@example.com, roles: [Own], metadata: { n: 1 } }]
`,
      "shared/roles.yaml": `sync: { reinvite: false }
ignore: { roles: [y*, x*] }
guards: { max_removals: 5, protect: { roles: [Base] } }
policies: { email_domains: [example.com], max_holders: { Base: 9 } }
roles: [{ name: Base }]
`,
      "shared/people.yaml": `include: [roles.yaml]
sync: { members: additive }
policies: { separate: [[role_owner, Own]], max_holders: { Own: 9 } }
checks: [{ can: p, at_most: 3 }]
members:
  - { email: ada@example.com, roles: [Base, Own], until: 2027-01-31 }
  - { email: bob@example.com }
`,
    });
    expect(diagnostics).toEqual([]);
    expect(sources.map(({ file }) => file).toSorted()).toEqual([
      "access/a.yaml",
      "shared/people.yaml",
      "shared/roles.yaml",
    ]);
    expect(merchants).toHaveLength(1);
    expect(merchants[0]?.state).toMatchObject({
      merchant: "A",
      sync: { roles: "authoritative", members: "additive", reinvite: false, replaceRoles: false },
      ignore: { roles: ["y*", "x*"], members: [] },
      guards: { maxRemovals: { count: 5 }, protect: { roles: ["Base"], members: [] } },
      policies: {
        emailDomains: ["example.com"],
        separate: [["role_owner", "Own"]],
        maxHolders: { Base: 9, Own: 9 },
      },
      checks: [{ can: "p", origin: { file: "shared/people.yaml", path: ["checks", 0] } }],
      roles: [
        { name: "Base", origin: { file: "shared/roles.yaml", path: ["roles", 0] } },
        { name: "Own", origin: { file: "access/a.yaml", path: ["roles", 0] } },
      ],
      members: [
        {
          email: "ada@example.com",
          roles: [{ role: "Base" }, { role: "Own" }],
          metadata: { n: 1 },
          until: { text: "2027-01-31" },
          origin: { file: "shared/people.yaml", path: ["members", 0] },
        },
        { email: "bob@example.com" },
      ],
      origin: { file: "access/a.yaml", path: [] },
    });
    expect(Object.keys(merchants[0]?.state?.members?.[1] ?? {})).toEqual(["email", "origin"]);
  });

  test("leaves unmanaged what no file has, and manages what one of them has empty", async () => {
    const { merchants } = await load({
      "a.yaml": "merchant: A\ninclude: [shared.yaml]\n",
      "shared.yaml": "members: []\n",
    });
    expect(merchants[0]?.state).toMatchObject({ members: [] });
    expect(merchants[0]?.state).not.toHaveProperty("roles");
  });

  test("reads a file once that many include, by whatever path", async () => {
    const { read, reads } = reader({
      "a.yaml": "merchant: A\ninclude: [shared/x.yaml, ./shared/../shared/x.yaml, shared/y.yaml]\n",
      "b.yaml": "merchant: B\ninclude: [shared/x.yaml]\n",
      "shared/x.yaml": "roles: [{ name: X }]\n",
      "shared/y.yaml": "include: [x.yaml]\n",
    });
    const { merchants, diagnostics, sources } = await loadMerchants(["a.yaml", "b.yaml"], read, {
      now: NOW,
      judge: judgeDeclared,
    });
    expect(diagnostics).toEqual([]);
    expect(sources).toHaveLength(4);
    expect(merchants.map(({ state }) => state?.roles?.map(({ name }) => name))).toEqual([["X"], ["X"]]);
    expect(reads).toContain("shared/x.yaml");
  });

  test("asks once for what the files of one folder include by one path, also if it is missing", async () => {
    const own = (code: string): string => `merchant: ${code}\ninclude: [../all.yaml, ../gone.yaml]\n`;
    const { read, reads } = reader({
      "x/a.yaml": own("A"),
      "x/b.yaml": own("B"),
      "y/c.yaml": own("C"),
      "all.yaml": "roles: []\n",
    });
    const { merchants, diagnostics } = await loadMerchants(["x/a.yaml", "x/b.yaml", "y/c.yaml"], read, {
      now: NOW,
      judge: judgeDeclared,
    });
    expect(reads.filter((file) => file === "all.yaml")).toHaveLength(2);
    expect(reads.filter((file) => file === "gone.yaml")).toHaveLength(2);
    expect(diagnostics.map(({ code, file }) => `${file} ${code}`)).toEqual([
      "x/a.yaml file-missing",
      "x/b.yaml file-missing",
      "y/c.yaml file-missing",
    ]);
    expect(merchants.map(({ state }) => state)).toEqual([null, null, null]);
  });

  test("is told apart from a merchant's file, whichever of them is read first", async () => {
    const files = {
      "a.yaml": "merchant: A\nroles: []\n",
      "b.yaml": "merchant: B\ninclude: [a.yaml]\n",
      "c.yaml": "merchant: C\ninclude: [shared.yaml]\n",
      "shared.yaml": "include: [a.yaml]\n",
    };
    for (const roots of [Object.keys(files), Object.keys(files).reverse()]) {
      const { merchants, diagnostics } = await load(files, roots);
      expect(diagnostics.map(({ code, file }) => `${file} ${code}`)).toEqual([
        "b.yaml include-merchant",
        "shared.yaml include-merchant",
      ]);
      expect(merchants.flatMap(({ state }) => state?.merchant ?? [])).toEqual(["A"]);
    }
  });

  test("is not a merchant's own when it has no code and another one includes it", async () => {
    const { merchants } = await load({
      "a.yaml": "merchant: A\ninclude: [shared.yaml]\n",
      "shared.yaml": "roles: []\n",
    });
    expect(merchants.map(({ file }) => file)).toEqual(["a.yaml"]);
  });

  test("has no state when a file that it includes has an error, and the others keep theirs", async () => {
    const { merchants, diagnostics } = await load({
      "a.yaml": "merchant: A\ninclude: [shared.yaml]\n",
      "b.yaml": "merchant: B\n",
      "shared.yaml": "rolles: []\n",
    });
    expect(merchants.map(({ file, state }) => [file, state === null])).toEqual([
      ["a.yaml", true],
      ["b.yaml", false],
    ]);
    expect(diagnostics.map(({ file, code }) => [file, code])).toEqual([["shared.yaml", "unknown-key"]]);
  });

  test("has a state when only its policies refuse it", async () => {
    const { merchants, diagnostics } = await load({
      "a.yaml": "merchant: A\ninclude: [shared.yaml]\nmembers: [{ email: a@b.co }]\n",
      "shared.yaml": "policies: { email_domains: [example.com] }\n",
    });
    expect(diagnostics).toMatchObject([{ code: "policy-email-domain", refusal: true, file: "a.yaml" }]);
    expect(merchants[0]?.state).not.toBeNull();
  });

  test("may share policies that speak of roles which only some merchants have", async () => {
    const { diagnostics } = await load({
      "a.yaml":
        "merchant: A\ninclude: [shared.yaml]\nroles: [{ name: X }]\nmembers: [{ email: a@b.co, roles: [X] }]\n",
      "b.yaml":
        "merchant: B\ninclude: [shared.yaml]\nroles: [{ name: Y }]\nmembers: [{ email: a@b.co, roles: [Y] }]\n",
      "shared.yaml":
        "policies: { separate: [[X, Y]] }\nchecks: [{ can: p, only: ['role:Y', c@d.co] }]\nroles: [{ name: Z }]\n",
    });
    expect(diagnostics).toEqual([]);
  });

  test("is judged together: who holds two roles that two files keep apart and grant", async () => {
    const { diagnostics } = await load({
      "a.yaml": "merchant: A\ninclude: [p.yaml, m.yaml]\nmembers: [{ email: A@b.co, roles: [X] }]\n",
      "p.yaml": "policies: { separate: [[X, Y]] }\n",
      "m.yaml": "members: [{ email: a@b.co, roles: [Y] }]\n",
    });
    expect(diagnostics).toMatchObject([
      { code: "policy-separate", file: "a.yaml", hint: expect.stringContaining("m.yaml:2") },
    ]);
  });
});

describe("what is wrong between files", () => {
  test("names both places of a role that stands in two", async () => {
    const { diagnostics } = await load({
      "a.yaml": "merchant: A\ninclude: [shared.yaml]\nroles: [{ name: X }]\n",
      "shared.yaml": "roles:\n  - name: X\n",
    });
    expect(diagnostics).toMatchObject([
      {
        code: "duplicate-role",
        file: "a.yaml",
        span: { line: 4 },
        message: expect.stringContaining("shared.yaml:3"),
      },
    ]);
  });

  test("is reported once if many merchants include the same file", async () => {
    const { diagnostics } = await load({
      ...Object.fromEntries(
        Array.from({ length: 20 }, (_, i) => [
          `m${i}.yaml`,
          `merchant: M${i}\ninclude: [shared.yaml]\nroles: []\n`,
        ]),
      ),
      "shared.yaml": "members: [{ email: a@b.co, roles: [Missing] }]\n",
    });
    expect(diagnostics).toMatchObject([{ code: "unknown-role", file: "shared.yaml" }]);
    expect(diagnostics[0]?.hint).toContain(
      `Seen from ${Array.from({ length: 19 }, (_, i) => `m${i}.yaml`).join(", ")} and m19.yaml, which include this file.`,
    );
  });

  test.each([
    [24, /^(?:m\d+\.yaml, ){22}m22\.yaml and m23\.yaml, which include this file\.$/],
    [40, /^m0\.yaml, m1\.yaml, m2\.yaml and 37 more files, which include this file\.$/],
  ])(
    "is reported once for %i merchants that break a shared policy, with their files",
    async (count, seen) => {
      const { diagnostics } = await load({
        ...Object.fromEntries(
          Array.from({ length: count }, (_, i) => [
            `m${i}.yaml`,
            `merchant: M${i}\ninclude: [shared.yaml]\n`,
          ]),
        ),
        "shared.yaml":
          "policies: { max_holders: { role_admin: 1 } }\nmembers:\n  - { email: a@b.co, roles: [role_admin] }\n  - { email: c@b.co, roles: [role_admin] }\n",
      });
      const errors = diagnostics.filter(({ code }) => code === "policy-max-holders");
      expect(errors).toHaveLength(1);
      for (const { hint } of errors) expect(hint?.split(" Seen from ")[1]).toMatch(seen);
    },
  );

  test("does not report unknown roles or members if a missing file may have them", async () => {
    const { diagnostics } = await load({
      "a.yaml": `merchant: A
include: [missing.yaml]
roles: []
members: [{ email: a@b.co, roles: [X] }]
checks: [{ member: c@d.co, cannot: [p] }]
`,
    });
    expect(diagnostics.map(({ code }) => code)).toEqual(["file-missing"]);
  });

  test("leaves the first of two files for one merchant its state", async () => {
    const { merchants, diagnostics } = await load({ "a.yaml": "merchant: A\n", "b.yaml": "merchant: A\n" });
    expect(diagnostics.map(({ code }) => code)).toEqual(["duplicate-merchant"]);
    expect(merchants.map(({ state }) => state === null)).toEqual([false, true]);
  });

  test("tells merchant codes apart by case", async () => {
    const { diagnostics } = await load({ "a.yaml": "merchant: A\n", "b.yaml": "merchant: a\n" });
    expect(diagnostics).toEqual([]);
  });

  test("never shows the text of a file that is no YAML file, though a link makes it look like one", async () => {
    const read: ReadSource = (path) =>
      Promise.resolve(
        path === "a.yaml"
          ? { ok: true, file: path, text: "version: 1\nmerchant: A\ninclude: [link.yaml]\n" }
          : { ok: true, file: ".env", text: "PASSWORD=hunter22" },
      );
    const loaded = await loadMerchants(["a.yaml"], read, { now: NOW, judge: judgeDeclared });
    expect(loaded.diagnostics.map(({ code }) => code)).toEqual(["file-not-a-file"]);
    expect(JSON.stringify(loaded)).not.toContain("hunter22");
  });

  test("follows a long chain of includes, and finds where it closes", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 3000 }, (_, i) => [`${i}.yaml`, `include: [${(i + 1) % 3000}.yaml]\n`]),
    );
    const { diagnostics } = await load({ ...files, "a.yaml": "merchant: A\ninclude: [0.yaml]\n" }, [
      "a.yaml",
    ]);
    expect(diagnostics.map(({ code, file }) => [code, file])).toEqual([["include-cycle", "2999.yaml"]]);
    expect(diagnostics[0]?.message.length).toBeLessThan(500);
  });

  test("finds a literal key in an included file, and does not show it", async () => {
    const key = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";
    const loaded = await load({ "a.yaml": "merchant: A\ninclude: [s.yaml]\n", "s.yaml": `# ${key}\n` });
    expect(loaded.diagnostics.map(({ code, file }) => [code, file])).toEqual([["literal-key", "s.yaml"]]);
    expect(loaded.merchants[0]?.state).toBeNull();
    expect(JSON.stringify(loaded.diagnostics)).not.toContain("4eC39");
  });
});

describe("a rule that merchants share", () => {
  const shared = `policies:
  separate: [[Stock Keeper, Buyer]]
  max_holders: { Stok Keeper: 1 }
guards: { min_holders: { Keeper: 1 } }
checks: [{ can: q, only: ["role:Seasonal"] }]
`;
  const merchant = (code: string, ...roles: readonly string[]) =>
    `merchant: ${code}\ninclude: [shared.yaml]\nroles: [${roles.map((name) => `{ name: ${name}, permissions: [p] }`).join(", ")}]\nmembers: [{ email: a@example.com, roles: [${roles.join(", ")}] }]\n`;
  const files = {
    "a.yaml": merchant("A", "Stock Keeper", "Lead"),
    "b.yaml": merchant("B", "Stock Keeper", "Seasonal"),
    "shared.yaml": shared,
  };
  const roots = ["a.yaml", "b.yaml"];

  test("names a role that none of them has: an error, with a suggestion, and no merchant has a state", async () => {
    const { diagnostics, merchants } = await load(files, roots, true);
    expect(
      diagnostics.map(({ code, severity, file, message }) => ({ code, severity, file, message })),
    ).toEqual(
      ["Buyer", "Stok Keeper", "Keeper"].map((role) => ({
        code: "unknown-role",
        severity: "error",
        file: "shared.yaml",
        message: `No role is called "${role}".`,
      })),
    );
    expect(diagnostics[1]?.hint).toContain('"Stock Keeper"');
    expect(merchants.map(({ state }) => state)).toEqual([null, null]);
  });

  test("is a warning if merchants of other files may have the role", async () => {
    const { diagnostics, merchants } = await load(files, ["a.yaml"]);
    expect(diagnostics.map(({ code, severity }) => `${severity} ${code}`)).toEqual(
      Array.from({ length: 4 }, () => "warning unknown-shared-role"),
    );
    expect(merchants[0]?.state?.merchant).toBe("A");
  });

  test("may name a role of one of them, and each of the others knows that it is no mistake", async () => {
    const elsewhere = async (given: readonly string[]) => {
      const { merchants } = await load(
        { ...files, "shared.yaml": "policies: { require_until: [Seasonal] }\n" },
        [...given],
      );
      return merchants.map(({ state }) => state?.rolesElsewhere);
    };
    expect(await elsewhere(roots)).toEqual([["Seasonal"], undefined]);
    expect(await elsewhere(["a.yaml"])).toEqual([undefined]);
  });

  test("gives the plan the names that another merchant may have, also of protected members", async () => {
    const protect = "guards: { protect: { roles: [Lead], members: [a@example.com, '*@b.co'] } }\n";
    const { merchants } = await load({ ...files, "shared.yaml": protect }, [...roots]);
    expect(merchants[0]?.state?.sharedRuleNames).toEqual(["Lead", "a@example.com"]);
  });

  test("may name roles of merchants whose roles the files do not tell; a likely slip is warned of", async () => {
    const { diagnostics } = await load(
      { ...files, "c.yaml": "merchant: C\ninclude: [shared.yaml]\n" },
      [...roots, "c.yaml"],
      true,
    );
    expect(diagnostics.map(({ code, severity, message, hint }) => [severity, code, message, hint])).toEqual([
      [
        "warning",
        "unknown-shared-role",
        'No merchant that includes this file declares a role called "Stok Keeper", so this rule has an effect only where such a role is live.',
        'Did you mean "Stock Keeper"?',
      ],
    ]);
  });
});

describe("a role that only a shared file protects", () => {
  const protect = (...roles: readonly string[]) => `guards: { protect: { roles: [${roles.join(", ")}] } }\n`;
  const merchant = (code: string, role: string, rest = "") =>
    `merchant: ${code}\ninclude: [shared.yaml]\nroles: [{ name: ${role}, permissions: [p] }]\nmembers: [{ email: a@example.com, roles: [${role}] }]\n${rest}`;
  const brief = async (files: Readonly<Record<string, string>>, whole: boolean) => {
    const { diagnostics } = await load(files, ["a.yaml", "b.yaml"], whole);
    return diagnostics.map(({ severity, code, file, hint }) => `${severity} ${code} ${file}: ${hint}`);
  };
  const files = {
    "a.yaml": merchant("A", "Cashier"),
    "b.yaml": merchant("B", "Lead"),
    "shared.yaml": protect("Cashierr", "LEAD", '"Cash*"', "role_x"),
  };

  test("is an error with a suggestion if no merchant has it, and it is similar to an existing one", async () => {
    expect(await brief(files, true)).toEqual([
      expect.stringMatching(/^error unknown-role shared\.yaml: Did you mean "Cashier"\?/),
    ]);
    expect(await brief(files, false)).toEqual([
      'warning unknown-shared-role shared.yaml: Did you mean "Cashier"?',
    ]);
    const additive = merchant("B", "Lead", "sync: { roles: additive }\n");
    expect(await brief({ ...files, "b.yaml": additive }, true)).toEqual([
      'warning unknown-shared-role shared.yaml: Did you mean "Cashier"?',
    ]);
  });

  test("is a warning if it may be live but undeclared, and valid if one merchant has it", async () => {
    expect(await brief({ ...files, "shared.yaml": protect("Auditor", "Lead") }, true)).toEqual([
      "warning unknown-protected-role shared.yaml: Correct the name, or declare the role.",
    ]);
  });
});

test("the stricter limit counts, of included files and of a merchant's own that is no looser", async () => {
  const files = {
    "a.yaml": "merchant: A\ninclude: [area.yaml]\nguards: { max_removals: 5%, min_holders: { X: 3 } }\n",
    "b.yaml": "merchant: B\ninclude: [area.yaml]\npolicies: { max_holders: { X: 3, Y: 1 } }\n",
    "area.yaml": `include: [group.yaml]
guards: { max_removals: 30%, min_holders: { X: 1 } }
policies: { max_holders: { X: 9, Y: 1 } }
`,
    "group.yaml": `guards: { max_removals: 10%, min_holders: { X: 2, role_owner: 1 } }
policies: { max_holders: { X: 8, Y: 2 } }
roles: [{ name: X }, { name: Y }]
`,
  };
  const { diagnostics, merchants } = await load(files, ["a.yaml", "b.yaml"]);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(merchants.map(({ state }) => [state?.guards, state?.policies.maxHolders])).toMatchObject([
    [
      { maxRemovals: { percent: 5 }, minHolders: { X: 3, role_owner: 1 } },
      { X: 8, Y: 1 },
    ],
    [
      { maxRemovals: { percent: 10 }, minHolders: { X: 2, role_owner: 1 } },
      { X: 3, Y: 1 },
    ],
  ]);
});

describe("the name that a role had", () => {
  const files = {
    "a.yaml": `merchant: A
include: [shared.yaml]
guards: { min_holders: { Lead: 1 }, protect: { roles: [Lead] } }
roles: [{ name: Shift Lead, previously: Lead, permissions: [p] }]
members: [{ email: a@example.com, roles: [Lead, Shift Lead] }]
`,
    "shared.yaml": `policies:
  separate: [[Lead, role_admin]]
  max_holders: { Lead: 3, Shift Lead: 2 }
  require_until: [Lead]
  require_mfa: [Lead]
checks: [{ can: p, only: ["role:Lead"] }]
`,
  };

  test("means the role wherever it is named, with a warning", async () => {
    const { diagnostics, merchants } = await load(files, ["a.yaml"], true);
    const warned = diagnostics.filter(({ code }) => code === "previous-role-name");
    expect(warned.map(({ file, span }) => `${file}:${span?.line}`)).toEqual(["a.yaml:6", "shared.yaml:3"]);
    expect(warned[0]).toMatchObject({
      severity: "warning",
      message: 'The role "Lead" is now called "Shift Lead"; this file has the old name 3 times.',
    });
    expect(diagnostics.filter((one) => !warned.includes(one)).map(({ code }) => code)).toEqual([
      "policy-require-until",
    ]);
    expect(merchants[0]?.state).toMatchObject({
      guards: { minHolders: { "Shift Lead": 1 }, protect: { roles: ["Lead", "Shift Lead"] } },
      policies: {
        separate: [["Shift Lead", "role_admin"]],
        maxHolders: { "Shift Lead": 2 },
        requireUntil: { "Shift Lead": null },
        requireMfa: ["Shift Lead"],
      },
      checks: [{ only: ["role:Shift Lead"] }],
      members: [{ roles: [{ role: "Shift Lead" }] }],
    });
  });

  test("means nothing if it looks like an id: that is the role with this id, also to enforced rules", async () => {
    const { diagnostics, merchants } = await load({
      "a.yaml": `merchant: A
guards: { min_holders: { role_admin: 1 } }
policies: { max_holders: { role_admin: 1 } }
roles: [{ name: Boss, previously: [role_admin], permissions: [p] }]
members: [{ email: a@example.com, roles: [role_admin, Boss] }]
`,
    });
    expect(diagnostics.map(({ code }) => code)).toEqual([]);
    expect(merchants[0]?.state).toMatchObject({
      guards: { minHolders: { role_admin: 1 } },
      policies: { maxHolders: { role_admin: 1 } },
      members: [{ roles: [{ role: "role_admin" }, { role: "Boss" }] }],
    });
  });

  test.each([
    ["is replaced by the new one if all merchants agree", "Shift Lead", [["Lead", "Shift Lead"]]],
    ["stays if the merchants gave the role different names", "Head", []],
  ])("in a shared file %s", async (_, name, expected) => {
    const { previousNames } = await load(
      {
        "a.yaml": "merchant: A\ninclude: [shared.yaml]\nroles: [{ name: Shift Lead, previously: Lead }]\n",
        "b.yaml": `merchant: B\ninclude: [shared.yaml]\nroles: [{ name: ${name}, previously: Lead }]\n`,
        "shared.yaml": "policies: { require_mfa: [Lead] }\n",
      },
      ["a.yaml", "b.yaml"],
    );
    expect(previousNames.map((previous) => [previous.role, previous.name])).toEqual(expected);
  });

  test("means another role as soon as that one is declared", async () => {
    const { diagnostics, merchants } = await load({
      "a.yaml": `merchant: A
roles: [{ name: B, previously: A }, { name: C, previously: B }, { name: A, previously: X }]
members: [{ email: a@example.com, roles: [A, B, C] }]
`,
    });
    expect(diagnostics.map(({ code }) => code)).toEqual([]);
    expect(merchants[0]?.state?.members?.[0]?.roles?.map(({ role }) => role)).toEqual(["A", "B", "C"]);
  });
});
