import fc from "fast-check";
import { expect, test } from "vitest";
import { formatFile } from "../../../src/edit/format/format-file.ts";
import { editYaml, type YamlEdit } from "../../../src/edit/yaml/edit-yaml.ts";
import type { JsonValue } from "../../../src/model/json.ts";
import { writtenLines } from "../../kernel/read/support/written-yaml.ts";
import { runs } from "../../support/property-runs.ts";

const comments = new Map([
  ["role_employee", "Employee"],
  ["role_owner", "Owner"],
]);

const permissions = fc.uniqueArray(
  fc.constantFrom("catalog_view", "refunds_create", "payouts_edit", "a_rather_long_permission_to_fill_lines"),
);
const roleId = fc.constantFrom(
  "role_employee",
  "role_owner",
  "role_7Kq2",
  "role_a_long_id_that_fills_a_line_or_two",
);
const until = fc.constantFrom("2099-01-31", "2098-01-31T18:00:00+01:00");
const grants = fc.uniqueArray(
  fc.oneof({ weight: 4, arbitrary: roleId }, fc.record({ role: roleId, until })),
  { selector: (grant) => (typeof grant === "string" ? grant : grant.role) },
);
const description = fc.constantFrom("Sells", "", "yes", "a: b", "Two\nlines", "Two\nlines\n", "# none");
const metadata = fc.dictionary(
  fc.constantFrom("owner", "b c", "1"),
  fc.constantFrom<JsonValue>("x", "007", 3, ["a"], { a: "b" }),
);

const role = fc.record({ description, permissions, metadata }, { requiredKeys: ["permissions"] });
const member = fc.record({ roles: grants, until, metadata }, { requiredKeys: ["roles"] });

const named = (list: readonly object[], key: string, name: (index: number) => string): JsonValue =>
  list.map((entry, index) => ({ [key]: name(index), ...entry }));

const file = fc
  .record({ roles: fc.array(role, { maxLength: 4 }), members: fc.array(member, { maxLength: 5 }) })
  .map(
    ({ roles, members }) =>
      JSON.parse(
        JSON.stringify({
          version: 1,
          merchant: "MC1",
          roles: named(roles, "name", (index) => `Role ${index}`),
          members: named(members, "email", (index) => `m${index}@example.com`),
        }),
      ) as { readonly roles: readonly JsonValue[]; readonly members: readonly JsonValue[] },
  );

const choice = fc.record({
  kind: fc.constantFrom("remove", "roles", "until", "description", "append", "remark", "role", "without"),
  which: fc.nat(20),
  member,
  role,
});

type Choice = typeof choice extends fc.Arbitrary<infer T> ? T : never;

function editOf(
  { kind, which, member: newMember, role: newRole }: Choice,
  number: number,
  sizes: { roles: number; members: number },
): YamlEdit | null {
  const of = (section: "roles" | "members") =>
    sizes[section] === 0 ? null : ([section, which % sizes[section]] as const);
  const [inRoles, inMembers] = [of("roles"), of("members")];
  const fresh = JSON.parse(JSON.stringify({ ...newMember, email: `new${number}@example.com` })) as JsonValue;
  switch (kind) {
    case "append":
      return {
        kind: "append",
        path: ["members"],
        value: fresh,
        ...(which % 3 === 0 ? { comment: "new" } : {}),
      };
    case "remark":
      return { kind: "remark", path: ["members"], value: fresh, comment: "service account" };
    case "role":
      return { kind: "append", path: ["roles"], value: { ...newRole, name: `New ${number}` } };
    case "description":
      return inRoles && { kind: "set", path: [...inRoles, "description"], value: newRole.description ?? "x" };
    case "without":
      return inRoles && { kind: "remove", path: [...inRoles, "permissions"] };
    case "remove":
      return which % 2 === 0 ? inRoles && { kind, path: inRoles } : inMembers && { kind, path: inMembers };
    case "roles":
      return inMembers && { kind: "set", path: [...inMembers, "roles"], value: newMember.roles as JsonValue };
    case "until":
      return inMembers && { kind: "set", path: [...inMembers, "until"], value: "2099-02-02" };
    default:
      return kind satisfies never;
  }
}

test("a file that is formatted stays so", () => {
  fc.assert(
    fc.property(
      file,
      fc.integer(),
      fc.array(choice, { minLength: 1, maxLength: 5 }),
      (value, seed, choices) => {
        const lines = writtenLines(value as unknown as JsonValue, seed, false, true);
        const formatted = formatFile("a.yaml", `${lines.map(({ text }) => text).join("\n")}\n`);
        if (!("text" in formatted)) throw new Error(JSON.stringify(formatted));
        const before = formatted.text;
        expect(formatFile("a.yaml", before)).toEqual({ text: before, changed: false });
        const sizes = { roles: value.roles.length, members: value.members.length };
        const edits: YamlEdit[] = [];
        for (const [number, one] of choices.entries()) {
          const edit = editOf(one, number, sizes);
          const isFree = edits.every(({ path }) => path.slice(0, 2).join() !== edit?.path.slice(0, 2).join());
          if (edit !== null && (isFree || edit.path.length === 1)) edits.push(edit);
        }
        const edited = editYaml(before, edits, { comments });
        if (!("text" in edited)) throw new Error(`${JSON.stringify([edited, edits])}\n${before}`);
        const after = formatFile("a.yaml", edited.text);
        if (!("text" in after)) throw new Error(JSON.stringify(after));
        if (after.text !== edited.text) {
          throw new Error(`${JSON.stringify(edits)}\n${before}=====\n${edited.text}=====\n${after.text}`);
        }
        expect(
          editYaml(
            edited.text,
            edits.filter(({ kind }) => kind === "remark"),
            { comments },
          ),
        ).toEqual(edited);
      },
    ),
    { numRuns: runs(60) },
  );
});
