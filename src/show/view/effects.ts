import type { MemberImpact } from "../../model/plan.ts";
import type { DetailView } from "./change-view.ts";
import type { PlanView } from "./plan-view.ts";

/** The most changes of a plan that shows its effects beside them. */
const FEW = 3;

/**
 * Puts what people gain and lose beside the changes of their memberships, in place of the totals. Returns a plan of many
 * changes as it is, and one that also affects others.
 */
export function withEffects<View extends PlanView>(view: View): View {
  const { impact, groups, origin } = view;
  const rows = groups.flatMap((group) => group.rows);
  const effects = new Map(impact.members.map((member) => [member.name, member]));
  const names = new Set(
    rows.flatMap(({ resource, name, equal }) => (resource === "member" && !equal ? name : [])),
  );
  const isBeside = rows.length <= FEW && impact.members.every(({ name }) => names.has(name));
  if (origin !== "plan" || effects.size === 0 || !isBeside) return view;
  return {
    ...view,
    impact: { ...impact, members: [] },
    groups: groups.map((group) => ({
      ...group,
      rows: group.rows.map((row) => {
        const effect = row.resource === "member" ? effects.get(row.name) : undefined;
        return effect === undefined ? row : { ...row, details: [...row.details, ...effectDetails(effect)] };
      }),
    })),
  };
}

function effectDetails({ gained, lost, unknownGained, unknownLost }: MemberImpact): readonly DetailView[] {
  const unknown = (roles: readonly string[]): readonly string[] =>
    roles.map((role) => `permissions of ${role} (not reported by the service)`);
  const gains = [...gained, ...unknown(unknownGained)];
  const loses = [...lost, ...unknown(unknownLost)];
  return [
    { label: "gains", removed: [], added: gains, plain: [] },
    { label: "loses", removed: loses, added: [], plain: [] },
  ].filter(({ removed, added }) => removed.length + added.length > 0);
}

/** The labels of details that list names, which share lines. */
export const LISTED: ReadonlySet<string> = new Set(["permissions", "roles", "gains", "loses"]);
