import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { formatFile } from "../../../src/edit/format/format-file.ts";
import { parseMerchantFile } from "../../../src/index.ts";
import { runs } from "../../support/property-runs.ts";

const HEAD = "version: 1\nmerchant: M\n";

function formatted(text: string, entries?: "sorted"): string {
  const result = formatFile("shop.yaml", text, entries);
  if (!("text" in result)) {
    if ("longest" in result) throw new Error("it is too large");
    throw new Error(result.diagnostics.map(({ message }) => message).join("\n"));
  }
  expect(result.changed).toBe(result.text !== text);
  return result.text;
}

describe("what a file looks like afterwards", () => {
  test("sections and keys are in order, each with its comments; entries stay where they are", () => {
    const text = `# about this file

members:
  # moved here in May
  - roles: [Cashier, {until: 2027-01-31, role: Approver}]   # both
    email: zoe@example.com
    # zoe is on leave
  - email: Ada@example.com

# What there is to do
roles: # the custom ones
-   permissions: [ refunds_create,
      catalog_view ]
    name: Cashier # at the till
    # before the description
    description: |   # shown to all
         Two
           lines
-   {name: Approver}
# the merchant
merchant: M
version: 1
# the end
`;
    expect(formatted(text)).toBe(`# about this file

version: 1
# the merchant
merchant: M

# What there is to do
roles: # the custom ones
  - name: Cashier # at the till
    # before the description
    description: | # shown to all
      Two
        lines
    permissions: [refunds_create, catalog_view]
  - { name: Approver }
members:
  # moved here in May
  - email: zoe@example.com
    roles: [Cashier, { role: Approver, until: 2027-01-31 }] # both
    # zoe is on leave
  - email: Ada@example.com

# the end
`);
  });

  test("the comment of the first section moves with it, unless it is the only one at the top", () => {
    const text = "# The file.\n\n# The people.\nmembers: []\nmerchant: M\nversion: 1\n";
    expect(formatted(text)).toBe("# The file.\n\nversion: 1\nmerchant: M\n\n# The people.\nmembers: []\n");
    const only = "# The file.\nmembers: []\nmerchant: M\nversion: 1\n";
    expect(formatted(only)).toBe("# The file.\nversion: 1\nmerchant: M\nmembers: []\n");
  });

  test("the comment that the editor reads the schema from stays first", () => {
    const text = `# yaml-language-server: $schema=x.json\nmerchant: M\nversion: 1\n`;
    expect(formatted(text)).toBe(`# yaml-language-server: $schema=x.json\nversion: 1\nmerchant: M\n`);
  });

  test("quotes, numbers, escapes and folded text stay as they were written", () => {
    const text = `${HEAD}roles:
  - name: 'it''s'
    description: >-
      one line
      and another

      and a paragraph
    metadata: { a: "\\u00e9", b: 1.50, c: 0x1F, d: ~, e: '007' }
`;
    expect(formatted(text)).toBe(text);
  });

  test("a list in brackets that makes a long line is put one below the other", () => {
    const permissions = Array.from({ length: 12 }, (_, index) => `permission_${index + 10}`);
    const text = `${HEAD}roles:\n  - name: A\n    permissions: [${permissions.join(", ")}] # many\n`;
    expect(formatted(text)).toBe(
      `${HEAD}roles:\n  - name: A\n    permissions: # many\n${permissions.map((one) => `      - ${one}\n`).join("")}`,
    );
  });

  test("a comment behind the last comma in brackets stays with its entry", () => {
    const text = `${HEAD}members:
  - email: a@example.com
    roles: [
      B, # b
      A, # a
      # the end
    ] # both
    metadata: {
      x: "1", # one
    }
  - { email: b@example.com, roles: [A], }
`;
    expect(formatted(text)).toBe(`${HEAD}members:
  - email: a@example.com
    # the end
    # both
    roles:
      - B # b
      - A # a
    metadata:
      x: "1" # one
  - { email: b@example.com, roles: [A] }
`);
  });

  test("blank lines between members stay between members", () => {
    const text = `${HEAD}members:\n\n  - email: c@example.com\n\n\n  - email: b@example.com\n\n  - email: a@example.com\n`;
    expect(formatted(text)).toBe(
      `${HEAD}members:\n  - email: c@example.com\n\n  - email: b@example.com\n\n  - email: a@example.com\n`,
    );
  });

  test("an entry that is commented out stays at the end of its list", () => {
    const text = `${HEAD}roles:
  - name: B
  - name: A
    # the end of A

  # - name: C

# who has access
members: []
`;
    expect(formatted(text)).toBe(`${HEAD}roles:
  - name: B
  - name: A
    # the end of A

  # - name: C

# who has access
members: []
`);
  });

  test("a comment right below a section stays there when the sections change places", () => {
    expect(
      formatted(`${HEAD}members:
  - email: a@example.com
# the end of the members

# what there is
roles: []
# the end of the roles

guards:
  max_removals: 3
`),
    ).toBe(`${HEAD}
guards:
  max_removals: 3

# what there is
roles: []
# the end of the roles

members:
  - email: a@example.com

# the end of the members
`);
  });

  test("the order of what the user arranges stays: includes, checks, metadata, policies", () => {
    const text = `${HEAD}include: [b.yaml, a.yaml]
policies:
  max_holders: { b: 1, a: 2 }
  require_until: [b, a]
checks:
  - { can: b, at_most: 1 }
  - { can: a, at_most: 1 }
roles:
  - name: a
    metadata: { b: 1, a: [2, 1] }
`;
    expect(formatted(text)).toBe(text);
  });

  test("Windows line ends and a byte order mark stay", () => {
    expect(formatted("\uFEFFmerchant: M\r\nversion:   1 # x\r\n")).toBe(
      "\uFEFFversion: 1 # x\r\nmerchant: M\r\n",
    );
  });

  test("mixed line ends stay with their lines", () => {
    expect(
      formatted("merchant: M\nversion: 1\r\nroles: []\n\r\nmembers:\r\n  - {email: a@example.com}\n"),
    ).toBe("version: 1\r\nmerchant: M\nroles: []\n\r\nmembers:\r\n  - { email: a@example.com }\n");
  });

  test("a file that is only included is formatted too", () => {
    expect(formatted("members: []\nversion:  1\n")).toBe("version: 1\nmembers: []\n");
  });
});

