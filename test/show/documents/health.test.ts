import stringWidth from "string-width";
import { expect, test } from "vitest";
import type { HealthReport } from "../../../src/model/reports.ts";
import { documentText } from "../../../src/show/blocks/text-blocks.ts";
import { healthDocument } from "../../../src/show/documents/health.ts";
import { PLAIN } from "../../../src/show/style.ts";
import { HOSTILE_TEXTS } from "../../support/hostile.ts";

const REPORT: HealthReport = {
  groups: [
    {
      about: "merchant",
      names: ["MC1", "MC2", "MC3", "MC4", "MC5", "MC6"],
      checks: [
        { name: "list roles", status: "ok", detail: "roles_list, for plan" },
        {
          name: "retrieve a member",
          status: "unknown",
          detail: "members_view, for apply: 500: it fails now and then",
        },
        { name: "create a role", status: "failed", detail: "roles_create, for apply: not permitted (403)" },
      ],
    },
  ],
  needed: [
    { keySource: "A", command: "plan", permissions: ["roles_list"], missing: [] },
    { keySource: "A", command: "drift", permissions: ["roles_list"], missing: [] },
    {
      keySource: "B",
      command: "apply",
      permissions: ["roles_list", "roles_create"],
      missing: ["roles_create"],
    },
  ],
  next: ["Grant the key in B: roles_create."],
};

const shown = (report: HealthReport, columns: number): string =>
  documentText(healthDocument(report), { ...PLAIN, columns });

test("a narrow terminal gets the details below the names", () => {
  expect(shown(REPORT, 40)).toMatchInlineSnapshot(`
    "6 merchants: MC1, MC2, MC3, MC4, MC5, …
      ✓ list roles
          roles_list, for plan
      ? retrieve a member
          members_view, for apply: 500: it
          fails now and then
      ✗ create a role
          roles_create, for apply: not
          permitted (403)

    Least permissions to grant
      plan, drift, with A
        roles_list
      apply, with B
        roles_list, roles_create

    1 check failed, 1 unknown.
      → Grant the key in B: roles_create.
    "
  `);
});

test("a mark, its colour and missing permissions stand out", () => {
  const style = { ...PLAIN, red: (text: string) => `<${text}>`, green: (text: string) => `[${text}]` };
  const text = documentText(healthDocument(REPORT), style);
  expect(text).toContain("  [✓] list roles         roles_list, for plan\n");
  expect(text).toContain("  <✗> create a role");
  expect(text).toContain("    roles_list, <roles_create>\n");
  expect(text).toContain("<1 check failed, 1 unknown.>");
});

test("what files and the service say is shown on one line, without control characters", () => {
  const checks = HOSTILE_TEXTS.map((detail) => ({ name: "list roles", status: "failed" as const, detail }));
  const text = shown(
    { groups: [{ about: "key", names: [...HOSTILE_TEXTS], checks }], needed: [], next: [...HOSTILE_TEXTS] },
    80,
  );
  expect(text).not.toMatch(/(?!\n)[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/u);
  expect(text).not.toMatch(/^\s*(?:::|##\[)/m);
  for (const line of shown(REPORT, 40).split("\n")) expect(stringWidth(line)).toBeLessThanOrEqual(40);
});
