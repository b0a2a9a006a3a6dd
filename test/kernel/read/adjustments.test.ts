import { posix } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatFile } from "../../../src/edit/format/format-file.ts";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import type { ReadSource } from "../../../src/kernel/read/load-sources.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";
import { runs } from "../../support/property-runs.ts";

const NOW = Date.UTC(2026, 10, 21);

const CHAIN = `roles:
  - name: Cashier
    previously: Teller
    permissions: [catalog_view, catalog_edit]
  - { name: Open, description: Permissions are not managed }
`;

function load(files: Readonly<Record<string, string>>) {
  const read: ReadSource = (path, from) => {
    const file = posix.join(from === null ? "" : posix.dirname(from), path);
    const text = Object.hasOwn(files, file) ? files[file] : undefined;
    return Promise.resolve(
      text === undefined ? { ok: false, reason: "missing" } : { ok: true, file, text: `version: 1\n${text}` },
    );
  };
  const roots = Object.keys(files).filter((file) => file.startsWith("access/"));
  return loadMerchants(roots, read, { now: NOW, judge: judgeDeclared, wholeProject: false });
}

const shop = (merchant: string, rest: string) =>
  `merchant: ${merchant}\ninclude: [../shared/chain.yaml]\n${rest}`;

/** Loads one merchant that includes the chain's roles, and lists the problems. */
async function problems(rest: string, chain = CHAIN): Promise<readonly string[]> {
  const { diagnostics } = await load({ "access/a.yaml": shop("A", rest), "shared/chain.yaml": chain });
  return diagnostics.map(
    ({ code, file, span, hint }) => `${file}:${span?.line}:${span?.column} ${code} | ${hint ?? ""}`,
  );
}

