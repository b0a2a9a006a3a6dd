import {
  type Chain,
  liveMember,
  membersText,
  nameOf,
  type Person,
  type Role,
  rolesText,
  upTo,
} from "./chain.ts";
import { dateAfter } from "./year.ts";

const TEAMS = ["backend", "design", "payments", "storefront"] as const;
type Team = (typeof TEAMS)[number];
const CLIENTS = 20;
const CONTRACTORS = 8;

const ROLES: readonly Role[] = [
  {
    name: "Engagement Lead",
    description: "Answers to the client for the work",
    permissions: ["catalog_view", "members_view", "reports_view", "transactions_view"],
  },
  {
    name: "Contractor",
    description: "Works for a client for some weeks",
    permissions: ["catalog_edit", "catalog_view", "transactions_view"],
  },
];

const PARTNERS: readonly Person[] = [{ email: "partner@agency.example", roles: ["role_owner"] }];

const AGENCY = `# The roles and rules for all clients.
version: 1
include: [leavers.yaml]

guards:
  max_removals: 50%
  min_holders: { Engagement Lead: 1, role_owner: 1 }

policies:
  email_domains: [agency.example, contractor.example]
  require_until: { Contractor: 90d }

`;

const LEAVERS = `# Who has left the agency, or does so on that day.
version: 1

leavers:
  - { email: otto.brandt@contractor.example, from: 2026-09-30 }
`;

/** Returns an agency: twenty clients, each served by two of four teams of contractors whose access ends by itself. */
export function agencyChain(now: number): Chain {
  const clients = upTo(CLIENTS).map((number) => ({ number, teams: teamsOf(number) }));
  return {
    files: {
      ".github/CODEOWNERS": OWNERS,
      "shared/agency.yaml": `${AGENCY}${rolesText(ROLES)}\nmembers:\n${membersText(PARTNERS)}`,
      "shared/leavers.yaml": LEAVERS,
      ...Object.fromEntries(TEAMS.map((team) => [`teams/${team}.yaml`, teamFile(team, now)])),
      ...Object.fromEntries(
        clients.map(({ number, teams }) => [`access/client-${number}.yaml`, clientFile(number, teams)]),
      ),
    },
    live: clients.map(({ number, teams }) => ({
      code: codeOf(number),
      name: `Client ${number}`,
      roles: ROLES,
      members: [...PARTNERS, ...teams.flatMap((team) => contractors(team, now)), leadOf(number)].map(
        liveMember,
      ),
    })),
  };
}

const OWNERS = `# Who has to approve a change, by the file that it is in. The last line that matches counts.
*          @example/partners
/teams/    @example/staffing
/access/   @example/engagement-leads
`;

function teamsOf(client: number): readonly Team[] {
  return TEAMS.filter((_, index) => index === client % TEAMS.length || index === (client + 1) % TEAMS.length);
}

/** The members of a team; their ends are 20 to 62 days from now. */
function contractors(team: Team, now: number): readonly Person[] {
  const first = 100 + TEAMS.indexOf(team) * CONTRACTORS;
  return upTo(CONTRACTORS).map((number) => ({
    email: `${nameOf(first + number)}@contractor.example`,
    roles: ["Contractor"],
    until: dateAfter(now, 14 + number * 6),
  }));
}

function leadOf(client: number): Person {
  return { email: `${nameOf(client)}@agency.example`, roles: ["Engagement Lead"] };
}

function teamFile(team: Team, now: number): string {
  return `version: 1

members:
${membersText(contractors(team, now))}`;
}

function clientFile(number: number, teams: readonly Team[]): string {
  const includes = ["../shared/agency.yaml", ...teams.map((team) => `../teams/${team}.yaml`)];
  return `version: 1
merchant: ${codeOf(number)}
include: [${includes.join(", ")}]

members:
${membersText([leadOf(number)])}`;
}

const codeOf = (number: number): string => `MC0CLIENT${number}`;
