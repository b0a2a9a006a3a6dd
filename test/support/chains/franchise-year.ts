import { append, create, edit, type YearChange } from "./year.ts";

const POLICY = "hq/policy.yaml";
const shop = (franchisee: string, number: number): string =>
  `access/franchise/${franchisee}/shop-${number}.yaml`;

/** A year of the franchise. */
export const FRANCHISE_YEAR: readonly YearChange[] = [
  {
    title: "A franchisee hires a cashier",
    edits: [append(shop("osei", 2), "  - email: new.cashier@osei.example\n    roles: [Cashier]\n")],
    expected: { files: 1, lines: 2, merchants: 1, create: 1, gain: 1 },
  },
  {
    title: "A franchisee adds a forbidden permission to a role",
    edits: [
      edit(
        shop("osei", 2),
        "\nmembers:\n",
        `
roles:
  - name: Bookkeeper
    permissions: [payouts_edit, payouts_view]

members:
`,
      ),
    ],
    expected: {
      files: 1,
      lines: 4,
      merchants: 1,
      create: 1,
      refused: { "forbid-permissions": 1 },
      problems: { "policy-forbidden-permission": 1, "unheld-role": 1 },
    },
  },
  {
    title: "A franchisee makes somebody an administrator",
    edits: [append(shop("osei", 2), "  - email: nephew@osei.example\n    roles: [role_admin]\n")],
    expected: {
      files: 1,
      lines: 2,
      merchants: 1,
      create: 1,
      gain: 1,
      refused: { "check-at-most": 1, "max-holders": 1 },
      problems: { "policy-max-holders": 1 },
    },
  },
  {
    title: "A franchisee tries to loosen the guards",
    edits: [edit(shop("osei", 2), "\nmembers:\n", "\nguards:\n  max_removals: 100%\n\nmembers:\n")],
    expected: { files: 1, lines: 3, merchants: 0, problems: { "section-not-allowed": 1 } },
  },
  {
    title: "A franchisee adds a shop outside the rules",
    edits: [
      create(
        "access/osei-7.yaml",
        `version: 1
merchant: MC0OSEI7

members:
  - email: office@osei.example
    roles: [role_owner]
`,
      ),
    ],
    expected: { files: 1, lines: 6, merchants: 0, problems: { "file-not-enforced": 1 } },
  },
  {
    title: "Head office allows one shop manager in each shop",
    edits: [edit(POLICY, "max_holders: { role_admin: 0,", "max_holders: { Shop Manager: 1, role_admin: 0,")],
    expected: { files: 1, lines: 1, merchants: 48 },
  },
  {
    title: "Head office forbids all shops from editing the catalogue",
    edits: [edit(POLICY, "forbid_permissions:\n", "forbid_permissions:\n    - catalog_edit\n")],
    expected: {
      files: 1,
      lines: 1,
      merchants: 48,
      refused: { "forbid-permissions": 48 },
      problems: { "policy-forbidden-permission": 1 },
    },
  },
  {
    title: "A franchisee joins, with its first shop",
    edits: [
      create(
        "access/franchise/zuri/shop-1.yaml",
        `version: 1
merchant: MC0ZURI1
include: [../../../hq/roles.yaml]

members:
  - email: office@zuri.example
    roles: [Franchise Manager]
`,
      ),
      append(".github/CODEOWNERS", "/access/franchise/zuri/       @example/zuri\n"),
    ],
    expected: { files: 2, lines: 8, merchants: 1, create: 4, gain: 1, sensitive: 1 },
  },
];
