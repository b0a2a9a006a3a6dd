import type { DesiredState } from "../../model/desired.ts";
import { activeAt } from "../changes/active-grants.ts";
import { isMention } from "../changes/plan-members.ts";
import { type Access, type PersonAccess, type RoleAccess, roleFinder } from "./access.ts";
import { violationsIn } from "./judge-rules.ts";
import type { Violation } from "./violation.ts";

/** Returns what the files break by themselves at a moment, whatever is live. */
export function declaredViolations(desired: DesiredState, now: number): readonly Violation[] {
  const access = declaredAccess(desired, now);
  const finder = roleFinder(access);
  const find = (role: string): string => finder(role) ?? role;
  return violationsIn(desired, { access, settled: access, find });
}

/** Who holds what by the files alone; a role that they only name stands under that name, and grants nothing known. */
function declaredAccess({ roles = [], members = [], origin }: DesiredState, now: number): Access {
  const keys = new Map<string, string>();
  const access = new Map<string, RoleAccess>();
  for (const { name, id = null, permissions = [] } of roles) {
    access.set(name, { id, name, permissions, custom: true });
    if (id !== null) keys.set(id, name);
  }
  const people = members.flatMap((declared): readonly PersonAccess[] => {
    const { member, expired } = activeAt(declared, now);
    const { email, id = null, roles: grants = [] } = member;
    if (expired || isMention(member, origin.file)) return [];
    const held = grants.map(({ role }) => keys.get(role) ?? role);
    return [
      {
        id,
        name: email,
        email,
        status: "invited",
        roles: [...new Set(held)],
        serviceAccount: false,
        ignored: false,
        mfa: null,
      },
    ];
  });
  return { roles: access, removed: new Set(), people };
}
