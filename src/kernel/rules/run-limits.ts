import { memoized } from "../../lib/memoized.ts";
import type { ProjectSettings } from "../../model/desired.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import { refusalOfBase, sortRefusals } from "../findings/refusals.ts";
import { openPersonKeys } from "../values/person.ts";
import { guardsOfRun } from "./every-rule.ts";
import type { LimitedPlan, LimitedRun, RefusedRun, RunPlan } from "./people-in-run.ts";
import { sensitiveIn } from "./settings/sensitive.ts";

/**
 * Refuses plans that together do more than the guards of a run allow; a run of one merchant has only that merchant's
 * limits. If only the base branch's project sets a limit, the pull request loosens it.
 */
export function limitRun<P extends RunPlan>(plansOfRun: readonly LimitedPlan<P>[]): readonly P[] {
  const parts = plansOfRun.map(({ plan, files }) => ({ plan: unlimited(plan), files }));
  const plans = parts.map(({ plan }) => plan);
  if (plans.length < 2) return plans;
  const run: LimitedRun = {
    parts,
    members: parts.reduce((sum, { plan }) => sum + liveMembers(plan.summary.members), 0),
    personOf: openPersonOf(parts),
  };
  const projects = plansOfRun.flatMap(({ files }) => files.projects ?? []);
  const refused = refusedBy(run, projects);
  const own = projects.filter(({ by }) => by === undefined);
  const byOwn =
    own.length === projects.length
      ? refused
      : refusedBy({ ...run, parts: parts.map((part) => asSeenBy(own, part)) }, own);
  const isOwn = (one: RefusedRun): boolean =>
    byOwn.some(({ limit, refusal }) => limit === one.limit && refusal.code === one.refusal.code);
  return plans.map((plan) => {
    const refusals = refused.flatMap((one) =>
      one.of.has(plan.merchant) ? (isOwn(one) ? one.refusal : refusalOfBase(one.refusal)) : [],
    );
    return refusals.length === 0
      ? plan
      : { ...plan, refusals: sortRefusals([...plan.refusals, ...refusals]) };
  });
}

/** Opens the people of a run on demand: most runs affect nobody. */
function openPersonOf(parts: readonly LimitedPlan[]): LimitedRun["personOf"] {
  const open = memoized(() => {
    const addresses = new Map(
      parts.flatMap(({ plan: { merchant, changes } }) =>
        changes.flatMap(({ resource, id, before }) =>
          resource === "member" && before?.email ? [[`${merchant} ${id}`, before.email] as const] : [],
        ),
      ),
    );
    return openPersonKeys(
      parts.map(({ files }) => files),
      (merchant, id) => addresses.get(`${merchant} ${id}`),
    );
  });
  return (address) => open(null)(address);
}

/** Returns a plan with the sensitive permissions of some projects. */
function asSeenBy(projects: readonly ProjectSettings[], { plan, files }: LimitedPlan): LimitedPlan {
  const { impact } = plan;
  const sensitive = impact.sensitive?.filter(sensitiveIn(projects)) ?? [];
  return { plan: { ...plan, impact: { ...impact, sensitive } }, files };
}

/** Returns the refusals by the limits of some projects. */
function refusedBy(run: LimitedRun, projects: readonly ProjectSettings[]): readonly RefusedRun[] {
  const settings = projects.length === 0 ? [{}] : projects;
  return guardsOfRun().flatMap(({ name, ofRun }) =>
    ofRun.refuse(
      settings.map(({ run: limits }) => limits?.[name] ?? ofRun.default),
      run,
    ),
  );
}

const CODES = new Set(guardsOfRun().map(({ ofRun }) => ofRun.code));

/** Returns a plan without the refusals by a run's limits. */
function unlimited<P extends RunPlan>(plan: P): P {
  const isOfRun = ({ code }: Refusal): boolean => CODES.has(code);
  const others = (refusals: readonly Refusal[]): readonly Refusal[] =>
    refusals.filter((refusal) => !isOfRun(refusal));
  const { refusals, overridden } = plan;
  if (![...refusals, ...(overridden ?? [])].some(isOfRun)) return plan;
  return { ...plan, refusals: others(refusals), ...(overridden && { overridden: others(overridden) }) };
}

function liveMembers({ create: _, unmanaged = 0, ...live }: Plan["summary"]["members"]): number {
  return live.update + live.replace + live.delete + live.unchanged + unmanaged;
}
