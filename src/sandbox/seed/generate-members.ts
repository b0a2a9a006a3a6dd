import { INVITATION_MS, userAt } from "../routes/member-operations.ts";
import { stableId } from "../state/ids.ts";
import type { AccountData, Member } from "../state/snapshot.ts";

function rolesOf(index: number, account: AccountData): string[] {
  const roles = [index % 10 === 0 ? "role_manager" : "role_employee"];
  const custom = account.roles[index % (account.roles.length + 1)];
  return custom === undefined ? roles : [...roles, custom.id];
}

/** The so-manieth generated member: an employee, each tenth a manager, each twenty-fifth still invited. */
function generated(index: number, account: AccountData, now: number): Member {
  const email = `member-${String(index).padStart(6, "0")}@example.com`;
  const common = {
    id: stableId("mem", "generated", account.id, index),
    roles: rolesOf(index, account),
    metadata: { employee_id: String(index) },
    createdAt: account.createdAt,
    updatedAt: account.createdAt,
  };
  return index % 25 === 0
    ? { ...common, status: "pending", invite: { email, expiresAt: now + INVITATION_MS } }
    : { ...common, status: "accepted", user: userAt(email) };
}

/** Makes members for an account, always the same ones. */
export function generateMembers(count: number, account: AccountData, now: number): Member[] {
  return Array.from({ length: count }, (_, position) => generated(position + 1, account, now));
}
