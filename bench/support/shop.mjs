/**
 * Shops of any size, the same each time: as the file that declares them, and as the service that holds them.
 */
const ROLES = 20;

/** The custom roles of a shop: { id, name, permissions }. */
export function rolesOf() {
  return Array.from({ length: ROLES }, (_, at) => ({
    id: `role_${String(at).padStart(4, "0")}`,
    name: `Shop Role ${at}`,
    permissions: Array.from({ length: 8 }, (_, n) => `permission_${at * 3 + n}`),
  }));
}

/** Member number `at` of a shop: { id, email, roles (indexes), predefined, metadata }. */
function memberOf(at) {
  const number = String(at).padStart(6, "0");
  return {
    id: `mem_${number}`,
    email: `first.last.${number}@shop.example.com`,
    role: at % ROLES,
    metadata: { employee_id: number, cost_centre: String(4000 + (at % 97)) },
  };
}

/** A merchant's file of 51 lines with nothing wrong in it. */
export const SMALL_FILE = `version: 1
merchant: MC0BENCH
roles:
  - { name: Cashier, permissions: [catalog_view, checkouts_create] }
  - name: Shift Lead
    permissions: [catalog_view, refunds_create]
members:
${Array.from({ length: 22 }, (_, at) => `  - email: person.${at}@shop.example.com\n    roles: [${at % 2 ? "Cashier" : "Shift Lead"}]\n`).join("")}`;

/** A merchant's file; `isChanged` picks the members of whom it wants something else than is live. */
export function fileOf(merchant, members, isChanged = () => false) {
  const roles = rolesOf().map(
    ({ name, permissions }) => `  - name: ${name}\n    permissions: [${permissions.join(", ")}]\n`,
  );
  const entries = Array.from({ length: members }, (_, at) => {
    const { email, role, metadata } = memberOf(at);
    const held = isChanged(at) ? (role + 1) % ROLES : role;
    return (
      `  - email: ${email}\n    roles: [Shop Role ${held}, role_employee]\n` +
      `    metadata: { employee_id: "${metadata.employee_id}", cost_centre: "${metadata.cost_centre}" }\n`
    );
  });
  return `version: 1\nmerchant: ${merchant}\nroles:\n${roles.join("")}members:\n${entries.join("")}`;
}

/** A role as the service sends it. */
export function wireRole({ id, name, permissions }, predefined = false) {
  const [created_at, updated_at] = ["2025-03-01T09:00:00Z", "2026-01-12T16:30:00Z"];
  return {
    id,
    name,
    description: "",
    permissions,
    is_predefined: predefined,
    metadata: {},
    created_at,
    updated_at,
  };
}

/** A member as the service sends it. */
export function wireMember(at) {
  const { id, email, role, metadata } = memberOf(at);
  return {
    id,
    roles: [ROLE_LIST[role].id, "role_employee"],
    permissions: [],
    created_at: "2025-03-01T09:00:00Z",
    updated_at: "2026-01-12T16:30:00Z",
    user: {
      id: `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`,
      email,
      mfa_on_login_enabled: true,
      virtual_user: false,
      service_account_user: false,
      nickname: `Person ${at}`,
    },
    status: "accepted",
    metadata,
  };
}

const ROLE_LIST = rolesOf();

/** The predefined role that every member holds: it is not listed, and has to be retrieved. */
export const EMPLOYEE = { id: "role_employee", name: "Employee", permissions: ["catalog_view"] };
