import { type LaterDay, laterDays } from "../../kernel/plan/later.ts";
import { soonDates } from "../../kernel/plan/upcoming-dates.ts";
import type { DesiredState } from "../../model/desired.ts";
import { withoutEntries } from "../project/load-states.ts";
import {
  MAX_PLANNING,
  type OpenSession,
  type Planned,
  type PlannedMerchant,
  planSession,
} from "./session.ts";

/**
 * Plans that are made while files are still being read. Only the plans are kept: live states, and the roles and members
 * of the files, are released as soon as a merchant is planned.
 */
export interface EarlyPlans {
  /**
   * Starts to plan a merchant, as soon as few enough others are in progress; returns its desired state without roles and
   * members, which stands for the plan.
   */
  plan(state: DesiredState): Promise<DesiredState>;
  /** Returns whether a state stands for a plan, and must not be planned again. */
  has(state: DesiredState): boolean;
  /** Returns the plans that these states stand for. */
  take(states: readonly DesiredState[]): Promise<readonly Planned[]>;
}

/** Starts early planning; a merchant that is not selected is only released. */
export function startEarlyPlans(
  openSession: OpenSession,
  isSelected: (merchant: string) => boolean,
  now: number,
  ended: (merchant: string, problem: string | null) => void,
): EarlyPlans {
  const plans = new Map<DesiredState, Promise<Planned>>();
  const inTurn = limited(MAX_PLANNING);
  const planOne = async (state: DesiredState, kept: DesiredState): Promise<Planned> => {
    const session = openSession(state);
    if ("error" in session) {
      ended(session.merchant, session.error.message);
      return session;
    }
    const planned = await planSession(session, ended);
    return planned.status === "planned"
      ? released(planned, kept, laterDays(soonDates(state, now), planned.planAt))
      : planned;
  };
  return {
    async plan(state) {
      const kept = withoutEntries(state);
      if (isSelected(state.merchant)) {
        const { result } = await inTurn(() => planOne(state, kept));
        plans.set(kept, result);
      }
      return kept;
    },
    has: (state) => plans.has(state),
    take: async (states) => Promise.all(states.flatMap((state) => plans.get(state) ?? [])),
  };
}

/** Returns a planned merchant with nothing but its plan, and what is announced beside it. */
function released(
  { session, plan, live: { callerId } }: PlannedMerchant,
  state: DesiredState,
  later: readonly LaterDay[],
): PlannedMerchant {
  const { merchant } = state;
  const gone = (): never => {
    throw new TypeError(`${merchant} has been released`);
  };
  return {
    status: "planned",
    session: { ...session, state, plan: async () => gone() },
    live: { merchant, roles: [], members: [], callerId },
    plan,
    later,
    planAt: gone,
    planWithout: gone,
  };
}

/** Returns a function that starts a work when fewer than `width` are running; a bug in one is thrown where it is taken. */
function limited(width: number): <T>(work: () => Promise<T>) => Promise<{ readonly result: Promise<T> }> {
  const running = new Set<Promise<unknown>>();
  return async (work) => {
    while (running.size >= width) await Promise.race(running);
    const result = work();
    const settled: Promise<unknown> = result.then(
      () => running.delete(settled),
      () => running.delete(settled),
    );
    running.add(settled);
    return { result };
  };
}