describe("a file whose entries are sorted", () => {
  const emails = (text: string) => text.match(/(?<=email: )\w+/g)?.join(" ");

  test("has roles, members, permissions and a member's roles in order, each with its comments", () => {
    const text = `${HEAD}roles:
  - name: Cashier # at the till
    permissions: [refunds_create, catalog_view]
  - { name: Approver }
members:
  - email: zoe@example.com # on leave
    roles: [Cashier, { role: Approver, until: 2027-01-31 }] # both
  - email: Ada@example.com
    # Ada is back
`;
    expect(formatted(text, "sorted")).toBe(`${HEAD}roles:
  - { name: Approver }
  - name: Cashier # at the till
    permissions: [catalog_view, refunds_create]
members:
  - email: Ada@example.com
    # Ada is back
  - email: zoe@example.com # on leave
    roles: [{ role: Approver, until: 2027-01-31 }, Cashier] # both
`);
  });

  test("keeps its groups, with their headings at the top", () => {
    const text = `${HEAD}members:
  # Managers
  - email: zoe@example.com
  - email: ada@example.com

  # Tills
  - email: t2@example.com
  - email: t1@example.com

  - email: y@example.com
  - email: x@example.com
`;
    expect(formatted(text, "sorted")).toBe(`${HEAD}members:
  # Managers
  - email: ada@example.com
  - email: zoe@example.com

  # Tills
  - email: t1@example.com
  - email: t2@example.com

  - email: x@example.com
  - email: y@example.com
`);
  });

  test("never leaves a comment that may be one entry's above another entry", () => {
    const text = `${HEAD}members:
  # on leave until May
  - email: zoe@example.com
  - email: bob@example.com
  - email: ada@example.com
  # the auditor
  - email: max@example.com
  - email: eve@example.com
`;
    expect(emails(formatted(text, "sorted"))).toBe("zoe ada bob max eve");
    expect(formatted(text, "sorted")).toContain("# on leave until May\n  - email: zoe@");
    expect(formatted(text, "sorted")).toContain("# the auditor\n  - email: max@");
  });

  test("is sorted as a whole where a blank line stands between all entries", () => {
    const text = `${HEAD}members:\n  - email: c@example.com\n\n  - email: b@example.com\n\n  - email: a@example.com\n`;
    expect(formatted(text, "sorted")).toBe(
      `${HEAD}members:\n  - email: a@example.com\n\n  - email: b@example.com\n\n  - email: c@example.com\n`,
    );
  });
});

describe("anchors and aliases", () => {
  test("an anchor stays before its aliases; the rest can be sorted", () => {
    const text = `${HEAD}roles:
  - name: Z
    permissions: [c, b]
    metadata: &m { x: 1 }
  - name: A
    metadata: *m
`;
    expect(formatted(text)).toBe(text);
    expect(formatted(text, "sorted")).toBe(text.replace("[c, b]", "[b, c]"));
  });

  test("an anchor in one section and an alias in another keep the sections apart as they were", () => {
    const text = `version: 1
members:
  - email: a@example.com
    metadata: &m { x: 1 }
merchant: M
roles:
  - name: A
    metadata: *m
`;
    expect(formatted(text)).toBe(text);
  });

  test("a list that is used again where its order counts is not sorted", () => {
    const text = `${HEAD}roles:\n  - name: A\n    permissions: &p [b, a]\n    metadata: { p: *p }\n`;
    expect(formatted(text, "sorted")).toBe(text);
  });

  test("a name that is given twice keeps everything in its order", () => {
    const text = `merchant: &x M\nversion: 1\nmembers:\n  - email: &x b@example.com\n    id: mem_1\n  - email: *x\n`;
    expect(formatted(`${text}    id:   mem_2\n`)).toMatch(/^merchant: &x M\nversion: 1\n/);
  });
});

