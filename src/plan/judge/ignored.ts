import { byCodeUnit } from "../../lib/order.ts";
import { addressOf, type Scope } from "../scope.ts";
import type { Discovery } from "./findings.ts";

/** Says which live roles and members are ignored, and which roles those members hold. */
export function ignoredAccess({ roles, ignoredLiveRoles, ignoredMembers }: Scope): readonly Discovery[] {
  const names = new Map([...ignoredLiveRoles, ...roles].map(({ id, name }) => [id, name]));
  const holders = new Map<string, string[]>();
  for (const member of ignoredMembers) {
    const held = [...new Set(member.roles)].map((id) => names.get(id) ?? id).sort(byCodeUnit);
    const key = held.join(", ") || "no role";
    const same = holders.get(key) ?? [];
    same.push(addressOf(member) ?? member.id);
    holders.set(key, same);
  }
  const found: Discovery[] = [];
  if (ignoredLiveRoles.length > 0) {
    const ignored = ignoredLiveRoles.map(({ name }) => name).sort(byCodeUnit);
    found.push({ code: "roles-ignored", name: "ignore.roles", roles: ignored });
  }
  if (ignoredMembers.length > 0) {
    const groups = [...holders].map(([held, members]) => ({ held, members: members.sort(byCodeUnit) }));
    groups.sort((a, b) => byCodeUnit(a.held, b.held));
    found.push({ code: "members-ignored", name: "ignore.members", count: ignoredMembers.length, groups });
  }
  return found;
}
