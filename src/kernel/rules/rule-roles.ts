import { isLiteralGlob } from "../../lib/glob.ts";
import { isSlip, openSuggester } from "../../lib/suggest.ts";
import { DEFAULT_ESCALATION, type DesiredState } from "../../model/desired.ts";
import { PREDEFINED_ROLES } from "../../model/live.ts";
import type { RolePlan } from "../diff/plan-roles.ts";
import { addressesOf, type Scope } from "../diff/scope.ts";
import type { FindingData } from "../findings/findings.ts";
import { addressesOfPerson } from "../values/person.ts";
import type { RoleNames } from "./access.ts";
import { memberOfCheck } from "./settings/every-check-setting.ts";
import { namesInRules } from "./settings/every-setting.ts";
import type { SettingName } from "./settings/setting-kinds.ts";

/** Returns the roles that guards, policies and checks name, each once. */
export function rolesInRules(rules: Pick<DesiredState, "guards" | "policies" | "checks">): readonly string[] {
  return namedInRules("role", rules);
}

function namedInRules(
  what: SettingName["what"],
  rules: Pick<DesiredState, "guards" | "policies" | "checks">,
): readonly string[] {
  return [...new Set(namesInRules(rules).flatMap((name) => (name.what === what ? name.text : [])))];
}

/** Reports ambiguous names of roles in rules: names that several roles share. */
export function ambiguousInRules(
  rules: Pick<DesiredState, "guards" | "policies" | "checks">,
  { sharing }: RoleNames,
  { unmatched }: Pick<RolePlan, "unmatched">,
): readonly FindingData[] {
  return rolesInRules(rules).flatMap((name): readonly FindingData[] => {
    // The error is reported at the role's entry.
    const ids = unmatched.has(name) ? [] : sharing(name);
    return ids.length === 0 ? [] : [{ code: "rule-role-ambiguous", name, ids }];
  });
}

/**
 * Reports roles in rules that are neither declared nor live after the plan, so that the rules would have no effect,
 * except roles in shared rules that another merchant has. If the files list all roles, names can be checked without
 * the live state; ids cannot.
 */
export function unknownInRules(
  desired: DesiredState,
  { roles: live, ignoredRoles }: Scope,
  { changes }: RolePlan,
): readonly FindingData[] {
  const ruleRoles = rolesInRules(desired);
  const guarded = desired.guards.protect.roles.filter(isLiteralGlob);
  if (ruleRoles.length + guarded.length === 0) return [];
  const gone = new Map(
    changes.flatMap(({ kind, id, name }) => (kind === "delete" && id !== null ? [[id, name] as const] : [])),
  );
  const staying = live.filter(({ id }) => !gone.has(id));
  const names = [...(desired.roles ?? []), ...staying].map(({ name }) => name);
  const declaredNames = new Set([...names, ...staying.map(({ id }) => id), ...ignoredRoles]);
  const namesComplete = desired.roles !== undefined && desired.sync.roles === "authoritative";
  const suggest = openSuggester([...new Set([...names, ...PREDEFINED_ROLES])]);
  const shared = new Set(desired.sharedRuleNames);
  const elsewhere = new Set(desired.rolesElsewhere?.filter((role) => shared.has(role)));
  const unknown = ruleRoles.filter(
    (role) => !declaredNames.has(role) && (role.startsWith("role_") || !namesComplete),
  );
  const silent = new Set([...unknown, ...unprotected(guarded, desired, live, declaredNames)]);
  return [...silent]
    .filter((role) => !elsewhere.has(role))
    .map((role) => ({
      code: "rule-role-unknown",
      name: role,
      near: PREDEFINED_ROLES.find((id) => id === `role_${role.toLowerCase()}`) ?? suggest(role),
      removed: gone.get(role) ?? null,
      shared: shared.has(role),
    }));
}

/**
 * Returns the names under `protect` that match no role. Unlike other rules, `protect` also covers live roles that no
 * file lists.
 */
