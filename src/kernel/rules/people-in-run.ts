import type { Amount, DesiredState } from "../../model/desired.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import { allowedOf } from "./settings/amount.ts";

/** Number of people that any percentage above 0% allows in a run. */
export const LEAST_IN_RUN = 20;

/** The part of a merchant's files that the limits of a run depend on. */
export type RunFiles = Pick<DesiredState, "merchant" | "projects" | "members" | "leavers" | "reviewedEnds">;

/** The part of a plan that the limits of a run depend on. */
export type RunPlan = Pick<
  Plan,
  "merchant" | "changes" | "refusals" | "overridden" | "impact" | "summary"
> & {
  readonly reviewed: Pick<Plan["reviewed"], "at">;
};

/** A plan of a run, with the state that it was made from. */
export interface LimitedPlan<P extends RunPlan = RunPlan> {
  readonly plan: P;
  readonly files: RunFiles;
}

/** The plans of a run, with the people whom they affect. */
export interface LimitedRun {
  readonly parts: readonly LimitedPlan[];
  /** The number of live members of all merchants. */
  readonly members: number;
  /** Returns one key for all addresses of a person at all merchants. */
  readonly personOf: (address: string) => string;
}

/** A refusal of some plans of a run. */
export interface RefusedRun {
  /** What the limit counts. */
  readonly limit: string;
  readonly refusal: Refusal;
  /** The merchants of the refused plans. */
  readonly of: ReadonlySet<string>;
}

/** People whom a run affects; somebody at two merchants is one person. */
export interface AffectedPeople {
  /** The losses or gains of each person, with their merchants. */
  readonly people: ReadonlyMap<string, readonly string[]>;
  /** The distinct losses or gains, sorted. */
  readonly items: readonly string[];
  readonly merchants: number;
  /** The strictest limit. */
  readonly allowed: number;
}

/** Returns the refusal of the plans that affect anybody, if together they affect more people than the limits allow. */
export function refusedIfMore(
  { parts, members, personOf }: LimitedRun,
  limits: readonly Amount[],
  affectedBy: (part: LimitedPlan) => Iterable<readonly [name: string, items: readonly string[]]>,
  refusalOf: (affected: AffectedPeople) => Refusal,
): Omit<RefusedRun, "limit"> | null {
  const people = new Map<string, readonly string[]>();
  const items = new Set<string>();
  const of = parts.flatMap((part) => {
    const { merchant } = part.plan;
    const names = [...affectedBy(part)];
    for (const [name, own] of names) {
      const key = personOf(name);
      people.set(key, [...(people.get(key) ?? []), ...own.map((item) => `${merchant} ${item}`)]);
      for (const item of own) items.add(item);
    }
    return names.length === 0 ? [] : [merchant];
  });
  // Whether a count or a percentage is stricter depends on the number of members.
  const allowed = Math.min(...limits.map((limit) => allowedOf(limit, members, LEAST_IN_RUN)));
  if (people.size <= allowed) return null;
  const affected = { people, items: [...items].sort(), merchants: of.length, allowed };
  return { refusal: refusalOf(affected), of: new Set(of) };
}
