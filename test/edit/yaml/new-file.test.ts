import { expect, test } from "vitest";
import { formatFile } from "../../../src/edit/format/format-file.ts";
import type { YamlEdit } from "../../../src/edit/yaml/edit-yaml.ts";
import { newFile } from "../../../src/edit/yaml/new-file.ts";
import type { JsonValue } from "../../../src/model/json.ts";

interface Entry {
  readonly value: JsonValue;
  readonly comment?: string;
  readonly remark?: true;
}

type Content = Omit<Parameters<typeof newFile>[0], "lists" | "edits"> & {
  readonly roles: readonly Entry[];
  readonly members: readonly Entry[];
};

/** Prints a file with some entries. */
function newMerchantFile(
  { roles, members, ...content }: Content,
  names?: ReadonlyMap<string, string>,
): string {
  const editOf = (section: string, { remark, ...entry }: Entry): YamlEdit => ({
    kind: remark ? "remark" : "append",
    path: [section],
    ...entry,
  });
  const edits = [
    ...roles.map((entry) => editOf("roles", entry)),
    ...members.map((entry) => editOf("members", entry)),
  ];
  const file = newFile({ ...content, lists: ["roles", "members"], edits }, names && { comments: names });
  return "text" in file ? file.text : JSON.stringify(file);
}

const comments = new Map([
  ["role_employee", "Employee"],
  ["role_owner", "Owner\n  - email: evil@example.com"],
]);

test("a new file is what fmt would print, with comments for ids and commented-out members", () => {
  const long = Array.from({ length: 9 }, (_, index) => `permission_number_${index}`);
  const text = newMerchantFile(
    {
      schema: "../schemas/merchant.schema.json",
      settings: {
        sync: { roles: "additive", members: "authoritative" },
        api: { key_env: "KEY", base_url: "https://access.example" },
        environment: "test",
        merchant: "MC1",
        version: 1,
      },
      roles: [
        { value: { permissions: ["a", "b"], name: "Cashier: #1", description: "Sells\nand refunds" } },
        {
          value: { name: "yes", permissions: long, metadata: { owner: "007", deep: { list: [1, [true]] } } },
        },
        { value: { name: "Empty", permissions: [] } },
      ],
      members: [
        {
          value: { email: "bot@example.com", roles: ["role_owner"] },
          comment: "service\u202e account",
          remark: true,
        },
        { value: { roles: ["role_employee"], email: "ada@example.com" } },
        {
          value: { email: "bob@example.com", roles: ["Cashier: #1", "role_owner", "role_employee"] },
          comment: "twins",
        },
        {
          value: {
            email: "till@example.com",
            roles: ["yes", { until: "2099-01-31", role: "role_owner" }],
            managed: { password_env: "TILL_7_PASSWORD", nickname: "Till 7" },
          },
        },
        { value: { id: "mem_1", roles: [] }, comment: "no address", remark: true },
      ],
    },
    comments,
  );
  expect(text).toMatchInlineSnapshot(`
    "# yaml-language-server: $schema=../schemas/merchant.schema.json
    version: 1
    merchant: MC1
    environment: test
    api:
      base_url: https://access.example
      key_env: KEY
    sync: { roles: additive, members: authoritative }

    roles:
      - name: "Cashier: #1"
        description: |-
          Sells
          and refunds
        permissions: [a, b]
      - name: Empty
        permissions: []
      - name: "yes"
        permissions:
          - permission_number_0
          - permission_number_1
          - permission_number_2
          - permission_number_3
          - permission_number_4
          - permission_number_5
          - permission_number_6
          - permission_number_7
          - permission_number_8
        metadata:
          owner: "007"
          deep:
            list:
              - 1
              - [true]

    members:
      - email: ada@example.com
        roles: [role_employee] # Employee
      # twins
      - email: bob@example.com
        roles: ["Cashier: #1", role_owner, role_employee] # role_owner: Owner\\n  - email: evil@example.com, role_employee: Employee
      - email: till@example.com
        managed: { nickname: Till 7, password_env: TILL_7_PASSWORD }
        roles:
          - "yes"
          - role: role_owner
            until: 2099-01-31
      # - email: bot@example.com # service\\u{202e} account
      #   roles: [role_owner] # Owner\\n  - email: evil@example.com
      # - roles: [] # no address
      #   id: mem_1
    "
  `);
  expect(formatFile("a.yaml", text)).toEqual({ text, changed: false });
});

test("a list with nothing but commented-out entries is empty", () => {
  const text = newMerchantFile({
    settings: { version: 1, merchant: "MC1" },
    roles: [],
    members: [{ value: { email: "bot@example.com", roles: ["role_owner"] }, remark: true }],
  });
  expect(text).toMatchInlineSnapshot(`
    "version: 1
    merchant: MC1

    roles: []

    # - email: bot@example.com
    #   roles: [role_owner]
    members: []
    "
  `);
  expect(formatFile("a.yaml", text)).toEqual({ text, changed: false });
});
