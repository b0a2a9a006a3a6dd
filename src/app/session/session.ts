import type { FreshPlan } from "../../kernel/approval/fresh-context.ts";
import type { GlobMatch } from "../../kernel/diff/scope.ts";
import {
  type Judge,
  judgeChanges,
  leavingOut,
  namedRoleIds,
  type PlanInput,
  planChanges,
  planParts,
} from "../../kernel/plan/build-plan.ts";
import type { JudgeAt } from "../../kernel/plan/later.ts";
import { withReviewedEnds } from "../../kernel/read/reviewed-ends.ts";
import { judgeRun } from "../../kernel/rules/overrides.ts";
import { boundedMatcher, compileGlob } from "../../lib/glob.ts";
import { mapConcurrent } from "../../lib/map-concurrent.ts";
import { by, sortNaturally } from "../../lib/text.ts";
import type { DesiredState, Environment } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import type { LiveLookup, LiveWriter } from "../../model/ports.ts";
import type { DeniedOperation } from "../../service/find-denied.ts";
import type { Operation } from "../../service/http/problem-details.ts";
import type { Io } from "../io/io.ts";
import type { ProgressDisplay } from "../progress/log-progress.ts";
import { entryTimes } from "../project/git-history.ts";
import { type Connection, checkEnvironment, resolveConnection } from "./connection.ts";
import { type RecordedState, renewalOf } from "./invitations.ts";
import type { Services } from "./services.ts";

/** Options for planning. */
export interface PlanningOptions {
  readonly baseUrl?: string;
  /** The name of the option in messages; absent: `--base-url`. */
  readonly baseUrlName?: string;
  /** Time against which end dates are compared, in ms since the epoch; absent: now. */
  readonly asOf?: number;
  /** Addresses whose expired invitations are renewed regardless of the files. */
  readonly reinvite?: readonly string[];
  /** Returns the recorded live state of a merchant; absent: none is recorded. */
  readonly recorded?: (merchant: string) => Promise<RecordedState | null>;
  /** Makes the plan; absent: by comparison with the file. */
  readonly makePlan?: (input: PlanInput) => Plan;
  /** Returns role ids that a merchant's plan needs besides those that its file names. */
  readonly roleIds?: (merchant: string) => readonly string[];
}

/** The connection of one merchant, which can be planned repeatedly. */
export interface Session {
  readonly state: DesiredState;
  readonly environment: Environment | null;
  readonly writer: LiveWriter;
  readonly lookup: LiveLookup;
  /** Name of the environment variable with the key. */
  readonly keySource: string;
  /** Returns those of some operations that the key may not use; throws RolecallError. */
  readonly findDenied: (operations: readonly Operation[]) => Promise<readonly DeniedOperation[]>;
  /** Throws RolecallError if the account is of another environment than declared, or if that could not be compared. */
  readonly checkAccount: () => Promise<void>;
  /** Reads the live state and plans, without the changes of these fingerprints; throws RolecallError. */
  plan(leaveOut?: ReadonlySet<string>): Promise<PlanResult>;
}

/** A live state and its plan. */
export interface PlanResult extends FreshPlan {
  readonly judgeAt: JudgeAt;
}

/** A merchant without a plan, and why. */
export interface UnplannedMerchant {
  readonly status: "failed";
  readonly merchant: string;
  readonly error: RolecallError;
}

/** Creates a function that opens sessions at open services; a merchant without a key or a base URL has none. */
export function sessionOpener(
  services: Services,
  options: PlanningOptions,
  io: Io,
): (state: DesiredState) => Session | UnplannedMerchant {
  const entryTime = entryTimes(io);
  const { makePlan, roleIds = () => [] } = options;
  const partsOf = <Result>(
    input: PlanInput,
    judge: Judge<Result>,
  ): ((without?: ReadonlySet<string>) => Plan | Result) =>
    makePlan === undefined ? planParts(input, judge) : (without) => makePlan(leavingOut(input, without));
  const sessionOf = (state: DesiredState): Session => {
    const connection = resolveConnection(state, options.baseUrl, io.env, options.baseUrlName);
    const { reader, writer, lookup, findDenied, findCurrentMember } = services.of(connection);
    return {
      state,
      environment: connection.environment,
      writer: writer(state.merchant),
      lookup: lookup(state.merchant),
      keySource: connection.keySource,
      findDenied: (operations) => findDenied(state.merchant, operations),
      checkAccount: async () => {
        const { sandbox, sandboxFailure } = await findCurrentMember(state.merchant);
        checkEnvironment(state, connection, sandbox, sandboxFailure);
      },
      plan: async (leaveOut = new Set()) => {
        const idsInFiles = [...new Set([...namedRoleIds(state), ...roleIds(state.merchant)])];
        const live = await reader.read(state.merchant, idsInFiles);
        checkEnvironment(state, connection, live.sandbox);
        const recorded = await options.recorded?.(state.merchant);
        const renewal = await renewalOf(state, live, options.reinvite ?? [], entryTime, recorded);
        const input = {
          desired: { ...state, ...environmentOf(connection) },
          live,
          service: connection.baseUrl,
          now: options.asOf ?? io.now(),
          renewal,
          matches: globMatcher(),
          leaveOut,
        };
        // A new date counts now, and does not count again on its day.
        const { desired } = input;
        const later = { ...input, desired: withReviewedEnds(desired, desired.reviewedEnds && desired) };
        const planWithout = partsOf(input, planChanges);
        return {
          desired: state,
          live,
          plan: planWithout(),
          planAt: (now) => partsOf({ ...later, now }, planChanges)(),
          judgeAt: (now) => partsOf({ ...later, now }, judgeChanges),
          planWithout,
        };
      },
    };
  };
  return (state) => {
    try {
      return sessionOf(state);
    } catch (error) {
      return unplanned(state.merchant, error);
    }
  };
}

