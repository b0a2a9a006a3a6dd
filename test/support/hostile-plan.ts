import type { Plan } from "../../src/model/plan.ts";
import { desired, live, liveMember, liveRole, member, planOf, role } from "./build.ts";
import type { RichStates } from "./rich-plan.ts";

/** A plan that holds a text wherever a file or the service can put one: names, descriptions, metadata, permissions, rules. */
export function hostilePlan(text: string): Plan {
  const { want, is } = hostileStates(text);
  return planOf(want, is);
}

/** The states behind such a plan. */
export function hostileStates(text: string): RichStates {
  const is = live(
    [
      liveRole("role_1", `${text} old`, { permissions: ["catalog_view", text], description: text }),
      liveRole("role_2", text, { metadata: { [text]: text } }),
      liveRole("role_owner", "Owner", { predefined: true, permissions: ["members_delete"] }),
    ],
    [
      liveMember("mem_1", `1${text}@example.com`, { roles: ["role_1"], metadata: { [text]: { [text]: 1 } } }),
      liveMember("mem_2", `2${text}@example.com`, { roles: ["role_1", "role_2"] }),
      liveMember("mem_3", `3${text}@example.com`, { roles: ["role_2"], status: "disabled" }),
    ],
  );
  const want = desired({
    environment: "live",
    merchant: `MC${text}`,
    roles: [
      role(`${text} new`, {
        id: "role_1",
        permissions: [text, `payouts_edit ${text}`],
        description: `${text} more`,
      }),
    ],
    members: [
      member(`1${text}@example.com`, {
        roles: [`${text} new`, "role_owner"],
        metadata: { [text]: { [text]: text } },
      }),
      member(`3${text}@example.com`, { roles: [`no such ${text}`] }),
      member(`4${text}@example.com`, {
        roles: ["role_owner"],
        managed: { nickname: text, passwordEnv: text },
      }),
    ],
    guards: { protect: { roles: ["*"], members: [`*${text}*`] }, maxRemovals: { count: 0 } },
    policies: {
      separate: [],
      maxHolders: { role_owner: 0 },
      requireUntil: {},
      requireMfa: ["role_owner"],
      forbidPermissions: [text],
    },
    checks: [
      { kind: "only", can: text, only: [text], origin: { file: text, path: [] } },
      { kind: "cannot", member: `1${text}@example.com`, cannot: [text], origin: { file: text, path: [] } },
    ],
  });
  return { want, is };
}
