import { parseMerchantFile } from "../../dist/index.js";
import { EMPLOYEE, fileOf, rolesOf, wireMember } from "./shop.mjs";

const NOW = Date.UTC(2026, 0, 1);

/** Returns the input of a plan of this many members; `isChanged` selects those whose entry differs. */
export function inputOf(members, isChanged) {
  const { state } = parseMerchantFile("shop.yaml", fileOf("MC0BENCH", members, isChanged), { now: NOW });
  return {
    desired: state,
    live: {
      merchant: "MC0BENCH",
      roles: [...rolesOf(), EMPLOYEE].map((role) => ({
        ...role,
        predefined: role === EMPLOYEE,
        metadata: {},
        updatedAt: "",
      })),
      members: Array.from({ length: members }, (_, at) => memberOf(at)),
      callerId: null,
    },
    service: "https://api.example.com",
    now: NOW,
    matches: (glob, text) => glob === text,
  };
}

function memberOf(at) {
  const { id, roles, metadata, user, updated_at } = wireMember(at);
  return {
    id,
    roles,
    status: "accepted",
    user: { id: user.id, email: user.email, mfaOnLogin: true, type: "user" },
    metadata,
    updatedAt: updated_at,
  };
}