function unprotected(
  guarded: readonly string[],
  { roles = [] }: DesiredState,
  live: Scope["roles"],
  declaredNames: ReadonlySet<string>,
): readonly string[] {
  const meant = new Set(
    [
      ...declaredNames,
      ...live.flatMap(({ id, name }) => [id, name]),
      ...roles.flatMap(({ previously }) => previously ?? []),
      ...PREDEFINED_ROLES,
    ].map((role) => role.toLowerCase()),
  );
  return guarded.filter((role) => !meant.has(role.toLowerCase()));
}

/**
 * Reports members who are named in `protect` or in a check in the merchant's own file, and who are neither declared
 * nor live. If the file lists all members, checks can be validated without the live state.
 */
export function unknownMembersInRules(
  { checks, guards, sharedRuleNames = [], sync, members, origin }: DesiredState,
  { members: live, ignoredMembers }: Scope,
): readonly FindingData[] {
  const isComplete = members !== undefined && sync.members === "authoritative";
  const shared = new Set(sharedRuleNames);
  const checked = isComplete
    ? []
    : checks.flatMap((check) => (check.origin.file === origin.file ? (memberOfCheck(check) ?? []) : []));
  const addressesInRules = [...new Set([...checked, ...guards.protect.members.filter(isLiteralGlob)])].filter(
    (name) => !shared.has(name),
  );
  if (addressesInRules.length === 0) return [];
  const liveMembers = [...live, ...ignoredMembers];
  const addresses = [...liveMembers.flatMap(addressesOf), ...(members ?? []).flatMap(addressesOfPerson)];
  const lowerNames = new Set(
    [...addresses, ...liveMembers.map(({ id }) => id)].map((name) => name.toLowerCase()),
  );
  const suggest = openSuggester([...new Set(addresses)]);
  return addressesInRules
    .filter((name) => !lowerNames.has(name.toLowerCase()))
    .map((name) => ({ code: "rule-member-unknown", name, near: suggest(name) }));
}

// Bounds the work; no file written by hand has more names.
const MAX_COMPARED = 100_000_000;

/**
 * Reports permissions of declared roles that no live role has and that differ by one typing error from a known
 * permission; those that the project lists are intended.
 */
export function misspeltInRoles(
  { roles = [], projects = [] }: DesiredState,
  { roles: live, ignoredLiveRoles }: Scope,
): readonly FindingData[] {
  const grantedPermissions = new Set([
    ...[...live, ...ignoredLiveRoles].flatMap(({ permissions = [] }) => permissions),
    ...Object.values(DEFAULT_ESCALATION).flat(),
    ...projects.flatMap(({ permissions = [] }) => permissions),
  ]);
  const unknown = new Set(
    roles.flatMap(({ permissions = [] }) =>
      permissions.filter((permission) => !grantedPermissions.has(permission)),
    ),
  );
  const all = [...grantedPermissions, ...unknown].sort();
  if (all.join("").length * [...unknown].join("").length > MAX_COMPARED) return [];
  const meant = new Map(
    [...unknown].map((name) => [name, all.find((one) => one !== name && isSlip(name, one))]),
  );
  return roles.flatMap(({ name, permissions = [] }) =>
    permissions.flatMap((permission): readonly FindingData[] => {
      const near = meant.get(permission);
      return near === undefined ? [] : [{ code: "permission-misspelt", name, permission, near }];
    }),
  );
}

/** Reports permissions in rules that no role has and that differ by one typing error from one that a role has. */
export function misspeltInRules(
  { roles = [], ...rules }: DesiredState,
  { roles: live, ignoredLiveRoles }: Scope,
): readonly FindingData[] {
  const permissionsInRules = namedInRules("permission", rules);
  if (permissionsInRules.length === 0) return [];
  const known = new Set([
    ...[...roles, ...live, ...ignoredLiveRoles].flatMap(({ permissions = [] }) => permissions),
    // The service's permissions, whether or not a role has them.
    ...(rules.policies.escalation ? Object.values(DEFAULT_ESCALATION).flat() : []),
  ]);
  const unknown = permissionsInRules.filter((permission) => !known.has(permission));
  if ([...known].join("").length * unknown.join("").length > MAX_COMPARED) return [];
  return unknown.flatMap((name): readonly FindingData[] => {
    const near = [...known].sort().find((permission) => isSlip(name, permission));
    return near === undefined ? [] : [{ code: "rule-permission-unknown", name, near }];
  });
}