describe("an adjustment", () => {
  test("changes the permissions of an included role for this merchant alone", async () => {
    const { merchants, diagnostics } = await load({
      "access/a.yaml": shop(
        "A",
        "roles: [{ name: Cashier, adjust: { add: [refunds_create], remove: [catalog_edit] } }]\n",
      ),
      "access/b.yaml": shop("B", ""),
      "shared/chain.yaml": CHAIN,
    });
    expect(diagnostics).toEqual([]);
    const cashiers = merchants.map(({ state }) => state?.roles?.find(({ name }) => name === "Cashier"));
    expect(cashiers).toEqual([
      {
        name: "Cashier",
        previously: ["Teller"],
        permissions: ["catalog_view", "refunds_create"],
        origin: { file: "shared/chain.yaml", path: ["roles", 0] },
        adjusted: { file: "access/a.yaml", path: ["roles", 0] },
      },
      {
        name: "Cashier",
        previously: ["Teller"],
        permissions: ["catalog_view", "catalog_edit"],
        origin: { file: "shared/chain.yaml", path: ["roles", 0] },
      },
    ]);
  });

  test("gives the role that writing it out would give", async () => {
    const permission = fc.constantFrom("a", "b", "c", "d", "e");
    const lists = fc.record({
      base: fc.uniqueArray(permission),
      add: fc.uniqueArray(permission),
      remove: fc.uniqueArray(permission),
    });
    await fc.assert(
      fc.asyncProperty(lists, async ({ base, add, remove }) => {
        const added = add.filter((one) => !base.includes(one));
        const removed = remove.filter((one) => base.includes(one));
        fc.pre(added.length + removed.length > 0);
        const { merchants, diagnostics } = await load({
          "access/a.yaml": shop(
            "A",
            `roles: [{ name: R, adjust: ${JSON.stringify({ add: added, remove: removed })} }]\n`,
          ),
          "shared/chain.yaml": `roles: [{ name: R, permissions: ${JSON.stringify(base)} }]\n`,
        });
        expect(diagnostics).toEqual([]);
        const wanted = [...base, ...added].filter((one) => !removed.includes(one));
        expect(merchants[0]?.state?.roles?.[0]?.permissions).toEqual(wanted);
      }),
      { numRuns: runs(100) },
    );
  });

  test("may name the role as it was called before, with a warning", async () => {
    expect(await problems("roles: [{ name: Teller, adjust: { add: [x] } }]\n")).toEqual([
      expect.stringMatching(/^access\/a\.yaml:4:17 previous-role-name/),
    ]);
  });

  test.each([
    ["adds what is there", "{ name: Cashier, adjust: { add: [catalog_view] } }", ["4:42 adjust-no-effect"]],
    ["removes what is not", "{ name: Cashier, adjust: { remove: [x] } }", ["4:45 adjust-no-effect"]],
    ["is for no role", "{ name: Casheir, adjust: { add: [x] } }", ["4:17 adjust-unknown-role"]],
    [
      "is for a role of the same file",
      "{ name: Own, permissions: [a] }, { name: Own, adjust: { add: [x] } }",
      ["4:50 adjust-unknown-role"],
    ],
    ["is for unmanaged permissions", "{ name: Open, adjust: { add: [x] } }", ["4:17 adjust-unmanaged"]],
    ["is empty", "{ name: Cashier, adjust: { add: [] } }", ["4:26 adjust-form"]],
    ["has other keys", "{ name: Cashier, permissions: [a], adjust: { add: [x] } }", ["4:26 adjust-form"]],
    [
      "comes twice",
      "{ name: Cashier, adjust: { add: [x] } }, { name: Cashier, adjust: { add: [y] } }",
      ["4:58 duplicate-role"],
    ],
    [
      "comes again under the former name",
      "{ name: Cashier, adjust: { add: [x] } }, { name: Teller, adjust: { add: [y] } }",
      ["4:58 duplicate-role", "4:58 previous-role-name"],
    ],
    ["repeats a permission", "{ name: Cashier, adjust: { add: [x, x] } }", ["4:45 duplicate-permission"]],
    ["has no value", "{ name: Cashier, adjust: }", ["4:26 null-value"]],
    [
      "has an unknown key",
      "{ name: Cashier, adjust: { added: [x] } }",
      ["4:36 unknown-key", "4:26 adjust-form"],
    ],
  ])("is reported where it %s", async (_, entries, wanted) => {
    const found = await problems(`roles: [${entries}]\n`);
    expect(found.map((line) => line.replace(/^access\/a\.yaml:(\S+ \S+).*/, "$1")).toSorted()).toEqual(
      wanted.toSorted(),
    );
  });

  test("suggests the name of an included role", async () => {
    const [found] = await problems("roles: [{ name: Casheir, adjust: { add: [x] } }]\n");
    expect(found).toContain('Did you mean "Cashier"?');
  });

  test("does not exceed the service's limit", async () => {
    const many = Array.from({ length: 100 }, (_, index) => `p${index}`).join(", ");
    const chain = `roles: [{ name: Cashier, permissions: [${many}] }]\n`;
    expect(await problems("roles: [{ name: Cashier, adjust: { add: [x] } }]\n", chain)).toEqual([
      expect.stringMatching(/^access\/a\.yaml:4:41 too-many-permissions/),
    ]);
    expect(await problems("roles: [{ name: Cashier, adjust: { add: [x], remove: [p0] } }]\n", chain)).toEqual(
      [],
    );
  });

  test("is not possible in an included file", async () => {
    const { diagnostics } = await load({
      "access/a.yaml": "merchant: A\ninclude: [../shared/north.yaml]\n",
      "shared/north.yaml": "include: [chain.yaml]\nroles: [{ name: Cashier, adjust: { add: [x] } }]\n",
      "shared/chain.yaml": CHAIN,
    });
    expect(diagnostics.map(({ file, code }) => `${file} ${code}`)).toEqual([
      "shared/north.yaml adjust-included",
    ]);
  });

  test("is not reported for a role in an include that cannot be read", async () => {
    const { diagnostics } = await load({
      "access/a.yaml": shop("A", "roles: [{ name: Cashier, adjust: { add: [x] } }]\n"),
    });
    expect(diagnostics.map(({ code }) => code)).toEqual(["file-missing"]);
  });

  test("is the location of a forbidden permission that it adds", async () => {
    const rules = "policies: { forbid_permissions: [x] }\n";
    const found = await problems(`roles: [{ name: Cashier, adjust: { add: [x] } }]\n${rules}`);
    expect(found).toEqual([expect.stringMatching(/^access\/a\.yaml:4:42 policy-forbidden-permission/)]);
    expect(
      await problems(
        "roles: [{ name: Cashier, adjust: { remove: [catalog_edit] } }]\npolicies: { forbid_permissions: [catalog_edit] }\n",
      ),
    ).toEqual([]);
  });

  test("is formatted like a role, its lists sorted only on request", () => {
    const text = "version: 1\nroles:\n  - adjust: { remove: [z, y], add: [b, a] }\n    name: Cashier\n";
    const formatted = (lists: string) => `version: 1\nroles:\n  - name: Cashier\n    adjust: ${lists}\n`;
    expect(formatFile("a.yaml", text)).toMatchObject({ text: formatted("{ add: [b, a], remove: [z, y] }") });
    expect(formatFile("a.yaml", text, "sorted")).toMatchObject({
      text: formatted("{ add: [a, b], remove: [y, z] }"),
    });
  });
});
