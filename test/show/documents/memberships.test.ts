import stringWidth from "string-width";
import { expect, test } from "vitest";
import type { Membership } from "../../../src/model/live.ts";
import { documentText } from "../../../src/show/blocks/text-blocks.ts";
import {
  type MembershipsView,
  membershipsDocument,
} from "../../../src/show/documents/memberships-document.ts";
import { PLAIN } from "../../../src/show/style.ts";
import { HOSTILE_TEXTS } from "../../support/hostile.ts";

const membership = (id: string, name: string, roles: readonly string[]): Membership => ({
  id: `mem_${id}`,
  resource: { id, type: "merchant", name, sandbox: true },
  roles,
  status: "accepted",
});

const view = (memberships: readonly Membership[]): MembershipsView => ({
  service: "https://api.example.com",
  keySource: "ROLECALL_API_KEY",
  memberships,
  withoutFile: memberships.map(({ resource }) => resource.id),
  notReached: [],
});

const shown = (views: readonly MembershipsView[], columns: number): string =>
  documentText(membershipsDocument(views, { anyFiles: true, filtered: false }, false), {
    ...PLAIN,
    columns,
  });

test("a narrow terminal gets a block for each membership", () => {
  const one = membership("MC4F7K2P", "Harbour Street, by the old fish market", ["role_owner", "role_admin"]);
  expect(shown([view([one])], 40).split("\n\n")[0]).toMatchInlineSnapshot(`
    "MC4F7K2P
      Harbour Street, by the old fish
        market, merchant (test), accepted,
        role_owner, role_admin"
  `);
});

test.each([120, 80, 40, 20])("no line is wider than %i columns, whatever names hold", (columns) => {
  const memberships = HOSTILE_TEXTS.map((text, index) =>
    membership(`MC${index}`, `${text} ${"日本語".repeat(30)} ${"x".repeat(300)}`, [text, "role_owner"]),
  );
  const table = shown([view(memberships)], columns).split("\n\n")[0] ?? "";
  for (const line of table.split("\n")) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
});

test("long lists are shortened unless everything is asked for", () => {
  const many = Array.from({ length: 25 }, (_, index) => membership(`MC${index}`, "A shop", ["role_owner"]));
  const text = shown([view(many)], 80);
  expect(text).toContain("… and 15 more (--verbose shows all)");
  expect(text).toContain("rolecall pull MC0 MC1 MC2 MC3 MC4\n");
  const all = documentText(
    membershipsDocument([view(many)], { anyFiles: true, filtered: false }, true),
    PLAIN,
  );
  expect(all).not.toContain("more (--verbose");
});
