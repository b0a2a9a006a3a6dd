import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { editYaml, type YamlEdit } from "../../../src/edit/yaml/edit-yaml.ts";

const added = (text: string, ...edits: readonly YamlEdit[]): string => {
  const edited = editYaml(text, edits);
  if ("refused" in edited) throw new Error(edited.refused);
  return edited.text;
};

const person = (email: string, comment?: string): YamlEdit => ({
  kind: "append",
  path: ["members"],
  value: { email, roles: ["Cashier"] },
  ...(comment !== undefined && { comment }),
});

test("a new entry has its place in a sorted list, whatever the case, with the comments of the others", () => {
  const text = `members:
  - { email: Ada@example.com, roles: [Lead] } # the first
  # helps out
  - { email: cy@example.com, roles: [Lead, role_employee] }

roles: []
`;
  const entries = [
    person("bo@example.com", "from the agency"),
    person("aa@example.com"),
    person("dan@x.com"),
  ];
  expect(added(text, ...entries)).toBe(`members:
  - { email: aa@example.com, roles: [Cashier] }
  - { email: Ada@example.com, roles: [Lead] } # the first
  # from the agency
  - { email: bo@example.com, roles: [Cashier] }
  # helps out
  - { email: cy@example.com, roles: [Lead, role_employee] }
  - { email: dan@x.com, roles: [Cashier] }

roles: []
`);
  const grant = { role: "Night", until: "2027-01-31" };
  expect(added(text, { kind: "append", path: ["members", 1, "roles"], value: grant })).toContain(
    "roles: [Lead, { role: Night, until: 2027-01-31 }, role_employee]",
  );
});

test("a new entry follows the others in a list that is not sorted, and where the order is the user's", () => {
  const text = "members:\n  - email: cy@example.com\n  - email: ada@example.com\ninclude: [b.yaml, c.yaml]\n";
  expect(added(text, person("bo@example.com"))).toMatch(/ada@example\.com\n {2}- email: bo@/);
  expect(added(text, { kind: "append", path: ["include"], value: "a.yaml" })).toContain(
    "[b.yaml, c.yaml, a.yaml]",
  );
});

test("of 150 pairs of changes that each add a person to a sorted list of 40, at most 5 conflict", () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-merge-"));
  const name = fc.stringMatching(/^[a-z]{8}$/).map((word) => `${word}@example.com`);
  const people = fc.uniqueArray(name, { minLength: 42, maxLength: 42 });
  try {
    const conflicts = { sorted: 0, appended: 0 };
    for (const [index, [one = "", other = "", ...listed]] of fc
      .sample(people, { seed: 1, numRuns: 150 })
      .entries()) {
      for (const order of index % 10 === 0 ? (["sorted", "appended"] as const) : (["sorted"] as const)) {
        const emails = order === "sorted" ? listed.sort() : listed.sort().reverse();
        const base = `members:\n${emails.map((email) => `  - email: ${email}\n    roles: [Cashier]\n`).join("")}`;
        const texts = [added(base, person(one)), base, added(base, person(other))];
        const files = texts.map((text, side) => {
          const file = join(folder, `${index}-${side}`);
          writeFileSync(file, text);
          return file;
        });
        if (!merges(files)) conflicts[order] += 1;
      }
    }
    expect(conflicts.appended).toBe(15);
    expect(conflicts.sorted).toBeLessThanOrEqual(5);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 60_000);

function merges(files: readonly string[]): boolean {
  try {
    execFileSync("git", ["merge-file", "--stdout", "--quiet", ...files]);
    return true;
  } catch {
    return false;
  }
}
