import { createTwoFilesPatch } from "diff";
import { describe, expect, test } from "vitest";
import { editYaml, type YamlEdit } from "../../../src/edit/yaml/edit-yaml.ts";

const comments = new Map([
  ["role_employee", "Employee"],
  ["role_owner", "Owner"],
]);

const FILE = `# yaml-language-server: $schema=x
version: 1
merchant: MC1 # code

roles:
  # The till
  - name: Cashier
    permissions: [catalog_view, checkouts_create] # why
  - name: Lead
    description: |
      Two
      lines
    permissions:
      - a # why a
      - b

members:
  - email: ada@example.com
    roles: [Cashier, role_employee]

  # Bob
  - email: bob@example.com # tmp
    roles: [role_employee] # Employee

  - email: carol@example.com
    roles:
      - role: Cashier
        until: 2099-01-31
      - role_employee
  # end
`;

/** Returns the lines that the edits delete and insert, or why they are refused. */
function diffOf(edits: readonly YamlEdit[], text = FILE): string {
  const edited = editYaml(text, edits, { comments });
  if (!("text" in edited)) return `refused: ${edited.refused} ${edited.path.join(".")}`;
  const patch = createTwoFilesPatch("", "", text, edited.text, "", "", { context: 1 });
  return patch.split("\n").slice(4).join("\n");
}

test("a text in quotes stays in its quotes", () => {
  const text = `version: 1
roles:
  - name: Lead
    description: "Leads" # d
    metadata: { 'a': 'x', "b": "y", c: 'z' }
checks: [{ can: a, only: ["role:Old", 'b'] }]
`;
  const set = (value: string, ...path: readonly (string | number)[]): YamlEdit => ({
    kind: "set",
    path,
    value,
  });
  const edits = [
    set("Leads more", "roles", 0, "description"),
    set("it's", "roles", 0, "metadata", "a"),
    set("5", "roles", 0, "metadata", "b"),
    set("a\u0007", "roles", 0, "metadata", "c"),
    set("role:New", "checks", 0, "only", 0),
  ];
  expect(diffOf(edits, text)).toBe(`@@ -3,4 +3,4 @@
   - name: Lead
-    description: "Leads" # d
-    metadata: { 'a': 'x', "b": "y", c: 'z' }
-checks: [{ can: a, only: ["role:Old", 'b'] }]
+    description: "Leads more" # d
+    metadata: { 'a': 'it''s', "b": "5", c: "a\\u0007" }
+checks: [{ can: a, only: ["role:New", 'b'] }]
`);
});

describe("removing", () => {
  test("a member takes the comments of its own and one blank line", () => {
    expect(diffOf([{ kind: "remove", path: ["members", 1] }])).toMatchInlineSnapshot(`
      "@@ -20,6 +20,2 @@
       
      -  # Bob
      -  - email: bob@example.com # tmp
      -    roles: [role_employee] # Employee
      -
         - email: carol@example.com
      "
    `);
  });

  test("the last entry of a list leaves what stands below it", () => {
    expect(diffOf([{ kind: "remove", path: ["members", 2] }])).toMatchInlineSnapshot(`
      "@@ -23,8 +23,2 @@
           roles: [role_employee] # Employee
      -
      -  - email: carol@example.com
      -    roles:
      -      - role: Cashier
      -        until: 2099-01-31
      -      - role_employee
         # end
      "
    `);
  });

  test("all entries leaves an empty list", () => {
    const edits = [0, 1, 2].map((index): YamlEdit => ({ kind: "remove", path: ["members", index] }));
    expect(diffOf(edits)).toMatchInlineSnapshot(`
      "@@ -16,15 +16,4 @@
       
      -members:
      -  - email: ada@example.com
      -    roles: [Cashier, role_employee]
      +members: []
       
      -  # Bob
      -  - email: bob@example.com # tmp
      -    roles: [role_employee] # Employee
      -
      -  - email: carol@example.com
      -    roles:
      -      - role: Cashier
      -        until: 2099-01-31
      -      - role_employee
      -  # end
      +# end
      "
    `);
  });

  test("a key from the line of its dash", () => {
    const edits: readonly YamlEdit[] = [
      { kind: "remove", path: ["roles", 1, "description"] },
      { kind: "remove", path: ["roles", 0, "name"] },
    ];
    expect(diffOf(edits)).toMatchInlineSnapshot(`
      "@@ -6,8 +6,4 @@
         # The till
      -  - name: Cashier
      -    permissions: [catalog_view, checkouts_create] # why
      +  - permissions: [catalog_view, checkouts_create] # why
         - name: Lead
      -    description: |
      -      Two
      -      lines
           permissions:
      "
    `);
  });

  test("what is not there is refused", () => {
    expect(diffOf([{ kind: "remove", path: ["members", 7] }])).toBe("refused: missing members.7");
    expect(diffOf([{ kind: "remove", path: ["checks"] }])).toBe("refused: missing checks");
  });
});

