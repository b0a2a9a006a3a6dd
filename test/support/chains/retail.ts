import {
  type Chain,
  type Device,
  liveMember,
  membersText,
  nameOf,
  type Person,
  type Role,
  rolesText,
  threeDigits,
  upTo,
} from "./chain.ts";

const REGIONS = ["north", "east", "south", "west"] as const;
type Region = (typeof REGIONS)[number];

/** Two areas in a region: one with forty shops, one with the rest. */
const SHOPS = 300;
const SHOPS_IN_REGION = SHOPS / REGIONS.length;
const SHOPS_IN_AREA = 40;

const ROLES: readonly Role[] = [
  {
    name: "Region Manager",
    description: "Answers for the areas of a region",
    permissions: ["members_view", "payouts_view", "refunds_create", "reports_export", "transactions_view"],
  },
  {
    name: "Area Manager",
    description: "Answers for up to forty shops",
    permissions: ["members_view", "payouts_view", "refunds_create", "reports_view", "transactions_view"],
  },
  {
    name: "Shop Manager",
    description: "Runs one shop",
    permissions: ["catalog_edit", "catalog_view", "refunds_create", "reports_view", "transactions_view"],
  },
  {
    name: "Shift Lead",
    description: "Opens and closes the shop",
    permissions: ["catalog_view", "checkouts_create", "refunds_create", "transactions_view"],
  },
  {
    name: "Cashier",
    description: "Sells at a till",
    permissions: ["catalog_view", "checkouts_create"],
  },
  {
    name: "Till",
    description: "A till itself, whoever stands at it",
    permissions: ["checkouts_create"],
  },
];

const HEAD_OFFICE: readonly Person[] = [
  { email: "ada@example.com", roles: ["role_owner"] },
  { email: "it@example.com", roles: ["role_admin"] },
];

const GROUP = `# What all shops have in common. Head office owns this file.
version: 1
include: [leavers.yaml]

guards:
  max_removals: 25%
  protect: { members: [ada@example.com] }
  min_holders: { Region Manager: 1, role_owner: 1 }

policies:
  email_domains: [example.com, "*.example.com"]
  max_holders: { Area Manager: 3, role_admin: 2 }
  require_mfa: [role_admin, role_owner]
  forbid_permissions: [merchant_close, owner_transfer, payouts_edit]

checks:
  - can: payouts_view
    only: ["role:Area Manager", "role:Region Manager", "role:role_admin", "role:role_owner"]

`;

const LEAVERS = `# Who has left the company. From that day on, nobody here holds anything in any shop.
version: 1

leavers:
  - { email: otto.brandt@example.com, from: 2026-09-30 }
`;

/** Who answers for a shop above it, from the region down. */
interface Area {
  readonly name: string;
  readonly region: Region;
  readonly people: readonly Person[];
}

/**
 * Returns a retail chain: 300 shops with twelve people and three tills each, in four regions and eight areas. A shop's
 * file includes its area's, which includes its region's, which includes the group's.
 */
export function retailChain(): Chain {
  const shops = upTo(SHOPS).map((number) => ({ number, area: areaOf(number) }));
  const areas = [...new Map(shops.map((shop) => [shop.area.name, shop.area])).values()];
  return {
    files: {
      ".github/CODEOWNERS": OWNERS,
      "shared/leavers.yaml": LEAVERS,
      "shared/group.yaml": `${GROUP}${rolesText(ROLES)}\nmembers:\n${membersText(HEAD_OFFICE)}`,
      ...Object.fromEntries(REGIONS.map((region) => [`shared/regions/${region}.yaml`, regionFile(region)])),
      ...Object.fromEntries(areas.map((area) => [`shared/areas/${area.name}.yaml`, areaFile(area)])),
      ...Object.fromEntries(
        shops.map(({ number, area }) => [
          `access/shop-${threeDigits(number)}.yaml`,
          shopFile(number, area.name),
        ]),
      ),
    },
    live: [
      ...shops.map(({ number, area }) => ({
        code: codeOf(number),
        name: `Shop ${number}`,
        roles: ROLES,
        members: [...HEAD_OFFICE, ...regionPeople(area.region), ...area.people, ...shopPeople(number)].map(
          liveMember,
        ),
      })),
      // Opened, and not in the files yet.
      { code: codeOf(SHOPS + 1), name: `Shop ${SHOPS + 1}`, roles: [], members: HEAD_OFFICE.map(liveMember) },
    ],
  };
}

const OWNERS = `# Who has to approve a change, by the file that it is in. The last line that matches counts.
*                      @example/platform
/access/               @example/operations
/shared/               @example/head-office
/shared/areas/north-*  @example/region-north
/shared/areas/east-*   @example/region-east
/shared/areas/south-*  @example/region-south
/shared/areas/west-*   @example/region-west
`;

function areaOf(shop: number): Area {
  const index = Math.floor((shop - 1) / SHOPS_IN_REGION);
  const region = REGIONS[index] ?? "north";
  const half = (shop - 1) % SHOPS_IN_REGION < SHOPS_IN_AREA ? 1 : 2;
  const first = 400 + index * 6 + half * 2;
  return {
    name: `${region}-${half}`,
    region,
    people: [first, first + 1].map((person) => ({
      email: `${nameOf(person)}@${region}.example.com`,
      roles: ["Area Manager"],
    })),
  };
}

function regionPeople(region: Region): readonly Person[] {
  const person = nameOf(500 + REGIONS.indexOf(region));
  return [{ email: `${person}@${region}.example.com`, roles: ["Region Manager"] }];
}

function regionFile(region: Region): string {
  return `version: 1
include: [../group.yaml]

members:
${membersText(regionPeople(region))}`;
}

function areaFile({ region, people }: Area): string {
  return `version: 1
include: [../regions/${region}.yaml]

members:
${membersText(people)}`;
}

const CASHIERS = 9;
const TILLS = 3;

function shopPeople(number: number): readonly (Person | Device)[] {
  return [...staff(number), ...upTo(TILLS).map((till) => tillOf(number, till))];
}

function staff(number: number): readonly Person[] {
  const roles = ["Shop Manager", "Shift Lead", "Shift Lead", ...upTo(CASHIERS).map(() => "Cashier")];
  return roles.map((role, index) => ({
    email: `${nameOf(number + index)}@${domainOf(number)}`,
    roles: [role],
  }));
}

function tillOf(shop: number, till: number): Device {
  return {
    email: `till-${till}@${domainOf(shop)}`,
    nickname: `Till ${till}`,
    password: `TILL_${threeDigits(shop)}_${till}`,
    roles: ["Till"],
  };
}

/** Returns the file of a shop in an area. */
export function shopFile(number: number, area: string): string {
  return `version: 1
merchant: ${codeOf(number)}
include: [../shared/areas/${area}.yaml]

members:
${membersText(staff(number))}
  # Tills
${membersText(upTo(TILLS).map((till) => tillOf(number, till)))}`;
}

const codeOf = (number: number): string => `MC0SHOP${threeDigits(number)}`;
const domainOf = (number: number): string => `shop-${threeDigits(number)}.example.com`;
