const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Merchants that share the role of their cashiers. */
const CASHIER_CODES: readonly string[] = numbers(40).map((number) => `MC${number}`);

const cashiers = (code: string, count: number): readonly string[] =>
  numbers(count).map((number) => `c${number}@${code.toLowerCase()}.example.com`);

/** A service with that many cashiers at each merchant, and a key for all. */
export function cashierSeed(count: number): string {
  const merchants = CASHIER_CODES.map(
    (code) => `  - code: ${code}
    roles: [{ id: role_${code}, name: Cashier, permissions: [catalog_view] }]
    members:
      - { email: ada@example.com, roles: [role_owner] }
${cashiers(code, count)
  .map((email) => `      - { email: ${email}, roles: [Cashier] }\n`)
  .join("")}`,
  );
  return `merchants:\n${merchants.join("")}keys:\n  - { key: sk_test_sandbox, owner: ada@example.com }\n`;
}

/** The file that all merchants include. */
export const SHARED = "shared/retail.yaml";

/** Returns the shared file, whose cashiers have these permissions besides. */
export function sharedRole(...more: readonly string[]): string {
  return `version: 1
roles:
  - { name: Cashier, permissions: [${["catalog_view", ...more].join(", ")}] }
members:
  - { email: ada@example.com, roles: [role_owner] }
`;
}

/** The files of the merchants, each with that many cashiers. */
export function cashierFiles(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    CASHIER_CODES.map((code) => [
      `access/${code}.yaml`,
      `version: 1\nmerchant: ${code}\ninclude: [../${SHARED}]\nmembers:\n${cashiers(code, count)
        .map((email) => `  - { email: ${email}, roles: [Cashier] }\n`)
        .join("")}`,
    ]),
  );
}
