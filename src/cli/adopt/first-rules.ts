import { accessCoverage } from "../../ask/coverage/access-coverage.ts";
import { emptyState } from "../../edit/adopt/new-file-text.ts";
import type { YamlEdit } from "../../edit/yaml/edit-yaml.ts";
import { type GlobMatch, wholeScope } from "../../kernel/diff/scope.ts";
import { accessBefore, liveRoleFinder } from "../../kernel/rules/access.ts";
import { ADMINISTRATORS } from "../../kernel/rules/gains.ts";
import { TooMuchWork } from "../../kernel/rules/judged.ts";
import type { Adoption } from "../../model/adoption.ts";
import type { SuggestedRule } from "../../model/coverage.ts";
import type { LiveState } from "../../model/live.ts";
import { isAdministrator } from "../../show/view/risk-view.ts";

/** Maximum number of rules for one merchant. */
const MAX_RULES = 4;

/** Returns rules that the live access of a merchant meets, on administrators first, then on sensitive permissions. */
export function firstRules(
  live: LiveState,
  { edits }: Adoption,
  matches: GlobMatch,
): readonly SuggestedRule[] {
  const desired = emptyState(live.merchant, "");
  const access = accessBefore(wholeScope(live), { roles: [], members: [] }, { mergeReplacedRoles: false });
  const judged = { access, settled: access, find: liveRoleFinder(access, access, desired) };
  const held = new Set(live.members.flatMap(({ roles }) => roles));
  const unread = new Set(ADMINISTRATORS.filter((id) => !held.has(id)));
  const people = new Set(edits.flatMap((edit) => (edit.kind === "add-member" ? edit.entry.email : [])));
  const roles = new Set(edits.flatMap((edit) => (edit.kind === "add-role" ? edit.entry.name : [])));
  const isNamed = (role: string): boolean => roles.has(role) || held.has(role);
  const holdersOf = (role: string): number =>
    live.members.filter(({ status, roles }) => status === "accepted" && roles.includes(role)).length;
  const isMet = (rule: SuggestedRule): boolean => {
    switch (rule.kind) {
      case "only":
        return (
          rule.only.length > 0 &&
          rule.only.every((who) => people.has(who) || isNamed(who.replace(/^role:/, "")))
        );
      case "max-holders":
        return rule.max > 0 && isNamed(rule.role);
      case "min-holders":
        return rule.min > 1 && held.has(rule.role) && holdersOf(rule.role) === rule.min;
      case "protect":
        return isNamed(rule.role);
      default:
        return rule satisfies never;
    }
  };
  try {
    const { groups } = accessCoverage(judged, desired, { unread, matches });
    const ofAdministrators = groups.filter(({ role }) => isAdministrator(role?.id ?? null));
    const ofPermissions = groups.filter(({ sensitive, permission }) => sensitive && permission !== null);
    const met = [...ofAdministrators, ...ofPermissions].map(({ suggestion }) => suggestion).filter(isMet);
    return [...new Map(met.map((rule) => [JSON.stringify(rule), rule])).values()].slice(0, MAX_RULES);
  } catch (error) {
    if (error instanceof TooMuchWork) return [];
    throw error;
  }
}

/** Returns the edit that states a rule in a file. */
export function ruleEdit(rule: SuggestedRule): YamlEdit {
  switch (rule.kind) {
    case "only":
      return { kind: "append", path: ["checks"], value: { can: rule.can, only: rule.only } };
    case "max-holders":
      return { kind: "set", path: ["policies", "max_holders", rule.role], value: rule.max };
    case "min-holders":
      return { kind: "set", path: ["guards", "min_holders", rule.role], value: rule.min };
    case "protect":
      return { kind: "append", path: ["guards", "protect", "roles"], value: rule.role };
    default:
      return rule satisfies never;
  }
}
