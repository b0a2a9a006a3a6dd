import { canonicalJson } from "../../lib/json-text.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type {
  Check,
  DesiredMember,
  DesiredRole,
  DesiredState,
  EnforcedRules,
  Grant,
  IgnorePatterns,
  SyncOptions,
  Until,
} from "../../model/desired.ts";
import { rulesMeaning } from "../rules/settings/every-setting.ts";
import { asSet } from "../rules/settings/setting-kinds.ts";

/** A merchant whose resolved desired state differs between two versions of the files. */
export interface ChangedMerchant {
  readonly merchant: string;
  /** `added` if only the head declares the merchant, `removed` if only the base does. */
  readonly change: "added" | "changed" | "removed";
}

/**
 * Compares the resolved desired states of two versions of the files; returns the merchants that differ, sorted by code.
 * Ignores in which file and where an entry is written, and the order of lists that mean a set.
 */
export function changedMerchants(
  head: readonly DesiredState[],
  base: readonly DesiredState[],
): readonly ChangedMerchant[] {
  const before = new Map(base.map((state) => [state.merchant, state]));
  const after = new Set(head.map(({ merchant }) => merchant));
  const changed = head.flatMap((state): readonly ChangedMerchant[] => {
    const { merchant } = state;
    const stateBefore = before.get(merchant);
    if (stateBefore === undefined) return [{ merchant, change: "added" }];
    return declaredText(stateBefore) === declaredText(state) ? [] : [{ merchant, change: "changed" }];
  });
  const removed = [...before.keys()].filter((merchant) => !after.has(merchant));
  return [...changed, ...removed.map((merchant) => ({ merchant, change: "removed" as const }))].sort((a, b) =>
    byCodeUnit(a.merchant, b.merchant),
  );
}

/** Returns the canonical text of what a state means: equal for files that mean the same. */
export function declaredText({
  sync,
  ignore,
  guards,
  policies,
  checks,
  roles,
  members,
  leavers = [],
  enforced = [],
  // The sections that a file may have do not affect its state, and limits of a run are not the merchant's.
  allowed: _allowed,
  projects: _projects,
  sharedRuleNames = [],
  // Other merchants decide which roles they have.
  rolesElsewhere: _rolesElsewhere,
  included: _included,
  reviewedEnds: _reviewedEnds,
  origin: _origin,
  ...address
}: DesiredState): string {
  const { merchant, environment, baseUrl, keyEnv, ...rest } = address;
  rest satisfies Record<string, never>;
  return canonicalJson([
    [merchant, environment, baseUrl, keyEnv],
    syncMeaning(sync),
    patternsMeaning(ignore),
    rulesMeaning({ guards, policies }),
    asSet(checks.map(checkMeaning)),
    asSet(enforced.flatMap((rules) => (rules.by ? [] : [enforcedMeaning(rules)]))),
    asSet(sharedRuleNames),
    roles && asSet(roles.map(roleMeaning)),
    members && asSet(members.map(memberMeaning)),
    asSet(leavers.map(({ email, from }) => [email.toLowerCase(), from.starts])),
  ]);
}

function enforcedMeaning({
  guards,
  policies,
  checks,
  files: _files,
  by: _by,
  ...rest
}: EnforcedRules): unknown {
  rest satisfies Record<string, never>;
  return [rulesMeaning({ guards, policies }), asSet(checks.map(checkMeaning))];
}

function syncMeaning({ reinvite, ...rest }: SyncOptions): unknown {
  return { ...rest, reinvite: typeof reinvite === "boolean" ? reinvite : reinvite.ms };
}

function patternsMeaning({ roles, members, ...rest }: IgnorePatterns): unknown {
  rest satisfies Record<string, never>;
  return [asSet(roles), asSet(members)];
}

/** The lists of a check are sets. */
function checkMeaning({ origin: _origin, ...check }: Check): unknown {
  const meaningOf = (value: unknown): unknown => (Array.isArray(value) ? asSet(value) : value);
  return Object.fromEntries(Object.entries(check).map(([key, value]) => [key, meaningOf(value)]));
}

function roleMeaning({ origin: _origin, adjusted: _adjusted, ...role }: DesiredRole): unknown {
  const { previously, permissions } = role;
  return {
    ...role,
    previously: previously && asSet(previously),
    permissions: permissions && asSet(permissions),
  };
}

function memberMeaning({ origin: _origin, setAt: _setAt, ...member }: DesiredMember): unknown {
  const { roles, previously, from, until, suspended } = member;
  return {
    ...member,
    previously: previously && asSet(previously.map((address) => address.toLowerCase())),
    roles: roles && asSet(roles.map(grantMeaning)),
    from: from?.starts,
    until: endOf(until),
    suspended: suspended && [suspended.from?.starts, endOf(suspended.until)],
  };
}

function grantMeaning({ role, from, until, origins: _origins, ...rest }: Grant): unknown {
  rest satisfies Record<string, never>;
  return [role, from?.starts, endOf(until)];
}

/** Returns the first moment without access: several texts can mean one. */
function endOf(until: Until | undefined): number | undefined {
  return until?.ends;
}
