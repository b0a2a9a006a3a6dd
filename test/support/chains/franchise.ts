import {
  type Chain,
  type Device,
  liveMember,
  membersText,
  nameOf,
  type Person,
  type Role,
  rolesText,
  upTo,
} from "./chain.ts";

const FRANCHISEES = ["brandt", "eriksen", "fontaine", "hoshino", "kelly", "marino", "osei", "pinto"] as const;
type Franchisee = (typeof FRANCHISEES)[number];
const SHOPS_EACH = 6;

const ROLES: readonly Role[] = [
  {
    name: "Franchise Manager",
    description: "Answers for all shops of a franchisee",
    permissions: ["catalog_view", "members_view", "payouts_view", "refunds_create", "reports_view"],
  },
  {
    name: "Shop Manager",
    description: "Runs one shop",
    permissions: ["catalog_edit", "catalog_view", "refunds_create", "reports_view", "transactions_view"],
  },
  {
    name: "Cashier",
    description: "Sells at a till",
    permissions: ["catalog_view", "checkouts_create"],
  },
];

const HEAD_OFFICE: readonly Person[] = [{ email: "owner@hq.example.com", roles: ["role_owner"] }];

const POLICY = `# What holds at every franchisee, whatever its own files say. Head office owns this file.
version: 1

guards:
  max_removals: 25%
  protect: { members: [owner@hq.example.com] }
  min_holders: { role_owner: 1 }

policies:
  # Who manages access at the service itself could do there what no file may.
  max_holders: { role_admin: 0, role_manager: 0, role_owner: 1 }
  require_mfa: [role_owner]
  forbid_permissions:
    - members_create
    - members_delete
    - members_update
    - payouts_edit
    - roles_create
    - roles_delete
    - roles_update

checks:
  - { can: refunds_create, at_most: 3 }
`;

const ROLECALL = `# Which rules hold for which files, whatever these say.
version: 1
enforce:
  - files: ["access/franchise/**"]
    rules: hq/policy.yaml
    allow: [include, roles, members]
enforce_all: true
`;

const SHARED = `# The roles that each shop begins with, and head office's own people.
version: 1

`;

/**
 * Returns a franchise: eight franchisees with six shops each, who edit the files in their folders. Head office owns the
 * rules, the roles and rolecall.yaml.
 */
export function franchiseChain(): Chain {
  const shops = FRANCHISEES.flatMap((franchisee) => upTo(SHOPS_EACH).map((shop) => ({ franchisee, shop })));
  return {
    files: {
      ".github/CODEOWNERS": `${OWNERS}${FRANCHISEES.map(ownerLine).join("")}`,
      "rolecall.yaml": ROLECALL,
      "hq/policy.yaml": POLICY,
      "hq/roles.yaml": `${SHARED}${rolesText(ROLES)}\nmembers:\n${membersText(HEAD_OFFICE)}`,
      ...Object.fromEntries(
        FRANCHISEES.map((name) => [`access/franchise/${name}/people.yaml`, peopleFile(name)]),
      ),
      ...Object.fromEntries(
        shops.map(({ franchisee, shop }) => [
          `access/franchise/${franchisee}/shop-${shop}.yaml`,
          shopFile(franchisee, shop),
        ]),
      ),
    },
    live: [
      ...shops.map(({ franchisee, shop }) => ({
        code: codeOf(franchisee, shop),
        name: `${franchisee} ${shop}`,
        roles: ROLES,
        members: [...HEAD_OFFICE, ...office(franchisee), ...staff(franchisee, shop)].map(liveMember),
      })),
      // Opened, and not in the files yet.
      { code: "MC0ZURI1", name: "zuri 1", roles: [], members: HEAD_OFFICE.map(liveMember) },
    ],
  };
}

/** Nobody but head office owns the rules, and each franchisee owns its folder alone. */
const OWNERS = `# Who has to approve a change, by the file that it is in. The last line that matches counts.
*                            @example/head-office

`;

function ownerLine(franchisee: Franchisee): string {
  return `${`/access/franchise/${franchisee}/`.padEnd(28)} @example/${franchisee}\n`;
}

function peopleFile(franchisee: Franchisee): string {
  return `# The franchisee's people who work in all of its shops.
version: 1

members:
${membersText(office(franchisee))}`;
}

function office(franchisee: Franchisee): readonly Person[] {
  return [{ email: `office@${franchisee}.example`, roles: ["Franchise Manager"] }];
}

function staff(franchisee: Franchisee, shop: number): readonly (Person | Device)[] {
  const first = (FRANCHISEES.indexOf(franchisee) * SHOPS_EACH + shop) * 7;
  const roles = ["Shop Manager", "Cashier", "Cashier", "Cashier", "Cashier"];
  return roles.map((role, index) => ({
    email: `${nameOf(first + index)}@${franchisee}.example`,
    roles: [role],
  }));
}

function shopFile(franchisee: Franchisee, shop: number): string {
  return `version: 1
merchant: ${codeOf(franchisee, shop)}
include: [../../../hq/roles.yaml, people.yaml]

members:
${membersText(staff(franchisee, shop))}`;
}

const codeOf = (franchisee: Franchisee, shop: number): string => `MC0${franchisee.toUpperCase()}${shop}`;
