/** A merchant with an owner and an employee, and the owner's key. */
export const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: ben@example.com, roles: [role_employee] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

/** Where the merchant's file is. */
export const FILE = "access/mc1.yaml";

/** The file that is live. */
export const BASE = `version: 1
merchant: MC1
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com, roles: [role_employee] }
`;

/** The file with one role more. */
export const WITH_ROLE = `${BASE}roles:
  - { name: Cashier, permissions: [catalog_view] }
`;