describe("adding", () => {
  test("a member stands behind the last one, in its style, and once as a comment", () => {
    const edits: readonly YamlEdit[] = [
      {
        kind: "append",
        path: ["members"],
        value: { roles: ["Cashier", "role_owner"], email: "x@example.com", id: "mem_1" },
        comment: "twins\n- email: evil@example.com",
      },
      {
        kind: "remark",
        path: ["members"],
        value: { email: "bot@example.com", roles: ["role_owner"] },
        comment: "service\naccount",
      },
    ];
    expect(diffOf(edits)).toMatchInlineSnapshot(`
      "@@ -29,2 +29,9 @@
             - role_employee
      +
      +  # twins\\n- email: evil@example.com
      +  - email: x@example.com
      +    roles: [Cashier, role_owner] # role_owner: Owner
      +    id: mem_1
      +  # - email: bot@example.com # service\\naccount
      +  #   roles: [role_owner] # Owner
         # end
      "
    `);
  });

  test("a key stands where fmt puts it", () => {
    const edits: readonly YamlEdit[] = [
      { kind: "set", path: ["members", 1, "until"], value: "2099-01-01" },
      { kind: "set", path: ["roles", 0, "description"], value: "yes" },
      { kind: "set", path: ["sync", "members"], value: "additive" },
    ];
    expect(diffOf(edits)).toMatchInlineSnapshot(`
      "@@ -4,2 +4,4 @@
       
      +sync: { members: additive }
      +
       roles:
      @@ -7,2 +9,3 @@
         - name: Cashier
      +    description: "yes"
           permissions: [catalog_view, checkouts_create] # why
      @@ -23,2 +26,3 @@
           roles: [role_employee] # Employee
      +    until: 2099-01-01
       
      "
    `);
  });

  test("a list that is absent begins", () => {
    expect(
      diffOf([{ kind: "append", path: ["checks"], value: { can: "x", at_most: 2 } }]),
    ).toMatchInlineSnapshot(`
      "@@ -4,2 +4,6 @@
       
      +checks:
      +  - can: x
      +    at_most: 2
      +
       roles:
      "
    `);
  });
});

