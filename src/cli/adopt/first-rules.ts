import { onlyToday } from "../../ask/coverage/only-today.ts";
import type { YamlEdit } from "../../edit/yaml/edit-yaml.ts";
import { wholeScope } from "../../kernel/diff/scope.ts";
import { accessBefore } from "../../kernel/rules/access.ts";
import { ADMINISTRATORS } from "../../kernel/rules/gains.ts";
import { sensitiveIn } from "../../kernel/rules/settings/sensitive.ts";
import { groupByKey } from "../../lib/text.ts";
import type { Adoption } from "../../model/adoption.ts";
import type { SuggestedRule } from "../../model/coverage.ts";
import type { LiveState } from "../../model/live.ts";

/** Maximum number of rules for one merchant. */
const MAX_RULES = 4;

/** Returns rules that the live access of a merchant meets, on administrators first, then on sensitive permissions. */
export function firstRules(live: LiveState, { edits }: Adoption): readonly SuggestedRule[] {
  const access = accessBefore(wholeScope(live), { roles: [], members: [] }, { mergeReplacedRoles: false });
  const { roles, people } = access;
  const ofAdministrators = ADMINISTRATORS.flatMap((role): readonly SuggestedRule[] => {
    const holders = people.filter((person) => person.roles.includes(role));
    const [max, isAllAccepted] = [holders.length, holders.every(({ status }) => status === "accepted")];
    return [
      ...(max > 0 ? [{ kind: "max-holders", role, max } as const] : []),
      ...(max > 1 && isAllAccepted ? [{ kind: "min-holders", role, min: max } as const] : []),
    ];
  });
  const permissions = new Set([...roles.values()].flatMap((role) => role.permissions ?? []));
  const ofPermissions = [...permissions]
    .filter(sensitiveIn([]))
    .map((permission) => onlyToday(permission, access))
    .filter(({ only }) => only.length > 0);
  // A check names only people and roles that the file has, and no name that several live roles share.
  const named = groupByKey([...roles.values()], ({ name }) => name);
  const shared = new Set(named.flatMap(([{ name }, ...others]) => (others.length > 0 ? [name] : [])));
  const adopted = new Set([
    ...people.flatMap((person) => person.roles),
    ...edits.flatMap((edit) =>
      edit.kind === "add-member" ? edit.entry.email : edit.kind === "add-role" ? edit.entry.name : [],
    ),
  ]);
  const isAdopted = (who: string): boolean => {
    const name = who.replace(/^role:/, "");
    return adopted.has(name) && !shared.has(name);
  };
  return [...ofAdministrators, ...ofPermissions.filter(({ only }) => only.every(isAdopted))].slice(
    0,
    MAX_RULES,
  );
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
