const CASHIERS = 55;
const ROLES = ["Cashier", "Shift Lead", "Stock Keeper", "Auditor"];
const PERMISSIONS = ["catalog_view", "refunds_create", "payouts_view", "stock_edit", "taxes_view"];

/** Merchants that the commands change, and the one that the watching program changes. */
export const SHOPS = ["MC0SOAK1", "MC0SOAK2", "MC0SOAK3"];
export const WATCHED = "MC0SOAK4";

/** Returns the sandbox's seed: every merchant has 56 members on three pages. */
export function soakSeed(): string {
  const roles = ROLES.map((name, at) => ({ name, permissions: PERMISSIONS.slice(at, at + 2) }));
  const members = [
    { email: "owner@example.com", roles: ["role_owner"] },
    ...Array.from({ length: CASHIERS }, (_, at) => ({ email: addressOf(at), roles: ["Cashier"] })),
  ];
  return JSON.stringify({ merchants: [...SHOPS, WATCHED].map((code) => ({ code, roles, members })) });
}

/** Returns the file of a merchant for a round: some people, roles and permissions are others in each round. */
export function soakFile(merchant: string, round: number): string {
  const roles = ROLES.map((name, at) => ({
    name,
    permissions: PERMISSIONS.filter((_, index) => index !== (at + round) % PERMISSIONS.length),
    metadata: { team: "soak" },
  }));
  const members = Array.from({ length: CASHIERS + 2 }, (_, at) => at)
    // One is removed and one is new, each time others.
    .filter((at) => at !== round % CASHIERS)
    .map((at) => ({
      email: at < CASHIERS ? addressOf(at) : `guest-${(round + at) % 7}@example.com`,
      roles: [ROLES[at % 9 === round % 9 ? (at + round) % ROLES.length : 0]],
      ...(at % 5 === 0 && { metadata: { round: `${Math.floor(round / 3)}` } }),
    }));
  return JSON.stringify({
    version: 1,
    merchant,
    sync: { replace_roles: true, reinvite: true },
    guards: { max_removals: "100%" },
    roles: roles.map(({ metadata: _, ...role }) => role),
    members: [{ email: "owner@example.com", roles: ["role_owner"] }, ...members],
  });
}

function addressOf(at: number): string {
  return `cashier-${at}@example.com`;
}
