import type { Role } from "./snapshot.ts";

const view = ["catalog_view", "customers_view", "reports_view", "transactions_view"];
const sell = ["catalog_view", "checkouts_create", "refunds_create", "transactions_view"];
const money = ["invoices_view", "payouts_view", "reports_export", "taxes_view"];
const people = ["members_view", "merchant_read", "roles_list", "roles_view"];
const manage = [
  "catalog_edit",
  "customers_edit",
  "invoices_edit",
  "members_create",
  "members_update",
  "shops_edit",
];
const administer = [
  "members_delete",
  "merchant_edit",
  "payouts_edit",
  "roles_create",
  "roles_delete",
  "roles_update",
];
const own = ["api_keys_edit", "merchant_close", "owner_transfer"];

function predefined(
  id: string,
  name: string,
  description: string,
  groups: readonly (readonly string[])[],
): Role {
  const permissions = [...new Set(groups.flat())].sort();
  const createdAt = Date.parse("2020-01-01T00:00:00Z");
  return { id, name, description, permissions, createdAt, updatedAt: createdAt };
}

/** The roles that the service provides to every merchant, by id; they are never listed or changed. */
export const PREDEFINED_ROLES_BY_ID: ReadonlyMap<string, Role> = new Map(
  [
    predefined("role_owner", "Owner", "Everything, including closing the account", [
      view,
      sell,
      money,
      people,
      manage,
      administer,
      own,
    ]),
    predefined("role_admin", "Admin", "Everything but what only the owner may do", [
      view,
      sell,
      money,
      people,
      manage,
      administer,
    ]),
    predefined("role_manager", "Manager", "Runs the shop and its team", [view, sell, money, people, manage]),
    predefined("role_employee", "Employee", "Sells and refunds", [sell]),
    predefined("role_cashier", "Cashier", "Takes payments", [["catalog_view", "checkouts_create"]]),
    predefined("role_accountant", "Accountant", "Sees the books", [view, money]),
  ].map((role) => [role.id, role]),
);
