/**
 * Generates shops of any size, the same ones each time: as a merchant's file and as the service's responses.
 */
const ROLES = 20;

/** Returns the custom roles of a shop: { id, name, permissions }. */
export function rolesOf() {
  return Array.from({ length: ROLES }, (_, at) => ({
    id: `role_${String(at).padStart(4, "0")}`,
    name: `Shop Role ${at}`,
    permissions: Array.from({ length: 8 }, (_, n) => `permission_${at * 3 + n}`),
  }));
}

/** Returns a member of a shop by position: { id, email, role (index), metadata }. */
function memberOf(at) {
  const number = String(at).padStart(6, "0");
  return {
    id: `mem_${number}`,
    email: `first.last.${number}@shop.example.com`,
    role: at % ROLES,
    metadata: { employee_id: number, cost_centre: String(4000 + (at % 97)) },
  };
}

/** A valid merchant's file of 51 lines. */
export const SMALL_FILE = `version: 1
merchant: MC0BENCH
roles:
  - { name: Cashier, permissions: [catalog_view, checkouts_create] }
  - name: Shift Lead
    permissions: [catalog_view, refunds_create]
members:
${Array.from({ length: 22 }, (_, at) => `  - email: person.${at}@shop.example.com\n    roles: [${at % 2 ? "Cashier" : "Shift Lead"}]\n`).join("")}`;

/** Returns a merchant's file; `isChanged` selects the members whose entry differs from the live one. */
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

/** Returns a role as the service sends it. */
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

/** Returns a member as the service sends it. */
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

/** The predefined role of every member, which is not listed and has to be retrieved. */
export const EMPLOYEE = { id: "role_employee", name: "Employee", permissions: ["catalog_view"] };
