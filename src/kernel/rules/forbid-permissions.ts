import type { Refusal } from "../../model/plan.ts";
import { list, ruleAdvice } from "../findings/refusals.ts";
import { refusalRule } from "../problems/rule-table.ts";
import { breachOf, missingFrom, type Policy, policyRefusal } from "./rule.ts";
import { forbidPermissionsSetting } from "./settings/forbid-permissions-setting.ts";

const KEY = "forbid-permissions";

/** Permissions that no custom role may grant. */
export const forbidPermissions = {
  ...forbidPermissionsSetting,
  diagnostics: {
    "policy-forbidden-permission": refusalRule(
      "Custom roles must not grant a forbidden permission (`forbid_permissions`).",
    ),
  },
  codes: ["forbid-permissions"],
  list: (permissions) =>
    permissions.length === 0
      ? []
      : [
          {
            text: `forbid_permissions: ${permissions.join(", ")}`,
            keys: [],
            entry: null,
            violated: KEY,
            alone: permissions,
          } as const,
        ],
  looser: (before, after) =>
    missingFrom(before, after, (permission) => `custom roles may grant ${permission}`),
  isOff: (permissions) => permissions.length === 0,
  judge(permissions, { access, enforcedBy }) {
    if (permissions.length === 0) return [];
    const forbidden = new Set(permissions);
    return [...access.roles].flatMap(([key, { id, custom, name, permissions: grantedPermissions }]) => {
      const granted = custom
        ? (grantedPermissions ?? []).filter((permission) => forbidden.has(permission))
        : [];
      if (granted.length === 0) return [];
      return [
        {
          rule: KEY,
          subject: { id: id === null ? null : key, name },
          extent: granted,
          check: null,
          refusal: (tense) => refusalOf(name, granted, tense === "plan", enforcedBy),
          breaches: () =>
            granted.map((permission) =>
              breachOf(
                "policy-forbidden-permission",
                "forbid_permissions",
                { kind: "permission", role: name, permission },
                refusalOf(name, [permission], true, enforcedBy),
              ),
            ),
        },
      ];
    });
  },
} as const satisfies Policy<readonly string[]>;

function refusalOf(
  name: string,
  permissions: readonly string[],
  isPlan: boolean,
  enforcedBy: string | undefined,
): Refusal {
  return policyRefusal(
    KEY,
    "role",
    name,
    `The role "${name}" ${isPlan ? "would grant" : "grants"} ${list(permissions)}, which no custom role may grant.`,
    `Remove it from the role, or ${ruleAdvice("from policies.forbid_permissions", enforcedBy)}.`,
  );
}
