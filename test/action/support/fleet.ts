/** Codes of that many merchants. */
export const codesOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `MC${String(index).padStart(4, "0")}`);

/** A service with that many merchants of one owner, and a key for all. */
export const fleetSeed = (count: number): string => `merchants:
${codesOf(count)
  .map((code) => `  - { code: ${code}, members: [{ email: ada@example.com, roles: [role_owner] }] }`)
  .join("\n")}
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

/** Where a merchant's file is. */
const fleetFile = (code: string): string => `access/${code}.yaml`;

const text = (code: string, roles: string): string => `version: 1
merchant: ${code}
environment: test
members:
  - { email: ada@example.com, roles: [role_owner] }
${roles}`;

/** The files that are live. */
export const fleetFiles = (codes: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(codes.map((code) => [fleetFile(code), text(code, "")]));

/** The files with one role more for each merchant. */
export const changedFleet = (codes: readonly string[]): Readonly<Record<string, string>> => {
  const roles = "roles:\n  - { name: Night, permissions: [catalog_view, refunds_create] }\n";
  return Object.fromEntries(codes.map((code) => [fleetFile(code), text(code, roles)]));
};
