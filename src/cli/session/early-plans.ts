import type { DesiredState } from "../../model/desired.ts";
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
  /** Starts to plan a merchant; returns its desired state without roles and members, which stands for the plan. */
  plan(state: DesiredState): DesiredState;
  /** Returns whether a state stands for a plan, and must not be planned again. */
  has(state: DesiredState): boolean;
  /** Returns the plans that these states stand for. */
  take(states: readonly DesiredState[]): Promise<readonly Planned[]>;
}

/** Starts early planning; a merchant that is not selected is only released. */
export function startEarlyPlans(
  open: OpenSession,
  isSelected: (merchant: string) => boolean,
  ended: (merchant: string, problem: string | null) => void,
): EarlyPlans {
  const plans = new Map<DesiredState, Promise<Planned>>();
  const inTurn = limited(MAX_PLANNING);
  const planOne = async (state: DesiredState, kept: DesiredState): Promise<Planned> => {
    const session = open(state);
    if ("error" in session) {
      ended(session.merchant, session.error.message);
      return session;
    }
    const planned = await planSession(session, ended);
    return planned.status === "planned" ? released(planned, kept) : planned;
  };
  return {
    plan(state) {
      const { roles: _roles, members: _members, ...kept } = state;
      if (isSelected(state.merchant)) {
        const planned = inTurn(() => planOne(state, kept));
        // A bug is thrown when the plan is taken.
        planned.catch(() => undefined);
        plans.set(kept, planned);
      }
      return kept;
    },
    has: (state) => plans.has(state),
    take: async (states) => Promise.all(states.flatMap((state) => plans.get(state) ?? [])),
  };
}

/** Returns a planned merchant with nothing but its plan. */
function released({ session, plan }: PlannedMerchant, state: DesiredState): PlannedMerchant {
  const { environment, writer, lookup } = session;
  const { merchant } = state;
  return {
    status: "planned",
    session: {
      state,
      environment,
      writer,
      lookup,
      plan: () => Promise.reject(new TypeError(`${merchant} has been released`)),
    },
    live: { merchant, roles: [], members: [], callerId: null },
    plan,
    planAt: () => {
      throw new TypeError(`${merchant} has been released`);
    },
  };
}

/** Returns a function that runs at most `width` works at once, in order. */
function limited(width: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= width) await new Promise<void>((resolve) => void waiting.push(resolve));
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}