describe("setting", () => {
  test("a list changes only its items, and the comment that says what they are called", () => {
    const edits: readonly YamlEdit[] = [
      { kind: "set", path: ["members", 1, "roles"], value: ["role_owner"] },
      {
        kind: "set",
        path: ["members", 2, "roles"],
        value: [{ role: "Cashier", until: "2099-02-01" }, "role_owner"],
      },
      { kind: "set", path: ["roles", 1, "permissions"], value: ["c", "b"] },
      { kind: "set", path: ["roles", 0, "permissions"], value: [] },
    ];
    expect(diffOf(edits)).toMatchInlineSnapshot(`
      "@@ -7,3 +7,3 @@
         - name: Cashier
      -    permissions: [catalog_view, checkouts_create] # why
      +    permissions: [] # why
         - name: Lead
      @@ -13,3 +13,3 @@
           permissions:
      -      - a # why a
      +      - c
             - b
      @@ -22,3 +22,3 @@
         - email: bob@example.com # tmp
      -    roles: [role_employee] # Employee
      +    roles: [role_owner] # Owner
       
      @@ -27,4 +27,4 @@
             - role: Cashier
      -        until: 2099-01-31
      -      - role_employee
      +        until: 2099-02-01
      +      - role_owner # Owner
         # end
      "
    `);
  });

  test("a list in brackets that gets too long for a line becomes a block", () => {
    const value = ["catalog_view", "x", "checkouts_create", "z".repeat(40), "y".repeat(20)];
    expect(diffOf([{ kind: "set", path: ["roles", 0, "permissions"], value }])).toMatchInlineSnapshot(`
      "@@ -7,3 +7,8 @@
         - name: Cashier
      -    permissions: [catalog_view, checkouts_create] # why
      +    permissions: # why
      +      - catalog_view
      +      - x
      +      - checkouts_create
      +      - zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
      +      - yyyyyyyyyyyyyyyyyyyy
         - name: Lead
      "
    `);
  });

  test("texts of several lines", () => {
    expect(diffOf([{ kind: "set", path: ["roles", 1, "description"], value: "One" }])).toMatchInlineSnapshot(`
      "@@ -9,5 +9,3 @@
         - name: Lead
      -    description: |
      -      Two
      -      lines
      +    description: One
           permissions:
      "
    `);
    expect(
      diffOf([{ kind: "set", path: ["roles", 1, "description"], value: "One\nThree\n" }]),
    ).toMatchInlineSnapshot(`
      "@@ -10,4 +10,4 @@
           description: |
      -      Two
      -      lines
      +      One
      +      Three
           permissions:
      "
    `);
  });
});

const ALIASES = `members:
  - email: a@example.com
    roles: &s [x, y] # ours
  - email: b@example.com
    roles: *s
  - email: c@example.com
    roles: *s
`;

describe("aliases", () => {
  test("are written out where the list that they stand for changes", () => {
    expect(
      diffOf([{ kind: "set", path: ["members", 0, "roles"], value: ["x"] }], ALIASES),
    ).toMatchInlineSnapshot(`
      "@@ -2,6 +2,6 @@
         - email: a@example.com
      -    roles: &s [x, y] # ours
      +    roles: &s [x] # ours
         - email: b@example.com
      -    roles: *s
      +    roles: [x, y]
         - email: c@example.com
      -    roles: *s
      +    roles: [x, y]
      "
    `);
  });

  test("are written out where they have to change", () => {
    expect(
      diffOf([{ kind: "set", path: ["members", 1, "roles", 0], value: "z" }], ALIASES),
    ).toMatchInlineSnapshot(`
      "@@ -4,3 +4,3 @@
         - email: b@example.com
      -    roles: *s
      +    roles: [z, y]
         - email: c@example.com
      "
    `);
  });

  test("stay where all of them change alike", () => {
    const edits = [0, 1, 2].map(
      (index): YamlEdit => ({ kind: "set", path: ["members", index, "roles"], value: ["x", "z"] }),
    );
    expect(diffOf(edits, ALIASES)).toMatchInlineSnapshot(`
      "@@ -2,3 +2,3 @@
         - email: a@example.com
      -    roles: &s [x, y] # ours
      +    roles: &s [x, z] # ours
         - email: b@example.com
      "
    `);
  });

  test("are written out where their anchor is removed", () => {
    expect(diffOf([{ kind: "remove", path: ["members", 0] }], ALIASES)).toMatchInlineSnapshot(`
      "@@ -1,7 +1,5 @@
       members:
      -  - email: a@example.com
      -    roles: &s [x, y] # ours
         - email: b@example.com
      -    roles: *s
      +    roles: [x, y]
         - email: c@example.com
      -    roles: *s
      +    roles: [x, y]
      "
    `);
  });
});

test("an edit of an unknown kind throws, and removes nothing", () => {
  const edit = { kind: "replace", path: ["version"], value: 2 } as unknown as YamlEdit;
  expect(() => editYaml(FILE, [edit])).toThrow(new TypeError('an edit has the unknown kind "replace"'));
});
