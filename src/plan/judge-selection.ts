import { changeId, type JudgeSelection, type Plan } from "../model/plan.ts";
import { applyRunOverrides } from "./judge/overrides.ts";
import { type Dependencies, dependenciesOf, leftOutWith } from "./select.ts";

/** A merchant's plan, of which a part can be planned. */
export interface SelectablePlan {
  readonly plan: Plan;
  /** Plans the same states without the changes of these fingerprints. */
  readonly planWithout: (leaveOut: ReadonlySet<string>) => Plan;
  /** The overrides in the merchant's files. */
  readonly overrides: readonly string[];
}

/**
 * Returns a function that judges selections: impact, risks and refusals are those of what is kept. Only merchants whose
 * selection differs from the last one are judged again.
 */
export function selectionJudge(all: readonly SelectablePlan[]): JudgeSelection {
  const wholePlans = all.map(({ plan }) => plan);
  const dependencies = dependenciesBetween(wholePlans);
  const merchants = all.map((one) => {
    const { merchant, changes } = one.plan;
    return { ...one, ids: changes.map((change) => changeId(merchant, change)), partOf: partPlanner(one) };
  });
  return (chosen) => {
    const out = leftOutWith(dependencies, chosen);
    const leaveOut = merchants.map(({ plan, ids }) => withDeferred(plan, (at) => out.has(ids[at] ?? "")));
    if (out.size === 0) return { plans: wholePlans, out, leaveOut };
    const parts = merchants.map(({ partOf, overrides }, at) => ({
      plan: partOf(leaveOut[at] ?? NONE),
      texts: overrides,
    }));
    return { plans: applyRunOverrides(parts), out, leaveOut };
  };
}

const NONE: ReadonlySet<string> = new Set();

/** Returns the dependencies between the changes of all merchants, by the ids of the changes. */
export function dependenciesBetween(plans: readonly Plan[]): Dependencies {
  return new Map(
    plans.flatMap(({ merchant, changes }) =>
      [...dependenciesOf(changes)].map(([fingerprint, dependencies]) => [
        changeId(merchant, { fingerprint }),
        dependencies.map(({ dependent, why }) => ({
          dependent: changeId(merchant, { fingerprint: dependent }),
          why,
        })),
      ]),
    ),
  );
}

/** Returns the changes to leave out. With any, deferred ones are too: leaving out another must not make them due. */
function withDeferred({ changes, deferred }: Plan, isOut: (at: number) => boolean): ReadonlySet<string> {
  const left = changes.filter((_, at) => isOut(at));
  if (left.length === 0) return NONE;
  return new Set([...left, ...deferred.map(({ change }) => change)].map(({ fingerprint }) => fingerprint));
}

/** Returns a function that plans a part, and keeps the last one. */
function partPlanner({ plan, planWithout, overrides }: SelectablePlan): SelectablePlan["planWithout"] {
  let last: { readonly leaveOut: ReadonlySet<string>; readonly part: Plan } | null = null;
  // The overrides of a whole run are no part of a plan, and a selection is another run.
  if (overrides.length === 0) last = { leaveOut: new Set(), part: plan };
  return (leaveOut) => {
    if (last === null || !isSame(last.leaveOut, leaveOut)) last = { leaveOut, part: planWithout(leaveOut) };
    return last.part;
  };
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((item) => other.has(item));
}