describe("a file with errors", () => {
  test("is left alone if it is not valid YAML, and all problems with that are reported", () => {
    const result = formatFile("shop.yaml", "version: 1\nmerchant: M\nmerchant: N\nrolls: []\nversion: 2\n");
    expect(result).toMatchObject({ diagnostics: [{ code: "duplicate-key" }, { code: "duplicate-key" }] });
  });

  test("of every known kind keeps its errors", () => {
    const folder = new URL("../../kernel/read/err/", import.meta.url);
    for (const name of readdirSync(folder)
      .filter((each) => each.endsWith(".yaml"))
      .sort()) {
      const text = readFileSync(new URL(name, folder), "utf8");
      const result = formatFile(name, text);
      if ("text" in result) {
        expect(codes(result.text)).toEqual(codes(text));
        expect(formatted(result.text)).toBe(result.text);
      }
    }
  });
});

function codes(text: string): readonly string[] {
  return parseMerchantFile("x.yaml", text)
    .diagnostics.map(({ code }) => code)
    .toSorted();
}

const SECTIONS = [
  ["version: 1"],
  ["merchant: M"],
  ["environment: live"],
  ["sync:", "  members: additive", "  roles: authoritative"],
  ["include:", "- ../b.yaml", "- a.yaml"],
  ["ignore: {members: ['*@x.example'],", "    roles: [b, a]}"],
  [
    "checks:",
    "  - {at_most: 2, can: c}",
    "  - can: d",
    "    only:",
    '      - "role:Zed"',
    "      - a@x.example",
  ],
  [
    "roles:",
    "    - permissions: [c,",
    "        a]",
    "      name: Zed",
    "    - metadata:",
    "        b: [2, 1]",
    "        a: { y: 1, x: 'two' }",
    "      description: |",
    "        text",
    "",
    "          more",
    "      name: 'alpha'",
    "      permissions:",
    "      - z",
    "      - y",
  ],
  [
    "members:",
    "- email: Zoe@x.example",
    "  roles:",
    "    - Zed",
    "    - until: 2027-01-31",
    "      role: alpha",
    "- {email: b@x.example, roles: [role_b, role_a]}",
    "-",
    "  email: ada@x.example",
    "  roles: []",
  ],
];

/** A file in any order, with comments and blank lines anywhere. */
const commented = fc
  .record({
    sections: fc.shuffledSubarray(SECTIONS, { minLength: SECTIONS.length }),
    extras: fc.array(
      fc.record({
        at: fc.nat(60),
        kind: fc.constantFrom("beside", "above", "blank"),
        indent: fc.nat(8),
      }),
      { maxLength: 20 },
    ),
  })
  .map(({ sections, extras }) => {
    const lines = sections.flat().map((line) => [line]);
    for (const [index, { at, kind, indent }] of extras.entries()) {
      const slot = lines[at % lines.length];
      const text = slot?.at(-1) ?? "";
      // In a block of text, a comment would be text.
      if (slot === undefined || /^(?: {8}text|| {10}more)$/.test(text)) {
        continue;
      }
      if (kind === "beside" && !/#|^\s*-?$/.test(text)) {
        slot[slot.length - 1] = `${text} # note ${index}`;
      } else {
        slot.unshift(kind === "blank" ? "" : `${" ".repeat(indent)}# note ${index}`);
      }
    }
    return `${lines.flat().join("\n")}\n`;
  })
  .filter((text) => !/\|.*\n *#|text\n *#|text\n\n *#/.test(text));

describe("for any file", () => {
  test.each(["kept", "sorted"] as const)(
    "with entries %s, a second time changes nothing, and the meaning and the comments stay",
    (entries) => {
      const all = (text: string) => text.match(/(?<=email: ).*?@/g);
      fc.assert(
        fc.property(commented, (text) => {
          const result = formatFile("x.yaml", text, entries);
          if (!("text" in result)) {
            return;
          }
          expect(formatFile("x.yaml", result.text, entries)).toEqual({ text: result.text, changed: false });
          expect(meaning(result.text)).toEqual(meaning(text));
          expect(result.text.match(/# note \d+/g)?.toSorted()).toEqual(text.match(/# note \d+/g)?.toSorted());
          expect(result.text.match(/^[a-z]+(?=:)/gm)).toEqual(
            "version merchant environment include sync ignore checks roles members".split(" "),
          );
          if (entries === "kept") {
            expect(all(result.text)).toEqual(all(text));
          }
        }),
        { numRuns: runs(60) },
      );
    },
  );
});

/** The plain values, with the lists whose order says nothing in one order. */
function meaning(text: string): unknown {
  return parse(text, (key, value: unknown) =>
    /^(?:roles|members|permissions)$/.test(String(key)) && Array.isArray(value)
      ? value.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
      : value,
  );
}

function nameOf(entry: string | { readonly [key in "name" | "email" | "role"]?: string }): string {
  return typeof entry === "string" ? entry : (entry.email ?? entry.role ?? entry.name ?? "");
}