/** Returns a matcher of globs over names and addresses, where slashes and leading dots are ordinary characters. */
export function globMatcher(): GlobMatch {
  return boundedMatcher(
    compileGlob,
    () =>
      new RolecallError("file-invalid", "Matching the globs of the file would take too long.", {
        hint: "Use fewer globs, with fewer wildcards in each.",
      }),
  );
}

/** Returns a failure of a merchant; throws a bug. */
function unplanned(merchant: string, error: unknown): UnplannedMerchant {
  if (error instanceof RolecallError) return { status: "failed", merchant, error };
  throw error;
}

function environmentOf({ environment }: Connection): Pick<DesiredState, "environment"> {
  return environment === null ? {} : { environment };
}

/** A merchant with its plan. */
export interface PlannedMerchant extends PlanResult {
  readonly status: "planned";
  readonly session: Session;
}

/** The result of planning one merchant. */
export type Planned = PlannedMerchant | UnplannedMerchant;

/** Returns the merchants that have a plan. */
export function plannedOnly(planned: readonly Planned[]): readonly PlannedMerchant[] {
  return planned.flatMap((outcome) => (outcome.status === "planned" ? [outcome] : []));
}

/** Merchants in progress at once: enough to use every connection, and few enough to bound memory. */
export const MAX_PLANNING = 24;

/** Plans merchants at open services, and displays the progress. */
export async function planStates(
  states: readonly DesiredState[],
  services: Services,
  options: PlanningOptions,
  { reading, read }: Pick<ProgressDisplay, "reading" | "read">,
  io: Io,
): Promise<readonly Planned[]> {
  reading(states.map(({ merchant }) => merchant));
  return planSessions(states.map(sessionOpener(services, options, io)), read);
}

/**
 * Plans merchants side by side, in natural order; returns the plans by code. `ended` takes each with its problem, or
 * `null`; a failure of one does not hide another's plan.
 */
export async function planSessions(
  opened: readonly (Session | UnplannedMerchant)[],
  ended: (merchant: string, problem: string | null) => void,
): Promise<readonly Planned[]> {
  const sessions = sortNaturally(opened, (one) => ("state" in one ? one.state.merchant : one.merchant));
  const planned = await mapConcurrent(sessions, MAX_PLANNING, async (session): Promise<Planned> => {
    const outcome = "error" in session ? session : await planSession(session);
    ended(merchantOf(outcome), outcome.status === "failed" ? outcome.error.message : null);
    return outcome;
  });
  return planned.toSorted(by(merchantOf));
}

function planSession(session: Session): Promise<Planned> {
  return session.plan().then(
    (result) => ({ status: "planned", session, ...result }),
    (error: unknown) => unplanned(session.state.merchant, error),
  );
}

/** How plans are judged together. */
interface RunJudging {
  /** Returns the run of a merchant's plan; absent: all are of one run. */
  readonly runOf?: (merchant: string) => string;
  /** The merchants whose plans will not be applied. */
  readonly unapplied?: ReadonlySet<string>;
}

/**
 * Judges plans by the limits of a run and by rules across merchants, and applies the overrides in files that are bound to all
 * its plans. `declared` are all merchants of the project.
 */
export function withRunOverrides(
  planned: readonly Planned[],
  declared: readonly DesiredState[],
  { runOf, unapplied }: RunJudging = {},
): readonly Planned[] {
  const parts = plannedOnly(planned).map(({ plan, live, session }) => ({
    plan,
    live,
    files: session.state,
    ...(unapplied?.has(plan.merchant) && { isApplied: false as const }),
  }));
  const byMerchant = new Map(judgeRun(parts, declared, runOf).map((plan) => [plan.merchant, plan]));
  return planned.map((outcome) =>
    outcome.status === "planned"
      ? { ...outcome, plan: byMerchant.get(outcome.plan.merchant) ?? outcome.plan }
      : outcome,
  );
}

function merchantOf(planned: Planned): string {
  return planned.status === "planned" ? planned.plan.merchant : planned.merchant;
}
