import { upTo } from "./chain.ts";
import { shopFile } from "./retail.ts";
import { append, create, dateAfter, edit, leaver, remove, TODAY, type YearChange } from "./year.ts";

const GROUP = "shared/group.yaml";
const LEAVERS = "shared/leavers.yaml";
const shop = (number: number): string => `access/shop-${String(number).padStart(3, "0")}.yaml`;
const area = (name: string): string => `shared/areas/${name}.yaml`;
const region = (name: string): string => `shared/regions/${name}.yaml`;

const CASHIER = `  - name: Cashier
    description: Sells at a till
    permissions: [catalog_view, checkouts_create]
`;

const SHOP = shopFile(17, "north-1");
const PEOPLE = SHOP.slice(SHOP.indexOf("\nmembers:"));

/** A year of the retail chain. */
export const RETAIL_YEAR: readonly YearChange[] = [
  {
    title: "All cashiers may look up sales",
    edits: [edit(GROUP, CASHIER, CASHIER.replace("create]", "create, transactions_view]"))],
    expected: { files: 1, lines: 1, merchants: 300, update: 300, gain: 2700 },
  },
  {
    title: "All shift leads may manage members",
    edits: [
      edit(
        GROUP,
        "[catalog_view, checkouts_create, refunds_create,",
        "[catalog_view, checkouts_create, members_edit, refunds_create,",
      ),
    ],
    expected: {
      files: 1,
      lines: 1,
      merchants: 300,
      update: 300,
      gain: 600,
      sensitive: 600,
      refused: { "run-gains": 300 },
    },
  },
  {
    title: "The same, with the override that the plan prints",
    edits: [
      edit(
        GROUP,
        "[catalog_view, checkouts_create, refunds_create,",
        "[catalog_view, checkouts_create, members_edit, refunds_create,",
      ),
      edit(
        GROUP,
        "  max_removals: 25%\n",
        "  max_removals: 25%\n  overrides: [run-gains=sensitive:7604db3155d5@000000000000]\n",
      ),
    ],
    expected: {
      files: 1,
      lines: 2,
      merchants: 300,
      update: 300,
      gain: 600,
      sensitive: 600,
      overridden: { "run-gains": 300 },
    },
  },
  {
    title: "All cashiers may edit payouts, which the group forbids",
    edits: [edit(GROUP, CASHIER, CASHIER.replace("create]", "create, payouts_edit]"))],
    expected: {
      files: 1,
      lines: 1,
      merchants: 300,
      update: 300,
      gain: 2700,
      sensitive: 2700,
      refused: { "forbid-permissions": 300, "run-gains": 300 },
      problems: { "policy-forbidden-permission": 1 },
    },
  },
  {
    title: "Cashiers are renamed to sales assistants",
    edits: [
      edit(
        GROUP,
        CASHIER,
        CASHIER.replace("name: Cashier", "name: Sales Assistant").replace(/$/, "    previously: Cashier\n"),
      ),
    ],
    expected: {
      files: 1,
      lines: 2,
      merchants: 300,
      update: 300,
      problems: { "previous-role-name": 300 },
    },
  },
  {
    title: "A rule for all shops: IT cannot create payouts",
    edits: [
      edit(
        GROUP,
        "checks:\n",
        `checks:
  - { member: it@example.com, cannot: [payouts_create] }
`,
      ),
    ],
    expected: { files: 1, lines: 1, merchants: 300 },
  },
  {
    title: "A shop opens",
    edits: [create(shop(301), shopFile(301, "west-2"))],
    expected: { files: 1, lines: 40, merchants: 1, create: 24, gain: 18, sensitive: 6 },
  },
  {
    title: "Twenty-five cashiers are hired in a week",
    edits: upTo(25).map((number) =>
      edit(
        shop(number),
        "\n  # Tills\n",
        `  - email: hired@shop-${String(number).padStart(3, "0")}.example.com\n    roles: [Cashier]\n\n  # Tills\n`,
      ),
    ),
    expected: { files: 25, lines: 50, merchants: 25, create: 25, gain: 25 },
  },
  {
    title: "A shop closes: its people are removed",
    edits: [edit(shop(17), PEOPLE, "")],
    expected: {
      files: 1,
      lines: 37,
      merchants: 1,
      delete: 15,
      lose: 15,
      refused: { "max-removals": 1 },
    },
  },
  {
    title: "The same, with the override that the plan prints",
    edits: [edit(shop(17), PEOPLE, `\nguards:\n  overrides: [max-removals=15@deac911193e7]\n`)],
    expected: { files: 1, lines: 36, merchants: 1, delete: 15, lose: 15, overridden: { "max-removals": 1 } },
  },
  {
    title: "A closed shop's file is deleted",
    edits: [remove(shop(17))],
    expected: { files: 1, lines: 40, merchants: 0 },
  },
  {
    title: "An area manager is replaced",
    edits: [edit(area("north-1"), "anh.fuentes@", "new.manager@")],
    expected: {
      files: 1,
      lines: 1,
      merchants: 40,
      create: 40,
      delete: 40,
      gain: 40,
      lose: 40,
      sensitive: 40,
    },
  },
  {
    title: "A region manager is replaced; the old one stays until the new one has accepted",
    edits: [edit(region("north"), "ada.ueda@", "new.manager@")],
    expected: { files: 1, lines: 1, merchants: 75, create: 75, deferred: 75, gain: 75, sensitive: 75 },
  },
  {
    title: "A region manager leaves without a successor",
    edits: [
      edit(
        region("north"),
        "members:\n  - email: ada.ueda@north.example.com\n    roles: [Region Manager]\n",
        "members: []\n",
      ),
    ],
    expected: {
      files: 1,
      lines: 3,
      merchants: 75,
      delete: 75,
      lose: 75,
      refused: { "min-holders": 75 },
    },
  },
  {
    title: "An area manager covers another area for six weeks",
    edits: [
      edit(
        area("north-2"),
        "members:\n",
        `members:
  - email: anh.fuentes@north.example.com
    roles: [Area Manager]
    until: ${dateAfter(TODAY, 42)}
`,
      ),
    ],
    expected: { files: 1, lines: 3, merchants: 35, create: 35, gain: 35, sensitive: 35 },
  },
  {
    title: "An area manager leaves the company",
    edits: [append(LEAVERS, leaver("anh.fuentes@north.example.com", 0))],
    expected: {
      files: 1,
      lines: 1,
      merchants: 300,
      delete: 40,
      lose: 40,
      problems: { "leaver-listed": 1 },
    },
  },
  {
    title: "An area manager is on parental leave for three months",
    edits: [
      edit(
        area("north-1"),
        "anh.fuentes@north.example.com\n    roles: [Area Manager]\n",
        `anh.fuentes@north.example.com
    roles: [Area Manager]
    suspended: { until: ${dateAfter(TODAY, 90)} }
`,
      ),
    ],
    expected: { files: 1, lines: 1, merchants: 40, update: 40, lose: 40 },
  },
  {
    title: "A cashier starts in three weeks",
    edits: [
      edit(
        shop(41),
        "\n  # Tills\n",
        `  - email: new.cashier@shop-041.example.com
    roles: [Cashier]
    from: ${dateAfter(TODAY, 21)}

  # Tills
`,
      ),
    ],
    expected: { files: 1, lines: 3, merchants: 1 },
  },
  {
    title: "A Christmas team of six for the forty shops of an area",
    edits: [
      create(
        "shared/christmas.yaml",
        `version: 1

members:
${upTo(6)
  .map(
    (number) => `  - email: christmas-${number}@temps.example.com
    roles: [Cashier]
    until: ${dateAfter(TODAY, 40)}
`,
  )
  .join("")}`,
      ),
      edit(
        area("north-1"),
        "include: [../regions/north.yaml]",
        "include: [../regions/north.yaml, ../christmas.yaml]",
      ),
    ],
    expected: { files: 2, lines: 22, merchants: 40, create: 240, gain: 240 },
  },
  {
    title: "A region allows fewer removals at once than the group",
    edits: [edit(region("east"), "\nmembers:\n", "\nguards:\n  max_removals: 10%\n\nmembers:\n")],
    expected: { files: 1, lines: 3, merchants: 75 },
  },
  {
    title: "A region allows more removals than the group, which has no effect",
    edits: [edit(region("east"), "\nmembers:\n", "\nguards:\n  max_removals: 50%\n\nmembers:\n")],
    expected: { files: 1, lines: 3, merchants: 0 },
  },
  {
    title: "A shop allows more removals at once than the group",
    edits: [edit(shop(17), "\nmembers:\n", "\nguards:\n  max_removals: 50%\n\nmembers:\n")],
    expected: { files: 1, lines: 3, merchants: 0, problems: { "looser-setting": 1 } },
  },
  {
    title: "A fourth till",
    edits: [
      edit(
        shop(17),
        "TILL_017_3 }\n    roles: [Till]\n",
        "TILL_017_3 }\n    roles: [Till]\n  - email: till-4@shop-017.example.com\n    managed: { nickname: Till 4, password_env: TILL_017_4 }\n    roles: [Till]\n",
      ),
    ],
    expected: { files: 1, lines: 3, merchants: 1, create: 1, gain: 1 },
  },
  {
    title: "The passwords of all tills change",
    edits: [],
    command: "rolecall apply --rotate-password 'till-*'",
    rotate: "till-*",
    expected: { files: 0, lines: 0, merchants: 300, passwords: 900 },
  },
  {
    title: "A shop moves to another region",
    edits: [edit(shop(75), "areas/north-2", "areas/east-1")],
    expected: {
      files: 1,
      lines: 1,
      merchants: 1,
      create: 3,
      delete: 2,
      deferred: 1,
      gain: 3,
      lose: 2,
      sensitive: 3,
    },
  },
  {
    title: "In two shops, cashiers also edit the catalogue",
    edits: [17, 18].map((number) =>
      edit(
        shop(number),
        "\nmembers:\n",
        "\nroles:\n  - { name: Cashier, adjust: { add: [catalog_edit] } }\n\nmembers:\n",
      ),
    ),
    expected: { files: 2, lines: 6, merchants: 2, update: 2, gain: 18 },
  },
  {
    title: "A cashier becomes a shift lead",
    edits: [
      edit(
        shop(41),
        "tomasz.fuentes@shop-041.example.com\n    roles: [Cashier]",
        "tomasz.fuentes@shop-041.example.com\n    roles: [Shift Lead]",
      ),
    ],
    expected: { files: 1, lines: 1, merchants: 1, update: 1, gain: 1, sensitive: 1 },
  },
  {
    title: "A merge leaves conflict markers in the group's file",
    edits: [
      edit(
        GROUP,
        "  max_removals: 25%\n",
        "<<<<<<< HEAD\n  max_removals: 25%\n=======\n  max_removals: 20%\n>>>>>>> limits\n",
      ),
    ],
    expected: { files: 1, lines: 4, merchants: 0, problems: { "merge-conflict": 1 } },
  },
];
